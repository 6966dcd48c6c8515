package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox"
	"marquee/testutil/sandbox/stage"
)

// TestAnEventAloneTeachesNoRecurrence: the answer to a card at gateway A was lost, and
// somebody who has its token names a recurrence of their own.
func TestAnEventAloneTeachesNoRecurrence(t *testing.T) {
	t.Parallel()
	b := setup(t)
	gw := b.gateways.Sandbox.GWA
	lose(t, gw.Stage(), stage.FaultResetAfter, "/v3/subscriptions")
	id := idOf(b.expect(t, 201, http.MethodPost, "/gwa/subscribe", gwaCard(paymentstest.CardApproved)))
	gw.Stage().Faults.Clear()
	require.NoError(t, gw.Advance(time.Minute))
	requireWaiting := func() {
		t.Helper()
		require.Equal(t, "pending", b.status(t, id))
		require.Nil(t, column[*string](t, b, id, "gwa_subscription_id"))
	}
	for _, amount := range []money.Cents{4990, 0} {
		e := chargeA(b, id, "sub_forged", "pay_1")
		editPayment(&e, func(p *gateway.Payment) { p.Amount = amount })
		b.apply(t, e)
		requireWaiting()
		b.confirmLate(t)
		requireWaiting()
	}
	require.Zero(t, b.count(t, "SELECT count(*) FROM payments.payments"), "nothing is booked")

	remote, ok, err := b.gateways.A.FindSubscription(t.Context(), gateway.SubscriptionTerms{SubscriptionID: id})
	require.NoError(t, err)
	require.True(t, ok)
	e := chargeA(b, id, "sub_forged", "")
	editPayment(&e, func(p *gateway.Payment) { p.ID = paidCharge(t, b, id) })
	b.apply(t, e)
	requireWaiting()
	b.confirmLate(t)
	require.Equal(t, "active", b.status(t, id))
	require.Equal(t, remote.GatewayID, column[string](t, b, id, "gwa_subscription_id"),
		"the one that the gateway tells")

	b.apply(t, chargeA(b, id, "sub_forged", "pay_2"))
	b.confirmLate(t)
	require.Zero(t, b.count(t, "SELECT count(*) FROM payments.unapplied_payments"), "a forged duplicate is not booked")
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"))
}

// TestAnEventAloneTeachesNoAuthorization: the answer to an automatic PIX was lost.
func TestAnEventAloneTeachesNoAuthorization(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.work(t)
	gw := b.gateways.Sandbox.GWA
	lose(t, gw.Stage(), stage.FaultResetAfter, "/v3/pix/automatic/authorizations")
	id := idOf(b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix-automatico", object{"plan_id": plan}))
	gw.Stage().Faults.Clear()
	done := func() int {
		return b.count(t,
			"SELECT count(*) FROM jobs.river_job WHERE kind = 'subscriptions_authorization_refused' AND state = 'completed'")
	}
	b.apply(t, gateway.Event{
		Gateway: gateway.GWA, Type: "PIX_AUTOMATIC_RECURRING_AUTHORIZATION_ACTIVATED", CreatedAt: b.clock.Now(),
		Reference:       id,
		AuthorizationID: "auth_forged", ConciliationID: "code_forged",
		Payload: gateway.AuthorizationChange{
			Authorization: gateway.PixAuthorization{
				ID: "auth_forged", ConciliationID: "code_forged", Status: gateway.AuthorizationStatusActive,
			},
		},
	})
	eventually(t, "the check", func() bool { return done() == 1 })
	require.Equal(t, "pending", b.status(t, id))
	require.Nil(t, column[*string](t, b, id, "gwa_pix_auth_id"))
	require.Nil(t, column[*string](t, b, id, "pix_conciliation_id"))
	b.listen()
	made, ok, err := b.gateways.A.FindPixAuthorization(t.Context(),
		gateway.AuthorizationTerms{SubscriptionID: id, Payer: gateway.Payer{CustomerID: b.customer.ID}})
	require.NoError(t, err)
	require.True(t, ok)
	_, err = gw.ActivateAuthorization(made.ID)
	require.NoError(t, err)
	b.settle(t)
	eventually(t, "the gateway's own", func() bool { return b.status(t, id) == "active" })
	require.Equal(t, made.ID, column[string](t, b, id, "gwa_pix_auth_id"))
}

// paidCharge is the newest charge at gateway A that was paid for the subscription.
func paidCharge(t *testing.T, b *bundle, id objectid.ID) string {
	t.Helper()
	for _, c := range b.gateways.Paid(t) {
		known := b.count(t, "SELECT count(*) FROM payments.payments WHERE gateway_payment_id = $1", c.ID) > 0
		if !known && (c.LocalID == "" || c.LocalID == id) {
			return c.ID
		}
	}
	require.Fail(t, "nothing was paid")
	return ""
}

// TestACardChargedByAnotherAmountPaysNoPeriod: it is booked and listed, unless it is of a
// price that was asked for by a plan move.
func TestACardChargedByAnotherAmountPaysNoPeriod(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWA(t)
	recurrence := column[string](t, b, id, "gwa_subscription_id")
	next := column[time.Time](t, b, id, "next_billing_date")
	b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{})
	charge := func(cents money.Cents) string {
		t.Helper()
		require.NoError(t, b.gateways.A.ChangePrice(t.Context(),
			gateway.PriceChange{SubscriptionID: id, SubscriptionGatewayID: recurrence, Amount: cents}))
		_, err := b.gateways.Sandbox.GWA.Renew(recurrence, false)
		require.NoError(t, err)
		e := chargeA(b, id, recurrence, "")
		editPayment(&e, func(p *gateway.Payment) { p.ID, p.Amount = paidCharge(t, b, id), cents })
		b.apply(t, e)
		b.confirmLate(t)
		return e.PaymentID()
	}
	odd := charge(990)
	require.Equal(t, "foreign", b.listed(t, odd)["kind"])
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments WHERE amount_cents = 990"))
	require.Equal(t, next, column[time.Time](t, b, id, "next_billing_date"))
	require.Equal(t, "active", b.status(t, id))

	_, err := b.db.Exec(t.Context(),
		`INSERT INTO subscriptions.plan_moves (id, subscription_id, plan_id, from_cents, state, ended_at, register_date)
		SELECT $1, id, plan_id, 3990, 'done', $2, $2 FROM subscriptions.subscriptions WHERE id = $3`, objectid.New(),
		b.clock.Now(), id)
	require.NoError(t, err)
	moved := charge(3990)
	require.Zero(t, b.count(t, "SELECT count(*) FROM payments.unapplied_payments WHERE gateway_payment_id = $1", moved))
	require.True(t, column[time.Time](t, b, id, "next_billing_date").After(next),
		"a charge that was made ahead of the move")
}

// TestADebitIsHeldAgainstItsOrder: its own payment and amount, not the price of the row.
func TestADebitIsHeldAgainstItsOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, auth, debit := b.debited(t)
	next := column[time.Time](t, b, id, "next_billing_date")
	deliver := func(payment string, amount money.Cents) {
		t.Helper()
		e := chargeA(b, id, "", "")
		e.AuthorizationID = auth
		editPayment(&e, func(p *gateway.Payment) { p.ID, p.Amount, p.Method = payment, amount, gateway.MethodPix })
		b.apply(t, e)
	}
	jobs := func() int {
		return b.count(t, "SELECT count(*) FROM jobs.river_job WHERE kind = 'subscriptions_late_money'")
	}
	for payment, amount := range map[string]money.Cents{"pay_forged": 4990, debit: 9990} {
		deliver(payment, amount)
		require.Equal(t, 1, jobs())
		b.confirmLate(t)
		require.Equal(t, next, column[time.Time](t, b, id, "next_billing_date"))
	}
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"), "of the first code alone")
	b.set(t, id, "price_cents = 9990") // whatever the row costs by now
	deliver(debit, 4990)
	require.Zero(t, jobs(), "it counts at once")
	require.True(t, column[time.Time](t, b, id, "next_billing_date").After(next))
}
