package tickets

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/platform/postgres"
	"marquee/platform/telemetry"
)

var (
	placesGauge = prometheus.NewDesc("marquee_event_places",
		"Places of the events on sale: free (of those with a bound), held by unpaid orders, sold; "+
			"of the 1,000 events that end next.",
		[]string{"state"}, nil)
	onSaleGauge = prometheus.NewDesc("marquee_events_on_sale",
		"Events on sale, by whether places are left; at most 1,000.", []string{"state"}, nil)
	overdueGauge = prometheus.NewDesc("marquee_orders_overdue",
		"Orders that hold places five minutes longer than they may; at most 1,000 are counted.", nil, nil)
)

const (
	countedEvents, countedOrders = 1000, 1000
	// releaseTime is how late the sweep of every minute may be.
	releaseTime = 5 * time.Minute
)

// Metrics are to be registered once a process; db is what their queries use. No figure is of one event: events have
// no end.
func (s *Service) Metrics(db postgres.DB) []prometheus.Collector {
	return []prometheus.Collector{
		telemetry.NewFigures(s.deps.Log, func(ctx context.Context, gauge telemetry.Gauge) error {
			now := s.deps.Clock.Now()
			places, err := s.db.EventSumPlaces(ctx, db, ticketsdb.EventSumPlacesParams{Now: now, Most: countedEvents})
			if err != nil {
				return err
			}
			gauge(placesGauge, float64(places.Free), "free")
			gauge(placesGauge, float64(places.Held), "held")
			gauge(placesGauge, float64(places.Sold), "sold")
			gauge(onSaleGauge, float64(places.OnSale-places.SoldOut), "open")
			gauge(onSaleGauge, float64(places.SoldOut), "sold_out")
			overdue, err := s.db.OrderCountOverdue(ctx, db,
				ticketsdb.OrderCountOverdueParams{By: new(now.Add(-releaseTime)), Most: countedOrders})
			if err == nil {
				gauge(overdueGauge, float64(overdue))
			}
			return err
		}, placesGauge, onSaleGauge, overdueGauge),
	}
}
