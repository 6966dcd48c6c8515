package subscriptions

import (
	"context"
	"errors"
	"log/slog"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
)

// Reconcile has payments compare events, payments, refunds and disputes with both
// gateways and apply what never came; then it asks about recurrences whose period
// has ended without news, and ends there what ended here. What fails is told in the
// error, and does not keep the rest from being done.
func (s *Service) Reconcile(ctx context.Context, o payments.ReconcileOptions) (*payments.ReconcileReport, error) {
	ctx = gateway.Background(ctx)
	report := payments.NewReconcileReport(o)
	failed := errors.Join(s.deps.Payments.Comparison().Reconcile(ctx, o, report),
		s.reconciler.ReconcileSilent(ctx, o, report), s.strays.ReconcileStrays(ctx, o, report))
	if !o.DryRun {
		failed = errors.Join(failed, s.reconciler.EndForgotten(ctx))
	}
	s.deps.Log.InfoContext(ctx, "reconciled", slog.Time("since", o.Since), slog.Int("events", report.Events),
		slog.Int("objects", report.Objects),
		slog.Int("asked", report.Asked), slog.Any("found", report.Counts), slog.Any("verdicts", report.Verdicts))
	return report, failed
}
