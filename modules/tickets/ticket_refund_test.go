package tickets_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments"
	"marquee/modules/payments/paymentstest"
	"marquee/modules/tickets/refunds"
	"marquee/platform/fault"
	"marquee/platform/objectid"
	gwastage "marquee/testutil/sandbox/gwa/account"
	"marquee/testutil/sandbox/stage"
)

func giveBackTickets(b *bundle, q refunds.TicketRefund) (payments.RefundOutcome, error) {
	q.Reason = "They ask for it"
	return b.service.Refunds().RefundTickets(b.t.Context(), q)
}

// requireRefused asserts that a refund is refused with a code, and nothing is waited for.
func requireRefused(b *bundle, code string, q refunds.TicketRefund) {
	b.t.Helper()
	_, err := giveBackTickets(b, q)
	var f *fault.Error
	require.ErrorAs(b.t, err, &f)
	require.Equal(b.t, code, f.Code)
	require.Zero(b.t,
		b.count("SELECT count(*) FROM tickets.tickets WHERE refund_id IS NOT NULL AND refunded_at IS NULL"))
}

// TestSharesOfAnOrderAreGivenBack: some tickets, then the rest, then the used one; each
// share once, and none where the gateway refuses.
func TestSharesOfAnOrderAreGivenBack(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, b *bundle, gateway string) {
		b.listen()
		b.gateways.Sandbox.GWA.SetBalance(10_000_000)
		event := b.event(object{"capacity": 4})
		body := map[string]object{
			"gwa": cardA(event, 4, paymentstest.CardApproved), "gwb": cardB(event, 4, paymentstest.TokenApproved),
		}[gateway]
		m := b.me.Post("/store/purchase/"+gateway+"/card", body).Expect(200).Map()
		id, all := objectid.ID(order(m)["_id"].(string)), ticketsOf(m)
		b.admin.Put("/tickets/"+all[0].String()+"/consume", nil).Expect(200)

		requireRefused(b, "NOT_FOUND", refunds.TicketRefund{OrderID: objectid.New()})
		requireRefused(b, "NOT_FOUND", refunds.TicketRefund{OrderID: id, TicketIDs: []objectid.ID{objectid.New()}})
		requireRefused(b, "REFUND_NOT_ALLOWED", refunds.TicketRefund{OrderID: id, TicketIDs: all[:1]})
		suffix, refusal := "/refund", `{"errors":[{"code":"invalid_action","description":"No."}]}`
		faults := b.gateways.Sandbox.GWA.Stage().Faults
		if gateway == "gwb" {
			faults, suffix, refusal = b.gateways.Sandbox.GWB.Stage().Faults, "/refunds",
				`{"error":{"type":"invalid_request_error","code":"charge_already_refunded","message":"No."}}`
		}
		require.NoError(t, faults.Plan(stage.Fault{
			Method: "POST", Suffix: suffix, Kind: stage.FaultStatus, Status: 400, Body: refusal,
		}))
		requireRefused(b, "REFUND_FAILED", refunds.TicketRefund{OrderID: id, TicketIDs: all[1:2]})
		b.code(all[1])

		out, err := giveBackTickets(b, refunds.TicketRefund{OrderID: id, TicketIDs: all[1:2]})
		require.NoError(t, err)
		require.EqualValues(t, 12050, out.Refund.Amount)
		b.settle()
		require.Equal(t, "expired", b.ticketStatus(all[1]))
		b.me.Get("/me/tickets/" + all[1].String() + "/qr").Expect(409)
		require.Equal(t, 3, b.issued(event))
		state, status := b.orderRow(id.String())
		require.Equal(t, "paid", state)
		require.Equal(t, order(m)["payment_status"], status)
		requireRefused(b, "REFUND_NOT_ALLOWED", refunds.TicketRefund{OrderID: id, TicketIDs: all[1:2]})

		out, err = giveBackTickets(b, refunds.TicketRefund{OrderID: id})
		require.NoError(t, err)
		require.EqualValues(t, 24100, out.Refund.Amount, "the used one is not meant")
		b.settle()
		require.Equal(t, 1, b.issued(event))
		requireRefused(b, "REFUND_NOT_ALLOWED", refunds.TicketRefund{OrderID: id})
		_, err = giveBackTickets(b, refunds.TicketRefund{OrderID: id, Consumed: true})
		require.NoError(t, err)
		b.settle()
		state, _ = b.orderRow(id.String())
		require.Equal(t, "refunded", state)
		require.Equal(t, "consumed", b.ticketStatus(all[0]), "it was used all the same")
		require.Equal(t, 48200, b.count("SELECT sum(amount_cents) FROM payments.refunds WHERE status = 'done'"))
		require.Equal(t, 4, b.count("SELECT count(*) FROM tickets.tickets WHERE refunded_at IS NOT NULL"))
	})
}

// TestATicketWaitsForItsRefund: while the gateway takes its time the ticket is blocked and
// keeps its place; denied, it is good again; done, it is void.
func TestATicketWaitsForItsRefund(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	gateway := b.gateways.Sandbox.GWA
	gateway.SetBalance(10_000_000)
	_, err := gateway.ChangeSettings(func(s *gwastage.Settings) { s.RefundsInProgress = true })
	require.NoError(t, err)
	event := b.event(nil)
	m := b.me.Post("/store/purchase/gwa/card", cardA(event, 2, paymentstest.CardApproved)).Expect(200).Map()
	id, payment, all := objectid.ID(order(m)["_id"].(string)), order(m)["gateway_payment_id"].(string), ticketsOf(m)
	code, requestedAt := b.code(all[0]), b.clock.Now()
	for _, denied := range []bool{true, false} {
		_, err := giveBackTickets(b, refunds.TicketRefund{OrderID: id, TicketIDs: all[:1]})
		require.NoError(t, err)
		b.settle()
		doc := docs(b.me.Get("/me/tickets?_id=" + all[0].String()).Expect(200))[0]
		require.Equal(t, []any{"available", "refund_requested"}, []any{doc["status"], doc["blocked"]})
		require.Equal(t, 2, b.issued(event))
		require.Contains(t, b.me.Put("/tickets/"+all[0].String()+"/consume", nil).Expect(409).Detail(),
			"refund_requested")
		b.clock.Advance(time.Hour)
		_, err = gateway.EndRefund(payment, denied)
		require.NoError(t, err)
		b.settle()
		if denied {
			b.code(all[0])
			b.clock.Advance(time.Hour)
		}
	}
	for instant, want := range map[time.Duration][]any{
		0:                            refusedAs("refund_requested", requestedAt),
		time.Hour - time.Millisecond: refusedAs("refund_requested", requestedAt), // the refund that was denied later
		time.Hour:                    {"expired", nil, nil},                      // it was good again
		2 * time.Hour:                refusedAs("refund_requested", requestedAt.Add(2*time.Hour)),
		3 * time.Hour:                refusedAs("refunded", requestedAt.Add(3*time.Hour)),
	} {
		require.Equal(t, want, reported(b.scanned(code, requestedAt.Add(instant))), instant)
	}
	require.Equal(t, "expired", b.ticketStatus(all[0]))
	require.Equal(t, 1, b.issued(event))
	b.code(all[1])
}

// TestASharesRefundThatFailsIsMadeAgain: it was believed done, so that the ticket is void and
// stays so; its job gives the share back once more, also when it runs twice.
func TestASharesRefundThatFailsIsMadeAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	b.work()
	event := b.event(nil)
	m := b.me.Post("/store/purchase/gwb/card", cardB(event, 2, paymentstest.TokenApproved)).Expect(200).Map()
	id, all := objectid.ID(order(m)["_id"].(string)), ticketsOf(m)
	_, err := giveBackTickets(b, refunds.TicketRefund{OrderID: id, TicketIDs: all[:1]})
	require.NoError(t, err)
	b.settle()
	refunds := func(status string) int {
		return b.count("SELECT count(*) FROM payments.refunds WHERE local_id = $1 AND amount_cents = 12050 AND status = $2", id, status)
	}
	require.Equal(t, 1, refunds("done"))
	var refund string
	require.NoError(t, b.db.QueryRow(t.Context(), "SELECT gateway_refund_id FROM payments.refunds").Scan(&refund))
	require.NoError(t, b.gateways.Sandbox.GWB.FinishRefund(refund, false))
	b.settle()
	b.eventually("the second refund", func() bool { return refunds("failed") == 1 && refunds("done") == 1 })
	b.eventually("the job ends", func() bool {
		return b.count("SELECT count(*) FROM jobs.river_job WHERE kind = 'tickets_refund_shares' AND state = 'completed'") == 1
	})
	_, err = b.db.Exec(t.Context(),
		"UPDATE jobs.river_job SET state = 'available', finalized_at = NULL WHERE kind = 'tickets_refund_shares'")
	require.NoError(t, err)
	b.eventually("it runs again", func() bool {
		return b.count("SELECT count(*) FROM jobs.river_job WHERE kind = 'tickets_refund_shares' AND state = 'completed' AND attempt = 2") == 1
	})
	b.settle()
	require.Equal(t, 2, b.count("SELECT count(*) FROM payments.refunds"))
	require.Equal(t, []string{"expired", "available"}, []string{b.ticketStatus(all[0]), b.ticketStatus(all[1])})
	require.Equal(t, 1,
		b.count("SELECT count(*) FROM tickets.tickets WHERE refunded_at IS NOT NULL AND refund_id IN (SELECT id FROM payments.refunds WHERE status = 'done')"))
	state, _ := b.orderRow(id.String())
	require.Equal(t, "paid", state)
}
