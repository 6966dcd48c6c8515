package finance_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSharesOfOrdersAreWithoutWhatWentBack: a part refunded leaves each of the three maps, and a
// called off event leaves revenue and paid orders, with what is kept of it beside it.
func TestSharesOfOrdersAreWithoutWhatWentBack(t *testing.T) {
	t.Parallel()
	b := goldenAPI(t)
	amounts := func() (total float64, shares []float64) {
		m := b.get("/admin/events-dashboard/orders")
		for _, by := range []string{"by_status", "by_gateway", "by_payment_method"} {
			sum := 0.0
			for _, share := range m[by].(doc) {
				sum += share.(doc)["total_amount"].(float64)
			}
			shares = append(shares, sum)
		}
		return m["total_revenue"].(float64), shares
	}
	total, shares := amounts()
	var order, event string // the first paid one, and its event
	var cents float64
	require.NoError(t,
		b.db.QueryRow(t.Context(),
			`WITH one AS (SELECT o.* FROM tickets.orders o JOIN finance.orders f ON f.order_id = o.id WHERE f.is_paid AND f.revenue_cents > 1000 AND o.gateway_payment_id IS NOT NULL ORDER BY o.id LIMIT 1), refund AS (
			INSERT INTO payments.refunds (gateway, payment_ref, purpose, local_id, customer_id, amount_cents, status, source, event_id, event_type, requested_at, refunded_at, created_at, updated_at)
			SELECT gateway, gateway_payment_id, 'order', id, customer_id, 1000, 'done', 'admin', 'REFUND-X', 'REFUND', now(), now(), now(), now() FROM one)
		SELECT id, event_id FROM one`).Scan(&order, &event))
	after, left := amounts()
	require.InDelta(t, total-10, after, 0.001)
	for i := range shares {
		require.InDelta(t, shares[i]-10, left[i], 0.001)
	}
	require.NoError(t, b.db.QueryRow(t.Context(), `SELECT sum(revenue_cents) FROM finance.orders WHERE event_id = $1`,
		event).Scan(&cents))
	_, err := b.db.Exec(t.Context(), `UPDATE tickets.events SET cancelled_at = now(), is_active = false WHERE id = $1`,
		event)
	require.NoError(t, err)
	off, _ := amounts()
	require.InDelta(t, after-cents/100, off, 0.001)
	m := b.get("/admin/events-dashboard/events/" + event)
	require.Equal(t, []any{
		0.0, cents / 100, 0.0, 0.0,
	}, []any{m["revenue"], m["kept"], m["tickets_sold"], m["occupancy_pct"]})
	require.NotEmpty(t, m["cancelled_at"])
}
