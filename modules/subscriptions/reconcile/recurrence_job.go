package reconcile

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/modules/subscriptions/webhooks"
	"marquee/platform/postgres"
)

// FollowRecurrence does what the gateway itself says of a recurrence. One that goes on
// there goes on here, whatever an event said.
func (s *Reconciler) FollowRecurrence(ctx context.Context, a webhooks.RecurrenceArgs) error {
	sub, err := s.db.GetSubscription(ctx, s.pool, a.SubscriptionID)
	if err != nil {
		return err
	}
	ignored, err := s.followRecurrence(ctx, sub, a)
	if err != nil {
		return err
	}
	return s.finishAsked(ctx, sub.Gateway, a.EventID, sub.ID, ignored)
}

func (s *Reconciler) followRecurrence(ctx context.Context, sub lifecycle.Row, a webhooks.RecurrenceArgs) (ignored gateway.Reason, err error) {
	if sub.Status.Ended() {
		return gateway.ReasonEnded, nil
	}
	if lifecycle.RemoteID(sub) == "" {
		return gateway.ReasonNotAsIsTold, nil
	}
	if lifecycle.TraitsOf(sub).EndsWithPeriod {
		return "", s.lookAtPeriodEnd(ctx, sub.ID)
	}
	gw, err := s.payments.Gateway(gateway.GWA)
	if err != nil {
		return "", err
	}
	remote, err := s.calls.ReadRunning(ctx, gw, sub)
	switch {
	case err == calls.ErrMissingOnce: //nolint:errorlint // joined with another, that one has failed
		return gateway.ReasonAskedAgain, nil
	case err != nil:
		return "", fmt.Errorf("read recurrence of %s: %w", sub.ID, err)
	case remote.Status != gateway.RemoteCanceled && a.Moved:
		return s.followDay(ctx, sub, remote)
	case remote.Status != gateway.RemoteCanceled:
		s.log.WarnContext(ctx, "recurrence goes on although an event says that it has ended", slog.String("subscription_id", sub.ID.String()), slog.String("event_id", a.EventID))
		return gateway.ReasonNotAsIsTold, nil
	}
	return "", postgres.InTx(context.WithoutCancel(ctx), s.pool, func(tx pgx.Tx) error {
		locked, err := s.store.LockTx(ctx, tx, sub.CustomerID, sub.ID)
		if err != nil || locked.Status.Ended() || lifecycle.RemoteID(locked) != remote.GatewayID {
			return err
		}
		if remote.Inactive {
			if paused, err := s.reads.PausedLatelyTx(ctx, tx, sub.ID); err != nil || paused {
				return err
			}
		}
		return s.applier.EndWithGatewayTx(ctx, tx, &locked, lifecycle.Change{Action: state.GatewaySaysCancelled, Source: state.ByWebhook, Event: &a.EventID}, remote)
	})
}

// followDay learns on which day the recurrence charges next, as it was read.
func (s *Reconciler) followDay(ctx context.Context, sub lifecycle.Row, remote gateway.RemoteSubscription) (ignored gateway.Reason, err error) {
	return ignored, postgres.InTx(context.WithoutCancel(ctx), s.pool, func(tx pgx.Tx) error {
		locked, err := s.store.LockTx(ctx, tx, sub.CustomerID, sub.ID)
		switch {
		case err != nil:
			return err
		case locked.Status.Ended():
			ignored = gateway.ReasonEnded
			return nil
		}
		return s.store.EditTx(ctx, tx, &locked, state.RecurrenceRead, func(r *lifecycle.Row) { s.calendar.LearnRemote(r, &remote) })
	})
}
