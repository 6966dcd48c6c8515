package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox"
	"marquee/testutil/sandbox/gwa"
	"marquee/testutil/sandbox/stage"
)

const withdrawPath = "/customers/me/subscription/withdraw"

func withdrawable(t *testing.T) *bundle {
	t.Helper()
	return setup(t, func(c *subscriptions.Config) {
		c.WithdrawalDays = 7
		c.Zone, _ = time.LoadLocation("America/Sao_Paulo")
	})
}

func (b *bundle) paidPixGWA(t *testing.T) objectid.ID {
	t.Helper()
	b.listen()
	id := idOf(b.expect(t, 201, "POST", "/gwa/subscribe/pix", object{"plan_id": plan}))
	_, err := b.gateways.Sandbox.GWA.Pay(column[string](t, b, id, "pix_payment_id"))
	require.NoError(t, err)
	b.settle(t)
	require.Equal(t, "active", b.status(t, id))
	return id
}

// TestAWithdrawalTellsWhatItGivesBack: a part had been given back before.
func TestAWithdrawalTellsWhatItGivesBack(t *testing.T) {
	t.Parallel()
	b := withdrawable(t)
	id := b.paidGWB(t)
	b.admin(t).Post("/admin/gwb/subscriptions/"+id.String()+"/refund", object{"reason": "as agreed", "amount": 990}).
		Expect(200)
	for range 2 {
		answer := b.client(t, objectid.New().String()).Post(withdrawPath, nil).Expect(200).Map()
		require.EqualValues(t, 4000, answer["refund_amount"])
		require.NotEmpty(t, answer["refunded_at"])
	}
	require.Equal(t, int64(4990), column[int64](t, b, id, "total_refunded_cents"))
}

// TestAWithdrawalBesideAnAdminsRefund: whose answer is lost while the customer withdraws.
// What both give back is told, and the instant once all of it is, also when all of it
// was given back before.
func TestAWithdrawalBesideAnAdminsRefund(t *testing.T) {
	t.Parallel()
	for gateway, unit := range map[string]float64{"gwa": 0.01, "gwb": 1} {
		for name, part := range map[string]object{
			"all of it": {"reason": "as agreed"}, "a part": {"reason": "as agreed", "value": 9.9},
		} {
			t.Run(gateway+" "+name, func(t *testing.T) {
				t.Parallel()
				b := withdrawable(t)
				id := begins[gateway](b, t)
				if _, given := part["value"]; given && gateway == "gwb" {
					part = object{"reason": "as agreed", "amount": 990}
				}
				b.gateways.Sandbox.GWA.SetBalance(10_000_000)
				again := b.loseRefunds(t, stage.FaultTimeoutBefore)
				b.admin(t).Post("/admin/"+gateway+"/subscriptions/"+id.String()+"/refund", part).Expect(503)
				withdraw := func() object { return b.expect(t, 200, http.MethodPost, withdrawPath, nil) }
				answer := withdraw()
				require.InDelta(t, 4990*unit, answer["refund_amount"], 0.001)
				require.Nil(t, answer["refunded_at"])
				again()
				b.runStatusChecks(t, 30*time.Minute)
				_ = b.service.GiveBack(t.Context(), id)
				answer = withdraw()
				require.InDelta(t, 4990*unit, answer["refund_amount"], 0.001)
				require.NotEmpty(t, answer["refunded_at"])
				require.Equal(t, 4990,
					b.count(t, "SELECT sum(amount_cents) FROM payments.refunds WHERE status = 'done'"))
			})
		}
		t.Run(gateway+" before", func(t *testing.T) {
			t.Parallel()
			b := withdrawable(t)
			id := begins[gateway](b, t)
			b.gateways.Sandbox.GWA.SetBalance(10_000_000)
			b.admin(t).Post("/admin/"+gateway+"/subscriptions/"+id.String()+"/refund", object{"reason": "as agreed"}).
				Expect(200)
			b.clock.Advance(time.Minute)
			answer := b.expect(t, 200, http.MethodPost, withdrawPath, nil)
			require.InDelta(t, 4990*unit, answer["refund_amount"], 0.001)
			require.NotEmpty(t, answer["refunded_at"])
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.refunds"))
		})
	}
}

// withdrawalWays are the subscriptions that are withdrawn, with the amount in their gateway's unit.
var withdrawalWays = map[string]struct {
	paid   func(*bundle, *testing.T) objectid.ID
	amount float64
}{
	"card at A": {(*bundle).paidGWA, 49.90}, "PIX at A": {(*bundle).paidPixGWA, 49.90},
	"card at B": {(*bundle).paidGWB, 4990},
}

func TestAWithdrawalGivesAllMoneyBack(t *testing.T) {
	t.Parallel()
	for name, way := range withdrawalWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := withdrawable(t)
			id := way.paid(b, t)
			until := doc(b.expect(t, 200, http.MethodGet, "/customers/me/subscription", nil))["withdrawal_until"]
			require.NotEmpty(t, until)
			require.True(t, b.access(t))
			me := b.client(t, "k")
			first := me.Post(withdrawPath, nil).Expect(200)
			answer := first.Map()
			require.Equal(t, way.amount, answer["refund_amount"])
			require.NotEmpty(t, answer["refunded_at"])
			require.Equal(t, "cancelled", answer["status"])
			require.False(t, b.access(t))
			require.Empty(t, b.current(t))
			moves := b.history(t, id)
			require.Equal(t, "active>cancelled withdrawn customer", moves[len(moves)-1])
			require.Equal(t, int64(4990), column[int64](t, b, id, "total_refunded_cents"))

			require.Equal(t, string(first.Body), string(me.Post(withdrawPath, nil).Expect(200).Body))
			require.Equal(t, answer, b.client(t, "another").Post(withdrawPath, nil).Expect(200).Map(),
				"asked again without its key")
			require.NoError(t, b.service.GiveBack(t.Context(), id))
			b.settle(t)
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.refunds"))
			require.Empty(t, b.gateways.Paid(t))
			require.Equal(t, "cancelled", b.status(t, id), "its events open nothing")
			require.NotNil(t, column[*time.Time](t, b, id, "gateway_ended_at"))
		})
	}
}

func TestTheRightToWithdrawEnds(t *testing.T) {
	t.Parallel()
	b := withdrawable(t)
	id := b.paidGWB(t)
	zone, err := time.LoadLocation("America/Sao_Paulo")
	require.NoError(t, err)
	var paid time.Time
	require.NoError(t, b.db.QueryRow(t.Context(), "SELECT settled_at FROM payments.payments").Scan(&paid))
	paid = paid.In(zone)
	until := time.Date(paid.Year(), paid.Month(), paid.Day()+8, 0, 0, 0, 0, zone)
	shown, err := time.Parse(time.RFC3339,
		doc(b.expect(t, 200, http.MethodGet, "/gwb/subscription", nil))["withdrawal_until"].(string))
	require.NoError(t, err)
	require.WithinDuration(t, until, shown, 0)
	b.clock.Advance(until.Sub(b.clock.Now()))
	a := b.expect(t, 422, http.MethodPost, withdrawPath, nil)
	refused(t, a, "WITHDRAWAL_NOT_ALLOWED", "")
	require.Contains(t, a["detail"], until.UTC().Format(time.RFC3339))
	require.Equal(t, "active", b.status(t, id))
	b.clock.Advance(-time.Second)
	b.expect(t, 200, http.MethodPost, withdrawPath, nil)
}

func TestNoWithdrawal(t *testing.T) {
	t.Parallel()
	for name, given := range map[string]func(t *testing.T) *bundle{
		"off": func(t *testing.T) *bundle {
			b := setup(t)
			b.paidGWB(t)
			require.NotContains(t, doc(b.expect(t, 200, http.MethodGet, "/customers/me/subscription", nil)),
				"withdrawal_until")
			return b
		},
		"unpaid": func(t *testing.T) *bundle {
			b := withdrawable(t)
			b.expect(t, 201, "POST", "/gwa/subscribe/pix", object{"plan_id": plan})
			return b
		},
		"disputed": func(t *testing.T) *bundle {
			b := withdrawable(t)
			b.paidGWB(t)
			_, err := b.gateways.Sandbox.GWB.OpenDispute(b.intentOf(t), "fraudulent", false)
			require.NoError(t, err)
			b.settle(t)
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refused(t, given(t).expect(t, 422, http.MethodPost, withdrawPath, nil), "WITHDRAWAL_NOT_ALLOWED", "")
		})
	}
	withdrawable(t).expect(t, 404, http.MethodPost, withdrawPath, nil)
}

// TestAWithdrawalWhoseRefundIsNotKnown: the customer is told that it is on its way.
func TestAWithdrawalWhoseRefundIsNotKnown(t *testing.T) {
	t.Parallel()
	for name, paid := range map[gateway.Name]func(*bundle, *testing.T) objectid.ID{
		gateway.GWA: (*bundle).paidGWA, gateway.GWB: (*bundle).paidGWB,
	} {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			b := withdrawable(t)
			id := paid(b, t)
			again := b.loseRefunds(t, stage.FaultResetAfter)
			b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{})
			answer := b.expect(t, 200, http.MethodPost, withdrawPath, nil)
			require.Nil(t, answer["refunded_at"])
			require.Equal(t, "cancelled", answer["status"])
			again()
			_ = b.service.GiveBack(t.Context(),
				id) // on a busy machine the refund may not have been asked for: its job does
			b.clock.Advance(10 * time.Second)
			require.NoError(t, b.payments.Intents().CheckDue(t.Context(), name))
			require.NotNil(t, b.expect(t, 200, http.MethodPost, withdrawPath, nil)["refunded_at"])
			require.Equal(t, int64(4990), column[int64](t, b, id, "total_refunded_cents"))
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.refunds"))
		})
	}
}

// TestAWithdrawalThatTheGatewayRefusesToRefund is left to people.
func TestAWithdrawalThatTheGatewayRefusesToRefund(t *testing.T) {
	t.Parallel()
	b := withdrawable(t)
	id := b.paidPixGWA(t)
	_, err := b.gateways.Sandbox.GWA.ChangeSettings(func(s *gwa.Settings) { s.RefundsNeedBalance = true })
	require.NoError(t, err)
	b.gateways.Sandbox.GWA.SetBalance(0)
	answer := b.expect(t, 200, http.MethodPost, withdrawPath, nil)
	require.Nil(t, answer["refunded_at"])
	require.Equal(t, "cancelled", b.status(t, id))
	require.Equal(t, 1, b.count(t,
		"SELECT count(*) FROM payments.unapplied_payments WHERE kind = 'unrefundable' AND state = 'open' AND amount_cents = 4990"))
}

// TestARefundOfAWithdrawalThatFailsLater: gateway A denies what it had taken on.
func TestARefundOfAWithdrawalThatFailsLater(t *testing.T) {
	t.Parallel()
	b := withdrawable(t)
	id := b.paidGWA(t)
	_, err := b.gateways.Sandbox.GWA.ChangeSettings(func(s *gwa.Settings) { s.RefundsInProgress = true })
	require.NoError(t, err)
	require.Nil(t, b.expect(t, 200, http.MethodPost, withdrawPath, nil)["refunded_at"])
	require.Error(t, b.service.GiveBack(t.Context(), id), "it comes again while the refund is under way")
	var payment string
	require.NoError(t, b.db.QueryRow(t.Context(), "SELECT gateway_payment_id FROM payments.payments").Scan(&payment))
	_, err = b.gateways.Sandbox.GWA.EndRefund(payment, true)
	require.NoError(t, err)
	b.settle(t)
	require.NoError(t, b.service.GiveBack(t.Context(), id))
	require.Equal(t, 1, b.count(t,
		"SELECT count(*) FROM payments.unapplied_payments WHERE kind = 'unrefundable' AND state = 'open'"))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.refunds"), "people decide")
}

// TestAWithdrawalBesideAPartUnderWay: gateway A refuses a refund beside another. The rest
// waits for the end of that, and is not asked for again and again.
func TestAWithdrawalBesideAPartUnderWay(t *testing.T) {
	t.Parallel()
	for name, denied := range map[string]bool{"that is made": false, "that is denied": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := withdrawable(t)
			id := b.paidGWA(t)
			inProgress := func(on bool) {
				_, err := b.gateways.Sandbox.GWA.ChangeSettings(func(s *gwa.Settings) { s.RefundsInProgress = on })
				require.NoError(t, err)
			}
			inProgress(true)
			b.admin(t).Post("/admin/gwa/subscriptions/"+id.String()+"/refund",
				object{"reason": "as agreed", "value": 10.0}).Expect(200)
			require.Nil(t, b.expect(t, 200, http.MethodPost, withdrawPath, nil)["refunded_at"])
			asked := b.count(t, "SELECT count(*) FROM payments.refunds")
			for range 3 {
				require.Error(t, b.service.GiveBack(t.Context(), id), "it comes again")
			}
			require.Equal(t, asked, b.count(t, "SELECT count(*) FROM payments.refunds"))
			require.Zero(t, b.count(t, "SELECT count(*) FROM payments.unapplied_payments"))

			inProgress(false)
			var payment string
			require.NoError(t, b.db.QueryRow(t.Context(), "SELECT gateway_payment_id FROM payments.payments").
				Scan(&payment))
			_, err := b.gateways.Sandbox.GWA.EndRefund(payment, denied)
			require.NoError(t, err)
			b.settle(t)
			require.NoError(t, b.service.GiveBack(t.Context(), id))
			b.settle(t)
			if denied {
				require.Equal(t, 1, b.count(t,
					"SELECT count(*) FROM payments.unapplied_payments WHERE kind = 'unrefundable' AND state = 'open' AND amount_cents = 4990"))
				return
			}
			require.NotNil(t, b.expect(t, 200, http.MethodPost, withdrawPath, nil)["refunded_at"])
			require.Equal(t, 4990, b.count(t, "SELECT sum(amount_cents) FROM payments.refunds WHERE status = 'done'"))
		})
	}
}

// TestWithdrawWhileARenewalWaits: it ends both, and at the gateway what the call of the
// renewal made.
func TestWithdrawWhileARenewalWaits(t *testing.T) {
	t.Parallel()
	for _, gateway := range []string{"gwa", "gwb"} {
		t.Run(gateway, func(t *testing.T) {
			t.Parallel()
			b := withdrawable(t)
			old, id := b.lostRenewal(t, gateway, stage.FaultResetAfter)
			answer := b.expect(t, 200, http.MethodPost, withdrawPath, nil)
			require.NotEmpty(t, answer["refunded_at"])
			require.Equal(t, "cancelled", b.status(t, old))
			require.Equal(t, "cancelled", b.status(t, id))
			moves := b.history(t, id)
			require.Equal(t, "pending>cancelled customer_cancelled customer", moves[len(moves)-1])
			require.Empty(t, b.current(t))
			require.False(t, b.access(t))
			require.Equal(t, answer, b.expect(t, 200, http.MethodPost, withdrawPath, nil), "asked again")
			b.recover(t, id)
			require.NoError(t, b.service.EndAtGateway(t.Context(), id))
			require.Equal(t, "cancelled", b.status(t, id))
			for _, ended := range []objectid.ID{old, id} {
				require.NotNil(t, column[*time.Time](t, b, ended, "gateway_ended_at"))
			}
			require.False(t, b.access(t))
			require.Empty(t, b.gateways.Paid(t))
		})
	}
}

// TestWithdrawAfterRenewals: the right is that of the first payment, and all that was
// paid for the subscription and for those that it renewed goes back.
func TestWithdrawAfterRenewals(t *testing.T) {
	t.Parallel()
	for name, way := range withdrawalWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := withdrawable(t)
			first := way.paid(b, t)
			b.settle(t)
			until := doc(b.expect(t, 200, http.MethodGet, ownPath, nil))["withdrawal_until"]
			var last objectid.ID
			for range 2 {
				last = renewed(b.expect(t, 200, http.MethodPut, renewPath, goodCard()))
				b.settle(t)
			}
			require.Equal(t, until, doc(b.expect(t, 200, http.MethodGet, ownPath, nil))["withdrawal_until"])
			answer := b.expect(t, 200, http.MethodPost, withdrawPath, nil)
			require.Equal(t, way.amount, answer["refund_amount"])
			require.NotEmpty(t, answer["refunded_at"])
			b.settle(t)
			require.Equal(t, int64(4990), column[int64](t, b, first, "total_refunded_cents"))
			require.Empty(t, b.gateways.Paid(t))
			require.Empty(t, b.current(t))
			require.False(t, b.access(t))
			moves := b.history(t, last)
			require.Equal(t, "active>cancelled withdrawn customer", moves[len(moves)-1])
			require.Equal(t, 3, b.count(t,
				"SELECT count(*) FROM subscriptions.subscriptions WHERE status = 'cancelled' AND gateway_ended_at IS NOT NULL"))
			require.Equal(t, answer, b.expect(t, 200, http.MethodPost, withdrawPath, nil), "asked again")
			require.NoError(t, b.service.GiveBack(t.Context(), last))
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.refunds"))
		})
	}
}

// paidAndRenewed is a subscription of gateway B, and the one that renewed it.
func (b *bundle) paidAndRenewed(t *testing.T) (first, last objectid.ID) {
	t.Helper()
	first = b.paidGWB(t)
	b.settle(t)
	last = renewed(b.expect(t, 200, http.MethodPut, renewPath, goodCard()))
	b.settle(t)
	return first, last
}

// TestARefundOfWhatWasRenewedThatFailsLater: the withdrawal that asked for it has people decide.
func TestARefundOfWhatWasRenewedThatFailsLater(t *testing.T) {
	t.Parallel()
	b := withdrawable(t)
	first, last := b.paidAndRenewed(t)
	b.expect(t, 200, http.MethodPost, withdrawPath, nil)
	b.settle(t)
	require.NoError(t, b.gateways.Sandbox.GWB.FinishRefund(b.text(t, "SELECT gateway_refund_id FROM payments.refunds"),
		false))
	b.settle(t)
	require.Zero(t, column[int64](t, b, first, "total_refunded_cents"))
	require.NotZero(t, b.count(t,
		"SELECT count(*) FROM jobs.river_job WHERE kind = 'subscriptions_give_back' AND args ->> 'subscription_id' = $1", last))
	require.NoError(t, b.service.GiveBack(t.Context(), last))
	require.Equal(t, 1, b.count(t,
		"SELECT count(*) FROM payments.unapplied_payments WHERE kind = 'unrefundable' AND state = 'open' AND subscription_id = $1", first))
}

// withdrawableUntil pays at gateway B, and is when the right to withdraw ends.
func (b *bundle) withdrawableUntil(t *testing.T) time.Time {
	t.Helper()
	b.paidGWB(t)
	b.settle(t)
	until, err := time.Parse(time.RFC3339,
		doc(b.expect(t, 200, http.MethodGet, ownPath, nil))["withdrawal_until"].(string))
	require.NoError(t, err)
	return until
}

// TestNoWithdrawalNamesTheDate: also of a renewal, and under dispute.
func TestNoWithdrawalNamesTheDate(t *testing.T) {
	t.Parallel()
	refusedUntil := func(b *bundle, t *testing.T, until time.Time) {
		a := b.expect(t, 422, http.MethodPost, withdrawPath, nil)
		refused(t, a, "WITHDRAWAL_NOT_ALLOWED", "")
		require.Contains(t, a["detail"], until.UTC().Format(time.RFC3339))
	}
	for name, happens := range map[string]func(b *bundle, t *testing.T, until time.Time){
		"disputed before the renewal": func(b *bundle, t *testing.T, _ time.Time) {
			intent := b.intentOf(t)
			b.expect(t, 200, http.MethodPut, renewPath, goodCard())
			b.settle(t)
			_, err := b.gateways.Sandbox.GWB.OpenDispute(intent, "fraudulent", false)
			require.NoError(t, err)
			b.settle(t)
		},
		"disputed": func(b *bundle, t *testing.T, _ time.Time) {
			_, err := b.gateways.Sandbox.GWB.OpenDispute(b.intentOf(t), "fraudulent", false)
			require.NoError(t, err)
			b.settle(t)
		},
		"a renewal, too late": func(b *bundle, t *testing.T, until time.Time) {
			b.expect(t, 200, http.MethodPut, renewPath, goodCard())
			b.settle(t)
			b.clock.Advance(until.Sub(b.clock.Now()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := withdrawable(t)
			until := b.withdrawableUntil(t)
			happens(b, t, until)
			refusedUntil(b, t, until)
		})
	}
}

// TestMoneyToldAfterAWithdrawalGoesBack, whenever it was charged, and also when it is of
// what the subscription had renewed.
func TestMoneyToldAfterAWithdrawalGoesBack(t *testing.T) {
	t.Parallel()
	b := withdrawable(t)
	first, last := b.paidAndRenewed(t)
	charged := b.clock.Now()
	b.clock.Advance(time.Minute)
	b.expect(t, 200, http.MethodPost, withdrawPath, nil)
	b.clock.Advance(time.Minute)
	for payment, of := range map[string]struct {
		id objectid.ID
		at time.Time
	}{"pi_before": {last, charged}, "pi_after": {last, b.clock.Now()}, "pi_old": {first, b.clock.Now()}} {
		b.reportCharge(t, of.id, payment, of.at)
		require.Equal(t, "cancelled", b.status(t, of.id), payment)
		require.Equal(t, 1, b.count(t,
			"SELECT count(*) FROM payments.unapplied_payments WHERE gateway_payment_id = $1 AND automatic AND note LIKE '%withdrawn%'", payment), payment)
	}
	require.False(t, b.access(t))
}

// TestAnOlderPaymentThatLengthensLeavesTheRightToWithdraw: the right counts from the
// first payment that was made for the subscription, and all of its money goes back.
func TestAnOlderPaymentThatLengthensLeavesTheRightToWithdraw(t *testing.T) {
	t.Parallel()
	b := withdrawable(t)
	id := b.paidGWB(t)
	shown := func() any {
		return doc(b.expect(t, 200, http.MethodGet, "/gwb/subscription", nil))["withdrawal_until"]
	}
	until := shown()
	require.NotNil(t, until)
	older := b.unapplied(t, id)
	_, err := b.db.Exec(t.Context(),
		"UPDATE payments.payments SET settled_at = settled_at - interval '20 days' WHERE gateway = 'gwa'")
	require.NoError(t, err)
	b.admin(t).Post(unappliedPath+"/"+older+"/extend", nil).Expect(200)
	require.Equal(t, until, shown())
	b.expect(t, 200, http.MethodPost, withdrawPath, nil)
	require.Equal(t, "cancelled", b.status(t, id))
	require.Equal(t, 2, b.count(t, "SELECT count(*) FROM payments.payments WHERE local_id = $1", id))
}

// TestAWithdrawalIsOfWhatTheBankHasNotGivenBack: a dispute of a part that was lost gave that part back.
func TestAWithdrawalIsOfWhatTheBankHasNotGivenBack(t *testing.T) {
	t.Parallel()
	b := withdrawable(t)
	id := b.paidGWB(t)
	require.EqualValues(t, 4990,
		b.client(t, objectid.New().String()).Post(withdrawPath, nil).Expect(200).Map()["refund_amount"])
	_, err := b.db.Exec(t.Context(),
		`INSERT INTO payments.disputes (gateway, gateway_dispute_id, payment_ref, purpose, local_id, customer_id, amount_cents, state, native_status, opened_at, closed_at, reported_at, created_at, updated_at)
		SELECT gateway, 'du_1', gateway_payment_id, purpose, local_id, customer_id, 2000, 'lost', 'lost', now(), now(), now(), now(), now() FROM payments.payments WHERE local_id = $1`, id)
	require.NoError(t, err)
	require.EqualValues(t, 2990,
		b.client(t, objectid.New().String()).Post(withdrawPath, nil).Expect(200).Map()["refund_amount"])
}
