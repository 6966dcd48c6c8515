package app_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
	"marquee/modules/accounts"
	"marquee/testutil/apitest"
)

// TestSentencesOfTheAPI: a refusal names what it is about, whoever found it: the schema, a
// collection, the handler or the database.
func TestSentencesOfTheAPI(t *testing.T) {
	t.Parallel()
	a := platformtest.New(t)
	nobody := a.Guest
	rootID, root := a.NewAdmin(platformtest.Named("root"), func(n *accounts.NewUser) { n.Root = true })
	c, customer := a.NewCustomer(platformtest.Named("ana"), func(n *accounts.NewUser) { n.FullName = "Ana Souza" })
	root.Post("/tags", `[{"name":"War","slug":"war"}]`).Expect(http.StatusOK)
	event := a.Insert(`INSERT INTO tickets.events (title, event_date, capacity, ticket_value_cents, is_sale_box_office) VALUES ('Premiere', now() + interval '30 days', 10, 5000, true)`).String()
	unknown := "66f0a1b2c3d4e5f607182a01"
	buyer := `{"event_id":"` + event +
		`","quantity":1,"buyer":{"full_name":"Ana","email":"ana@","tax_id":"52998224725","phone":"+5511987654321"}}`
	const notAnEmail = " has to be an e-mail address"

	for _, x := range []struct {
		by                 *apitest.Client
		method, path, body string
		status             int
		field, sentence    string
	}{
		{
			by: root, method: "POST", path: "/tags", body: `[{"name":"War","slug":"war"}]`, status: 409, field: "slug",
			sentence: "slug is already taken",
		},
		{
			by: root, method: "POST", path: "/tags",
			body:   `[{"name":"Love","slug":"love"},{"name":"War","slug":"war"}]`,
			status: 409, field: "slug", sentence: "slug is already taken (index 1 of the body)",
		},
		{
			by: root, method: "POST", path: "/tags", body: `[{"slug":"love"}]`, status: 422, field: "name",
			sentence: "name is required",
		},
		{
			by: root, method: "POST", path: "/tags", body: `[{"name":" \t ","slug":"love"}]`, status: 422,
			field:    "name",
			sentence: "name has to be more than spaces",
		},
		{
			by: root, method: "POST", path: "/tags", body: `[{"name":"","slug":"love"}]`, status: 422, field: "name",
			sentence: "name has to have at least 1 character",
		},
		{
			by: root, method: "POST", path: "/tags", body: `[{"name":"Love","slug":"love","color":1}]`, status: 422,
			field: "color", sentence: "color is not a known field",
		},
		{
			by: root, method: "POST", path: "/tags", body: `{}`, status: 422, field: "body",
			sentence: "The body has to be an array of objects",
		},
		{
			by: root, method: "POST", path: "/tags", body: `[{"name":"Love","slug":"love"},7]`, status: 422,
			field: "body", sentence: "The value at index 1 of the body has to be an object",
		},
		{
			by: root, method: "PUT", path: "/tags", body: `[{"_id":"` + unknown + `"}]`, status: 404, field: "_id",
			sentence: "Tag not found.",
		},
		{
			by: root, method: "POST", path: "/videos",
			body:   `[{"title":"x","slug":"x","video_id":"https://a.example/v","duration":1,"release_date":"2026-01-02","category_id":[],"enable":true,"tags_id":["` + unknown + `","x"]}]`,
			status: 422, field: "tags_id[1]", sentence: "tags_id[1] has to be an id of 24 hexadecimal digits",
		},
		{
			by: root, method: "GET", path: "/tags?qty_docs_page=x", body: "", status: 422, field: "qty_docs_page",
			sentence: "qty_docs_page has to be a whole number",
		},
		{
			by: root, method: "GET", path: `/tags?query={"$or":[{},{"name":{"$in":"x"}}]}`, body: "", status: 422,
			field: "query", sentence: "query.$or[1].name.$in: needs an array",
		},
		{
			by: root, method: "GET", path: "/admin/finance/churn?months=99", body: "", status: 422, field: "months",
			sentence: "months has to be at most 24",
		},
		{
			by: root, method: "GET", path: "/admin/finance/churn?months=many", body: "", status: 422, field: "months",
			sentence: "months has to be a whole number",
		},
		{
			by: root, method: "POST", path: "/tickets/consume-qr/batch",
			body:   `{"scans":[{"qr_payload":"x","scanned_at":"2026-11-20T17:03:12Z"},{"qr_payload":"x","scanned_at":"soon"}]}`,
			status: 422, field: "scans[1].scanned_at",
			sentence: "scans[1].scanned_at has to be a date or a date-time such as 2026-11-20T17:03:12Z",
		},
		{
			by: root, method: "POST", path: "/tickets/consume-qr/batch",
			body:   `{"scans":[{"qr_payload":"x","scanned_at":"2026-11-20T17:03:12Z"},{"qr_payload":"x","scanned_at":"2026-02-31"}]}`,
			status: 422, field: "scans[1].scanned_at",
			sentence: "scans[1].scanned_at has to be a date or a date-time such as 2026-11-20T17:03:12Z",
		},
		{
			by: root, method: "POST", path: "/subscriptions/" + unknown + "/chargeback", body: `{"reason":"         "}`,
			status: 422, field: "reason", sentence: "reason has to be more than spaces",
		},
		{
			by: root, method: "DELETE", path: "/users?_id=" + rootID.ID.String(), body: "", status: 409, field: "",
			sentence: "You cannot delete your own account.",
		},
		{
			by: nobody, method: "GET", path: "/customers/check-availability", body: "", status: 400, field: "email",
			sentence: "email or tax_id is required, or both.",
		},
		{
			by: nobody, method: "GET", path: "/customers/check-availability?email=ana@", body: "", status: 422,
			field: "email", sentence: "email" + notAnEmail,
		},
		{
			by: nobody, method: "POST", path: "/auth/forgot-password", body: `{"email":"a"}`, status: 422,
			field: "email", sentence: "email" + notAnEmail,
		},
		{
			by: nobody, method: "POST", path: "/auth/resend-verification", body: `{"email":"  "}`, status: 422,
			field: "email", sentence: "email" + notAnEmail,
		},
		{
			by: nobody, method: "POST", path: "/auth/reset-password",
			body: `{"email":"ana","code":"123456","new_password":"a long password"}`, status: 422, field: "email",
			sentence: "email" + notAnEmail,
		},
		{
			by: nobody, method: "POST", path: "/store/purchase/checkout/gwa/pix", body: buyer, status: 422,
			field: "buyer.email", sentence: "buyer.email" + notAnEmail,
		},
		{
			by: root, method: "PUT", path: "/customers", body: `[{"_id":"` + c.ID.String() + `","email":"x"}]`,
			status: 422, field: "email", sentence: "email" + notAnEmail,
		},
		{
			by: root, method: "PUT", path: "/customers",
			body: `[{"_id":"` + c.ID.String() + `","email":"` + longAddress + `"}]`, status: 422, field: "email",
			sentence: "email" + notAnEmail,
		},
		{
			by: customer, method: "POST", path: "/customers/me/change-email", body: `{"new_email":"ana@home"}`,
			status: 422, field: "new_email", sentence: "new_email" + notAnEmail,
		},
		{
			by: customer, method: "POST", path: "/gwb/subscribe",
			body: `{"plan_id":"   ","payment_method_id":"pm_card_visa"}`, status: 422, field: "plan_id",
			sentence: "plan_id has to be more than spaces",
		},
		{
			by: customer, method: "POST", path: "/gwb/subscribe", body: `{"plan_id":"plus","payment_method_id":"   "}`,
			status: 400, field: "payment_method_id", sentence: "payment_method_id is required.",
		},
		{
			by: customer, method: "POST", path: "/gwa/subscribe",
			body: `{"plan_id":"plus","promo_code":" ","credit_card":{"holderName":" "}}`, status: 400,
			field: "credit_card.holderName", sentence: "credit_card.holderName is required.",
		},
		{
			by: customer, method: "POST", path: "/gwa/subscribe/pix", body: `{"plan_id":"nothing","promo_code":"  "}`,
			status: 404, field: "", sentence: "Plan not found.",
		},
		{
			by: root, method: "GET", path: "/admin/finance/export?format=pdf", body: "", status: 422, field: "format",
			sentence: "format has to be xlsx, csv or json",
		},
		{
			by: root, method: "PUT", path: "/admin/config/payment-gateway", body: `{"gateway":"gwc"}`, status: 422,
			field: "gateway", sentence: "gateway has to be gwa or gwb",
		},
		{
			by: root, method: "PUT", path: "/subscriptions", body: `[{"_id":"` + unknown + `","status":"gone"}]`,
			status: 422, field: "status", sentence: "status has to be active, pending, suspended, cancelled or expired",
		},
		{
			by: customer, method: "DELETE", path: "/customers/me/subscription?at=once", body: "", status: 422,
			field: "at", sentence: "at has to be period_end",
		},
	} {
		res := x.by.Do(x.method, x.path, x.body)
		if x.body == "" {
			res = x.by.Do(x.method, x.path, nil)
		}
		what := x.method + " " + x.path + " " + x.body
		require.Equal(t, x.status, res.Status, "%s: %s", what, res.Body)
		problem, _ := res.Map()["error"].(map[string]any)
		require.Equal(t, x.sentence, problem["message"], what)
		require.Equal(t, x.field, res.Field(), what)
		requireContract(t, what, res)
	}

	// An address is refused in one way, whatever route it comes by.
	for address, want := range map[string][2]string{
		`"Rua"`: {"address", "address has to be an object"},
		`{}`:    {"address.city", "address.city is required"},
		`{"street":"Rua A","number":"1","locality":"Centro","city":"   ","region_code":"PR","country":"BRA","postal_code":"80010000"}`: {
			"address.city", "address.city has to be more than spaces",
		},
		`{"street":"Rua A","number":"1","locality":"Centro","city":"Curitiba","region_code":"PR","country":"BRA","postal_code":"80010000","planet":1}`: {
			"address.planet", "address.planet is not a known field",
		},
	} {
		for _, res := range []*apitest.Response{
			nobody.Post("/customers/signup",
				`[{"username":"bia","email":"bia@example.com","password":"a long password","full_name":"Bia Lima","phone":"+5511987654321",
				"tax_id":"52998224725","address":`+address+`}]`),
			customer.Put("/customers/me", `[{"address":`+address+`}]`),
			root.Put("/customers", `[{"_id":"`+c.ID.String()+`","address":`+address+`}]`),
		} {
			require.Equal(t, http.StatusUnprocessableEntity, res.Status, "%s: %s", address, res.Body)
			problem, _ := res.Map()["error"].(map[string]any)
			require.Equal(t, want, [2]string{res.Field(), problem["message"].(string)}, address)
		}
	}
}

const longAddress = "ana@0123456789012345678901234567890123456789012345678901234567890.0123456789012345678901234567890123456789012345678901234567890." +
	"0123456789012345678901234567890123456789012345678901234567890.0123456789012345678901234567890123456789012345678901234567890.example.com"
