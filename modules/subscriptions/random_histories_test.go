package subscriptions_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts/accountstest"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/platform/money"
	"marquee/testutil/pgtest"
	"marquee/testutil/soak"
)

// Random histories of events, doubled and out of order: after each step the
// invariants hold, and access is open only to what is active. The seed is printed.
func TestRandomHistories(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.unsound = []string{"one_move_per_event"}
	seed := soak.Seed(t)
	for n := range uint64(soak.Rounds(12, 12)) { //nolint:gosec // few
		random := rand.New(rand.NewPCG(seed, n)) //nolint:gosec // a test's dice
		b.customer = accountstest.Customer(t, b.db)
		id := subscriptionstest.In(t, b.db, b.customer.ID, []string{"pending", "active", "suspended"}[random.IntN(3)])
		r := remoteOf(t, b, id)
		var events []gateway.Event
		paid := map[string]bool{} // invoices, of which alone money can be given back
		for step := range 15 {
			e := randomEvent(random, r, id.String(), paid)
			if len(events) > 0 && random.IntN(4) == 0 {
				e = events[random.IntN(len(events))] // a repetition, perhaps of long ago
			}
			events = append(events, e)
			if settled, ok := e.Payload.(gateway.SettledPayment); ok {
				paid[settled.Payment.InvoiceID] = true
			}
			b.apply(t, e)
			name := fmt.Sprintf("history %d, step %d, %s", n, step, e.Kind())
			pgtest.RequireInvariants(t, b.db, b.clock.Now(), "jobs_done",
				"one_move_per_event") // repetitions have passed no webhook log here
			require.False(t, t.Failed(), "%s: %v", name, b.history(t, id))
			if b.access(t) {
				require.Equal(t, "active", b.status(t, id), name)
			}
		}
	}
}

func randomEvent(random *rand.Rand, r remote, tag string, paid map[string]bool) gateway.Event {
	second := random.IntN(1000)
	invoice := fmt.Sprintf("in_%s_%d", tag, random.IntN(4))
	statuses := []gateway.RemoteStatus{
		gateway.RemoteActive, gateway.RemotePastDue, gateway.RemoteUnpaid, gateway.RemoteIncomplete,
		gateway.RemoteActive,
	}
	var e gateway.Event
	switch random.IntN(12) {
	case 0, 1, 2:
		e = r.paid(invoice, second)
	case 3, 4:
		e = r.failed(invoice, 1+random.IntN(3), second)
	case 5, 6, 7:
		e = r.updated(statuses[random.IntN(len(statuses))], second, invoice)
	case 8, 9:
		if !paid[r.invoiceID(invoice)] {
			return randomEvent(random, r, tag, paid)
		}
		e = gateway.Event{
			Gateway: gateway.GWB, SubscriptionID: r.id, CreatedAt: r.at(second),
			Payload: gateway.RefundChange{Status: gateway.RefundStatusDone, Report: gateway.RefundReport{
				PaymentID: "pi_" + invoice, ChargeID: "ch_" + invoice, Total: money.Cents(1000 * (1 + second%4)),
				HasTotal: true, At: r.at(second), Type: "charge.refunded", EventID: "evt_" + invoice,
			}},
		}
	case 10:
		state := gateway.DisputeOpen
		if random.IntN(2) == 0 {
			state = gateway.DisputeWon
		}
		e = gateway.Event{
			Gateway: gateway.GWB, SubscriptionID: r.id, CreatedAt: r.at(second),
			Payload: gateway.DisputeChange{Report: gateway.DisputeReport{
				ID: "dp_" + tag, PaymentID: "pi_" + invoice, Amount: 4990, State: state, At: r.at(second),
			}},
		}
	default:
		if random.IntN(5) == 0 {
			e = r.deleted(second)
		} else {
			e = r.created(gateway.RemoteIncomplete, 0)
		}
	}
	e.ID = fmt.Sprintf("evt_%s_%d", tag, random.Uint64())
	return e
}
