package subscriptions

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/plans"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/resource"
)

// SyncSubscription asks the gateway about the customer's live subscription and settles what it
// says (docs/contract/accounts.md, Tokens).
func (s *Service) SyncSubscription(ctx context.Context, customerID objectid.ID) error {
	return s.reconciler.SyncSubscription(ctx, customerID)
}

// ConfirmStrays confirms that the recurrences listed so far, which name one of our ids, are
// to end: a person has run `marquee reconcile --apply`.
func (s *Service) ConfirmStrays(ctx context.Context, o payments.ReconcileOptions) error {
	return s.strays.ConfirmStrays(ctx, o)
}

// PlanSearch makes the plans searchable: all of them for admins, what is on offer for
// everybody else.
func (s *Service) PlanSearch() resource.Searchable {
	return s.plans.PlanSearch()
}

// SeedPlans makes the plans that a new platform begins with; those that are there stay as
// they are.
func SeedPlans(ctx context.Context, db postgres.DB, now time.Time) error {
	return plans.SeedPlans(ctx, db, now)
}

// Reconcile has payments compare events, payments, refunds and disputes with both
// gateways and apply what never came; then it asks about recurrences whose period
// has ended without news, and ends there what ended here. What fails is told in the
// error, and does not keep the rest from being done.
func (s *Service) Reconcile(ctx context.Context, o payments.ReconcileOptions) (*payments.ReconcileReport, error) {
	ctx = gateway.Background(ctx)
	report := payments.NewReconcileReport(o)
	run, err := s.deps.Payments.Comparison().Begin(ctx, o, report)
	if err != nil {
		return nil, err
	}
	failed := errors.Join(s.deps.Payments.Comparison().Reconcile(ctx, o, report),
		s.reconciler.ReconcileSilent(ctx, o, report), s.strays.ReconcileStrays(ctx, o, report))
	if !o.DryRun {
		failed = errors.Join(failed, report.Fail(ctx, payments.Finding{}, s.reconciler.EndForgotten(ctx)))
	}
	failed = errors.Join(failed, run.End(ctx))
	s.deps.Log.InfoContext(ctx, "reconciled", slog.Time("since", o.Since), slog.Int("events", report.Events),
		slog.Int("objects", report.Objects),
		slog.Int("asked", report.Asked), slog.Any("found", report.Counts), slog.Any("verdicts", report.Verdicts))
	return report, failed
}
