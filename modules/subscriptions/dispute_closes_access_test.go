package subscriptions_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
)

func TestDisputeClosesAndWinningOpens(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWB(t)
	intent := intentPaid(t, b)
	dispute, err := b.gateways.Sandbox.GWB.OpenDispute(intent, "fraudulent", false)
	require.NoError(t, err)
	b.settle(t)
	replayWaiting(t, b)
	require.Equal(t, "suspended", b.status(t, id))
	require.True(t, column[bool](t, b, id, "has_chargeback"))
	r := remoteOf(t, b, id)
	b.apply(t, r.updated(gateway.RemoteActive, 60))
	require.Equal(t, "suspended", b.status(t, id), "a routine event does not reopen it")
	require.NoError(t, b.gateways.Sandbox.GWB.CloseDispute(dispute, true))
	b.settle(t)
	require.Equal(t, "active", b.status(t, id))
	require.False(t, column[bool](t, b, id, "has_chargeback"))
}

func TestLostDisputeEndsTheSubscription(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWB(t)
	dispute, err := b.gateways.Sandbox.GWB.OpenDispute(intentPaid(t, b), "fraudulent", false)
	require.NoError(t, err)
	b.settle(t)
	replayWaiting(t, b)
	require.NoError(t, b.gateways.Sandbox.GWB.CloseDispute(dispute, false))
	b.settle(t)
	require.Equal(t, "cancelled", b.status(t, id))
	require.True(t, column[bool](t, b, id, "has_chargeback"))
}

func TestInquiryClosesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWB(t)
	_, err := b.gateways.Sandbox.GWB.OpenDispute(intentPaid(t, b), "fraudulent", true)
	require.NoError(t, err)
	b.settle(t)
	replayWaiting(t, b)
	require.Equal(t, "active", b.status(t, id))
	require.False(t, column[bool](t, b, id, "has_chargeback"))
}

func TestDisputeWonLeavesAFailedRenewalClosed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, r := subscriptionIn(t, b, "active")
	b.apply(t, r.updated(gateway.RemotePastDue, 1, "in_2"))
	dispute := func(state gateway.DisputeState, second int) gateway.Event {
		return gateway.Event{
			Gateway: gateway.GWB, SubscriptionID: r.id, CreatedAt: r.at(second),
			Payload: gateway.DisputeChange{
				Report: gateway.DisputeReport{
					ID: "dp_1", PaymentID: "pi_1", Amount: 4990, State: state, At: r.at(second),
				},
			},
		}
	}
	b.apply(t, dispute(gateway.DisputeOpen, 2))
	b.apply(t, dispute(gateway.DisputeWon, 3))
	require.Equal(t, "suspended", b.status(t, id), "the renewal is still open")
	require.False(t, column[bool](t, b, id, "has_chargeback"))
	require.Equal(t, gateway.ResultIgnored, b.apply(t, dispute(gateway.DisputeOpen, 2)).Status, "the older report")
}

// The end of a dispute may overtake its beginning, or be all that ever comes.
func TestALostDisputeEndsWhateverCameBeforeIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	seconds := map[gateway.DisputeState]int{gateway.DisputeInquiry: 1, gateway.DisputeOpen: 2, gateway.DisputeLost: 3}
	for name, states := range map[string][]gateway.DisputeState{
		"in order":             {gateway.DisputeOpen, gateway.DisputeLost},
		"after an inquiry":     {gateway.DisputeInquiry, gateway.DisputeLost},
		"before its beginning": {gateway.DisputeLost, gateway.DisputeOpen},
		"alone":                {gateway.DisputeLost},
	} {
		b.newcomer(t)
		id, r := subscriptionIn(t, b, "active")
		for _, state := range states {
			b.apply(t, gateway.Event{
				Gateway: gateway.GWB, SubscriptionID: r.id, CreatedAt: r.at(seconds[state]),
				Payload: gateway.DisputeChange{
					Report: gateway.DisputeReport{
						ID: "dp_" + r.id, PaymentID: "pi_1", Amount: 4990, State: state, At: r.at(seconds[state]),
					},
				},
			})
		}
		require.Equal(t, "cancelled", b.status(t, id), name)
		require.True(t, column[bool](t, b, id, "has_chargeback"), name)
		require.Equal(t, 1, b.count(t,
			"SELECT count(*) FROM subscriptions.transitions WHERE subscription_id = $1 AND from_status = 'active' AND reason = 'chargeback'", id), name)
	}
}

func TestLateMoneyOpensNothingWhileItIsDisputed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, r := subscriptionIn(t, b, "cancelled")
	b.set(t, id, "has_chargeback = true, ended_at = now() - interval '1 day'")
	b.apply(t, r.paid("in_9", 60))
	require.Equal(t, "cancelled", b.status(t, id))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments WHERE local_id = $1", id),
		"the ledger has it")
}

func TestOverdueChargesOfGatewayA(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWA(t)
	remote := column[string](t, b, id, "gwa_subscription_id")
	overdue := func(payment string) gateway.Event {
		return gateway.Event{
			Gateway: gateway.GWA, SubscriptionID: remote, CreatedAt: b.clock.Now(),
			Payload: gateway.FailedPayment{
				Attempt: 1, Payment: gateway.Payment{ID: payment, Method: gateway.MethodCard, Amount: 4990},
			},
		}
	}
	for i, payment := range []string{"pay_2", "pay_3", "pay_4"} {
		b.apply(t, overdue(payment))
		b.apply(t, overdue(payment)) // the refused capture and the overdue charge are one failure
		require.Equal(t, i+1, column[int](t, b, id, "payment_failures"))
	}
	require.Equal(t, "suspended", b.status(t, id))
	paid := overdue("pay_4")
	p := paid.Payload.(gateway.FailedPayment).Payment
	p.Status, p.NativeStatus = gateway.PaymentStatusSettled, "CONFIRMED"
	paid.Payload = gateway.SettledPayment{Payment: p}
	b.apply(t, paid)
	require.Equal(t, "active", b.status(t, id))
	require.Equal(t, 0, column[int](t, b, id, "payment_failures"))
}

// TestDatesOfGatewayA: an event has the recurrence read, whose answer tells the day.
func TestDatesOfGatewayA(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWA(t)
	remote := column[string](t, b, id, "gwa_subscription_id")
	dates := func() string {
		return b.text(t,
			"SELECT concat_ws(' ', next_billing_date, anchor_day) FROM subscriptions.subscriptions WHERE id = '"+
				id.String()+"'")
	}
	forged := object{
		"object": "subscription", "id": remote, "status": "ACTIVE", "nextDueDate": "2099-01-01", "value": 1,
		"externalReference": id.String(),
	}
	before := dates()
	forge(t, b, "SUBSCRIPTION_UPDATED", "subscription", forged)
	require.Equal(t, before, dates())
	due := column[time.Time](t, b, id, "next_billing_date").Add(3 * day)
	_, err := b.gateways.A.MoveNextCharge(t.Context(), gateway.Collection{SubscriptionID: id, GatewayID: remote}, due)
	require.NoError(t, err)
	b.settle(t)
	require.Equal(t, due.UTC(), column[time.Time](t, b, id, "next_billing_date").UTC(), "the gateway's own")
	b.expect(t, 200, "DELETE", "/customers/me/subscription", nil)
	before = dates()
	forge(t, b, "SUBSCRIPTION_UPDATED", "subscription", forged)
	require.Equal(t, before, dates())
}

func TestEventsOfOrdersAreNotOurs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, r := subscriptionIn(t, b, "pending")
	e := r.paid("pi_1", 1)
	e.Purpose, e.SubscriptionID = gateway.ForOrder, ""
	require.True(t, b.apply(t, e).Unclaimed)
	e = r.paid("pi_2", 1)
	e.Payload = gateway.RefundChange{
		Status: gateway.RefundStatusDone, Report: gateway.RefundReport{PaymentID: "pi_2", Total: 100, HasTotal: true},
	}
	e.Known = &gateway.LedgerPayment{Owner: gateway.Owner{Purpose: gateway.ForOrder}}
	require.True(t, b.apply(t, e).Unclaimed)
	require.Equal(t, "pending", b.status(t, id))
	require.Zero(t, column[int64](t, b, id, "total_refunded_cents"))
}

func TestLossOfAnotherPaymentDropsNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := idOf(b.expect(t, 201, "POST", "/gwb/subscribe/pix", object{"plan_id": plan}))
	lost := gateway.Event{
		Gateway: gateway.GWB, Reference: id, CreatedAt: b.clock.Now(), Purpose: gateway.ForSubscription,
		Payload: gateway.LostPayment{Payment: gateway.Payment{ID: "pi_of_a_card"}},
	}
	require.Equal(t, gateway.ResultIgnored, b.apply(t, lost).Status)
	require.Equal(t, "pending", b.status(t, id))
	lost.Payload = gateway.DeletedPayment{Payment: gateway.Payment{ID: "pi_of_a_card"}}
	require.Equal(t, gateway.ResultIgnored, b.apply(t, lost).Status)
	lost.Payload = gateway.LostPayment{Payment: gateway.Payment{ID: column[string](t, b, id, "pix_payment_id")}}
	require.Equal(t, "cancelled", *b.apply(t, lost).NewStatus)
	require.Equal(t, gateway.ResultIgnored, b.apply(t, lost).Status)
}

// intentPaid is the payment intent behind the one payment of the ledger.
func intentPaid(t *testing.T, b *bundle) string {
	t.Helper()
	paid, err := b.gateways.B.ReadPayment(t.Context(), b.text(t, "SELECT gateway_payment_id FROM payments.payments"),
		"")
	require.NoError(t, err)
	require.NotEmpty(t, paid.PaymentIntentID)
	return paid.PaymentIntentID
}

// replayWaiting runs the jobs once, so that events which wait find their subject.
func replayWaiting(t *testing.T, b *bundle) {
	t.Helper()
	b.work(t)
	require.Eventually(t, func() bool {
		return b.count(t, `SELECT (SELECT count(*) FROM payments.processed_events WHERE state <> 'done')
			+ (SELECT count(*) FROM jobs.river_job WHERE kind = 'payments_event_told' AND state IN ('available', 'running', 'retryable'))`) == 0
	}, time.Minute, 20*time.Millisecond)
}
