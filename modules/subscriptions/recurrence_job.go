package subscriptions

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// RecurrenceArgs reads a recurrence live, since an event tells of it what cannot be
// believed by itself: at gateway A that it has ended, or charges on another day, at gateway
// B whether it ends with its period.
type RecurrenceArgs struct {
	SubscriptionID objectid.ID `json:"subscription_id"`
	EventID        string      `json:"event_id"`
	Moved          bool        `json:"moved,omitempty"` // the event tells of another day, not of an end
}

// Kind names the job.
func (RecurrenceArgs) Kind() string { return "subscriptions_follow_recurrence" }

// askRecurrenceTx has the recurrence of the locked row read by job.
func (s *Applier) askRecurrenceTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, a RecurrenceArgs) error {
	if sub.Gateway == string(payments.GWB) { // the sweep looks where the job is lost
		now := s.clock.Now()
		if err := s.store.EditTx(ctx, tx, sub, func(r *lifecycle.Row) { r.PeriodEndLookAt = &now }); err != nil {
			return err
		}
	}
	a.SubscriptionID = sub.ID
	_, err := s.jobs.InsertTx(ctx, tx, a, &river.InsertOpts{Queue: jobs.QueueGateway})
	if err != nil {
		return fmt.Errorf("have the recurrence read: %w", err)
	}
	return nil
}

// FollowRecurrence does what the gateway itself says of a recurrence. One that goes on
// there goes on here, whatever an event said.
func (s *Reconciler) FollowRecurrence(ctx context.Context, a RecurrenceArgs) error {
	sub, err := s.db.GetSubscription(ctx, s.pool, a.SubscriptionID)
	if err != nil {
		return err
	}
	ignored, err := s.followRecurrence(ctx, sub, a)
	if err != nil {
		return err
	}
	return s.finishAsked(ctx, payments.GatewayName(sub.Gateway), a.EventID, sub.ID, ignored)
}

func (s *Reconciler) followRecurrence(ctx context.Context, sub lifecycle.Row, a RecurrenceArgs) (ignored string, err error) {
	if lifecycle.Status(sub.Status).Ended() {
		return settle.IgnoredEnded, nil
	}
	if lifecycle.RemoteID(sub) == "" {
		return payments.NotAsIsTold, nil
	}
	if sub.Gateway == string(payments.GWB) {
		return "", s.lookAtPeriodEnd(ctx, sub.ID)
	}
	gateway, err := s.payments.Gateway(payments.GWA)
	if err != nil {
		return "", err
	}
	remote, err := s.calls.ReadRunning(ctx, gateway, sub)
	switch {
	case err == calls.ErrMissingOnce: //nolint:errorlint // joined with another, that one has failed
		return "the gateway does not find it, and is asked again in an hour", nil
	case err != nil:
		return "", fmt.Errorf("read recurrence of %s: %w", sub.ID, err)
	case remote.Status != payments.RemoteCanceled && a.Moved:
		return s.followDay(ctx, sub, remote)
	case remote.Status != payments.RemoteCanceled:
		s.log.WarnContext(ctx, "recurrence goes on although an event says that it has ended", slog.String("subscription_id", sub.ID.String()), slog.String("event_id", a.EventID))
		return payments.NotAsIsTold, nil
	}
	return "", postgres.InTx(context.WithoutCancel(ctx), s.pool, func(tx pgx.Tx) error {
		locked, err := s.store.LockTx(ctx, tx, sub.CustomerID, sub.ID)
		if err != nil || lifecycle.Status(locked.Status).Ended() || lifecycle.RemoteID(locked) != remote.GatewayID {
			return err
		}
		if remote.Inactive {
			if paused, err := s.reads.PausedLatelyTx(ctx, tx, sub.ID); err != nil || paused {
				return err
			}
		}
		return s.applier.EndWithGatewayTx(ctx, tx, &locked, lifecycle.Change{Action: lifecycle.GatewaySaysCancelled, Source: lifecycle.ByWebhook, Event: &a.EventID}, remote)
	})
}

// followDay learns on which day the recurrence charges next, as it was read.
func (s *Reconciler) followDay(ctx context.Context, sub lifecycle.Row, remote payments.RemoteSubscription) (ignored string, err error) {
	return ignored, postgres.InTx(context.WithoutCancel(ctx), s.pool, func(tx pgx.Tx) error {
		locked, err := s.store.LockTx(ctx, tx, sub.CustomerID, sub.ID)
		switch {
		case err != nil:
			return err
		case lifecycle.Status(locked.Status).Ended():
			ignored = settle.IgnoredEnded
			return nil
		}
		return s.store.EditTx(ctx, tx, &locked, func(r *lifecycle.Row) { s.calendar.LearnRemote(r, &remote) })
	})
}

// EndWithGatewayTx ends a subscription whose recurrence has ended at its gateway. Where it
// goes on to the end of its paid time, that the recurrence has ended is all that is
// written. What gateway A only holds inactive keeps the charges that it made ahead, which
// are collected all the same: it is deleted, which takes them away. What only an event says
// has ended is read first, and ended where it runs: the event may be of another environment.
func (s *Applier) EndWithGatewayTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, c lifecycle.Change, remote payments.RemoteSubscription) error {
	now := s.clock.Now()
	told := c.Source == lifecycle.ByWebhook && sub.Gateway == string(payments.GWB)
	leaves := told || sub.Gateway == string(payments.GWA) && remote.NativeStatus != deletedAtGWA
	if !s.calendar.Outlives(*sub) {
		note := c.Edit
		c.Edit = func(r *lifecycle.Row) {
			if note != nil {
				note(r)
			}
			if !leaves {
				r.GatewayEndedAt = &now
			}
		}
		if _, err := s.store.MoveTx(ctx, tx, sub, c); err != nil || !leaves {
			return err
		}
		return s.store.EndTx(ctx, tx, lifecycle.EndArgs{SubscriptionID: sub.ID, Told: told})
	}
	if sub.GatewayDeletedAt != nil {
		return nil
	}
	c.Action, c.Edit = lifecycle.GatewayDeletedPaid, s.calendar.EndedThere
	if leaves {
		c.Edit = func(r *lifecycle.Row) { r.GatewayEndOpenSince = &now }
	}
	if _, err := s.store.MoveTx(ctx, tx, sub, c); err != nil {
		return err
	}
	return s.store.StopTx(ctx, tx, *sub, now)
}

// deletedAtGWA is how the adapter calls a recurrence that was deleted.
const deletedAtGWA = "DELETED"
