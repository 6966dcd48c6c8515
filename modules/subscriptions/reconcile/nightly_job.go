package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/retries"
	"marquee/modules/subscriptions/settle"
	"marquee/modules/subscriptions/state"
)

const (
	// ReconcileWindow is how far back the nightly job looks: webhooks are retried
	// for days, so that two nights see each payment. ReconcileDeep is how far back
	// it looks once a week, for what the lists of gateway A tell of a payment only
	// as long as its making is asked for: refunds in part.
	ReconcileWindow, ReconcileDeep = 48 * time.Hour, 90 * 24 * time.Hour
	// reconcileReads bounds the subscriptions that one run reads one by one.
	reconcileReads = 1000
	// overdueFor is how long a subscription without news is asked about.
	overdueFor = 30 * 24 * time.Hour
)

// ReconcileArgs asks both gateways for what their webhooks may have missed.
type ReconcileArgs struct{}

// Kind names the job.
func (ReconcileArgs) Kind() string { return "subscriptions_reconcile" }

// ReconcileSilent reads the recurrences whose next payment should have been told by
// now; of automatic PIX its debit and its authorization.
func (s *Reconciler) ReconcileSilent(ctx context.Context, o payments.ReconcileOptions,
	report *payments.ReconcileReport,
) error {
	now := s.deps.Clock.Now()
	since, before := now.Add(-overdueFor), now.Add(-retries.OverdueAfter)
	silent, err := s.db.SubscriptionListOverdue(ctx, s.deps.Pool, since, before, reconcileReads)
	if err != nil {
		return report.Fail(ctx, payments.Finding{}, fmt.Errorf("list overdue recurrences: %w", err))
	}
	var failed error
	for _, sub := range silent {
		name := sub.Gateway
		if !o.Of(name) {
			continue
		}
		if err := s.deps.Payments.Comparison().Pace(ctx, name); err != nil {
			return errors.Join(failed, report.Fail(ctx, payments.Finding{}, err))
		}
		report.CountRead()
		reconcile := s.reconcileOne
		if sub.PixAutomatic {
			reconcile = s.deps.Retries.CheckAutomatic
		}
		f, found, err := reconcile(ctx, sub, o.DryRun)
		f.Gateway, f.LocalID, f.Record = name, sub.ID, recordKind
		if found {
			f.Verdict = payments.Repairable
			if !o.DryRun {
				var stateErr error
				f.Verdict, f.Was = payments.Repaired, fieldsOf(sub)
				_, f.Became, stateErr = s.RecordOf(ctx, s.deps.Pool, sub.ID)
				failed = errors.Join(failed, stateErr)
			}
			report.Add(ctx, f)
		}
		failed = errors.Join(failed, report.Fail(ctx, f, err))
		if errors.Is(err, gateway.ErrUnavailable) {
			return failed // the gateway is down, or its quota is used up
		}
	}
	return failed
}

// reconcileOne reads a subscription at its gateway and writes what it finds, unless
// the run is dry. Ended reports that it is gone there.
func (s *Reconciler) reconcileOne(ctx context.Context, sub lifecycle.Subscription,
	dryRun bool,
) (f payments.Finding, ended bool, err error) {
	f = payments.Finding{Kind: payments.MissedEnd, ID: sub.RemoteID()}
	gw, err := s.deps.Payments.Gateway(sub.Gateway)
	if err != nil {
		return f, false, err
	}
	read := s.deps.Calls.ReadRunning
	if dryRun {
		read = func(ctx context.Context, gateway gateway.Gateway,
			sub lifecycle.Subscription,
		) (gateway.RemoteSubscription, error) {
			return gateway.ReadSubscription(ctx, sub.RemoteID(), sub.ID)
		}
	}
	remote, err := read(ctx, gw, sub)
	if errors.Is(err, calls.ErrMissingOnce) || errors.Is(err, gateway.ErrMissing) {
		return f, false, nil // seen missing once
	}
	if err != nil {
		return f, false, fmt.Errorf("read subscription %s: %w", sub.ID, err)
	}
	gone := remote.Status == gateway.RemoteCanceled
	if dryRun {
		return f, gone, nil
	}
	if !gone {
		_, err = s.deps.Settler.Settle(ctx, sub, state.ByReconcile,
			settle.Succeeded{Result: settle.Recurrence{RemoteSubscription: remote}})
		return f, false, err
	}
	err = s.deps.Store.Locked(ctx, sub, func(tx pgx.Tx, locked lifecycle.Subscription) error {
		if remote.Inactive {
			if paused, err := s.deps.Reads.PausedLatelyTx(ctx, tx, sub.ID); err != nil || paused {
				return err
			}
		}
		if locked.Status.Ended() {
			return nil
		}
		if sub.Traits().EndsWithPeriod && locked.ExpiresAt != nil &&
			locked.ExpiresAt.After(s.deps.Clock.Now()) {
			return s.deps.Store.EditTx(ctx, tx, &locked, state.EndedThere, s.deps.Calendar.EndedThere)
		}
		err := s.deps.Applier.EndWithGatewayTx(ctx, tx, &locked,
			lifecycle.Change{Action: state.GatewaySaysCancelled, Source: state.ByReconcile}, remote)
		ended = locked.Status.Ended()
		return err
	})
	return f, ended, err
}

// EndForgotten ends at the gateways what ended here and is not known to have ended
// there: the job was lost, or gave up.
func (s *Reconciler) EndForgotten(ctx context.Context) error {
	now := s.deps.Clock.Now()
	since, before := now.Add(-overdueFor), now.Add(-time.Hour)
	ids, err := s.db.SubscriptionListDueEnds(ctx, s.deps.Pool, &since, &before)
	failed := err
	for _, id := range ids {
		failed = errors.Join(failed, s.deps.Calls.EndAtGateway(ctx, id))
	}
	return failed
}

// Nightly runs at four in the morning, when gateway A has told its overdue
// charges (about three, docs/gateway-facts.md, A11).
type Nightly struct{ Zone *time.Location }

// Next is the next four o'clock in the zone.
func (n Nightly) Next(current time.Time) time.Time {
	year, month, day := current.In(n.Zone).Date()
	at := time.Date(year, month, day, 4, 0, 0, 0, n.Zone)
	if !at.After(current) {
		at = time.Date(year, month, day+1, 4, 0, 0, 0, n.Zone)
	}
	return at
}
