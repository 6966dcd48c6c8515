package subscriptions_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/testutil/sandbox"
	sandboxa "marquee/testutil/sandbox/gwa/account"
	"marquee/testutil/sandbox/stage"
)

// takeBack is the payer's bank taking cents of a PIX at gateway A back, the rest for 0.
func takeBack(t *testing.T, b *bundle, payment string, cents sandboxa.Cents) {
	t.Helper()
	_, err := b.gateways.Sandbox.GWA.TakeBack(payment, cents)
	require.NoError(t, err)
	b.settle(t)
}

func TestABankTakesAPixBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, kind := range []string{"gwa", "gwa automatic"} {
		b.newcomer(t)
		b.listen()
		a := b.expect(t, 201, http.MethodPost, pixKinds[kind].path, object{"plan_id": plan})
		id := idOf(a)
		require.NoError(t, pixKinds[kind].pay(b, a))
		b.settle(t)
		require.Equal(t, "active", b.status(t, id), kind)
		payment := b.text(t, "SELECT gateway_payment_id FROM payments.payments WHERE local_id = $1", id)

		takeBack(t, b, payment, 500)
		require.EqualValues(t, 500, b.listed(t, payment)["amount"], "the part")
		takeBack(t, b, payment, 490)
		require.EqualValues(t, 990, b.listed(t, payment)["amount"])
		require.Contains(t, b.listed(t, payment)["note"], payment)
		require.Equal(t, "active", b.status(t, id), "a part suspends nobody")
		require.EqualValues(t, 990, column[int64](t, b, id, "total_refunded_cents"))
		require.Equal(t, 1, b.count(t,
			"SELECT count(*) FROM payments.refunds WHERE local_id = $1 AND kind = 'med' AND status = 'done' AND amount_cents = 490", id))
		require.Equal(t, 1, b.count(t,
			`SELECT count(*) FROM payments.unapplied_payments WHERE gateway_payment_id = $1 AND NOT automatic AND note LIKE '%R$ 9.90%'`, payment))

		item := unappliedPath + "/" + b.listed(t, payment)["_id"].(string)
		require.Contains(t, b.admin(t).Post(item+"/refund", object{}).Expect(409).Map()["detail"],
			"nothing is left to refund")
		require.Contains(t, b.admin(t).Post(item+"/extend", object{}).Expect(409).Map()["detail"],
			"nothing is left to refund")
		b.settle(t)
		require.EqualValues(t, 990, column[int64](t, b, id, "total_refunded_cents"),
			"a decision about the part moves no other money")
		require.Equal(t, "open", b.listed(t, payment)["state"])

		b.admin(t).Post(item+"/keep", object{"reason": "the bank's mistake"}).Expect(200)
		takeBack(t, b, payment, 100)
		require.Equal(t, "open", b.listed(t, payment)["state"], "more was taken than somebody has decided about")
		require.EqualValues(t, 1090, b.listed(t, payment)["amount"])

		takeBack(t, b, payment, 0)
		require.Equal(t, "cancelled", b.status(t, id), kind)
		require.Equal(t, 1, b.count(t,
			"SELECT count(*) FROM payments.disputes WHERE local_id = $1 AND kind = 'med' AND state = 'lost' AND amount_cents = 3900", id), "what was booked before stays a refund")
		require.EqualValues(t, 1090, column[int64](t, b, id, "total_refunded_cents"))
		moves := b.history(t, id)
		require.Equal(t, "active>cancelled chargeback webhook", moves[len(moves)-1], "one exit")
		require.Equal(t, "kept", b.listed(t, payment)["state"], "the part is decided with the whole")
		require.Contains(t, b.listed(t, payment)["note"], "took all")
		b.reconcile(t, false)
		require.Equal(t, 3, b.count(t, "SELECT count(*) FROM payments.refunds WHERE local_id = $1", id),
			"and is found to be so")
		require.Empty(t, b.reconcile(t, false).Findings)
	}
}

func TestAWholePixOfGatewayBThatNobodyHereGaveBackIsALostDispute(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	a := b.expect(t, 201, http.MethodPost, "/gwb/subscribe/pix", object{"plan_id": plan})
	id := idOf(a)
	require.NoError(t, pixKinds["gwb"].pay(b, a))
	b.settle(t)
	consoleRefund(t, b, gateway.GWB, info(a)["payment_intent_id"].(string), 4990)
	require.Equal(t, "cancelled", b.status(t, id))
	require.Equal(t, 1, b.count(t,
		"SELECT count(*) FROM payments.disputes WHERE local_id = $1 AND kind = 'med' AND state = 'lost' AND amount_cents = 4990", id))
	require.Zero(t, b.count(t, "SELECT count(*) FROM payments.refunds"), "whichever of the gateway's events came first")
}

// A refund that was asked for here is none of the bank's doing.
func TestAPixThatWeRefundIsNoDispute(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	a := b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan})
	id := idOf(a)
	require.NoError(t, pixKinds["gwa"].pay(b, a))
	b.settle(t)
	b.admin(t).Post("/subscriptions/"+id.String()+"/refund", object{"reason": "as promised"}).Expect(200)
	b.settle(t)
	require.Equal(t, "active", b.status(t, id))
	require.Zero(t, b.count(t, "SELECT count(*) FROM payments.disputes"))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.refunds WHERE kind = 'refund' AND status = 'done'"))
	require.Zero(t, b.count(t, "SELECT count(*) FROM payments.unapplied_payments"))
}

// TestAPixTakenBackBesideOurRefund: the bank takes a part back after the gateway's list of
// refunds was compared, so that the answer to our own refund is the first to tell of it.
func TestAPixTakenBackBesideOurRefund(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidPixGWA(t)
	payment := b.text(t, "SELECT gateway_payment_id FROM payments.payments WHERE local_id = $1", id)
	gateway := b.gateways.Sandbox.GWA
	b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{})
	_, err := gateway.TakeBack(payment, 990)
	require.NoError(t, err)
	require.NoError(t, gateway.Stage().Faults.Plan(stage.Fault{
		Method: http.MethodGet, Suffix: payment + "/refunds", Kind: stage.FaultStatus, Status: 200,
		Body: `{"object":"list","hasMore":false,"totalCount":0,"limit":100,"offset":0,"data":[]}`,
	}))
	b.admin(t).Post("/admin/gwa/subscriptions/"+id.String()+"/refund",
		object{"reason": "They ask for it", "value": 10}).Expect(200)
	refunds := func(kind string, cents int) int {
		return b.count(t,
			"SELECT count(*) FROM payments.refunds WHERE local_id = $1 AND kind = $2 AND status = 'done' AND amount_cents = $3", id, kind, cents)
	}
	for range 2 {
		require.Equal(t, 1, refunds("refund", 1000))
		require.Equal(t, 1, refunds("med", 990))
		require.EqualValues(t, 1990, column[int64](t, b, id, "total_refunded_cents"))
		require.Equal(t, 1, b.count(t,
			"SELECT count(*) FROM payments.unapplied_payments WHERE gateway_payment_id = $1 AND NOT automatic AND amount_cents = 990", payment))
		require.Equal(t, "active", b.status(t, id), "a part suspends nobody")
		b.reconcile(t, false)
	}
	b.admin(t).Post("/admin/gwa/subscriptions/"+id.String()+"/refund", object{"reason": "They ask for it"}).Expect(200)
	require.Equal(t, "refunded", b.listed(t, payment)["state"], "all of it is given back")
	require.Zero(t, b.count(t, "SELECT count(*) FROM jobs.river_job WHERE kind = 'payments_unapplied_mail'"),
		"it paid for a subscription")
}

// TestAPixTakenBackIsNoRefundWhoeverFindsIt: its event was lost, and the list of refunds
// that is compared before an admin's own tells of it.
func TestAPixTakenBackIsNoRefundWhoeverFindsIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidPixGWA(t)
	payment := b.text(t, "SELECT gateway_payment_id FROM payments.payments WHERE local_id = $1", id)
	b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{})
	takenBack := func(cents sandboxa.Cents) {
		_, err := b.gateways.Sandbox.GWA.TakeBack(payment, cents)
		require.NoError(t, err)
	}
	takenBack(990)
	path := "/admin/gwa/subscriptions/" + id.String() + "/refund"
	b.admin(t).Post(path, object{"reason": "They ask for it", "value": 45}).Expect(422)
	require.Equal(t, "active", b.status(t, id), "a part suspends nobody")
	require.EqualValues(t, 990, column[int64](t, b, id, "total_refunded_cents"))
	require.Equal(t, 1, b.count(t,
		"SELECT count(*) FROM payments.refunds WHERE local_id = $1 AND kind = 'med' AND status = 'done' AND amount_cents = 990", id))
	require.Equal(t, 1, b.count(t,
		"SELECT count(*) FROM payments.unapplied_payments WHERE gateway_payment_id = $1 AND NOT automatic", payment))
	takenBack(0)
	b.admin(t).Post(path, object{"reason": "They ask for it"})
	require.Equal(t, 1, b.count(t,
		"SELECT count(*) FROM payments.disputes WHERE local_id = $1 AND kind = 'med' AND state = 'lost' AND amount_cents = 4000", id))
	require.Equal(t, "cancelled", b.status(t, id))
	require.False(t, b.access(t))
}
