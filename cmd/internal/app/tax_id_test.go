package app_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
	"marquee/modules/payments/paymentstest"
	"marquee/modules/subscriptions/subscriptionstest"
)

// TestACNPJWithLettersGoesEverywhere: written in either case by a client, it is stored in
// capitals, sent so to the gateways, one account's however it is written, and found again.
func TestACNPJWithLettersGoesEverywhere(t *testing.T) {
	t.Parallel()
	const written, stored = "12abc34501de35", "12ABC34501DE35"
	w := running(t)
	company := w.SignUp("clube", object{"tax_id": written, "verify_email_now": false}).Expect(200)
	id, me := company.Map()["customer_id"].(string), w.Guest.As(platformtest.Session(company))
	is := func(want string) {
		t.Helper()
		require.Equal(t, want, platformtest.FirstDoc(me.Get("/customers/me").Expect(200))["tax_id"])
	}
	is(stored)
	require.Equal(t, "tax_id", w.SignUp("other", object{"tax_id": stored}).Expect(409).Field(),
		"one account's in either case")
	for _, taxID := range []string{written, stored} {
		require.Equal(t, false,
			w.Guest.Get("/customers/check-availability?tax_id=" + taxID).Expect(200).Map()["tax_id_available"])
	}
	require.Equal(t, "tax_id", w.SignUp("other", object{"tax_id": "12ABC34501DEA5"}).Expect(422).Field(),
		"the check digits are digits")
	require.Equal(t, "tax_id", w.SignUp("other", object{"tax_id": "12ıbc34501de35"}).Expect(422).Field(),
		"a letter whose capital is I")

	me.Put("/customers/me", []object{{"tax_id": "52998224725"}}).Expect(200)
	me.Put("/customers/me", []object{{"tax_id": written}}).Expect(200)
	is(stored)
	w.Admin().Put("/customers", []object{{"_id": id, "tax_id": "11144477735"}}).Expect(200)
	w.Admin().Put("/customers", []object{{"_id": id, "tax_id": written}}).Expect(200)
	is(stored)
	office := w.Make(w.Admin(), "/users", object{
		"username": "office", "email": "office@example.com", "password": platformtest.Password, "name": "Office",
		"tax_id": written,
	})
	require.Equal(t, stored, office["tax_id"])
	require.Equal(t, stored, platformtest.FirstDoc(w.Admin().Put("/users", []object{{
		"_id": office["_id"], "tax_id": written,
	}}).Expect(200))["tax_id"])

	subscriptionstest.Plan(t, w.DB, "monthly", 4990)
	me.Post("/gwa/subscribe/pix", object{"plan_id": "monthly"}).Expect(201)
	event := w.Make(w.Admin(), "/events", object{
		"title": "Premiere", "event_date": time.Now().Add(30 * 24 * time.Hour).Format(time.RFC3339),
		"ticket_value": 60, "is_sale_box_office": true,
	})["_id"].(string)
	order := func(email, taxID string) object {
		return object{
			"event_id": event, "quantity": 1,
			"buyer": object{"full_name": "Cine Clube Ltda", "email": email, "tax_id": taxID},
		}
	}
	const checkout = "/store/purchase/checkout/"
	require.Equal(t, "tax_id",
		w.Guest.Post(checkout+"gwa/pix", order("guest@example.com", written)).Expect(409).Field())
	require.Equal(t, "buyer.tax_id",
		w.Guest.Post(checkout+"gwa/pix", order("guest@example.com", "12abc34501de36")).Expect(422).Field())
	card := order("clube@example.com", written)
	card["credit_card"] = object{
		"holderName": "CINE CLUBE", "number": paymentstest.CardApproved, "expiryMonth": "05", "expiryYear": "2099",
		"ccv": "318",
	}
	card["credit_card_holder_info"] = object{
		"name": "Cine Clube", "email": "clube@example.com", "cpfCnpj": written, "postalCode": "01310100",
		"addressNumber": "150", "phone": "1138830000",
	}
	w.Guest.Post(checkout+"gwa/card", card).Expect(200)
	card = order("clube@example.com", written)
	card["payment_method_id"] = paymentstest.TokenApproved
	w.Guest.Post(checkout+"gwb/card", card).Expect(200)
	require.Zero(t,
		w.Count(`SELECT count(*) FROM accounts.users WHERE tax_id <> upper(tax_id) OR email = 'guest@example.com'`))

	for _, path := range []string{
		"/search/customers?q=" + written, "/search/customers?q=12ABC",
		"/admin/customers/360?tax_id=12.abc.345%2F01de-35", "/admin/customers/360?tax_id=" + stored,
	} {
		require.Contains(t, string(w.Admin().Get(path).Expect(200).Body), id, path)
	}
	a := w.Admin().Get("/admin/customers/export?format=json&query=%7B%22tax_id%22%3A%22" + stored + "%22%7D").
		Expect(200)
	require.Contains(t, string(a.Body), `"`+stored+`"`)
	patterns := taxIDPatterns(w.Guest.Get("/openapi.json").Expect(200).Map())
	require.GreaterOrEqual(t, len(patterns), 4, "signup, own data, collections, checkout")
	for _, p := range patterns {
		for _, id := range []string{written, stored, "52998224725", "11222333000181"} {
			require.Regexp(t, p, id)
		}
		require.NotRegexp(t, p, "12ABC34501DEA5")
	}
}

// taxIDPatterns are the patterns that the document gives for properties named tax_id.
func taxIDPatterns(node any) (patterns []string) {
	switch node := node.(type) {
	case map[string]any:
		if taxID, ok := node["tax_id"].(map[string]any); ok && taxID["pattern"] != nil {
			patterns = append(patterns, fmt.Sprint(taxID["pattern"]))
		}
		for _, member := range node {
			patterns = append(patterns, taxIDPatterns(member)...)
		}
	case []any:
		for _, element := range node {
			patterns = append(patterns, taxIDPatterns(element)...)
		}
	}
	return patterns
}
