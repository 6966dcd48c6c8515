package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/modules/subscriptions/settle"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

// forgedLate is what somebody who has gateway A's token may send: its webhooks are not signed.
func forgedLate(b *bundle, id objectid.ID, payment string) gateway.Event {
	at := b.clock.Now()
	return gateway.Event{
		Gateway: gateway.GWA, Type: "PAYMENT_CONFIRMED", Reference: id, CreatedAt: at,
		Payload: gateway.SettledPayment{Payment: gateway.Payment{
			ID: payment, Status: gateway.PaymentStatusSettled, NativeStatus: "CONFIRMED", Method: gateway.MethodCard,
			Amount: 4990, SettledAt: &at, DueDate: &at,
		}},
	}
}

// TestForgedLateMoneyOpensNothing: a payment that the gateway does not know, shows as
// another's, or as unpaid.
func TestForgedLateMoneyOpensNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWA(t)
	b.goBy(t, 2*day)
	var pending string
	for _, c := range b.gateways.Charges(t) {
		if !c.Succeeded {
			pending = c.ID
		}
	}
	b.expect(t, 200, http.MethodDelete, "/customers/me/subscription", nil)
	b.clock.Advance(time.Hour)
	for _, payment := range []string{"pay_nobody", pending} {
		b.apply(t, forgedLate(b, id, payment))
		require.Equal(t, "cancelled", b.status(t, id))
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM jobs.river_job WHERE kind = 'subscriptions_late_money'"))
		b.confirmLate(t)
		require.Equal(t, "cancelled", b.status(t, id))
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"), "nothing is booked")
	}
	require.False(t, b.access(t))
}

// TestForgedMoneyOpensAndLengthensNoPix: a payment of a cent that the gateway does not
// know, for a code that waits and for one that was paid; and a true one of another amount.
func TestForgedMoneyOpensAndLengthensNoPix(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := idOf(b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan}))
	payment := column[string](t, b, id, "pix_payment_id")
	forge := func(payment string, amount money.Cents) {
		e := forgedLate(b, id, payment)
		editPayment(&e, func(p *gateway.Payment) { p.Amount, p.Method = amount, gateway.MethodPix })
		b.apply(t, e)
		b.confirmLate(t)
	}
	forge("pay_forged_1", 1)
	forge("pay_forged_2", 4990)
	forge(payment, 1)
	require.Equal(t, "pending", b.status(t, id))
	require.Equal(t, payment, column[string](t, b, id, "pix_payment_id"))
	_, err := b.gateways.Sandbox.GWA.Pay(payment)
	require.NoError(t, err)
	forge(payment, 4990)
	require.Equal(t, "active", b.status(t, id))
	end := column[time.Time](t, b, id, "expires_at")
	forge("pay_forged_3", 1)
	forge("pay_forged_4", 4990)
	require.Equal(t, end, column[time.Time](t, b, id, "expires_at"))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"), "nothing else is booked")

	other := forgedLate(b, id, "pay_other")
	other.Type = gateway.Reconciled
	editPayment(&other, func(p *gateway.Payment) { p.Amount, p.Method = 500, gateway.MethodPix })
	b.apply(t, other)
	require.Equal(t, end, column[time.Time](t, b, id, "expires_at"))
	require.Equal(t, "foreign", b.listed(t, "pay_other")["kind"])
}

// TestLateMoneyIsLookedForFourTimes: gateway A's answers may lag.
func TestLateMoneyIsLookedForFourTimes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := idOf(b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan}))
	b.apply(t, forgedLate(b, id, "pay_nobody"))
	for misses := range 4 {
		a := lateMoney(t, b)
		require.Equal(t, misses, a.Misses)
		require.NoError(t, b.service.ConfirmLateMoney(t.Context(), a))
	}
	require.Zero(t, b.count(t, "SELECT count(*) FROM jobs.river_job WHERE kind = 'subscriptions_late_money'"))
}

// TestLateMoneyOfACardOpensOnePeriod: its recurrence is deleted at the gateway, so that
// it has an end, which no second payment takes away.
func TestLateMoneyOfACardOpensOnePeriod(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWA(t)
	b.expect(t, 200, http.MethodDelete, "/customers/me/subscription", nil)
	b.clock.Advance(time.Hour)
	late := func(payment string) {
		e := forgedLate(b, id, payment)
		e.Type = gateway.Reconciled // the gateway was asked
		b.apply(t, e)
	}
	late("pay_late_1")
	require.Equal(t, "active", b.status(t, id))
	require.NotNil(t, column[*time.Time](t, b, id, "gateway_deleted_at"))
	end := column[time.Time](t, b, id, "expires_at")
	require.WithinDuration(t, oneMonthOn(t, b.clock.Now()), end, time.Minute)
	late("pay_late_2")
	require.Equal(t, end, column[time.Time](t, b, id, "expires_at"))
	require.Equal(t, "late", b.listed(t, "pay_late_2")["kind"])
	b.refundUnapplied(t)
	require.Zero(t, b.count(t, "SELECT count(*) FROM payments.refunds"),
		"what the gateway does not know is not refunded")
	require.NoError(t, b.service.SyncSubscription(t.Context(), b.customer.ID))
	require.Equal(t, "active", b.status(t, id), "a login does not end what was paid")
	b.clock.Advance(end.Sub(b.clock.Now()) + time.Hour)
	require.NoError(t, b.service.Sweep(t.Context()))
	require.Equal(t, "expired", b.status(t, id))
}

// TestLateMoneyWaitsForTheGateway: while it does not answer nothing is known.
func TestLateMoneyWaitsForTheGateway(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	id := idOf(b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan}))
	payment := column[string](t, b, id, "pix_payment_id")
	b.set(t, id, "status = 'cancelled', ended_at = $2", paymentstest.Now())
	_, err := b.gateways.Sandbox.GWA.Pay(payment)
	require.NoError(t, err)
	require.NoError(t, b.gateways.Sandbox.GWA.Stage().Faults.Plan(stage.Fault{
		Kind: stage.FaultStatus, Status: 500, Times: manyTimes,
	}))
	b.working = true // the job below is ours
	b.settle(t)
	b.working = false
	a := lateMoney(t, b)
	require.Error(t, b.service.ConfirmLateMoney(t.Context(), a))
	require.Equal(t, "cancelled", b.status(t, id))
	b.gateways.Sandbox.GWA.Stage().Faults.Clear()
	for range 2 {
		require.NoError(t, b.service.ConfirmLateMoney(t.Context(), a))
		require.Equal(t, "active", b.status(t, id))
	}
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"))
}

// TestAnOlderInvoiceOfADeletedCustomerIsRefunded: it is booked alone, beside a failure
// that counts, and its money goes back all the same.
func TestAnOlderInvoiceOfADeletedCustomerIsRefunded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWB(t)
	at := b.clock.Now()
	recurrence := column[string](t, b, id, "gwb_subscription_id")
	invoice := func(payment string, created time.Time) gateway.Payment {
		return gateway.Payment{
			ID: payment, InvoiceID: payment, Status: gateway.PaymentStatusSettled, NativeStatus: "paid",
			Method: gateway.MethodCard, Amount: 4990, SettledAt: &created,
		}
	}
	event := func(created time.Time, p gateway.Payload) gateway.Event {
		return gateway.Event{
			Gateway: gateway.GWB, Reference: id, CreatedAt: created, SubscriptionID: recurrence, Payload: p,
		}
	}
	closeAccount(t, b)
	later, earlier := at.Add(2*time.Hour), at.Add(time.Hour)
	b.apply(t, event(later, gateway.FailedPayment{Payment: invoice("in_new", later)}))
	b.apply(t, event(earlier, gateway.SettledPayment{Payment: invoice("in_old", earlier)}))
	require.Equal(t, "late", b.listed(t, "in_old")["kind"])
	require.Contains(t, b.listed(t, "in_old")["note"], "deleted the account")
}

// lateMoney is what the one job of late money that waits is to do.
func lateMoney(t *testing.T, b *bundle) (a settle.LateMoneyArgs) {
	t.Helper()
	require.NoError(t,
		b.db.QueryRow(t.Context(), "DELETE FROM jobs.river_job WHERE kind = 'subscriptions_late_money' RETURNING args").
			Scan(&a))
	return a
}
