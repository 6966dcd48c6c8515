package reconcile

import (
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/accounts"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/ledger"
	"marquee/modules/payments/webhook"
	"marquee/platform/clock"
)

// Deps is what the room needs.
type Deps struct {
	Pool     *pgxpool.Pool
	Clock    clock.Clock
	Log      *slog.Logger
	Gateways gateway.Set
	Accounts *accounts.Service // whose money it is that nothing here knows; nil: nobody's
	// ReconcilePause lies between two calls of a reconciliation at gateway A.
	ReconcilePause time.Duration
}

// Reconciler compares what the gateways have with what is known here.
type Reconciler struct {
	deps     Deps
	db       *paymentsdb.Queries
	reader   *ledger.Reader
	cases    *ledger.Cases
	webhooks *webhook.Webhooks
}

// New makes it.
func New(d Deps, r *ledger.Reader, c *ledger.Cases, w *webhook.Webhooks) *Reconciler {
	return &Reconciler{deps: d, db: paymentsdb.New(), reader: r, cases: c, webhooks: w}
}
