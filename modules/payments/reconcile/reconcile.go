package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/ledger"
	"marquee/modules/payments/state"
	"marquee/modules/payments/webhook"
	"marquee/platform/money"
	"marquee/platform/objectid"
)

// Deps is what the room needs.
type Deps struct {
	ledger.Deps
	Gateways gateway.Set
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
	records  []RecordReader
}

// New makes it.
func New(d Deps, r *ledger.Reader, c *ledger.Cases, w *webhook.Webhooks) *Reconciler {
	return &Reconciler{deps: d, db: paymentsdb.New(), reader: r, cases: c, webhooks: w}
}

const (
	// reconcilePages bounds the pages of one list, reconcileFindings what a report
	// lists one by one.
	reconcilePages, reconcileFindings = 1000, 1000
)

// FindingKind says what a reconciliation found.
type FindingKind = state.FindingKind

// The kinds of findings.
const (
	MissedEvent    FindingKind = "missed_event"       // the gateway has sent it, and it never came
	MissedPayment  FindingKind = "missed_payment"     // charged there, unpaid here
	MissedRefund   FindingKind = "missed_refund"      // given back there, not here
	MissedDispute  FindingKind = "missed_dispute"     // disputed there, not here
	MissedFailure  FindingKind = "missed_failure"     // a debit that was not paid there, or is gone, and is open here
	UnshownRefund  FindingKind = "unshown_refund"     // booked here as given back, not there
	UnshownDispute FindingKind = "unshown_dispute"    // booked here as disputed, not there
	UnshownPayment FindingKind = "unshown_payment"    // booked here as paid, not there
	MissedEnd      FindingKind = "ended_subscription" // gone there, live here
	// StrayRecurrence charges at the gateway and names one of our ids, but belongs to no
	// subscription here.
	StrayRecurrence FindingKind = "stray_recurrence"
)

// Verdict says what became of a finding.
type Verdict = state.Verdict

// The verdicts.
const (
	Repaired   Verdict = "repaired"
	Repairable Verdict = "repairable" // a dry run would have repaired it
	Unknown    Verdict = "unknown"    // it is of nothing here: for people to look at
	Unchanged  Verdict = "unchanged"  // it changes nothing here; Detail says why
	Failed     Verdict = "failed"     // it could not be read or applied; only in what is written down
)

// Finding is one thing that a gateway knows otherwise than we do.
type Finding struct {
	Gateway gateway.Name `json:"gateway"`
	Kind    FindingKind  `json:"kind"`
	// ID is the gateway's: of the event, payment, refunded payment, dispute or
	// subscription.
	ID      string      `json:"id"`
	LocalID objectid.ID `json:"local_id,omitempty"` // the subscription or order, where it is known
	Amount  money.Cents `json:"amount_cents,omitempty"`
	Verdict Verdict     `json:"verdict"`
	Detail  string      `json:"detail,omitempty"`
	// Record is what LocalID is: "subscription", "order" or "". Was and Became are how it and its money stood before
	// and right after; nil where nothing was to be changed.
	Record      string `json:"-"`
	Was, Became State  `json:"-"`
}

// Options say what is compared.
type Options struct {
	Since    time.Time
	Gateways []gateway.Name // default both
	DryRun   bool           // nothing stays changed
	// StartedBy says what begins it, Starter whose command it is. Default ByCommand, nobody's.
	StartedBy Starter
	Starter   string
}

// Of reports whether the gateway is to be checked at.
func (o Options) Of(name gateway.Name) bool {
	return len(o.Gateways) == 0 || slices.Contains(o.Gateways, name)
}

// Report is what a reconciliation found.
type Report struct {
	Since    time.Time           `json:"since"`
	DryRun   bool                `json:"dry_run"`
	Events   int                 `json:"events"`  // read at the gateways
	Objects  int                 `json:"objects"` // payments, refunds and disputes read
	Asked    int                 `json:"asked"`   // subscriptions without news that were read
	Counts   map[FindingKind]int `json:"counts"`
	Verdicts map[Verdict]int     `json:"verdicts"`
	Failed   int                 `json:"failed"`   // what could not be read or applied
	Findings []Finding           `json:"findings"` // the first ones

	run *Run
}

// NewReport begins a report.
func NewReport(o Options) *Report {
	return &Report{
		Since: o.Since, DryRun: o.DryRun, Counts: map[FindingKind]int{}, Verdicts: map[Verdict]int{},
		Findings: []Finding{},
	}
}

// Add takes a finding in.
func (r *Report) Add(ctx context.Context, f Finding) {
	r.Counts[f.Kind]++
	r.Verdicts[f.Verdict]++
	if len(r.Findings) < reconcileFindings {
		r.Findings = append(r.Findings, f)
	}
	r.count()
	r.run.add(ctx, f)
}

// CountRead counts a subscription that is read.
func (r *Report) CountRead() {
	r.Asked++
	r.count()
}

// Fail counts what could not be read or applied, and returns the error. A finding without an id is of a whole list.
func (r *Report) Fail(ctx context.Context, f Finding, err error) error {
	if err == nil {
		return nil
	}
	r.Failed++
	r.count()
	if f.ID != "" {
		f.Verdict, f.Detail = Failed, whyFailed(err)
		r.run.add(ctx, f)
	}
	return err
}

// whyFailed words an error for staff: its own text may quote what a gateway says, and stands in the log.
func whyFailed(err error) string {
	switch {
	case errors.Is(err, gateway.ErrUnavailable), errors.Is(err, gateway.ErrOutcomeUnknown):
		return "The gateway did not answer, or not as it should."
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "The run was ended."
	}
	return "See the log of the run."
}

// count has what is counted so far be written with the next beat.
func (r *Report) count() {
	if r.run == nil {
		return
	}
	found := 0
	for _, n := range r.Counts {
		found += n
	}
	r.run.progress(figures{
		checked: r.Events + r.Objects + r.Asked, found: found, repaired: r.Verdicts[Repaired], failed: r.Failed,
	})
}

// Reconcile asks the gateways what has happened since an instant and applies what
// never came as its webhook would have, by the same functions: events that the
// gateway has and we have not, then payments, refunds and disputes, then what is booked
// here as given back, disputed or paid and gateway A does not show. What fails is told in the
// error, and does not keep the rest from being done.
func (s *Reconciler) Reconcile(ctx context.Context, o Options, report *Report) error {
	var failed error
	for _, name := range gateway.Names() {
		if !o.Of(name) {
			continue
		}
		gateway, err := s.deps.Gateways.Find(name)
		if err != nil {
			failed = errors.Join(failed, report.Fail(ctx, Finding{}, err))
			continue
		}
		listed := map[string]bool{}
		failed = errors.Join(failed, s.reconcileEvents(ctx, gateway, o, report),
			s.reconcileObjects(ctx, gateway, o, listed, report),
			s.reconcileBooked(ctx, gateway, o, report), s.reconcileUnconfirmed(ctx, gateway, o, listed, report))
	}
	return failed
}

// Pace waits as long as lies between two calls of a long series, so that a
// gateway's quota is left to customers.
func (s *Reconciler) Pace(ctx context.Context, name gateway.Name) error {
	if name.Traits().Quota.Calls == 0 || s.deps.ReconcilePause <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(s.deps.ReconcilePause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// pages walks a list that is read page by page.
func (s *Reconciler) pages(ctx context.Context, name gateway.Name,
	read func(page string) (next string, err error),
) error {
	page := ""
	for range reconcilePages {
		next, err := read(page)
		if err != nil || next == "" {
			return err
		}
		if err := s.Pace(ctx, name); err != nil {
			return err
		}
		page = next
	}
	return fmt.Errorf("more than %d pages", reconcilePages)
}

// reconcileEvents takes in the events that never came, the oldest first.
func (s *Reconciler) reconcileEvents(ctx context.Context, gw gateway.Adapter, o Options, report *Report) error {
	var missed []missedEvent
	err := s.pages(ctx, gw.Name(), func(page string) (string, error) {
		bodies, next, err := gw.EventsSince(ctx, o.Since, page)
		if err != nil {
			return "", err
		}
		report.Events += len(bodies)
		report.count()
		found, err := s.missedOf(ctx, gw, bodies)
		missed = append(missed, found...)
		return next, err
	})
	if errors.Is(err, gateway.ErrUnsupported) {
		return nil
	}
	if err != nil {
		err = report.Fail(ctx, Finding{}, fmt.Errorf("list events of %s: %w", gw.Name(), err))
	}
	slices.Reverse(missed)
	for _, m := range namedFirst(missed) {
		f, takeErr := s.takeMissed(ctx, gw, m, o.DryRun)
		if takeErr != nil {
			err = errors.Join(err, report.Fail(ctx, f, takeErr))
			continue
		}
		s.logFinding(ctx, f)
		report.Add(ctx, f)
	}
	return err
}

// reconcileObjects compares payments, refunds and disputes with the ledgers, and notes the
// payments that are listed.
func (s *Reconciler) reconcileObjects(ctx context.Context, gateway gateway.Adapter, o Options, listed map[string]bool,
	report *Report,
) error {
	var failed error
	seen := map[string]bool{} // a thing may be told by more than one list
	err := s.pages(ctx, gateway.Name(), func(page string) (string, error) {
		events, next, err := gateway.CreatedSince(ctx, o.Since, page)
		if err != nil {
			return "", err
		}
		for _, e := range events {
			report.Objects++
			listed[e.PaymentID()] = true
			key := string(e.Kind()) + " " + describe(e).ID
			if seen[key] {
				continue
			}
			f, found, err := s.reconcileObject(ctx, gateway, e, o.DryRun)
			failed = errors.Join(failed, report.Fail(ctx, f, err))
			if err == nil && found {
				seen[key] = true
				s.logFinding(ctx, f)
				report.Add(ctx, f)
			}
		}
		report.count()
		return next, nil
	})
	if err != nil {
		err = report.Fail(ctx, Finding{}, fmt.Errorf("list payments of %s: %w", gateway.Name(), err))
	}
	return errors.Join(failed, err)
}

func (s *Reconciler) logFinding(ctx context.Context, f Finding) {
	s.deps.Log.WarnContext(ctx, "reconciliation found what no webhook told", slog.String("gateway", string(f.Gateway)),
		slog.String("kind", string(f.Kind)),
		slog.String("id", f.ID), slog.String("local_id", f.LocalID.String()), slog.String("verdict", string(f.Verdict)),
		slog.String("detail", f.Detail))
}
