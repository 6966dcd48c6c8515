package webhook

import (
	"context"
	"runtime"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/ledger"
	"marquee/platform/batch"
	"marquee/platform/replica"
)

// Deps is what the room needs.
type Deps struct {
	ledger.Deps
	Reads    *replica.Set // counts of the log
	Gateways gateway.Set
}

// Refusals are the calls that no gateway made, stored or counted.
type Refusals struct {
	deps      Deps
	db        *paymentsdb.Queries
	unwritten refusals
}

// NewRefusals makes it.
func NewRefusals(d Deps) *Refusals { return &Refusals{deps: d, db: paymentsdb.New()} }

// Log is what was delivered, and how it is kept: counted, by the month, without the people
// who have left.
type Log struct {
	deps     Deps
	db       *paymentsdb.Queries
	refusals *Refusals
	last     known
}

// NewLog makes it.
func NewLog(d Deps, r *Refusals) *Log { return &Log{deps: d, db: paymentsdb.New(), refusals: r} }

// Webhooks receives the gateways' events and has each applied once.
type Webhooks struct {
	deps     Deps
	db       *paymentsdb.Queries
	reader   *ledger.Reader
	ledger   *ledger.Ledger
	refusals *Refusals
	appliers []Applier
	together GroupApplier // nil: each event is applied alone
	takers   []StrayMoneyTaker
	metrics  *metrics
	batches  []*batch.Batcher[*shared] // a transaction at once for each core
	places   chan struct{}             // holds one a delivery that is being received
}

// New makes it. Connect it before serving.
func New(d Deps, r *ledger.Reader, l *ledger.Ledger, refused *Refusals) *Webhooks {
	s := &Webhooks{deps: d, db: paymentsdb.New(), reader: r, ledger: l, refusals: refused, metrics: newMetrics()}
	serve := func(ctx context.Context, all []*shared) error {
		s.receiveTogether(ctx, all)
		return nil
	}
	for range runtime.GOMAXPROCS(0) {
		s.batches = append(s.batches, batch.New(maxTogether, slowBatch, serve))
	}
	s.places = make(chan struct{}, placesPerCore*len(s.batches))
	return s
}

// Applier applies an event inside the webhook's transaction; it must be safe to
// repeat. It answers Unclaimed when the event's subject is not its own.
type Applier interface {
	ApplyEventTx(ctx context.Context, tx pgx.Tx, e gateway.Event) (gateway.Result, error)
}

// StrayMoneyTaker is an Applier that takes in a customer's money that belongs to
// nothing known here. It answers Result.Taken when it does; the event still waits, in
// case its subject becomes known.
type StrayMoneyTaker interface {
	TakeStrayMoneyTx(ctx context.Context, tx pgx.Tx, e gateway.Event) (gateway.Result, error)
}

// GroupApplier applies what most events bring, as their Applier would, by few statements for many of them.
type GroupApplier interface {
	// MayShare reports whether an event may be one that is applied so, and is no other applier's.
	MayShare(e gateway.Event) bool
	// ApplyEventsTx applies events of one gateway, of which none has been applied, and gives their results by their
	// ids. It waits for no lock of what they are about. Of an event without a result it writes nothing: that is
	// applied alone, by ApplyEventTx.
	ApplyEventsTx(ctx context.Context, tx pgx.Tx, events []gateway.Event) (map[string]gateway.Result, error)
}

// Connect names who applies events, asked in this order until one does not answer
// Unclaimed, who applies many of them together, and who takes in money that nobody claims.
// Not safe once the server runs.
func (s *Webhooks) Connect(appliers []Applier, together GroupApplier, takers []StrayMoneyTaker) {
	s.appliers, s.together, s.takers = appliers, together, takers
}

// Handlers answers the room's routes.
type Handlers struct {
	webhooks *Webhooks
	log      *Log
}

// NewHandlers makes them.
func NewHandlers(s *Webhooks, l *Log) Handlers { return Handlers{webhooks: s, log: l} }
