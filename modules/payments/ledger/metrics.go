package ledger

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/postgres"
	"marquee/platform/telemetry"
)

var recentGauge = prometheus.NewDesc("marquee_payments_last_hour",
	"What the ledgers hold of the last hour, by the gateways' clocks: payments settled, failed, refunded, disputed; "+
		"of each at most 10,000 are counted.",
	[]string{"gateway", "result"}, nil)

const (
	recent        = time.Hour
	recentCounted = 10_000
)

// Figures collects how payments went of late, whichever process wrote them.
func (s *Reader) Figures(db postgres.DB) prometheus.Collector {
	return telemetry.NewFigures(s.deps.Log, func(ctx context.Context, gauge telemetry.Gauge) error {
		rows, err := s.db.PaymentCountRecent(ctx, db,
			paymentsdb.PaymentCountRecentParams{Since: s.deps.Clock.Now().Add(-recent), Most: recentCounted})
		if err != nil {
			return err
		}
		counted := map[string]int64{}
		for _, row := range rows {
			counted[string(row.Gateway)+row.Result] = row.Entries
		}
		for _, name := range gateway.Names() {
			for _, result := range []string{"settled", "failed", "refunded", "disputed"} {
				gauge(recentGauge, float64(counted[string(name)+result]), string(name), result)
			}
		}
		return nil
	}, recentGauge)
}
