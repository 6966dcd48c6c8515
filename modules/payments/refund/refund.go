package refund

import (
	"context"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/ledger"
	"marquee/modules/payments/webhook"
)

// Deps is what the room needs.
type Deps struct {
	ledger.Deps
	Gateways gateway.Set
}

// Refunds asks the gateways to give money back.
type Refunds struct {
	deps      Deps
	db        *paymentsdb.Queries
	reader    *ledger.Reader
	cases     *ledger.Cases
	ledger    *ledger.Ledger
	webhooks  *webhook.Webhooks
	followers []Follower
}

// New makes it. Connect it before serving.
func New(d Deps, r *ledger.Reader, c *ledger.Cases, l *ledger.Ledger, w *webhook.Webhooks) *Refunds {
	return &Refunds{deps: d, db: paymentsdb.New(), reader: r, cases: c, ledger: l, webhooks: w}
}

// Follower is an Applier that keeps something which follows from the ledger
// of refunds.
type Follower interface {
	// RefundChanged is called once the outcome of a refund requested here is known,
	// whether or not an event reports it. It must be safe to repeat.
	RefundChanged(ctx context.Context, r ledger.Refund) error
}

// Connect names who keeps something that follows from refunds. Not safe once the server runs.
func (s *Refunds) Connect(followers []Follower) { s.followers = followers }
