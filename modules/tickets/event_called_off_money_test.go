package tickets_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/testutil/apitest"
	"marquee/testutil/soak"
)

// TestTheMoneyOfACalledOffEventSoak: buyers, five for each place, at both gateways at once; half of
// what is sold is charged back, won, lost or still open; freed places are sold again; then the
// event is called off. To the cent, at each gateway, in the ledgers and in the figures: what came
// in is what went out and what is kept, which is what banks still hold, and nothing in the end.
func TestTheMoneyOfACalledOffEventSoak(t *testing.T) {
	t.Parallel()
	places := 8
	if soak.On() {
		places = 40
	}
	b := withdrawable(t)
	event := b.event(object{"capacity": places})
	buyers := make([]*apitest.Client, 5*places)
	for i := range buyers {
		_, buyers[i] = b.another()
	}
	sold := sellOut(b, buyers, event)
	require.Len(t, sold, places)
	require.Equal(t, places, b.issued(event))

	var open []object
	won, lost := 0, 0
	for _, m := range sold {
		gateway, payment := order(m)["gateway"].(string), order(m)["gateway_payment_id"].(string)
		if order(m)["payment_method"] != "credit_card" || won+lost+len(open) == places/2 {
			continue
		}
		disputers[gateway].open(b, payment)
		b.settle()
		switch (won + lost + len(open)) % 4 {
		case 0, 1:
			disputers[gateway].close(b, payment, false)
			lost++
		case 2:
			disputers[gateway].close(b, payment, true)
			won++
		default:
			open = append(open, m)
		}
	}
	b.settle()
	require.Equal(t, places/2, won+lost+len(open), "half of them")
	require.Equal(t, places-lost, b.issued(event))
	again := sellOut(b, buyers, event)
	require.Len(t, again, lost, "the places of what was lost are sold again")

	a := cancelEvent(b, event, "all")["progress"].(object)
	require.EqualValues(t, places, a["orders"], "what a dispute took was no order any more")
	b.work()
	done := float64(places - len(open))
	b.eventually("all but what banks hold is given back",
		func() bool { b.settle(); return progress(b, event)["refunded"] == done })
	require.EqualValues(t, len(open), progress(b, event)["disputed"])
	retained := map[string]int{}
	for _, m := range open {
		retained[order(m)["gateway"].(string)] += 12050
	}
	requireBalanced(b, len(sold)+len(again), lost, retained)

	for i, m := range open { // the banks decide
		disputers[order(m)["gateway"].(string)].close(b, order(m)["gateway_payment_id"].(string), i%2 == 0)
	}
	wins := (len(open) + 1) / 2
	b.eventually("what was won is given back",
		func() bool { b.settle(); b.sweep(); return progress(b, event)["refunded"] == done+float64(wins) })
	requireBalanced(b, len(sold)+len(again), lost+len(open)-wins, map[string]int{})
	require.Zero(t, b.count("SELECT count(*) FROM payments.unapplied_payments WHERE state = 'open'"))
}

// sellOut has all buyers try at once, most by card, some by PIX, which is paid, and gives the
// orders that came about.
func sellOut(b *bundle, buyers []*apitest.Client, event any) []object {
	b.t.Helper()
	responses := make([]*apitest.Response, len(buyers))
	var group errgroup.Group
	group.SetLimit(8)
	for i, buyer := range buyers {
		group.Go(func() error {
			path, body := "/store/purchase/gwa/card", object{}
			switch i % 8 {
			case 6:
				path = "/store/purchase/gwa/pix"
			case 7:
				path = "/store/purchase/gwb/pix"
			case 1, 3, 5:
				path, body = "/store/purchase/gwb/card", cardB("", 1, paymentstest.TokenApproved)
			default:
				body = cardA("", 1, paymentstest.CardApproved)
			}
			body["event_id"], body["quantity"] = event, 1
			responses[i] = buyer.Post(path, body)
			return nil
		})
	}
	require.NoError(b.t, group.Wait())
	var sold []object
	for _, a := range responses {
		if a.Status == 409 {
			continue
		}
		m := a.Expect(200).Map()
		sold = append(sold, m)
		if order(m)["payment_method"] != "pix" {
			continue
		}
		if order(m)["gateway"] == "gwa" {
			_, err := b.gateways.Sandbox.GWA.Pay(order(m)["gateway_payment_id"].(string))
			require.NoError(b.t, err)
			continue
		}
		require.NoError(b.t, b.gateways.Sandbox.GWB.PayPIX(order(m)["gateway_payment_id"].(string)))
	}
	b.settle()
	return sold
}

// requireBalanced holds the gateways, the ledgers and the figures against each other.
func requireBalanced(b *bundle, paid, lost int, retained map[string]int) {
	b.t.Helper()
	in, out, all := map[string]int{}, map[string]int{}, 0
	for _, c := range b.gateways.Charges(b.t) {
		if !c.Succeeded {
			continue
		}
		in[string(c.Gateway)] += int(c.Cents)
		if c.Refunded {
			out[string(c.Gateway)] += int(c.Cents)
		}
		all += int(c.Cents)
	}
	require.Equal(b.t, paid*12050, all, "what the gateways took in")
	places := 0
	for _, name := range []string{string(gateway.GWA), string(gateway.GWB)} {
		places += retained[name]
		ledgerIn := b.count("SELECT coalesce(sum(amount_cents), 0) FROM payments.payments WHERE gateway = $1", name)
		refunded := b.count("SELECT coalesce(sum(amount_cents), 0) FROM payments.refunds WHERE gateway = $1 AND status = 'done'", name)
		taken := b.count("SELECT coalesce(sum(amount_cents), 0) FROM payments.disputes WHERE gateway = $1 AND state = 'lost'", name)
		require.Equal(b.t, in[name], ledgerIn, "%s: the ledger has what came in", name)
		require.Equal(b.t, ledgerIn, refunded+taken+retained[name], "%s: in = out + kept", name)
		if name == string(gateway.GWA) { // it tells of a lost dispute as of a refund
			require.Equal(b.t, refunded+taken, out[name], "%s: what the gateway gave back", name)
		} else {
			require.Equal(b.t, refunded, out[name], "%s: what the gateway gave back", name)
		}
		require.Equal(b.t, ledgerIn,
			b.count(`SELECT coalesce(sum(refunded_cents + kept_cents + revenue_cents + CASE WHEN payment_status = 'CHARGEBACK_LOST' THEN total_cents ELSE 0 END), 0)
			FROM finance.orders WHERE gateway = $1`, name), "%s: the figures", name)
	}
	require.Equal(b.t, lost*12050,
		b.count("SELECT coalesce(sum(amount_cents), 0) FROM payments.disputes WHERE state = 'lost'"))
	require.Equal(b.t, places, b.count("SELECT kept_cents FROM finance.events"))
	require.Zero(b.t,
		b.count("SELECT sum(revenue_cents) + sum(tickets_live) + sum(tickets_sold) + sum(paid_orders) + count(*) FILTER (WHERE is_upcoming) FROM finance.events"), "figures without them")
	require.Zero(b.t, b.count("SELECT sum(revenue_cents) + count(*) FILTER (WHERE is_paid) FROM finance.orders"))
}
