package tickets

import (
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/testutil/pgtest"
)

// BenchmarkHotEvent is workload W6 without HTTP: purchases of one event by many
// at once, each a committed order with its ticket (design page performance).
func BenchmarkHotEvent(b *testing.B) { benchmarkPurchases(b, 1) }

// BenchmarkHundredEvents spreads them over 100 events.
func BenchmarkHundredEvents(b *testing.B) { benchmarkPurchases(b, 100) }

func benchmarkPurchases(b *testing.B, events int) {
	db := pgtest.DB(b)
	s := newService(b, db)
	all := make([]event, events)
	for i := range all {
		all[i] = freeEvent(b, db, 1_000_000_000)
	}
	b.SetParallelism(16)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for n := 0; pb.Next(); n++ {
			r := s.gate.enter(b.Context(), wish{event: all[n%events], customer: buyer(n), quantity: 1})
			if r.err != nil {
				b.Error(r.err)
			}
		}
	})
	b.StopTimer()
	var wrong int
	require.NoError(b, db.QueryRow(b.Context(), `SELECT count(*) FROM tickets.events e
		WHERE tickets_issued <> (SELECT count(*) FROM tickets.tickets t WHERE t.event_id = e.id AND t.holds_place)`).Scan(&wrong))
	require.Zero(b, wrong, "counters equal the rows")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "purchases/s")
}
