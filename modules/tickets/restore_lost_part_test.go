package tickets_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox"
)

// TestAPartOfAnOrderThatARestoreLostIsListed: one of two tickets was refunded after the dump.
// The gateway does not tell which, so that people decide; all of it voids both.
func TestAPartOfAnOrderThatARestoreLostIsListed(t *testing.T) {
	t.Parallel()
	for name, buy := range map[string]func(b *bundle) object{
		"gwa card": func(b *bundle) object {
			return b.me.Post("/store/purchase/gwa/card", cardA(b.event(nil), 2, paymentstest.CardApproved)).Expect(200).
				Map()
		},
		"gwb pix": func(b *bundle) object {
			m := b.me.Post("/store/purchase/gwb/pix", pix(b.event(nil), 2)).Expect(200).Map()
			require.NoError(b.t, b.gateways.Sandbox.GWB.PayPIX(order(m)["gateway_payment_id"].(string)))
			b.settle()
			return m
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.listen()
			m := buy(b)
			id, payment := order(m)["_id"].(string), order(m)["gateway_payment_id"].(string)
			b.settle()
			b.gateways.Sandbox.GWA.SetBalance(10_000_000)
			b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{})
			refund := func(ticket objectid.ID) {
				t.Helper()
				_, status := b.orderRow(id)
				b.admin.Post("/admin/ticket-orders/"+id+"/refund", object{
					"reason":     "cannot come",
					"ticket_ids": []objectid.ID{ticket},
				}).Expect(200)
				require.Equal(t, "expired", b.ticketStatus(ticket))
				_, err := b.db.Exec(t.Context(),
					strings.NewReplacer("TICKET", ticket.String(), "STATUS", status).
						Replace(`SET session_replication_role = replica;
					DELETE FROM payments.intent_steps WHERE intent_id IN (SELECT id FROM payments.intents WHERE kind = 'refund'); DELETE FROM payments.intents WHERE kind = 'refund';
					DELETE FROM payments.refunds; DELETE FROM payments.refund_transitions; DELETE FROM payments.refund_reports; DELETE FROM payments.processed_events; DELETE FROM payments.webhook_logs;
					DELETE FROM tickets.transitions WHERE ticket_id = 'TICKET' AND to_status = 'expired';
					UPDATE tickets.tickets SET status = 'available', refund_id = NULL, refund_asked_at = NULL, refunded_at = NULL, holds_place = true WHERE id = 'TICKET';
					DELETE FROM tickets.order_transitions WHERE to_state = 'refunded';
					UPDATE tickets.orders SET state = 'paid', payment_status = 'STATUS';
					UPDATE tickets.events SET tickets_issued = (SELECT count(*) FROM tickets.tickets WHERE holds_place);
					SET session_replication_role = DEFAULT`))
				require.NoError(t, err)
			}
			refund(ticketsOf(m)[0])
			list := func() object {
				t.Helper()
				docs := b.admin.Get("/admin/finance/unapplied-payments").Expect(200).Map()["docs"].([]any)
				require.Len(t, docs, 1)
				return docs[0].(object)
			}
			b.reconcile(true)
			require.Zero(t, b.count("SELECT count(*) FROM payments.unapplied_payments"))
			found := b.reconcile(false)
			matches := slices.ContainsFunc(found.Findings, func(f payments.Finding) bool {
				return f.Verdict == payments.Repaired && strings.Contains(f.Detail, "list of unapplied payments")
			})
			require.True(t, matches, "%+v", found.Findings)
			row := list()
			require.Equal(t, []any{
				"unknown", "open", 12050.0, id, payment,
			}, []any{row["kind"], row["state"], row["amount"], row["order_id"], row["gateway_payment_id"]})
			require.Contains(t, row["note"], "R$ 120.50 of R$ 241.00")
			require.Contains(t, row["note"], "cannot come")
			for _, ticket := range ticketsOf(m) {
				require.Equal(t, "available", b.ticketStatus(ticket), "which is meant is not known")
			}
			path := "/admin/finance/unapplied-payments/" + row["_id"].(string)
			b.admin.Post(path+"/refund", nil).Expect(409)
			b.reconcile(false)
			require.Equal(t, "open", list()["state"])
			b.admin.Put("/tickets", []object{{"_id": ticketsOf(m)[0], "status": "expired"}}).Expect(200)
			b.admin.Post(path+"/keep", object{"reason": "it was the first of them"}).Expect(200)

			refund(ticketsOf(m)[1])
			b.reconcile(false)
			state, _ := b.orderRow(id)
			require.Equal(t, "refunded", state)
			require.Equal(t, "refunded", list()["state"], "nothing is left of it")
			for _, ticket := range ticketsOf(m) {
				require.Equal(t, "expired", b.ticketStatus(ticket))
			}
			require.NoError(t, b.payments.Comparison().AcceptDatabase(t.Context()))
		})
	}
}
