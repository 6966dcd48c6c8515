package tickets_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/modules/tickets"
)

// history are the moves of an order in their order, each with its reason.
func (b *bundle) history(id any) []string {
	b.t.Helper()
	rows, err := b.db.Query(b.t.Context(), `SELECT concat(from_state, '>', to_state, ' ', reason)
		FROM tickets.order_transitions WHERE order_id = $1 ORDER BY id`, id)
	require.NoError(b.t, err)
	moves, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(b.t, err)
	return moves
}

// TestTheHistoryOfAnOrderSaysWhy: what an order goes through, without a gateway's events, which would say the same.
func TestTheHistoryOfAnOrderSaysWhy(t *testing.T) {
	t.Parallel()
	for _, gw := range []string{"gwa", "gwb"} {
		t.Run(gw, func(t *testing.T) {
			t.Parallel()
			b := setup(t, func(c *tickets.Config) { c.WithdrawalDays, c.WithdrawalBefore = 7, 48*time.Hour })
			b.gateways.Sandbox.GWA.SetBalance(100_000_000)
			event, free := b.event(nil), b.event(object{"ticket_value": nil})
			buy := func(of string, body object) any {
				return order(b.me.Post("/store/purchase/"+gw+"/"+of, body).Expect(200).Map())["_id"]
			}
			card, declined := cardA(event, 1, paymentstest.CardApproved), cardA(event, 1, paymentstest.CardDeclined)
			if gw == "gwb" {
				card, declined = cardB(event, 1, paymentstest.TokenApproved), cardB(event, 1, paymentstest.TokenDeclined)
			}
			withdraw := func(id any) { b.me.Post("/me/ticket-orders/"+id.(string)+"/withdraw", nil).Expect(200) }
			cancel := func(id any) {
				b.admin.Post("/admin/ticket-orders/"+id.(string)+"/cancel", object{"reason": "as agreed"}).Expect(200)
			}

			paid, unpaid, left := buy("card", card), buy("pix", pix(event, 1)), buy("pix", pix(event, 1))
			require.Equal(t, []string{">reserved purchased", "reserved>paid paid"}, b.history(paid))
			b.me.Post("/store/purchase/"+gw+"/card", declined).Expect(400)
			require.Equal(t, 1, b.count("SELECT count(*) FROM tickets.order_transitions WHERE reason = 'declined' AND from_state = 'reserved' AND to_state = 'released'"))
			withdraw(paid)
			require.Equal(t, []string{">reserved purchased", "reserved>paid paid", "paid>refunded refunded"}, b.history(paid))
			withdraw(left)
			require.Equal(t, []string{">reserved purchased", "reserved>released withdrawn"}, b.history(left))
			cancelled := buy("pix", pix(event, 1))
			cancel(cancelled)
			require.Equal(t, []string{">reserved purchased", "reserved>released cancelled"}, b.history(cancelled))
			b.clock.Advance(31 * time.Minute)
			b.sweep()
			require.Equal(t, []string{">reserved purchased", "reserved>released not_paid"}, b.history(unpaid))

			given, called := buy("pix", pix(free, 1)), buy("pix", pix(free, 1))
			withdraw(given)
			require.Equal(t, []string{">paid free", "paid>refunded withdrawn"}, b.history(given))
			cancel(called)
			require.Equal(t, []string{">paid free", "paid>refunded cancelled"}, b.history(called))
			sale := saleID(sell(b, event, 1, "cash"))
			b.admin.Post("/events/"+event.String()+"/box-office-sales/"+sale+"/refund", object{"reason": "as agreed"}).Expect(200)
			require.Equal(t, []string{">paid box_office", "paid>refunded handed_back"}, b.history(sale))

			gone := buy("pix", pix(event, 1))
			require.NoError(t, b.service.StopBilling(t.Context(), b.customer.ID))
			require.Equal(t, []string{">reserved purchased", "reserved>released customer_deleted"}, b.history(gone))
		})
	}
}

// TestAnOrderMovedPastItsHistoryIsRecorded: at psql, or by the release before. Nobody changes what is recorded.
func TestAnOrderMovedPastItsHistoryIsRecorded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	m := b.me.Post("/store/purchase/gwa/pix", pix(b.event(nil), 1)).Expect(200).Map()
	release(b, m)
	id := order(m)["_id"]
	require.Equal(t, []string{">reserved purchased", "reserved>released not_recorded"}, b.history(id))
	for _, change := range []string{"UPDATE tickets.order_transitions SET reason = 'x'", "DELETE FROM tickets.order_transitions"} {
		_, err := b.db.Exec(t.Context(), change)
		require.ErrorContains(t, err, "tickets.order_transitions is append-only")
	}
}
