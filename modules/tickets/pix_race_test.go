package tickets_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/modules/tickets/state"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
	"marquee/testutil/soak"
)

// TestPixPaidWhileItExpiresSoak: at the same instant the hold of a PIX order runs
// out, its code is paid, the webhook arrives, and somebody else wants the places.
// It always ends in a ticket or in a refund, never in neither, never in both.
func TestPixPaidWhileItExpiresSoak(t *testing.T) {
	t.Parallel()
	for _, gateway := range []string{"gwa", "gwb"} {
		t.Run(gateway, func(t *testing.T) {
			t.Parallel()
			p := newPixRace(t, gateway)
			ends := map[string]int{}
			for round := range soak.Rounds(8, 250) {
				o := p.order()
				p.together(
					func() { require.NoError(t, p.service.Reconcile().ReleaseUnpaid(t.Context(), o.id, state.HoldRunsOut)) },
					func() {
						for range round / 2 % 4 { // so that it comes before, between and after the steps of the expiry
							p.nobody.Get("/store/events/" + o.event.String())
						}
						o.paid = p.pay(o) == nil
					},
					func() { p.rival.Post("/store/purchase/gwb/card", cardB(o.event, 1, paymentstest.TokenApproved)) },
					func() {
						if round%2 == 0 {
							p.giveUp(o)
						}
					},
				)
				end, problem := p.end(o)
				require.Empty(t, problem, "round %d", round)
				ends[end]++
			}
			t.Log(ends)
		})
	}
}

// TestPixPaidWhileItExpiresWithoutTheGuard shows that the test above can fail: an
// expiry that looks first and writes after, without lock and without asking
// whether the order still is what it was, leaves money with neither.
func TestPixPaidWhileItExpiresWithoutTheGuard(t *testing.T) {
	t.Parallel()
	p := newPixRace(t, "gwb")
	p.unsound = []string{"orders_match_ledger"}
	o := p.order()
	state, _ := p.orderRow(o.id.String())
	require.Equal(t, "reserved", state)
	o.paid = p.pay(o) == nil
	p.settle()
	_, err := p.db.Exec(t.Context(), "UPDATE tickets.orders SET state = 'released' WHERE id = $1", o.id)
	require.NoError(t, err)
	_, err = p.db.Exec(t.Context(),
		"UPDATE tickets.tickets SET status = 'expired', reason = 'edited', holds_place = false WHERE order_id = $1", o.id)
	require.NoError(t, err)
	_, problem := p.end(o)
	require.Contains(t, problem, "neither")
}

// pixRace sells events with one seat each by PIX of a gateway.
type pixRace struct {
	*bundle
	gateway string
	rival   *apitest.Client
}

func newPixRace(t *testing.T, gateway string) *pixRace {
	t.Helper()
	p := &pixRace{bundle: setup(t), gateway: gateway}
	p.listen()
	p.work()
	_, p.rival = p.another()
	return p
}

// pixOrder is an order of one seat whose code waits to be paid.
type pixOrder struct {
	id, event objectid.ID
	response  object
	paid      bool // at the gateway
}

func (p *pixRace) order() *pixOrder {
	p.t.Helper()
	event := p.event(object{"capacity": 1})
	m := p.me.Post("/store/purchase/"+p.gateway+"/pix", pix(event, 1)).Expect(http.StatusOK).Map()
	return &pixOrder{id: objectid.ID(order(m)["_id"].(string)), event: event, response: m}
}

func (p *pixRace) pay(o *pixOrder) error {
	if p.gateway == "gwb" {
		return p.gateways.Sandbox.GWB.PayPIX(order(o.response)["gateway_payment_id"].(string))
	}
	_, err := p.gateways.Sandbox.GWA.PayPIX(o.response["pix"].(object)["payload"].(string))
	return err
}

// giveUp gives the places back here alone, as if the code had been paid in the
// moment in which it ran out: too late for the gateway to refuse it.
func (p *pixRace) giveUp(o *pixOrder) {
	_, err := p.db.Exec(p.t.Context(),
		`WITH given AS (UPDATE tickets.orders SET state = 'released' WHERE id = $1 AND state = 'reserved' RETURNING id)
		UPDATE tickets.tickets SET status = 'expired', reason = 'not_paid' WHERE order_id IN (SELECT id FROM given)`, o.id)
	require.NoError(p.t, err)
}

func (*pixRace) together(steps ...func()) {
	var all sync.WaitGroup
	for _, step := range steps {
		all.Go(step)
	}
	all.Wait()
}

// end waits until nothing moves any more, and says in what the order ended:
// nothing, a ticket, or a refund.
func (p *pixRace) end(o *pixOrder) (end, problem string) {
	p.t.Helper()
	p.settle()
	require.Eventually(p.t, func() bool {
		state, _ := p.orderRow(o.id.String())
		return state != "refund_due" && state != "reserved"
	}, time.Minute, 5*time.Millisecond)
	p.settle()
	seats := p.count("SELECT count(*) FROM tickets.tickets WHERE order_id = $1 AND status = 'available'", o.id)
	refunds := p.count("SELECT count(*) FROM payments.refunds WHERE local_id = $1", o.id)
	taken := p.count("SELECT count(*) FROM tickets.tickets WHERE event_id = $1 AND status = 'available'", o.event)
	what := fmt.Sprintf("paid %v, %d tickets, %d refunds, %d of 1 seats taken", o.paid, seats, refunds, taken)
	switch {
	case taken > 1:
		return "", "oversold: " + what
	case !o.paid && seats == 0 && refunds == 0:
		return "nothing", ""
	case o.paid && seats == 1 && refunds == 0:
		return "ticket", ""
	case o.paid && seats == 0 && refunds == 1:
		return "refund", ""
	case seats == 1 && refunds == 1:
		return "", "both: " + what
	}
	return "", strings.TrimSpace("neither: " + what)
}
