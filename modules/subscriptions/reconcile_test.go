package subscriptions_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox"
	gwastage "marquee/testutil/sandbox/gwa/account"
)

// heals reconciles dry, which tells and changes nothing, then truly, then again,
// which finds nothing more. Was and is are a picture of what is repaired.
func heals(t *testing.T, b *bundle, kinds []string, picture func() any, was, is any) {
	t.Helper()
	require.Equal(t, was, picture())
	dry := b.reconcile(t, true)
	require.Equal(t, was, picture(), "a dry run changes nothing")
	require.NotZero(t, dry.Verdicts[payments.Repairable], "%+v", dry.Findings)
	require.Zero(t, dry.Verdicts[payments.Repaired])
	wet := b.reconcile(t, false)
	require.Equal(t, is, picture(), "%+v", wet.Findings)
	require.NotZero(t, wet.Verdicts[payments.Repaired])
	require.Zero(t, wet.Verdicts[payments.Repairable])
	found := map[string]bool{}
	for _, f := range append(dry.Findings, wet.Findings...) {
		require.NotEmpty(t, f.ID)
		found[string(f.Kind)] = true
	}
	for _, kind := range kinds {
		require.True(t, found[kind], "%s in %+v", kind, wet.Findings)
	}
	again := b.reconcile(t, false)
	require.Zero(t, again.Verdicts[payments.Repaired], "%+v", again.Findings)
	require.Equal(t, is, picture())
}

func TestReconciliationFindsPaymentsThatNoWebhookTold(t *testing.T) {
	t.Parallel()
	for gateway, pay := range map[string]func(b *bundle, payment string) error{
		"gwa": func(b *bundle, payment string) error { _, err := b.gateways.Sandbox.GWA.Pay(payment); return err },
		"gwb": func(b *bundle, payment string) error { return b.gateways.Sandbox.GWB.PayPIX(payment) },
	} {
		t.Run(gateway, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id := idOf(b.expect(t, 201, http.MethodPost, "/"+gateway+"/subscribe/pix", object{"plan_id": plan}))
			require.NoError(t, pay(b, column[string](t, b, id, "pix_payment_id")))
			kind := "missed_payment"
			if gateway == "gwb" {
				kind = "missed_event" // it lists its events
			}
			heals(t, b, []string{kind}, func() any { return b.status(t, id) }, "pending", "active")
			require.Len(t, b.history(t, id), 2)
			if gateway == "gwa" {
				require.Equal(t, "pending>active payment_settled reconciliation", b.history(t, id)[1])
			}
			b.listen() // what was held back comes at last, and changes nothing
			b.settle(t)
			require.Len(t, b.history(t, id), 2)
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"))
		})
	}
}

// paidCard is an active card subscription of a gateway, and what the gateway calls
// its payment; from then on no webhook comes through.
func paidCard(t *testing.T, b *bundle, on string) (id objectid.ID, ref gateway.PaymentRef) {
	t.Helper()
	body := gwbCard(paymentstest.TokenApproved)
	if on == "gwa" {
		body = gwaCard(paymentstest.CardApproved)
	}
	id = idOf(b.expect(t, 201, http.MethodPost, "/"+on+"/subscribe", body))
	if on == "gwa" {
		all, err := b.gateways.A.ListPayments(t.Context(), gateway.PaymentsQuery{
			SubscriptionID: id, SubscriptionGatewayID: column[string](t, b, id, "gwa_subscription_id"),
		})
		require.NoError(t, err)
		_, _ = b.gateways.Sandbox.GWA.Pay(all[0].ID) // unless its own clock was faster
	}
	b.reconcile(t, false)
	require.Equal(t, "active", b.status(t, id))
	all, err := b.payments.PaymentsOf(t.Context(), b.db, gateway.ForSubscription, id)
	require.NoError(t, err)
	require.Len(t, all, 1)
	return id, gateway.PaymentRef{PaymentID: all[0].Payment.ID}
}

func adapterOf(b *bundle, gateway string) gateway.Gateway {
	if gateway == "gwa" {
		return b.gateways.A
	}
	return b.gateways.B
}

func TestReconciliationFindsRefundsThatNoWebhookTold(t *testing.T) {
	t.Parallel()
	for _, on := range []string{"gwa", "gwb"} {
		t.Run(on, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id, ref := paidCard(t, b, on)
			b.gateways.Sandbox.GWA.SetBalance(1_000_000)
			for _, amount := range []money.Cents{1500, 3490} { // in part, then the rest
				_, err := adapterOf(b, on).Refund(t.Context(),
					gateway.RefundTerms{RefundID: objectid.New(), Payment: ref, Amount: amount, Reason: "at the panel"})
				require.NoError(t, err)
				before := column[int64](t, b, id, "total_refunded_cents")
				heals(t, b, nil, func() any { return column[int64](t, b, id, "total_refunded_cents") }, before,
					before+int64(amount))
			}
			require.Equal(t, 4990,
				b.count(t, "SELECT sum(amount_cents)::int FROM payments.refunds WHERE status = 'done'"))
			b.listen()
			b.settle(t)
			require.EqualValues(t, 4990, column[int64](t, b, id, "total_refunded_cents"))
		})
	}
}

func TestReconciliationFindsDisputesThatNoWebhookTold(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, b *bundle, gateway string) {
		id, ref := paidCard(t, b, gateway)
		if gateway == "gwa" {
			_, err := b.gateways.Sandbox.GWA.Chargeback(ref.PaymentID, gwastage.ChargebackRequested, "fraud")
			require.NoError(t, err)
		} else {
			paid, err := b.gateways.B.ReadPayment(t.Context(), ref.PaymentID, "")
			require.NoError(t, err)
			_, err = b.gateways.Sandbox.GWB.OpenDispute(paid.PaymentIntentID, "fraudulent", false)
			require.NoError(t, err)
		}
		heals(t, b, nil, func() any { return b.status(t, id) }, "active", "suspended")
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.disputes WHERE state = 'open'"))
		b.listen()
		b.settle(t)
		require.Equal(t, "suspended", b.status(t, id))
	})
}

// What is gone is told by its events at gateway B, at gateway A by the silence
// after a period's end.
func TestReconciliationEndsWhatIsGone(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, b *bundle, gateway string) {
		id, _ := paidCard(t, b, gateway)
		require.NoError(t, adapterOf(b, gateway).CancelSubscription(t.Context(),
			column[string](t, b, id, gateway+"_subscription_id"), id))
		kind := "missed_event"
		if gateway == "gwa" {
			b.set(t, id, "next_billing_date = $2, expires_at = NULL", b.clock.Now().Add(-40*time.Hour))
			kind = "ended_subscription"
		}
		heals(t, b, []string{kind}, func() any { return b.status(t, id) }, "active", "cancelled")
		require.Empty(t, b.current(t))
	})
}

// Also of gateway B, when its events are gone after 30 days.
func TestReconciliationEndsWhatIsSilent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _ := paidCard(t, b, "gwb")
	require.NoError(t, b.gateways.B.CancelSubscription(t.Context(), column[string](t, b, id, "gwb_subscription_id"),
		id))
	b.set(t, id, "next_billing_date = $2", b.clock.Now().Add(-40*time.Hour))
	o := payments.ReconcileOptions{Since: b.clock.Now().Add(time.Hour)} // nothing is as young
	report, err := b.service.Reconcile(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, 1, report.Counts[payments.MissedEnd])
	require.Equal(t, "cancelled", b.status(t, id))
}

// A debit of automatic PIX of which no webhook told: nobody else would move the
// subscription on, and its access would never end.
func TestReconciliationFollowsDebits(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		happen   func(b *bundle, debit string) error
		found    payments.Finding
		failures int
		paid     int
	}{
		"that nobody paid": {
			func(b *bundle, debit string) error { _, err := b.gateways.Sandbox.GWA.Overdue(debit); return err },
			payments.Finding{Kind: payments.MissedFailure},
			1, 1,
		},
		"that are gone": {
			func(b *bundle, debit string) error { return b.gateways.A.CancelPix(context.Background(), debit, "") },
			payments.Finding{Kind: payments.MissedFailure},
			0, 1,
		},
		"that were paid": {
			func(b *bundle, debit string) error { _, err := b.gateways.Sandbox.GWA.Pay(debit); return err },
			payments.Finding{Kind: payments.MissedPayment},
			0, 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id, _, debit := b.debited(t)
			next := column[time.Time](t, b, id, "next_billing_date")
			b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{})
			require.NoError(t, tc.happen(b, debit))
			b.clock.Advance(next.Add(3 * 24 * time.Hour).Sub(b.clock.Now()))
			o := payments.ReconcileOptions{Since: b.clock.Now().Add(time.Hour), DryRun: true} // nothing is as young
			report, err := b.service.Reconcile(t.Context(), o)
			require.NoError(t, err)
			require.Equal(t, 1, report.Verdicts[payments.Repairable], "%+v", report.Findings)
			require.WithinDuration(t, next, column[time.Time](t, b, id, "next_billing_date"), 0)
			o.DryRun = false
			report, err = b.service.Reconcile(t.Context(), o)
			require.NoError(t, err)
			require.Equal(t, 1, report.Counts[tc.found.Kind], "%+v", report.Findings)
			require.Equal(t, debit, report.Findings[0].ID)
			require.Equal(t, tc.failures, column[int](t, b, id, "payment_failures"))
			require.Equal(t, tc.paid, b.count(t, "SELECT count(*) FROM payments.payments"))
			require.WithinDuration(t, next.AddDate(0, 1, 0), column[time.Time](t, b, id, "next_billing_date"),
				4*24*time.Hour)
			report, err = b.service.Reconcile(t.Context(), o)
			require.NoError(t, err)
			require.Empty(t, report.Findings, "once")
		})
	}
}

// Without its authorization an automatic PIX is debited no more; who never hears of
// that would watch for nothing.
func TestReconciliationEndsWhatIsNoLongerAuthorized(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(b *bundle, t *testing.T) (objectid.ID, string){
		"before its debit was ordered": (*bundle).authorized,
		"after": func(b *bundle,
			t *testing.T,
		) (objectid.ID, string) {
			id, auth, _ := b.debited(t)
			return id, auth
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id, auth := begin(b, t)
			b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{})
			_, err := b.gateways.Sandbox.GWA.CancelAuthorization(auth, "by the payer")
			require.NoError(t, err)
			b.clock.Advance(column[time.Time](t, b, id, "next_billing_date").Add(3 * 24 * time.Hour).Sub(b.clock.Now()))
			require.True(t, b.access(t))
			o := payments.ReconcileOptions{Since: b.clock.Now().Add(time.Hour), DryRun: true}
			report, err := b.service.Reconcile(t.Context(), o)
			require.NoError(t, err)
			require.Equal(t, 1, report.Verdicts[payments.Repairable], "%+v", report.Findings)
			require.True(t, b.access(t))
			o.DryRun = false
			report, err = b.service.Reconcile(t.Context(), o)
			require.NoError(t, err)
			require.Equal(t, 1, report.Counts[payments.MissedEnd], "%+v", report.Findings)
			require.Equal(t, auth, report.Findings[0].ID)
			require.Equal(t, "cancelled", b.status(t, id))
			require.Equal(t, "active>cancelled customer_cancelled reconciliation", b.history(t, id)[2])
		})
	}
}

// Money that nobody here knows is told, each time, and left alone.
func TestReconciliationTellsOfForeignMoney(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.gateways.Sandbox.GWA.Transfer(12345)
	require.NoError(t, err)
	for range 2 {
		report := b.reconcile(t, false)
		require.Equal(t, 1, report.Verdicts[payments.Unknown], "%+v", report.Findings)
		require.Equal(t, payments.MissedPayment, report.Findings[0].Kind)
		require.EqualValues(t, 12345, report.Findings[0].Amount)
	}
	require.Zero(t, b.count(t, "SELECT count(*) FROM payments.payments"))
}

// A gateway that is not asked for is not read, and one that has little of its
// quota left is not used up.
func TestReconciliationKeepsToItsGatewayAndItsQuota(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := idOf(b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan}))
	_, err := b.gateways.Sandbox.GWA.Pay(column[string](t, b, id, "pix_payment_id"))
	require.NoError(t, err)
	since := b.clock.Now().Add(-time.Hour)
	_, err = b.service.Reconcile(t.Context(),
		payments.ReconcileOptions{Since: since, Gateways: []gateway.Name{gateway.GWB}})
	require.NoError(t, err)
	require.Equal(t, "pending", b.status(t, id))
	b.gateways.Sandbox.GWA.LeaveOfRateLimit(4999)
	_, err = b.service.Reconcile(t.Context(),
		payments.ReconcileOptions{Since: since}) // learns what is left by its first call
	require.ErrorIs(t, err, gateway.ErrUnavailable)
	require.Equal(t, "active", b.status(t, id), "the first list was read")
	_, err = b.service.Reconcile(t.Context(), payments.ReconcileOptions{Since: since})
	require.ErrorIs(t, err, gateway.ErrUnavailable)
	require.ErrorContains(t, err, "kept for customers")
}
