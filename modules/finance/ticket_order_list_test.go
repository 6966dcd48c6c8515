package finance_test

import (
	"net/http"
	"net/url"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/objectid"
)

// TestTicketOrdersAreAList: of one event or of all, filtered, sorted and paged, with what was given back of each.
func TestTicketOrdersAreAList(t *testing.T) {
	t.Parallel()
	b := setupAt(t, at("2026-06-15T12:00:00Z"))
	event, other := objectid.New(), objectid.New()
	b.exec(`INSERT INTO tickets.customers (id, name, email) VALUES ($1, 'Ana', 'ana@example.com')`, customerID)
	for id, title := range map[objectid.ID]string{event: "Limite", other: "Ganga Bruta"} {
		b.exec(`INSERT INTO tickets.events (id, title, event_date, location) VALUES ($1, $2, '2026-07-01T20:00:00Z', 'Cine Ipiranga')`, id, title)
	}
	for n := 1; n <= 5; n++ {
		of := event
		if n == 5 {
			of = other
		}
		b.exec(`INSERT INTO tickets.orders (id, customer_id, event_id, quantity, unit_price_cents, total_cents, gateway, payment_method,
				gateway_payment_id, payment_status, state, intent_open, paid_at, created_at, updated_at)
			VALUES ($1, $2, $3, $4, 4050, 4050 * $4, 'gwa', 'pix', 'pay_' || $4, 'RECEIVED', 'paid', false, '2026-06-02', timestamptz '2026-06-01' + make_interval(days => $4), '2026-06-01')`,
			objectid.New(), customerID, of, n)
	}
	b.exec(`INSERT INTO payments.refunds (gateway, payment_ref, purpose, local_id, customer_id, amount_cents, status, source, event_id, event_type, requested_at, refunded_at, created_at, updated_at)
		SELECT 'gwa', o.gateway_payment_id, 'order', o.id, o.customer_id, r.cents, r.status, 'admin', 'REFUND-' || r.cents, 'refund', now(), CASE r.status WHEN 'done' THEN now() END, now(), now()
		FROM tickets.orders o CROSS JOIN (VALUES (1025, 'done'), (1000, 'done'), (1, 'failed')) r (cents, status) WHERE o.quantity = 2`)

	const list = "/admin/ticket-orders"
	read := func(query, sort string, page int) doc {
		return b.get(list + "?" + url.Values{
			"query": {query}, "sort": {sort}, "qty_docs_page": {"3"}, "current_page": {strconv.Itoa(page)},
		}.Encode())
	}
	quantities := func(query, sort string, page int) (all []any) {
		for _, one := range read(query, sort, page)["docs"].([]any) {
			all = append(all, one.(doc)["quantity"])
		}
		return all
	}
	of := `{"event_id":"` + event.String() + `"}`
	require.Equal(t, []any{5.0, 4.0, 3.0}, quantities("", "", 0), "the newest first")
	require.Equal(t, []any{4.0, 3.0, 2.0}, quantities(of, "", 0))
	require.Equal(t, []any{1.0}, quantities(of, "", 1))
	require.Equal(t, []any{1.0, 2.0, 3.0}, quantities(of, `{"total":1}`, 0))
	require.Equal(t, []any{2.0}, quantities(`{"refunded":{"$gte":20.25}}`, "", 0))
	require.Equal(t, []any{5.0}, quantities(`{"event_title":{"$regex":"^ganga","$options":"i"}}`, "", 0))
	require.Equal(t, 4.0, read(of, "", 0)["pagination"].(doc)["qty_total_docs"])
	one := read(`{"quantity":2}`, "", 0)["docs"].([]any)[0].(doc)
	require.Equal(t, []any{"Limite", "Ana", "ana@example.com", 40.5, 81.0, 20.25, "paid", "RECEIVED", "pix", nil}, []any{
		one["event_title"], one["customer_name"], one["customer_email"], one["unit_price"], one["total"], one["refunded"],
		one["state"], one["payment_status"], one["payment_method"], one["sold_by"],
	})
	res := b.admin.Get(list + "?" + url.Values{"sort": {`{"total":2}`}}.Encode())
	require.Equal(t, http.StatusUnprocessableEntity, res.Status)
	require.Equal(t, "sort", res.Field())
	b.nobody.Get(list).Expect(http.StatusUnauthorized)
}
