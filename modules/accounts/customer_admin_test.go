package accounts_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts/accountstest"
	"marquee/platform/fault"
	"marquee/platform/objectid"
)

func homeAddress(set map[string]any) map[string]any {
	address := map[string]any{
		"street": "Rua das Flores", "number": "12", "locality": "Centro", "city": "Curitiba", "region_code": "PR",
		"country": "BRA", "postal_code": "80010000",
	}
	for k, v := range set {
		address[k] = v
	}
	return address
}

func TestAdminsEditCustomers(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	id := o.customer.ID
	listed := o.get(t, "/customers?_id="+id.String(), o.adminToken).doc(t)
	me := o.get(t, "/customers/me", o.customerJWT).doc(t)
	me["labels"] = []any{} // which only staff see
	require.Equal(t, me, listed, "an admin sees the customer as the customer does")

	o.clock.Advance(time.Second)
	a := o.put(t, "/customers", o.adminToken, change(id, map[string]any{
		"full_name": "Ana Maria", "phone": "+5541999990000", "tax_id": "12345678909", "address": homeAddress(nil),
		"nationality": "pt", "my_list": []string{"a", "b"}, "avatar_id": listed["avatar_id"],
		"email_verified_at": "2001-01-01", "created_at": "2001-01-01",
	}))
	require.Equal(t, 200, a.status, a.raw)
	doc := a.doc(t)
	require.Equal(t, "Ana Maria", doc["full_name"])
	require.Equal(t, homeAddress(map[string]any{"complement": ""}), doc["address"])
	require.Equal(t, listed["created_at"], doc["created_at"])
	require.Equal(t, listed["email_verified_at"], doc["email_verified_at"])
	require.Equal(t, listed["username"], doc["username"])
	require.Equal(t, "PT", doc["nationality"])

	a = o.put(t, "/customers", o.adminToken, change(id, map[string]any{"address": nil, "tax_id": nil}))
	require.Nil(t, a.doc(t)["address"])
	require.Nil(t, a.doc(t)["tax_id"])
}

func TestAdminsMoveTheEmailOfACustomer(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	id := o.customer.ID
	o.exec(t, `INSERT INTO accounts.codes (id, user_id, purpose, address, code_mac, created_at, expires_at)
		VALUES ('0123456789abcdef01234567', $1, 'reset', 'old', '\x00', now(), now() + interval '1 day')`, id)
	o.exec(t, `UPDATE accounts.users SET username = email WHERE id = $1`, id)

	a := o.put(t, "/customers", o.adminToken, change(id, map[string]any{"email": "New@Example.com"}))
	require.Equal(t, 200, a.status, a.raw)
	require.Equal(t, "new@example.com", a.doc(t)["email"])
	require.Equal(t, "new@example.com", a.doc(t)["username"])
	require.Equal(t, false, a.doc(t)["email_verified"], "nobody has shown that the new address is theirs")
	require.Nil(t, a.doc(t)["email_verified_at"])
	require.Zero(t, o.count(t, `SELECT count(*) FROM accounts.codes`),
		"a code mailed to the old address is worth nothing")
	require.Equal(t, 401, o.login(t, o.customer.Email, accountstest.Password).status)
	require.Equal(t, 200, o.login(t, "new@example.com", accountstest.Password).status)

	a = o.put(t, "/customers", o.adminToken, change(id, map[string]any{
		"email": "newer@example.com", "email_verified": true,
	}))
	require.Equal(t, true, a.doc(t)["email_verified"])
	require.NotNil(t, a.doc(t)["email_verified_at"])
	at := a.doc(t)["email_verified_at"]
	o.clock.Advance(time.Hour)
	a = o.put(t, "/customers", o.adminToken, change(id, map[string]any{
		"email_verified": true, "email": "newer@example.com",
	}))
	require.Equal(t, at, a.doc(t)["email_verified_at"], "verified before")
	a = o.put(t, "/customers", o.adminToken, change(id, map[string]any{"email_verified": false}))
	require.Nil(t, a.doc(t)["email_verified_at"])
}

func TestCustomerRefusals(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	other := accountstest.Customer(t, o.db)
	for name, c := range map[string]struct {
		fields map[string]any
		status int
		field  string
	}{
		"type":     {fields: map[string]any{"user_type": "admin"}, status: 422, field: "user_type"},
		"root":     {fields: map[string]any{"is_root": true}, status: 422, field: "is_root"},
		"password": {fields: map[string]any{"password": "long enough"}, status: 422, field: "password"},
		"subscription": {
			fields: map[string]any{"current_subscription_id": other.ID}, status: 422, field: "current_subscription_id",
		},
		"gateway id":       {fields: map[string]any{"gwb_customer_id": "cus_1"}, status: 422, field: "gwb_customer_id"},
		"other gateway id": {fields: map[string]any{"gwa_customer_id": "cus_1"}, status: 422, field: "gwa_customer_id"},
		"promo code":       {fields: map[string]any{"promo_code_used": "X"}, status: 422, field: "promo_code_used"},
		"reset flag": {
			fields: map[string]any{"password_reset_required": true}, status: 422, field: "password_reset_required",
		},
		"nationality":    {fields: map[string]any{"nationality": "Brasil"}, status: 422, field: "nationality"},
		"no nationality": {fields: map[string]any{"nationality": nil}, status: 422, field: "nationality"},
		"trial": {
			fields: map[string]any{"trial_used_at": "2026-01-01T00:00:00Z"}, status: 422, field: "trial_used_at",
		},
		"tax id":   {fields: map[string]any{"tax_id": "12"}, status: 422, field: "tax_id"},
		"phone":    {fields: map[string]any{"phone": "5541999990000"}, status: 422, field: "phone"},
		"no phone": {fields: map[string]any{"phone": nil}, status: 422, field: "phone"},
		"no name":  {fields: map[string]any{"full_name": nil}, status: 422, field: "full_name"},
		"e-mail":   {fields: map[string]any{"email": "none"}, status: 422, field: "email"},
		"list":     {fields: map[string]any{"my_list": "a"}, status: 422, field: "my_list"},
		"address":  {fields: map[string]any{"address": "Rua"}, status: 422, field: "address"},
		"address city": {
			fields: map[string]any{"address": homeAddress(map[string]any{"city": "x"})}, status: 422,
			field: "address.city",
		},
		"address code": {
			fields: map[string]any{"address": homeAddress(map[string]any{"postal_code": "80010-000"})}, status: 422,
			field: "address.postal_code",
		},
		"address member": {
			fields: map[string]any{"address": homeAddress(map[string]any{"planet": "Mars"})}, status: 422,
			field: "address.planet",
		},
		"address empty":     {fields: map[string]any{"address": map[string]any{}}, status: 422, field: "address.city"},
		"foreign address":   {fields: map[string]any{"username": "else@example.com"}, status: 422, field: "username"},
		"taken e-mail":      {fields: map[string]any{"email": other.Email}, status: 409, field: "email"},
		"an admin's e-mail": {fields: map[string]any{"email": o.admin.Email}, status: 409, field: "email"},
		"taken username":    {fields: map[string]any{"username": other.Username}, status: 409, field: "username"},
		"taken tax id":      {fields: map[string]any{"tax_id": other.TaxID}, status: 409, field: "tax_id"},
	} {
		a := o.put(t, "/customers", o.adminToken, change(o.customer.ID, c.fields))
		require.Equal(t, c.status, a.status, "%s: %s", name, a.raw)
		require.Equal(t, c.field, a.field(), "%s: %s", name, a.raw)
		code := map[int]string{409: fault.CodeConflict, 422: fault.CodeValidation}[c.status]
		require.Equal(t, code, a.code(), name)
	}
	for _, id := range []objectid.ID{"0123456789abcdef01234567", o.admin.ID} {
		a := o.put(t, "/customers", o.adminToken, change(id, map[string]any{"enable": false}))
		require.Equal(t, 404, a.status, "%s", a.raw)
		require.Equal(t, 404, o.get(t, "/customers?_id="+id.String(), o.adminToken).status)
		require.Equal(t, 404, o.remove(t, "/customers", o.adminToken, ids(id)).status)
		for _, route := range []string{"verify-email", "toggle-active"} {
			require.Equal(t, 404, o.post(t, "/admin/customers/"+id.String()+"/"+route, o.adminToken, "").status)
		}
	}
	require.Equal(t, 422, o.post(t, "/admin/customers/x/toggle-active", o.adminToken, "").status)
	require.Zero(t, o.count(t, `SELECT count(*) FROM accounts.audit_log`))
	require.Equal(t, 2, o.count(t, `SELECT count(*) FROM accounts.users WHERE enable AND user_type = 'admin'`))
}

func TestDisablingACustomer(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	path := "/admin/customers/" + o.customer.ID.String() + "/toggle-active"
	a := o.post(t, path, o.adminToken, "")
	require.Equal(t, 200, a.status, a.raw)
	require.Equal(t, map[string]any{
		"message": a.body["message"], "customer_id": o.customer.ID.String(), "enable": false,
	}, a.body)
	require.Equal(t, badToken, o.get(t, "/customers/me", o.customerJWT).detail())
	require.Equal(t, 403, o.login(t, o.customer.Username, accountstest.Password).status)
	o.clock.Advance(time.Second)
	require.Equal(t, true, o.post(t, path, o.adminToken, "").body["enable"])
	require.Equal(t, 403, o.get(t, "/customers/me", o.customerJWT).status, "what was ended stays ended")

	token := o.token(t, o.customer.Username)
	require.Equal(t, 200, o.put(t, "/customers", o.adminToken, change(o.customer.ID, map[string]any{"enable": false})).
		status)
	require.Equal(t, 403, o.get(t, "/customers/me", token).status)
}

func TestAdminsVerifyAddresses(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	path := "/admin/customers/" + o.customer.ID.String() + "/verify-email"
	a := o.post(t, path, o.adminToken, "")
	require.Equal(t, 400, a.status, a.raw)
	require.Empty(t, a.code())
	o.exec(t, `UPDATE accounts.users SET email_verified = false, email_verified_at = NULL WHERE id = $1`, o.customer.ID)
	a = o.post(t, path, o.adminToken, "")
	require.Equal(t, 200, a.status, a.raw)
	require.Equal(t, o.customer.ID.String(), a.body["customer_id"])
	require.Equal(t, true, a.body["email_verified"])
	require.Equal(t, a.body["email_verified_at"], o.get(t, "/customers/me", o.customerJWT).doc(t)["email_verified_at"])
}

func TestAdminsDeleteCustomers(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	second := accountstest.Customer(t, o.db)
	require.Equal(t, 200,
		o.put(t, "/customers", o.adminToken, change(o.customer.ID, map[string]any{"full_name": "Somebody Private"})).
			status)
	a := o.remove(t, "/customers", o.adminToken, ids(o.customer.ID, second.ID, o.customer.ID))
	require.Equal(t, 200, a.status, a.raw)
	require.Equal(t, "2 documents were deleted.", a.body["msg"])
	require.Equal(t, badToken, o.get(t, "/customers/me", o.customerJWT).detail())
	require.Equal(t, 401, o.login(t, second.Username, accountstest.Password).status)
	require.Equal(t, []any{}, o.get(t, "/customers", o.adminToken).body["docs"])
	require.Equal(t, 404, o.remove(t, "/customers?_id="+second.ID.String(), o.adminToken, "").status)

	o.work(t)
	require.Eventually(t, func() bool {
		return o.count(t,
			`SELECT count(*) FROM accounts.users WHERE user_type = 'customer' AND (username <> '' OR full_name IS NOT NULL)`) == 0
	}, time.Minute, 20*time.Millisecond, "personal data are still there")
	trail := o.get(t, "/audit-log?query="+url.QueryEscape(`{"record_id":"`+o.customer.ID.String()+`"}`), o.adminToken)
	require.Len(t, trail.body["docs"], 2)
	require.NotContains(t, trail.raw, "Somebody Private")
	require.Contains(t, trail.raw, "[erased]")
}

// What a collection does not show can neither be filtered nor sorted by: the
// answer is that for a field nobody has ever heard of.
func TestHiddenFieldsCannotBeProbed(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	for range 3 {
		accountstest.Customer(t, o.db)
		accountstest.Admin(t, o.db)
	}
	o.exec(t,
		`UPDATE accounts.users SET gwa_customer_id = 'cus_' || id, trial_used_at = created_at, tokens_valid_after = '2020-01-01'`)
	hidden := []string{
		"password", "password_hash", "tokens_valid_after", "kept_token_id", "deleted_at", "gwa_customer_id",
		"trial_used_at", "language", "verify_later", "id", "codes",
	}
	for path, more := range map[string][]string{
		"/users":     {"address", "nationality", "email_verified", "my_list"},
		"/customers": {"is_root", "type_user", "name"},
	} {
		get := func(key, value string) response {
			a := o.get(t, path+"?qty_docs_page=100&"+key+"="+url.QueryEscape(value), o.adminToken)
			require.Equal(t, 200, a.status, "%s %s: %s", path, value, a.raw)
			a.body["links"] = nil
			return a
		}
		for _, field := range append(hidden, more...) {
			for _, condition := range []string{
				`{"$exists":true}`, `null`, `{"$ne":"x"}`, `{"$regex":"."}`, `{"$gt":""}`, `{"$type":"string"}`,
				`{"$in":[null,"x"]}`, `true`, `{"$not":{"$regex":"a"}}`,
			} {
				known := get("query", `{"`+field+`":`+condition+`}`)
				require.Equal(t, get("query", `{"never_heard_of":`+condition+`}`).body, known.body, "%s %s %s", path,
					field, condition)
			}
			for _, direction := range []string{"1", "-1"} {
				require.Equal(t, get("sort", `{"never_heard_of":`+direction+`}`).body,
					get("sort", `{"`+field+`":`+direction+`}`).body, "%s %s", path, field)
			}
		}
		all := get("sort", `{}`)
		for _, field := range append(hidden, more...) {
			require.NotContains(t, all.raw, `"`+field+`":`, path)
		}
		require.NotContains(t, all.raw, "argon2id")
	}
}

func TestFilteringCustomersByAddress(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	require.Equal(t, 200,
		o.put(t, "/customers", o.adminToken, change(o.customer.ID, map[string]any{"address": homeAddress(nil)})).status)
	accountstest.Customer(t, o.db)
	for filter, total := range map[string]float64{
		`{"address.city":"Curitiba"}`: 1, `{"address.city":null}`: 1, `{"address":null}`: 1,
		`{"address.city":{"$regex":"^curi","$options":"i"}}`: 1,
		`{"tax_id":{"$exists":true},"email_verified":true}`:  2, `{"user_type":"admin"}`: 0,
		`{"$or":[{"user_type":"admin"},{"_id":{"$exists":true}}]}`: 2,
	} {
		a := o.json(t, http.MethodGet, "/customers?query="+url.QueryEscape(filter), o.adminToken, "")
		require.Equal(t, 200, a.status, a.raw)
		require.Equal(t, total, a.body["pagination"].(map[string]any)["qty_total_docs"], filter)
	}
}

// TestFilteringCustomersByTaxID: its letters are stored in capitals, and asked for in either case.
func TestFilteringCustomersByTaxID(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	accountstest.Customer(t, o.db)
	o.exec(t, "UPDATE accounts.users SET tax_id = '12ABC34501DE35' WHERE id = $1", o.customer.ID)
	for filter, total := range map[string]float64{
		`{"tax_id":"12abc34501de35"}`: 1, `{"tax_id":"12ABC34501DE35"}`: 1,
		`{"tax_id":{"$in":["0","12abc34501dE35"]}}`: 1,
		`{"tax_id":{"$gte":"12abc3"}}`:              1, `{"tax_id":{"$ne":"12abc34501de35"}}`: 1,
		`{"tax_id":{"$regex":"abc"}}`: 0,
	} {
		a := o.json(t, http.MethodGet, "/customers?query="+url.QueryEscape(filter), o.adminToken, "")
		require.Equal(t, total, a.body["pagination"].(map[string]any)["qty_total_docs"], filter)
	}
}
