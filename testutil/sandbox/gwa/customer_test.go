package gwa_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCustomer_A2(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.ok("POST", "/v3/customers", object{
		"name": "Ana Souza", "cpfCnpj": "529.982.247-25", "email": "ana@example.com", "mobilePhone": "11987654321",
	})
	require.Regexp(t, `^cus_\d{12}$`, c["id"])
	require.Equal(t, "2035-03-12", c["dateCreated"])
	require.Equal(t, validCPF, c["cpfCnpj"])
	require.Equal(t, "FISICA", c["personType"])
	require.ElementsMatch(t, []string{
		"object", "id", "dateCreated", "name", "email", "company", "phone", "mobilePhone", "address", "addressNumber",
		"complement", "province", "postalCode", "cpfCnpj", "personType", "deleted", "additionalEmails",
		"externalReference", "notificationDisabled", "observations", "municipalInscription", "stateInscription",
		"canDelete", "cannotBeDeletedReason", "canEdit", "cannotEditReason", "city", "cityName", "state", "country",
	}, keys(c))
	require.NotEqual(t, c["id"], b.customer(), "the same CPF may exist many times")

	path := "/v3/customers/" + c["id"].(string)
	c = b.ok("PUT", path, object{"email": "new@example.com"})
	require.Equal(t, "new@example.com", c["email"])
	require.Equal(t, "Ana Souza", c["name"], "absent fields stay")
	require.Equal(t, c, b.ok("GET", path, nil))

	require.Equal(t, object{"deleted": true, "id": c["id"]}, b.ok("DELETE", path, nil))
	require.Equal(t, true, b.ok("GET", path, nil)["deleted"])
	status, code, _ := b.refused("POST", "/v3/payments", pixPayment(c["id"].(string), 10))
	require.Equal(t, 400, status)
	require.Equal(t, "invalid_customer", code)
}

func TestTaxIDIsChecked_A1(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, bad := range []string{"52998224724", "11111111111", "123", "", "11222333000180", "5299822472x"} {
		status, code, description := b.refused("POST", "/v3/customers", object{"name": "Ana", "cpfCnpj": bad})
		require.Equal(t, 400, status, bad)
		require.Equal(t, "invalid_object", code)
		require.Equal(t, "O CPF/CNPJ informado é inválido.", description)
	}
	c := b.ok("POST", "/v3/customers", object{"name": "Empresa", "cpfCnpj": "11.222.333/0001-81"})
	require.Equal(t, "JURIDICA", c["personType"])
}

func TestPhoneOfRepeatedDigits_A1(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, code, _ := b.refused("POST", "/v3/customers", object{
		"name": "Ana", "cpfCnpj": validCPF, "mobilePhone": "11111111111",
	})
	require.Equal(t, "invalid_mobilePhone", code)
}
