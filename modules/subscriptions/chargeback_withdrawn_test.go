package subscriptions_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/objectid"
)

// chargebacks are those that GET …/refunds lists, newest first.
func chargebacks(t *testing.T, b *bundle, id objectid.ID) []object {
	t.Helper()
	var all []object
	for _, each := range b.admin(t).Get("/subscriptions/" + id.String() + "/refunds").Expect(200).
		Map()["chargebacks"].([]any) {
		all = append(all, each.(object))
	}
	return all
}

func TestAChargebackIsNoMoreThanWhatWasPaid(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, admin := b.paidGWB(t), b.admin(t)
	path := "/subscriptions/" + id.String() + "/chargeback"
	for _, amount := range []int64{0, -1, 4991, 100_000_001, 100_000_000_001, math.MaxInt64} {
		require.Equal(t, "amount",
			admin.Post(path, object{"reason": "told by the bank", "amount": amount}).Expect(422).Field(), amount)
	}
	require.Zero(t, b.count(t, "SELECT count(*) FROM payments.disputes"))
	admin.Post(path, object{"reason": "told by the bank", "amount": 4990}).Expect(200)
	require.Equal(t, "CONFLICT", admin.Post(path, object{"reason": "told by the bank"}).Expect(409).Code(),
		"one open chargeback a payment")
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.disputes"))
}

func TestAChargebackOfWhatTheGatewayDisputesIsRefused(t *testing.T) {
	t.Parallel()
	eachDispute(t, func(t *testing.T, b *bundle, gateway string, d disputes, id objectid.ID) {
		if gateway == "gwb" { // the ledger learns the payment intent, which the dispute names
			_, err := b.db.Exec(t.Context(), "UPDATE payments.payments SET payment_intent_id = $1", intentPaid(t, b))
			require.NoError(t, err)
		}
		d.open(b, t, id)
		b.admin(t).Post("/subscriptions/"+id.String()+"/chargeback", object{"reason": "told by the bank"}).
			Expect(409)
		all := chargebacks(t, b, id)
		require.Len(t, all, 1)
		a := b.admin(t).Delete("/subscriptions/"+id.String()+"/chargebacks/"+all[0]["chargeback_id"].(string),
			object{"reason": "by mistake"})
		require.Equal(t, "CONFLICT", a.Expect(409).Code(), "the gateway's own")
		require.Equal(t, "suspended", b.status(t, id))
	})
}

func TestAnAdminWithdrawsAChargeback(t *testing.T) {
	t.Parallel()
	eachDispute(t, func(t *testing.T, b *bundle, _ string, _ disputes, id objectid.ID) {
		admin := b.admin(t)
		b.signLater(t)
		b.goBy(t, 2*day)
		path := "/subscriptions/" + id.String()
		admin.Post(path+"/chargeback", object{"reason": "told by the bank"}).Expect(200)
		b.goBy(t, time.Hour)
		require.Equal(t, "paused", b.pause(t, id))
		require.False(t, b.access(t))
		chargeback := chargebacks(t, b, id)[0]
		withdraw := path + "/chargebacks/" + chargeback["chargeback_id"].(string)
		require.Equal(t, "reason", admin.Delete(withdraw, object{"reason": "    x    "}).Expect(422).Field())
		require.Equal(t, 404,
			admin.Delete(path+"/chargebacks/"+objectid.New().String(), object{"reason": "by mistake"}).Status)
		require.Equal(t, 422, admin.Delete(path+"/chargebacks/%00", object{"reason": "by mistake"}).Status)
		require.Equal(t, 404,
			admin.Delete("/subscriptions/"+objectid.New().String()+"/chargebacks/"+
				chargeback["chargeback_id"].(string), object{"reason": "by mistake"}).Status)

		for range 2 { // twice is as good as once
			a := doc(admin.Delete(withdraw, object{"reason": "by mistake"}).Expect(200).Map())
			require.Equal(t, "active", a["status"])
			require.Equal(t, false, a["has_chargeback"])
		}
		require.True(t, b.access(t))
		moves := b.history(t, id)
		require.Equal(t, "suspended>active chargeback_withdrawn admin", moves[len(moves)-1])
		require.Equal(t, 1, b.count(t,
			"SELECT count(*) FROM subscriptions.transitions WHERE reason = 'chargeback_withdrawn'"))
		all := chargebacks(t, b, id)
		require.Equal(t, "withdrawn", all[0]["status"])
		require.Equal(t, 0.0, admin.Get(path + "/refunds").Expect(200).Map()["chargeback_count"])
		b.goBy(t, 40*day)
		require.Equal(t, "resumed", b.pause(t, id))
		paid, _ := b.taken(t, id)
		require.EqualValues(t, 2*4990, paid, "it is collected again")

		admin.Post(path+"/chargeback", object{"reason": "told by the bank"}).Expect(200)
		admin.Delete(path+"/chargebacks/"+chargebacks(t, b, id)[0]["dispute_id"].(string),
			object{"reason": "by mistake"}).Expect(200)
		require.Equal(t, "active", b.status(t, id))
	})
}

// What is withdrawn leaves closed what something else closes, or has ended.
func TestAWithdrawnChargebackOpensNothingElse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil string
		want  string
	}{
		"another dispute is open": {`INSERT INTO payments.disputes (gateway, gateway_dispute_id, payment_ref, purpose, local_id, customer_id, amount_cents, state, native_status, opened_at, reported_at, created_at, updated_at)
			SELECT 'gwb', 'du_2', 'pi_2', 'subscription', id, customer_id, 1, 'open', 'needs_response', now(), now(), now(), now() FROM subscriptions.subscriptions`, "suspended"},
		"payments failed": {"UPDATE subscriptions.subscriptions SET payment_failures = 3", "suspended"},
		"it has ended": {
			"UPDATE subscriptions.subscriptions SET status = 'cancelled', ended_at = now() + interval '1 day'", "cancelled",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.forged()
			id, admin := b.paidGWB(t), b.admin(t)
			admin.Post("/subscriptions/"+id.String()+"/chargeback", object{"reason": "told by the bank"}).Expect(200)
			chargeback := chargebacks(t, b, id)[0]["chargeback_id"].(string)
			_, err := b.db.Exec(t.Context(), c.spoil)
			require.NoError(t, err)
			admin.Delete("/subscriptions/"+id.String()+"/chargebacks/"+chargeback, object{"reason": "by mistake"}).
				Expect(200)
			require.Equal(t, c.want, b.status(t, id))
			require.Equal(t, name == "another dispute is open", column[bool](t, b, id, "has_chargeback"))
		})
	}
}

// A chargeback of what had not begun, which an earlier release took, leads back there, not into access that nobody
// paid.
func TestAWithdrawnChargebackOfAPendingSubscription(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	id := idOf(b.expect(t, 201, "POST", "/gwa/subscribe/pix", object{"plan_id": plan}))
	admin := b.admin(t)
	_, err := b.db.Exec(t.Context(),
		`INSERT INTO payments.disputes (gateway, gateway_dispute_id, payment_ref, purpose, local_id, customer_id, amount_cents, state, native_status, opened_at, reported_at, created_at, updated_at)
		SELECT 'gwa', 'CHARGEBACK-of-before', '', 'subscription', id, customer_id, 4990, 'open', 'reported_by_admin', now(), now(), now(), now() FROM subscriptions.subscriptions`)
	require.NoError(t, err)
	b.set(t, id, "status = 'suspended', has_chargeback = true")
	admin.Delete("/subscriptions/"+id.String()+"/chargebacks/"+chargebacks(t, b, id)[0]["chargeback_id"].(string),
		object{"reason": "by mistake"}).Expect(200)
	require.Equal(t, "pending", b.status(t, id))
	require.False(t, b.access(t))
	require.Equal(t, ">open not_recorded, open>withdrawn withdrawn_by_hand", disputeHistory(t, b))
	require.Equal(t, "entered by mistake", b.text(t, "SELECT reason FROM payments.dispute_transitions WHERE reason IS NOT NULL"))
}
