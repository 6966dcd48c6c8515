package subscriptions_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/modules/subscriptions"
	"marquee/platform/objectid"
	sandboxa "marquee/testutil/sandbox/gwa/account"
	sandboxb "marquee/testutil/sandbox/gwb/account"
)

// TestTodayIsTheDayInSaoPaulo: late in the evening there it is tomorrow in UTC, and
// a card due tomorrow would open nothing before midnight.
func TestTodayIsTheDayInSaoPaulo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	travel(t, b, "2083-01-16T01:30:00Z")
	id := b.paidGWA(t)
	require.Equal(t, "2083-02-15", b.day(t, id, "next_billing_date"))
}

// TestCardReceivedAMonthLater: gateway A tells a card's payment twice, 32 days
// apart. The second word moves nothing, also of what was cancelled or given back.
func TestCardReceivedAMonthLater(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		then func(b *bundle, t *testing.T, id objectid.ID)
		want string
	}{
		{"cancelled", func(b *bundle, t *testing.T, _ objectid.ID) {
			b.expect(t, 200, http.MethodDelete, "/customers/me/subscription", nil)
		}, "cancelled"},
		{"given back in part", func(b *bundle, t *testing.T, id objectid.ID) {
			b.admin(t).Post("/admin/gwa/subscriptions/"+id.String()+"/refund",
				object{"reason": "as agreed", "value": 10.0}).Expect(200)
			b.expect(t, 200, http.MethodDelete, "/customers/me/subscription", nil)
		}, "cancelled"},
		{"kept", func(*bundle, *testing.T, objectid.ID) {}, "active"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id := b.paidGWA(t)
			tc.then(b, t, id)
			b.settle(t)
			moves, paid, next := b.history(t, id), column[time.Time](t, b, id, "last_payment_at"),
				column[time.Time](t, b, id, "next_billing_date")
			payment := b.text(t, "SELECT gateway_payment_id FROM payments.payments")
			b.clock.Advance(32 * days)
			require.NoError(t, b.gateways.Sandbox.GWA.SendEvent("PAYMENT_RECEIVED", payment))
			b.settle(t)
			require.Equal(t, tc.want, b.status(t, id))
			require.Equal(t, moves, b.history(t, id))
			require.Equal(t, paid, column[time.Time](t, b, id, "last_payment_at"))
			require.Equal(t, next, column[time.Time](t, b, id, "next_billing_date"))
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"))
			require.NotZero(t, b.count(t,
				"SELECT count(*) FROM payments.webhook_logs WHERE event_type = 'PAYMENT_RECEIVED' AND processed"))
		})
	}
}

// TestOverdueCodeIsNoFailure: gateway A calls a PIX overdue that nobody paid, also
// one that was dropped.
func TestOverdueCodeIsNoFailure(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	id := idOf(b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan}))
	_, err := b.gateways.Sandbox.GWA.Overdue(column[string](t, b, id, "pix_payment_id"))
	require.NoError(t, err)
	b.settle(t)
	require.Equal(t, "pending", b.status(t, id))
	require.Zero(t, column[int](t, b, id, "payment_failures"))
	require.Zero(t, b.count(t, "SELECT count(*) FROM payments.failed_attempts"),
		"reports count no attempt that was none")
	require.Zero(t, b.count(t, "SELECT count(*) FROM subscriptions.dunning_mails"))
	_, err = b.gateways.Sandbox.GWA.PayPIX(column[string](t, b, id, "pix_payload"))
	require.NoError(t, err, "late, but paid")
	b.settle(t)
	require.Equal(t, "active", b.status(t, id))
}

// TestChargebackOfGatewayA from its request to its end: won, the payment is
// confirmed again; lost, it is refunded.
func TestChargebackOfGatewayA(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for last, want := range map[sandboxa.ChargebackStep]string{
		sandboxa.ChargebackWon: "active", sandboxa.ChargebackLost: "cancelled",
	} {
		b.newcomer(t)
		id := b.paidGWA(t)
		payment := b.text(t, "SELECT gateway_payment_id FROM payments.payments WHERE local_id = $1", id)
		for _, step := range []sandboxa.ChargebackStep{sandboxa.ChargebackRequested, sandboxa.ChargebackDisputed} {
			_, err := b.gateways.Sandbox.GWA.Chargeback(payment, step, "ABSENCE_OF_PRINT")
			require.NoError(t, err)
			b.settle(t)
			require.Equal(t, "suspended", b.status(t, id))
			require.True(t, column[bool](t, b, id, "has_chargeback"))
			require.False(t, b.access(t))
		}
		_, err := b.gateways.Sandbox.GWA.Chargeback(payment, last, "")
		require.NoError(t, err)
		b.settle(t)
		require.Equal(t, want, b.status(t, id))
		require.Equal(t, want == "cancelled", column[bool](t, b, id, "has_chargeback"))
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments WHERE local_id = $1", id))
	}
}

// TestForeignMoneyIsNobodys: everything that enters gateway A's account makes
// events.
func TestForeignMoneyIsNobodys(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	_, err := b.gateways.Sandbox.GWA.Transfer(1250)
	require.NoError(t, err)
	b.settle(t)
	require.NotZero(t, b.count(t,
		"SELECT count(*) FROM payments.webhook_logs WHERE processed AND result->>'status' = 'ignored'"))
	require.Zero(t, b.count(t, "SELECT count(*) FROM payments.payments"))
}

// TestFirstMonthUnderRiskAnalysis: the gateway decides later, and the recurrence
// follows only what it approved.
func TestFirstMonthUnderRiskAnalysis(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.gateways.Sandbox.GWA.ChangeSettings(func(s *sandboxa.Settings) { s.RiskAnalysis = true })
	require.NoError(t, err)
	sellCode(b, 1990)
	b.listen()
	for _, approved := range []bool{true, false} {
		b.newcomer(t)
		b.promos.steps = nil
		a := b.expect(t, 201, http.MethodPost, "/gwa/subscribe", discountedCard(paymentstest.CardApproved))
		id := idOf(a)
		require.Equal(t, "AWAITING_RISK_ANALYSIS", info(a)["payment_status"])
		require.NoError(t, b.service.Recover(t.Context(), id))
		require.Equal(t, "pending", b.status(t, id), "no word yet")
		var payment string
		for _, c := range b.gateways.Charges(t) {
			if c.LocalID == id {
				payment = c.ID
			}
		}
		_, err := b.gateways.Sandbox.GWA.EndRiskAnalysis(payment, approved)
		require.NoError(t, err)
		b.settle(t)
		if approved {
			b.runStatusChecks(t, 12*time.Minute)
		}
		if approved {
			require.Equal(t, "active", b.status(t, id))
			require.NotNil(t, column[*string](t, b, id, "gwa_subscription_id"), "the recurrence is made")
			require.Equal(t, []string{"held", "redeemed"}, slices.Compact(b.promos.steps))
		} else {
			require.Equal(t, "cancelled", b.status(t, id))
			require.Nil(t, column[*string](t, b, id, "gwa_subscription_id"))
			require.Equal(t, "pending>cancelled payment_declined webhook", b.history(t, id)[1])
			require.Equal(t, []string{"held", "released"}, slices.Compact(b.promos.steps))
		}
	}
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"))

	b.newcomer(t) // nobody ever tells
	id := idOf(b.expect(t, 201, http.MethodPost, "/gwa/subscribe", discountedCard(paymentstest.CardApproved)))
	for _, age := range []time.Duration{time.Minute, 20 * time.Minute, 24 * time.Hour} {
		b.clock.Advance(age)
		require.NoError(t, b.service.Recover(t.Context(), id))
	}
	var next time.Time
	require.NoError(t, b.db.QueryRow(t.Context(), "SELECT next_look_at FROM payments.intents WHERE subject_id = $1",
		id).Scan(&next))
	require.WithinDuration(t, b.clock.Now().Add(time.Hour), next, time.Second,
		"or a week of waiting would use up the gateway's quota")
	b.clock.Advance(8 * days)
	require.NoError(t, b.service.Recover(t.Context(), id))
	require.Equal(t, "cancelled", b.status(t, id))
}

// TestRefundThatGatewayADenies: it takes a refund up and refuses it later.
func TestRefundThatGatewayADenies(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.gateways.Sandbox.GWA.ChangeSettings(func(s *sandboxa.Settings) { s.RefundsInProgress = true })
	require.NoError(t, err)
	for _, denied := range []bool{true, false} {
		b.newcomer(t)
		id := b.paidGWA(t)
		payment := b.text(t, "SELECT gateway_payment_id FROM payments.payments WHERE local_id = $1", id)
		path := "/admin/gwa/subscriptions/" + id.String() + "/refund"
		b.admin(t).Post(path, object{"reason": "as agreed"}).Expect(200)
		b.settle(t)
		require.Zero(t, column[int64](t, b, id, "total_refunded_cents"), "under way is not given back")
		require.Equal(t, "REFUND_NOT_ALLOWED", b.admin(t).Post(path, object{"reason": "as agreed"}).Expect(422).Code(),
			"and cannot be asked for twice")
		_, err = b.gateways.Sandbox.GWA.EndRefund(payment, denied)
		require.NoError(t, err)
		b.settle(t)
		want := int64(4990)
		if denied {
			want = 0
		}
		require.Equal(t, want, column[int64](t, b, id, "total_refunded_cents"))
		require.Equal(t, "active", b.status(t, id))
	}
}

// TestPixOfGatewayBPaidJustBeforeItIsDropped: the gateway refuses to cancel what it
// has been paid.
func TestPixOfGatewayBPaidJustBeforeItIsDropped(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := idOf(b.expect(t, 201, http.MethodPost, "/gwb/subscribe/pix", object{"plan_id": plan}))
	require.NoError(t,
		b.gateways.Sandbox.GWB.PayPIX(column[string](t, b, id, "pix_payment_id"))) // its webhook has not come
	require.Contains(t, b.expect(t, 409, http.MethodDelete, "/customers/me/subscription", nil)["detail"],
		"just been paid")
	require.Equal(t, "active", b.status(t, id))
	b.listen()
	b.settle(t)
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"))
	require.Len(t, b.history(t, id), 2)
}

// TestPastDueThatDoesNotSuspend as the gateway tells it: two events a failed attempt,
// and access until the third.
func TestPastDueThatDoesNotSuspend(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *subscriptions.Config) { c.PastDueOnlyCounts = true })
	id := b.paidGWB(t)
	b.expect(t, 200, http.MethodPut, "/gwb/subscription/payment-method",
		object{"payment_method_id": paymentstest.TokenDeclined})
	require.NoError(t, b.gateways.Sandbox.GWB.Renew(column[string](t, b, id, "gwb_subscription_id")))
	for failures := 1; ; failures++ {
		b.settle(t)
		require.Equal(t, failures, column[int](t, b, id, "payment_failures"))
		require.Equal(t, failures < 3, b.access(t))
		if failures == 3 {
			break
		}
		require.NoError(t, b.gateways.Sandbox.GWB.RetryInvoice(b.text(t,
			"SELECT DISTINCT gateway_payment_id FROM payments.failed_attempts")))
	}
	require.Equal(t, "suspended", b.status(t, id))
}

// TestBothShapesOfGatewayB: an account may send its events in the form of before
// 2025-03-31. The whole life of a subscription is the same.
func TestBothShapesOfGatewayB(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, shape := range []sandboxb.Shape{sandboxb.Dahlia, sandboxb.PreBasil} {
		t.Run(string(shape), func(t *testing.T) {
			b.newcomer(t)
			require.NoError(t, b.gateways.Sandbox.GWB.SetShape(shape))
			b.listen()
			a := b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenAuthentication))
			id := idOf(a)
			require.NoError(t, b.gateways.Sandbox.GWB.CompleteChallenge(intentOf(a)))
			b.settle(t)
			require.Equal(t, "active", b.status(t, id), "by the events alone")
			require.NotNil(t, column[*time.Time](t, b, id, "next_billing_date"))
			renewalDeclined(t, b, id)
			require.Equal(t, 1, column[int](t, b, id, "payment_failures"), "two events, one failure")
			b.expect(t, 200, http.MethodPut, "/gwb/subscription/payment-method",
				object{"payment_method_id": paymentstest.TokenApproved})
			b.settle(t)
			require.Equal(t, "active", b.status(t, id))
			require.Equal(t, 2, b.count(t, "SELECT count(*) FROM payments.payments WHERE local_id = $1", id))
			admin, path := b.admin(t), "/admin/gwb/subscriptions/"+id.String()
			for want := range 2 {
				admin.Post(path+"/refund", object{"reason": "as agreed"}).Expect(200)
				b.settle(t)
				require.EqualValues(t, (want+1)*4990, column[int64](t, b, id, "total_refunded_cents"))
			}
			b.expect(t, 200, http.MethodDelete, "/customers/me/subscription", nil)
			b.settle(t)
			require.Equal(t, "cancelled", b.status(t, id))
		})
	}
}
