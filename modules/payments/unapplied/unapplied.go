package unapplied

import (
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/ledger"
	"marquee/modules/payments/refund"
	"marquee/platform/mail"
	"marquee/platform/operators"
	"marquee/platform/postgres"
)

// Deps is what the room needs.
type Deps struct {
	ledger.Deps
	Reads     postgres.Pool // counts for the metric
	Gateways  gateway.Set
	Operators *operators.Mailer // nil: nobody is told
	// Automatic bounds what is refunded without a person's decision.
	Automatic AutomaticRefunds
	// Mail and Templates tell payers whose money was given back; without them, or without
	// Accounts, nobody is written to.
	Mail      mail.Sender
	Templates *mail.Templates
}

// List decides what becomes of the cases on the list, for admins and by itself.
type List struct {
	deps     Deps
	db       *paymentsdb.Queries
	reader   *ledger.Reader
	cases    *ledger.Cases
	ledger   *ledger.Ledger
	refunds  *refund.Refunds
	extender Extender
}

// New makes it. Connect it before serving.
func New(d Deps, r *ledger.Reader, c *ledger.Cases, l *ledger.Ledger, refunds *refund.Refunds) *List {
	return &List{deps: d, db: paymentsdb.New(), reader: r, cases: c, ledger: l, refunds: refunds}
}

// Handlers answers the room's routes.
type Handlers struct{ s *List }

// Handlers returns what answers the routes.
func (s *List) Handlers() Handlers { return Handlers{s} }

// Connect names whose rows a payment may lengthen. Not safe once the server runs.
func (s *List) Connect(e Extender) { s.extender = e }
