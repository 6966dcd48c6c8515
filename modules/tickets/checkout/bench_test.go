package checkout

import (
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/tickets/events"
	"marquee/testutil/pgtest"
)

// BenchmarkHotEvent is workload W6 without HTTP: purchases of one event by many
// at once, each a committed order with its ticket (docs/decisions/seats-by-gate.md).
func BenchmarkHotEvent(b *testing.B) { benchmarkPurchases(b, 1, 0) }

// BenchmarkHundredEvents spreads them over 100 events.
func BenchmarkHundredEvents(b *testing.B) { benchmarkPurchases(b, 100, 0) }

// BenchmarkHotPaidEvent holds the places of one event for PIX that nobody pays.
func BenchmarkHotPaidEvent(b *testing.B) { benchmarkPurchases(b, 1, 5000) }

// noCalls is a gateway whose name is all that is asked.
type noCalls struct{ gateway.Gateway }

func (noCalls) Name() gateway.Name { return gateway.GWB }

func benchmarkPurchases(b *testing.B, spread, cents int) {
	db := pgtest.DB(b)
	s := newCheckout(b, db)
	all := make([]events.Event, spread)
	for i := range all {
		all[i] = freeEvent(b, db, 1_000_000_000)
	}
	if cents > 0 {
		_, err := db.Exec(b.Context(), "UPDATE tickets.events SET ticket_value_cents = $1", cents)
		require.NoError(b, err)
	}
	b.SetParallelism(16)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for n := 0; pb.Next(); n++ {
			w := request{event: all[n%spread], customer: buyer(n), quantity: 1}
			if cents > 0 {
				w.gateway, w.method = noCalls{}, gateway.MethodPix
				w.customer.TaxID = w.customer.ID.String()
				w.payer = gateway.Payer{CustomerID: w.customer.ID, GatewayID: "cus_1", TaxID: w.customer.TaxID}
				w.holder = s.holderOf(b.Context(), w.event, w.customer, nil)
				w.holder.address = s.holderMAC("address", w.event.ID, w.customer.TaxID)
			}
			r := s.gate.enter(b.Context(), w)
			if r.err != nil {
				b.Error(r.err)
			}
		}
	})
	b.StopTimer()
	var wrong int
	require.NoError(b, db.QueryRow(b.Context(), `SELECT count(*) FROM tickets.events e
		WHERE tickets_issued <> (SELECT count(*) FROM tickets.tickets t WHERE t.event_id = e.id AND t.holds_place)`).
		Scan(&wrong))
	require.Zero(b, wrong, "counters equal the rows")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "purchases/s")
}
