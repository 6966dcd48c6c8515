package app_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
)

// traces are the texts by which the customer of these tests would be known.
var traces = []string{
	"zacharias", "Quilombo", "+5541977776666", "39053344705", "Rua das Araucarias", "80010000", "80.010",
	"My secret film",
}

// patron is a customer who has left something in every module.
type patron struct {
	id           objectid.ID
	client       *apitest.Client
	subscription string
	order        string
	avatar       string
	file         string
}

func (o *office) patron() patron {
	t := o.t
	c, client := o.NewCustomer(func(n *accounts.NewUser) {
		n.Username, n.Email, n.FullName, n.Phone, n.TaxID = "zacharias", "zacharias@example.com", "Zacharias Quilombo",
			"+5541977776666", "39053344705"
	})
	p := patron{id: c.ID, client: client}
	p.client.Put("/customers/me", []obj{{"my_list": []string{"My secret film"}, "address": obj{
		"street": "Rua das Araucarias", "number": "12", "locality": "Centro", "city": "Curitiba", "region_code": "PR",
		"country": "BRA", "postal_code": "80010000",
	}}}).Expect(http.StatusOK)
	admin := o.root
	o.root = p.client
	p.avatar = o.send("/me/avatar").Map()["avatar_id"].(string)
	o.root = admin
	p.file = o.send("/upload-file/archive-records/" + c.ID.String()).Map()["file_id"].(string)
	p.subscription = idIn(p.client.Post("/gwb/subscribe", obj{
		"plan_id": "fixture-plan", "payment_method_id": paymentstest.TokenApproved,
	}).Expect(http.StatusCreated))
	event := o.post("/events", "", obj{
		"title": "Premiere", "event_date": "2099-01-01T20:00:00Z", "ticket_value": 50, "is_sale_box_office": true,
	}).record
	p.order = p.client.Post("/store/purchase/gwa/card", obj{
		"event_id": event, "quantity": 2,
		"credit_card": obj{
			"holderName": "ZACHARIAS QUILOMBO", "number": paymentstest.CardApproved, "expiryMonth": "05",
			"expiryYear": "2099", "ccv": "318",
		},
		"credit_card_holder_info": obj{
			"name": "Zacharias Quilombo", "email": "zacharias@example.com", "cpfCnpj": "39053344705",
			"postalCode": "80010000", "addressNumber": "12", "phone": "41977776666",
		},
	}).Expect(http.StatusOK).Map()["order"].(obj)["_id"].(string)
	p.client.Post("/store/purchase/gwb/pix", obj{"event_id": event, "quantity": 1}).Expect(http.StatusOK)
	require.NoError(t, o.Gateways.Sandbox.GWA.Advance(time.Minute))
	o.Settle()
	tickets := p.client.Get("/me/tickets").Expect(http.StatusOK).Map()["docs"].([]any)
	require.Len(t, tickets, 3)
	for _, ticket := range tickets { // one is used, so that something has to stay
		if ticket.(obj)["status"] == "available" {
			p.client.Put("/tickets/"+ticket.(obj)["_id"].(string)+"/consume", nil).Expect(http.StatusOK)
			break
		}
	}
	code := o.root.Post("/admin/promo-codes", []obj{{
		"title": "Guests", "code_type": "ticket", "event_id": event, "code": "GUESTS",
	}}).Expect(http.StatusOK)
	p.client.Put("/customers/me/redeem-promo-code?code=GUESTS", nil).Expect(http.StatusOK)
	require.NotEmpty(t, idIn(code))
	p.client.Put("/me/watch-history", obj{"video_id": o.video(), "timeline": 12.5}).Expect(http.StatusOK)
	o.root.Post("/subscriptions/"+p.subscription+"/refund", obj{"reason": "as agreed"}).Expect(http.StatusOK)
	o.put("/customers", "", c.ID.String(), "full_name", "Zacharias B. Quilombo").response.Expect(http.StatusOK)
	p.client.Post("/customers/me/change-email", obj{"new_email": "zacharias2@example.com"}).Expect(http.StatusOK)
	o.Settle()
	return p
}

// known are the rows, of whatever table, in which a trace of the customer stands.
func (o *office) known() []string {
	found, err := o.DB.Query(o.t.Context(), `SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
		WHERE schemaname NOT IN ('pg_catalog', 'information_schema', 'public') ORDER BY 1`)
	require.NoError(o.t, err)
	tables, err := pgx.CollectRows(found, pgx.RowTo[string])
	require.NoError(o.t, err)
	marks := strings.NewReplacer("+", `\+`, ".", `\.`).Replace(strings.Join(traces, "|"))
	var all []string
	for _, table := range tables {
		rows, err := o.DB.Query(o.t.Context(),
			`SELECT $2 || ' ' || to_jsonb(t)::text FROM `+table+` t WHERE to_jsonb(t)::text ~* $1`, marks, table)
		require.NoError(o.t, err)
		texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(o.t, err)
		all = append(all, texts...)
	}
	return all
}

// TestADeletedCustomerIsKnownNowhere: after the deletion no row of any table names
// them, while the record of their money stays.
func TestADeletedCustomerIsKnownNowhere(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	p := o.patron()
	tables := map[string]bool{}
	for _, row := range o.known() {
		table, _, _ := strings.Cut(row, " ")
		tables[table] = true
	}
	for _, table := range []string{
		"accounts.users", "accounts.codes", "accounts.audit_log", "tickets.customers", "payments.webhook_logs",
	} {
		require.True(t, tables[table], "%s in %v", table, tables)
	}

	p.client.Delete("/customers/me", nil).Expect(http.StatusOK)
	o.Work()
	require.Eventually(t, func() bool {
		return o.Count(`SELECT count(*) FROM accounts.deletions WHERE customer_id = $1 AND erased_at IS NOT NULL`,
			p.id) == 1
	}, time.Minute, 50*time.Millisecond)
	o.Settle()
	o.Exec(`UPDATE jobs.river_job SET scheduled_at = now() WHERE kind = 'payments_forget_person' AND state = 'scheduled'`)
	require.Eventually(t, func() bool {
		return o.Count(`SELECT count(*) FROM jobs.river_job WHERE kind = 'payments_forget_person' AND state <> 'completed'`) == 0
	}, time.Minute, 50*time.Millisecond)
	require.Empty(t, o.known())

	for sql, want := range map[string]int{
		`SELECT count(*) FROM accounts.users WHERE id = $1 AND deleted_at IS NOT NULL`:                     1,
		`SELECT count(*) FROM files.files WHERE owner_id = $1`:                                             0,
		`SELECT count(*) FROM catalog.watch_history WHERE user_id = $1`:                                    0,
		`SELECT count(*) FROM catalog.plays WHERE user_id = $1`:                                            0,
		`SELECT count(*) FROM tickets.tickets WHERE customer_id = $1 AND status <> 'consumed'`:             0,
		`SELECT count(*) FROM tickets.tickets WHERE customer_id = $1`:                                      1,
		`SELECT count(*) FROM subscriptions.subscriptions WHERE customer_id = $1 AND status = 'cancelled'`: 1,
		`SELECT count(*) FROM payments.payments WHERE customer_id = $1`:                                    2,
		`SELECT count(*) FROM payments.refunds WHERE customer_id = $1`:                                     1,
		`SELECT count(*) FROM promos.redemptions WHERE customer_id = $1`:                                   1,
		`SELECT count(*) FROM tickets.orders WHERE customer_id = $1 AND state = 'paid'`:                    1,
		`SELECT count(*) FROM tickets.orders WHERE customer_id = $1 AND coalesce(pix_payload, '') <> ''`:   0,
	} {
		require.Equal(t, want, o.Count(sql, p.id), sql)
	}
	o.Guest.Get("/avatars/" + p.avatar).Expect(http.StatusNotFound)
	o.root.Get("/archive-records/" + p.file).Expect(http.StatusNotFound)
}

// TestCustomersHearAllThatIsHeld: every part of GET /customers/me/data holds what
// they left there.
func TestCustomersHearAllThatIsHeld(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	p := o.patron()
	data := p.client.Get("/customers/me/data").Expect(http.StatusOK).Map()
	require.Equal(t, "zacharias@example.com", data["customer"].(obj)["email"])
	require.Equal(t, "Rua das Araucarias", data["customer"].(obj)["address"].(obj)["street"])
	require.Equal(t, []any{"My secret film"}, data["customer"].(obj)["my_list"])
	require.Len(t, data["files"], 2)
	require.Equal(t, p.subscription, data["subscriptions"].([]any)[0].(obj)["_id"])
	require.NotEmpty(t, data["subscriptions"].([]any)[0].(obj)["history"])
	require.Len(t, data["tickets"].(obj)["tickets"], 4)
	require.Len(t, data["tickets"].(obj)["orders"], 2)
	require.Equal(t, "GUESTS", data["promo_codes"].([]any)[0].(obj)["code"])
	require.Len(t, data["watch_history"], 1)
	require.Len(t, data["payments"].(obj)["settled"], 2)
	require.Len(t, data["payments"].(obj)["refunds"], 1)
	require.Empty(t, data["payments"].(obj)["disputes"])

	// What a guest bought under an address stays hidden until it is verified.
	o.Exec(`UPDATE accounts.users SET email_verified = false, email_verified_at = NULL WHERE id = $1`, p.id)
	o.Exec(`UPDATE tickets.orders SET without_login = true WHERE customer_id = $1`, p.id)
	o.Exec(`UPDATE tickets.tickets SET without_login = true WHERE customer_id = $1 AND order_id IS NOT NULL`, p.id)
	data = p.client.Get("/customers/me/data").Expect(http.StatusOK).Map()
	require.Len(t, data["tickets"].(obj)["tickets"], 1, "the one of the promo code")
	require.Empty(t, data["tickets"].(obj)["orders"])
	require.Len(t, data["payments"].(obj)["settled"], 1, "the subscription's")
}

// TestADeletedAdminLeavesNothingBehind: what belongs to the person goes with them.
func TestADeletedAdminLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	u := o.admin()
	client := o.As(u.Username)
	client.Put("/me/watch-history", obj{"video_id": o.video(), "timeline": 3}).Expect(http.StatusOK)
	root := o.root
	o.root = client
	avatar := o.send("/me/avatar").Map()["avatar_id"].(string)
	o.root = root
	o.remove("/users", "", u.ID.String()).response.Expect(http.StatusOK)
	require.Zero(t, o.Count(`SELECT count(*) FROM catalog.watch_history WHERE user_id = $1`, u.ID))
	require.Zero(t, o.Count(`SELECT count(*) FROM files.files WHERE owner_id = $1`, u.ID))
	o.Guest.Get("/avatars/" + avatar).Expect(http.StatusNotFound)
	require.Equal(t, 1,
		o.Count(`SELECT count(*) FROM accounts.users WHERE id = $1 AND username = '' AND email = '' AND name IS NULL`,
			u.ID))
}
