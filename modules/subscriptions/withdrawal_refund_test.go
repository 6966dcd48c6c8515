package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox"
	"marquee/testutil/sandbox/gwa/account"
	"marquee/testutil/sandbox/stage"
)

// TestAWithdrawalTellsWhatItGivesBack: a part had been given back before.
func TestAWithdrawalTellsWhatItGivesBack(t *testing.T) {
	t.Parallel()
	b := withdrawable(t)
	id := b.paidGWB(t)
	b.admin(t).Post("/admin/gwb/subscriptions/"+id.String()+"/refund", object{"reason": "as agreed", "amount": 990}).
		Expect(200)
	for range 2 {
		res := b.client(t, objectid.New().String()).Post(withdrawPath, nil).Expect(200).Map()
		require.EqualValues(t, 4000, res["refund_amount"])
		require.NotEmpty(t, res["refunded_at"])
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
				again := loseRefunds(t, b, stage.FaultResetBefore)
				b.admin(t).Post("/admin/"+gateway+"/subscriptions/"+id.String()+"/refund", part).Expect(503)
				withdraw := func() object { return b.expect(t, 200, http.MethodPost, withdrawPath, nil) }
				res := withdraw()
				require.InDelta(t, 4990*unit, res["refund_amount"], 0.001)
				require.Nil(t, res["refunded_at"])
				again()
				b.runStatusChecks(t, 30*time.Minute)
				_ = b.service.GiveBack(t.Context(), id)
				res = withdraw()
				require.InDelta(t, 4990*unit, res["refund_amount"], 0.001)
				require.NotEmpty(t, res["refunded_at"])
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
			res := b.expect(t, 200, http.MethodPost, withdrawPath, nil)
			require.InDelta(t, 4990*unit, res["refund_amount"], 0.001)
			require.NotEmpty(t, res["refunded_at"])
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.refunds"))
		})
	}
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
			again := loseRefunds(t, b, stage.FaultResetAfter)
			b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{})
			res := b.expect(t, 200, http.MethodPost, withdrawPath, nil)
			require.Nil(t, res["refunded_at"])
			require.Equal(t, "cancelled", res["status"])
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
	_, err := b.gateways.Sandbox.GWA.ChangeSettings(func(s *account.Settings) { s.RefundsNeedBalance = true })
	require.NoError(t, err)
	b.gateways.Sandbox.GWA.SetBalance(0)
	res := b.expect(t, 200, http.MethodPost, withdrawPath, nil)
	require.Nil(t, res["refunded_at"])
	require.Equal(t, "cancelled", b.status(t, id))
	require.Equal(t, 1, b.count(t,
		"SELECT count(*) FROM payments.unapplied_payments WHERE kind = 'unrefundable' AND state = 'open' AND amount_cents = 4990"))
}

// TestARefundOfAWithdrawalThatFailsLater: gateway A denies what it had taken on.
func TestARefundOfAWithdrawalThatFailsLater(t *testing.T) {
	t.Parallel()
	b := withdrawable(t)
	id := b.paidGWA(t)
	_, err := b.gateways.Sandbox.GWA.ChangeSettings(func(s *account.Settings) { s.RefundsInProgress = true })
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
				_, err := b.gateways.Sandbox.GWA.ChangeSettings(func(s *account.Settings) { s.RefundsInProgress = on })
				require.NoError(t, err)
			}
			inProgress(true)
			b.admin(t).Post("/admin/gwa/subscriptions/"+id.String()+"/refund",
				object{"reason": "as agreed", "value": 10.0}).Expect(200)
			require.Nil(t, b.expect(t, 200, http.MethodPost, withdrawPath, nil)["refunded_at"])
			requested := b.count(t, "SELECT count(*) FROM payments.refunds")
			for range 3 {
				require.Error(t, b.service.GiveBack(t.Context(), id), "it comes again")
			}
			require.Equal(t, requested, b.count(t, "SELECT count(*) FROM payments.refunds"))
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
