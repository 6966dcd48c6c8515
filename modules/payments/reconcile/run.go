package reconcile

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/state"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Starter says what began a run.
type Starter = state.Starter

// The starters.
const (
	BySchedule Starter = "schedule" // the nightly job
	ByCommand  Starter = "command"  // marquee reconcile
)

// seenEvery is how often a run says that it lives: a quarter of the silence after which the list takes it for dead.
const seenEvery = 30 * time.Second

// mostAmount bounds the amounts of the ledgers, in cents.
const mostAmount = 100_000_000_000

// State is how a record and its money stand, by the names of fields: null is known to be absent.
type State map[string]any

// RecordReader tells how a record of a module above stands: its kind ("subscription", "order") and its fields. The
// kind is "" of an id that is none of the module's. An error is the database's.
type RecordReader func(ctx context.Context, db postgres.DB, id objectid.ID) (kind string, fields State, err error)

// Connect sets who knows the records that money is for.
func (s *Reconciler) Connect(records []RecordReader) { s.records = records }

// Run is a reconciliation that is written down while it runs; a nil one writes nothing.
type Run struct {
	id   objectid.ID
	s    *Reconciler
	ends func()

	mu      sync.Mutex // it says that it lives beside its work
	figures figures
	lost    error // what could not be written of it
}

// figures are what a run has counted.
type figures struct{ checked, found, repaired, failed int }

// Begin writes down that a reconciliation begins, and has what the report takes in written row by row. End has to be
// called. An error is the database's.
func (s *Reconciler) Begin(ctx context.Context, o Options, report *Report) (*Run, error) {
	now := s.deps.Clock.Now()
	names := []string{}
	for _, name := range gateway.Names() {
		if o.Of(name) {
			names = append(names, string(name))
		}
	}
	r := &Run{id: objectid.At(now), s: s}
	err := s.db.ReconcileRunInsert(ctx, s.deps.Pool, paymentsdb.ReconcileRunInsertParams{
		ID: r.id, StartedBy: cmp.Or(o.StartedBy, ByCommand), Starter: nullable.Ptr(o.Starter), DryRun: o.DryRun,
		Gateways: names, Since: o.Since, At: now,
	})
	if err != nil {
		return nil, fmt.Errorf("write down a reconciliation: %w", err)
	}
	report.run = r
	beats, done := make(chan struct{}), make(chan struct{})
	r.ends = sync.OnceFunc(func() { close(beats); <-done })
	go func() {
		defer close(done)
		r.beat(ctx, beats)
	}()
	return r, nil
}

// beat says every little while that the run lives, until it ends: one that was killed goes silent.
func (r *Run) beat(ctx context.Context, ends <-chan struct{}) {
	every := time.NewTicker(seenEvery)
	defer every.Stop()
	for {
		select {
		case <-ends:
			return
		case <-every.C:
			if err := r.see(context.WithoutCancel(ctx), nil); err != nil {
				r.s.deps.Log.WarnContext(ctx, "a reconciliation could not say that it lives", slog.Any("error", err))
			}
		}
	}
}

// see writes how far the run is, and with an instant that it has ended.
func (r *Run) see(ctx context.Context, ended *time.Time) error {
	r.mu.Lock()
	f := r.figures
	r.mu.Unlock()
	return r.s.db.ReconcileRunProgress(ctx, r.s.deps.Pool, paymentsdb.ReconcileRunProgressParams{
		ID: r.id, Checked: bounded(f.checked), Found: bounded(f.found), Repaired: bounded(f.repaired),
		NotRepaired: bounded(f.found - f.repaired), Failed: bounded(f.failed), EndedAt: ended, At: r.s.deps.Clock.Now(),
	})
}

// bounded is a count as its column holds it.
func bounded(n int) int32 {
	return int32(min(max(n, 0), math.MaxInt32)) //nolint:gosec // it is bounded
}

// End writes down that the run is over, also when its context is. It returns what could not be written of it.
func (r *Run) End(ctx context.Context) error {
	r.ends()
	now := r.s.deps.Clock.Now()
	if err := r.see(context.WithoutCancel(ctx), &now); err != nil {
		return errors.Join(r.lost, fmt.Errorf("write down the end of a reconciliation: %w", err))
	}
	return r.lost
}

// progress takes what was counted so far.
func (r *Run) progress(f figures) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.figures = f
}

// add writes down what was found.
func (r *Run) add(ctx context.Context, f Finding) {
	if r == nil {
		return
	}
	err := r.insert(context.WithoutCancel(ctx), f)
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost = errors.Join(r.lost, fmt.Errorf("write down %s %s: %w", f.Kind, f.ID, err))
}

func (r *Run) insert(ctx context.Context, f Finding) error {
	was, err := f.Was.json()
	if err != nil {
		return err
	}
	became, err := f.Became.json()
	if err != nil {
		return err
	}
	now := r.s.deps.Clock.Now()
	params := paymentsdb.ReconcileFindingInsertParams{
		ID: objectid.At(now), RunID: r.id, Gateway: f.Gateway, Kind: f.Kind, Verdict: f.Verdict,
		GatewayObjectID: f.ID, Record: nullable.Ptr(f.Record), Was: was, Became: became, Detail: nullable.Ptr(f.Detail),
		FoundAt: now,
	}
	if f.LocalID != "" {
		params.LocalID = &f.LocalID
	}
	if f.Amount > 0 && f.Amount <= mostAmount { // the gateway's word: an odd one is left out
		params.AmountCents = new(int64(f.Amount))
	}
	return r.s.db.ReconcileFindingInsert(ctx, r.s.deps.Pool, params)
}

func (s State) json() ([]byte, error) {
	if s == nil {
		return nil, nil
	}
	return json.Marshal(s)
}

// stateOf tells how a payment, and the record that it is for, stand here; local may be "" and is found by the payment
// then. Nobody's is "".
func (s *Reconciler) stateOf(ctx context.Context, gw gateway.Name, payment string, local objectid.ID) (
	record string, id objectid.ID, now State, err error,
) {
	now = State{}
	if payment != "" {
		row, err := s.db.PaymentMoneyGet(ctx, s.deps.Pool, paymentsdb.PaymentMoneyGetParams{Gateway: gw, Ref: payment})
		if err != nil {
			return "", local, nil, fmt.Errorf("read what is known of %s: %w", payment, err)
		}
		local = cmp.Or(local, objectid.ID(row.LocalID))
		now["paid"], now["refunded"] = row.PaidCents, row.RefundedCents
		now["payment_status"], now["dispute"] = nullable.Ptr(row.PaymentStatus), nullable.Ptr(row.Dispute)
	}
	record, err = s.recordInto(ctx, local, now)
	return record, local, now, err
}

// recordInto adds how a record stands.
func (s *Reconciler) recordInto(ctx context.Context, local objectid.ID, into State) (string, error) {
	if local == "" {
		return "", nil
	}
	for _, read := range s.records {
		kind, fields, err := read(ctx, s.deps.Pool, local)
		if err != nil {
			return "", fmt.Errorf("read record %s: %w", local, err)
		}
		if kind != "" {
			for name, value := range fields {
				into[name] = value
			}
			return kind, nil
		}
	}
	return "", nil
}

// before reads how what an event is about stands, for the row of a repair; local may be "".
func (s *Reconciler) before(ctx context.Context, e gateway.Event, local objectid.ID) (Finding, error) {
	if e.Purpose == gateway.ForOrder || e.Purpose == gateway.ForSubscription {
		local = cmp.Or(local, e.Reference)
	}
	f := Finding{Gateway: e.Gateway, LocalID: local}
	var err error
	f.Record, f.LocalID, f.Was, err = s.stateOf(ctx, e.Gateway, e.PaymentID(), local)
	return f, err
}

// after reads how the same stands now. What nothing here is known of stays without a record.
func (s *Reconciler) after(ctx context.Context, e gateway.Event, f *Finding, was Finding) error {
	local := cmp.Or(f.LocalID, was.LocalID)
	record, id, now, err := s.stateOf(ctx, e.Gateway, e.PaymentID(), local)
	if err != nil {
		return err
	}
	f.Record, f.Was, f.Became = cmp.Or(record, was.Record), was.Was, now
	if f.LocalID == "" && f.Record != "" {
		f.LocalID = id
	}
	return nil
}

// Tidy deletes the runs that began before the last few months, as the log of webhooks does; 0 keeps all.
func (s *Reconciler) Tidy(ctx context.Context, keepMonths int) error {
	if keepMonths == 0 {
		return nil
	}
	now := s.deps.Clock.Now().UTC()
	n, err := s.db.ReconcileRunDeleteBefore(ctx, s.deps.Pool,
		time.Date(now.Year(), now.Month()-time.Month(keepMonths), 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		return fmt.Errorf("delete old reconciliations: %w", err)
	}
	if n > 0 {
		s.deps.Log.InfoContext(ctx, "old reconciliations deleted", slog.Int64("runs", n))
	}
	return nil
}
