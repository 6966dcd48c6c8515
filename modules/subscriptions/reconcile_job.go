package subscriptions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/platform/postgres"
)

const (
	// reconcileWindow is how far back the nightly job looks: webhooks are retried
	// for days, so that two nights see each payment.
	reconcileWindow = 48 * time.Hour
	// reconcilePages bounds the lists that one run reads at each gateway, and
	// reconcileReads the subscriptions that it reads one by one: gateway A takes
	// 25,000 calls in 12 hours from the whole account.
	reconcilePages, reconcileReads = 500, 1000
	// overdueAfter is how long after a period's end its payment may be told.
	overdueAfter = 36 * time.Hour
	// overdueFor is how long a subscription without news is asked about.
	overdueFor = 30 * 24 * time.Hour
)

// reconcileArgs asks both gateways for what their webhooks may have missed.
type reconcileArgs struct{}

// Kind names the job.
func (reconcileArgs) Kind() string { return "subscriptions_reconcile" }

// ReconcileReport is what a reconciliation found.
type ReconcileReport struct {
	Payments int // payments and refunds read at the gateways
	Repaired int // that changed something here
	Unknown  int // that belong to nothing here
	Asked    int // subscriptions without news that were read
	Ended    int // of these, gone at their gateway
}

// Reconcile reads what both gateways made since an instant and applies it as
// webhooks would have, by the same functions; then it asks about recurrences
// whose period has ended without news. What fails is told in the error, and does
// not keep the rest from being done.
func (s *Service) Reconcile(ctx context.Context, since time.Time) (ReconcileReport, error) {
	var report ReconcileReport
	var failed error
	for _, name := range []payments.GatewayName{payments.GWA, payments.GWB} {
		failed = errors.Join(failed, s.reconcilePayments(ctx, name, since, &report))
	}
	failed = errors.Join(failed, s.reconcileSilent(ctx, &report), s.endForgotten(ctx))
	s.log.InfoContext(ctx, "reconciled", slog.Int("payments", report.Payments), slog.Int("repaired", report.Repaired),
		slog.Int("unknown", report.Unknown), slog.Int("asked", report.Asked), slog.Int("ended", report.Ended))
	return report, failed
}

func (s *Service) reconcilePayments(ctx context.Context, name payments.GatewayName, since time.Time, report *ReconcileReport) error {
	gateway, err := s.payments.Gateway(name)
	if err != nil {
		return err
	}
	var failed error
	page := ""
	for range reconcilePages {
		events, next, err := gateway.CreatedSince(ctx, since, page)
		if err != nil {
			return errors.Join(failed, fmt.Errorf("list payments of %s: %w", name, err))
		}
		for _, e := range events {
			report.Payments++
			failed = errors.Join(failed, s.reconcileEvent(ctx, e, report))
		}
		if next == "" {
			return failed
		}
		page = next
	}
	return errors.Join(failed, fmt.Errorf("payments of %s: more than %d pages since %s", name, reconcilePages, since.Format(time.RFC3339)))
}

// reconcileEvent applies one; what is known already changes nothing, which is
// told by the ledger.
func (s *Service) reconcileEvent(ctx context.Context, e payments.Event, report *ReconcileReport) error {
	var known *payments.LedgerPayment
	var err error
	if e.Kind == payments.PaymentWasSettled && e.Payment != nil {
		known, err = s.payments.FindPayment(ctx, s.pool, e.Gateway, e.Payment.ID)
		if err != nil || known != nil {
			return err
		}
	}
	result, err := s.payments.ApplyReported(ctx, e)
	switch {
	case err != nil:
		return fmt.Errorf("apply %s: %w", e.Kind, err)
	case result.Unclaimed:
		report.Unknown++
	case e.Kind == payments.PaymentWasSettled && result.Status == payments.ResultApplied:
		report.Repaired++
		s.log.WarnContext(ctx, "payment that no webhook told", slog.String("gateway", string(e.Gateway)), slog.String("payment_id", e.Payment.ID))
	}
	return nil
}

// reconcileSilent reads the recurrences whose next payment should have been told
// by now.
func (s *Service) reconcileSilent(ctx context.Context, report *ReconcileReport) error {
	now := s.clock.Now()
	since, before := now.Add(-overdueFor), now.Add(-overdueAfter)
	silent, err := s.db.ListOverdueRecurrences(ctx, s.pool, subscriptionsdb.ListOverdueRecurrencesParams{Since: &since, Before: &before, Most: reconcileReads})
	if err != nil {
		return fmt.Errorf("list overdue recurrences: %w", err)
	}
	var failed error
	for _, sub := range silent {
		report.Asked++
		ended, err := s.askAgain(ctx, sub)
		if ended {
			report.Ended++
		}
		failed = errors.Join(failed, err)
		if errors.Is(err, payments.ErrUnavailable) {
			return failed // the gateway is down, or its quota is used up
		}
	}
	return failed
}

// askAgain reads a subscription at its gateway and writes what it finds.
func (s *Service) askAgain(ctx context.Context, sub row) (ended bool, err error) {
	gateway, err := s.payments.Gateway(payments.GatewayName(sub.Gateway))
	if err != nil {
		return false, err
	}
	remote, err := gateway.ReadSubscription(ctx, remoteID(sub))
	gone := errors.Is(err, payments.ErrGatewayMissing) || err == nil && remote.Status == payments.RemoteCanceled
	if err != nil && !gone {
		return false, fmt.Errorf("read subscription %s: %w", sub.ID, err)
	}
	if !gone {
		_, err = s.settle(ctx, sub, answer{source: ByReconcile, remote: &remote})
		return false, err
	}
	err = postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		locked, err := s.lockTx(ctx, tx, sub.CustomerID, sub.ID)
		if err != nil {
			return err
		}
		now := s.clock.Now()
		if locked.ExpiresAt != nil && locked.ExpiresAt.After(now) {
			return s.editTx(ctx, tx, &locked, func(r *row) { r.GatewayDeletedAt = &now })
		}
		ended, err = s.moveTx(ctx, tx, &locked, change{
			action: GatewaySaysCancelled, source: ByReconcile, edit: func(r *row) { r.GatewayEndedAt = &now },
		})
		return err
	})
	return ended, err
}

// endForgotten ends at the gateways what ended here and is not known to have ended
// there: the job was lost, or gave up.
func (s *Service) endForgotten(ctx context.Context) error {
	now := s.clock.Now()
	since, before := now.Add(-overdueFor), now.Add(-time.Hour)
	ids, err := s.db.ListDueEnds(ctx, s.pool, subscriptionsdb.ListDueEndsParams{Since: &since, Before: &before})
	failed := err
	for _, id := range ids {
		failed = errors.Join(failed, s.EndAtGateway(ctx, id))
	}
	return failed
}

// nightly runs at four in the morning, when gateway A has told its overdue
// charges (about three, gateway A, section 11).
type nightly struct{ zone *time.Location }

// Next is the next four o'clock in the zone.
func (n nightly) Next(current time.Time) time.Time {
	year, month, day := current.In(n.zone).Date()
	at := time.Date(year, month, day, 4, 0, 0, 0, n.zone)
	if !at.After(current) {
		at = time.Date(year, month, day+1, 4, 0, 0, 0, n.zone)
	}
	return at
}
