package app

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/platform/httpapi"
	"marquee/testutil/apitest"
)

// TestSentencesOfTheAPI: a refusal names what it is about, whoever found it: the schema, a
// collection, the handler or the database.
func TestSentencesOfTheAPI(t *testing.T) {
	t.Parallel()
	a := openApp(t)
	nobody := apitest.New(t, a.api)
	own, root := person(t, a, nobody, accounts.NewUser{Type: httpapi.TypeAdmin, Root: true, Username: "root", Name: "Root"})
	c, customer := person(t, a, nobody, accounts.NewUser{Type: httpapi.TypeCustomer, Username: "ana", FullName: "Ana Souza", Phone: "+5511987654321"})
	root.Post("/tags", `[{"name":"War","slug":"war"}]`).Expect(http.StatusOK)
	event := a.insert(t, `INSERT INTO tickets.events (title, event_date, capacity, ticket_value_cents, is_sale_box_office) VALUES ('Premiere', now() + interval '30 days', 10, 5000, true)`).String()
	unknown := "66f0a1b2c3d4e5f607182a01"
	buyer := `{"event_id":"` + event + `","quantity":1,"buyer":{"full_name":"Ana","email":"ana@","tax_id":"52998224725","phone":"+5511987654321"}}`
	const notAnEmail = " has to be an e-mail address"

	for _, x := range []struct {
		by                 *apitest.Client
		method, path, body string
		status             int
		field, sentence    string
	}{
		{root, "POST", "/tags", `[{"name":"War","slug":"war"}]`, 409, "slug", "slug is already taken"},
		{root, "POST", "/tags", `[{"name":"Love","slug":"love"},{"name":"War","slug":"war"}]`, 409, "slug", "slug is already taken (index 1 of the body)"},
		{root, "POST", "/tags", `[{"slug":"love"}]`, 422, "name", "name is required"},
		{root, "POST", "/tags", `[{"name":" \t ","slug":"love"}]`, 422, "name", "name has to be more than spaces"},
		{root, "POST", "/tags", `[{"name":"","slug":"love"}]`, 422, "name", "name has to have at least 1 character"},
		{root, "POST", "/tags", `[{"name":"Love","slug":"love","color":1}]`, 422, "color", "color is not a known field"},
		{root, "POST", "/tags", `{}`, 422, "body", "The body has to be an array of objects"},
		{root, "POST", "/tags", `[{"name":"Love","slug":"love"},7]`, 422, "body", "The value at index 1 of the body has to be an object"},
		{root, "PUT", "/tags", `[{"_id":"` + unknown + `"}]`, 404, "_id", "Tag not found."},
		{root, "POST", "/videos", `[{"title":"x","slug":"x","video_id":"https://a.example/v","duration":1,"release_date":"2026-01-02","category_id":[],"enable":true,"tags_id":["` + unknown + `","x"]}]`, 422, "tags_id[1]", "tags_id[1] has to be an id of 24 hexadecimal digits"},
		{root, "GET", "/tags?qty_docs_page=x", "", 422, "qty_docs_page", "qty_docs_page has to be a whole number"},
		{root, "GET", `/tags?query={"$or":[{},{"name":{"$in":"x"}}]}`, "", 422, "query", "query.$or[1].name.$in: needs an array"},
		{root, "GET", "/admin/finance/churn?months=99", "", 422, "months", "months has to be at most 24"},
		{root, "GET", "/admin/finance/churn?months=many", "", 422, "months", "months has to be a whole number"},
		{root, "POST", "/tickets/consume-qr/batch", `{"scans":[{"qr_payload":"x","scanned_at":"2026-11-20T17:03:12Z"},{"qr_payload":"x","scanned_at":"soon"}]}`,
			422, "scans[1].scanned_at", "scans[1].scanned_at has to be a date or a date-time such as 2026-11-20T17:03:12Z"},
		{root, "POST", "/tickets/consume-qr/batch", `{"scans":[{"qr_payload":"x","scanned_at":"2026-11-20T17:03:12Z"},{"qr_payload":"x","scanned_at":"2026-02-31"}]}`,
			422, "scans[1].scanned_at", "scans[1].scanned_at has to be a date or a date-time such as 2026-11-20T17:03:12Z"},
		{root, "POST", "/subscriptions/" + unknown + "/chargeback", `{"reason":"         "}`, 422, "reason", "reason has to be more than spaces"},
		{root, "DELETE", "/users?_id=" + own.ID.String(), "", 409, "", "You cannot delete your own account."},
		{nobody, "GET", "/customers/check-availability", "", 400, "email", "email or tax_id is required, or both."},
		{nobody, "GET", "/customers/check-availability?email=ana@", "", 422, "email", "email" + notAnEmail},
		{nobody, "POST", "/auth/forgot-password", `{"email":"a"}`, 422, "email", "email" + notAnEmail},
		{nobody, "POST", "/auth/resend-verification", `{"email":"  "}`, 422, "email", "email" + notAnEmail},
		{nobody, "POST", "/auth/reset-password", `{"email":"ana","code":"123456","new_password":"a long password"}`, 422, "email", "email" + notAnEmail},
		{nobody, "POST", "/store/purchase/checkout/gwa/pix", buyer, 422, "buyer.email", "buyer.email" + notAnEmail},
		{root, "PUT", "/customers", `[{"_id":"` + c.ID.String() + `","email":"x"}]`, 422, "email", "email" + notAnEmail},
		{root, "PUT", "/customers", `[{"_id":"` + c.ID.String() + `","email":"` + longAddress + `"}]`, 422, "email", "email" + notAnEmail},
		{customer, "POST", "/customers/me/change-email", `{"new_email":"ana@home"}`, 422, "new_email", "new_email" + notAnEmail},
		{customer, "POST", "/gwb/subscribe", `{"plan_id":"   ","payment_method_id":"pm_card_visa"}`, 422, "plan_id", "plan_id has to be more than spaces"},
		{customer, "POST", "/gwb/subscribe", `{"plan_id":"plus","payment_method_id":"   "}`, 400, "payment_method_id", "payment_method_id is required."},
		{customer, "POST", "/gwa/subscribe", `{"plan_id":"plus","promo_code":" ","credit_card":{"holderName":" "}}`, 400, "credit_card.holderName", "credit_card.holderName is required."},
		{customer, "POST", "/gwa/subscribe/pix", `{"plan_id":"nothing","promo_code":"  "}`, 404, "", "Plan not found."},
		{root, "GET", "/admin/finance/export?format=pdf", "", 422, "format", "format has to be xlsx, csv or json"},
		{root, "PUT", "/admin/config/payment-gateway", `{"gateway":"gwc"}`, 422, "gateway", "gateway has to be gwa or gwb"},
		{root, "PUT", "/subscriptions", `[{"_id":"` + unknown + `","status":"gone"}]`, 422, "status", "status has to be active, pending, suspended, cancelled or expired"},
		{customer, "DELETE", "/customers/me/subscription?at=once", "", 422, "at", "at has to be period_end"},
	} {
		answer := x.by.Do(x.method, x.path, x.body)
		if x.body == "" {
			answer = x.by.Do(x.method, x.path, nil)
		}
		what := x.method + " " + x.path + " " + x.body
		require.Equal(t, x.status, answer.Status, "%s: %s", what, answer.Body)
		told, _ := answer.Map()["error"].(map[string]any)
		require.Equal(t, x.sentence, told["message"], what)
		require.Equal(t, x.field, answer.Field(), what)
		requireContract(t, what, answer)
	}

	// An address is refused in one way, whatever route it comes by.
	for address, want := range map[string][2]string{
		`"Rua"`: {"address", "address has to be an object"},
		`{}`:    {"address.city", "address.city is required"},
		`{"street":"Rua A","number":"1","locality":"Centro","city":"   ","region_code":"PR","country":"BRA","postal_code":"80010000"}`: {
			"address.city", "address.city has to be more than spaces"},
		`{"street":"Rua A","number":"1","locality":"Centro","city":"Curitiba","region_code":"PR","country":"BRA","postal_code":"80010000","planet":1}`: {
			"address.planet", "address.planet is not a known field"},
	} {
		for _, answer := range []*apitest.Answer{
			nobody.Post("/customers/signup", `[{"username":"bia","email":"bia@example.com","password":"a long password","full_name":"Bia Lima","phone":"+5511987654321",
				"tax_id":"52998224725","address":`+address+`}]`),
			customer.Put("/customers/me", `[{"address":`+address+`}]`),
			root.Put("/customers", `[{"_id":"`+c.ID.String()+`","address":`+address+`}]`),
		} {
			require.Equal(t, http.StatusUnprocessableEntity, answer.Status, "%s: %s", address, answer.Body)
			told, _ := answer.Map()["error"].(map[string]any)
			require.Equal(t, want, [2]string{answer.Field(), told["message"].(string)}, address)
		}
	}
}

const longAddress = "ana@0123456789012345678901234567890123456789012345678901234567890.0123456789012345678901234567890123456789012345678901234567890." +
	"0123456789012345678901234567890123456789012345678901234567890.0123456789012345678901234567890123456789012345678901234567890.example.com"
