package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/modules/subscriptions/webhooks"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
)

const (
	// checkTries is how often one check reads while calls of ours change what it reads.
	checkTries = 3
)

// RecordPeriodEndCallTx notes that one of our calls has told the gateway whether the subscription
// ends with its period. When another was answered since before was read, nobody knows which the
// gateway took last: it has to be read at once.
func (s *Reconciler) RecordPeriodEndCallTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription,
	before lifecycle.Subscription, sent bool,
) error {
	if !sent {
		return nil
	}
	now := s.deps.Clock.Now()
	return s.deps.Store.EditTx(ctx, tx, sub, state.PeriodEndOrdered, func(r *lifecycle.Subscription) {
		overlapped := r.PeriodEndTells != before.PeriodEndTells
		r.PeriodEndToldAt, r.PeriodEndTells = &now, r.PeriodEndTells+1
		s.deps.Applier.PlanPeriodEndCheck(r)
		if overlapped {
			r.PeriodEndLookAt = &now
		}
	})
}

// RecordPeriodEndCall is RecordPeriodEndCallTx for a call after which the gateway is to be read at once.
func (s *Reconciler) RecordPeriodEndCall(ctx context.Context, sub lifecycle.Subscription) error {
	return s.deps.Store.Locked(context.WithoutCancel(ctx), sub, func(tx pgx.Tx, locked lifecycle.Subscription) error {
		return s.RecordPeriodEndCallTx(ctx, tx, &locked, lifecycle.Subscription{PeriodEndTells: -1}, true)
	})
}

// AgreedNow reads the gateway where our calls overlapped, and returns the row as it is
// afterwards. What the gateway does not answer is asked again by the sweep.
func (s *Reconciler) AgreedNow(ctx context.Context, sub lifecycle.Subscription) (lifecycle.Subscription, error) {
	if sub.PeriodEndLookAt == nil || sub.PeriodEndLookAt.After(s.deps.Clock.Now()) || sub.Status.Ended() {
		return sub, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.deps.Intents.CallTime())
	defer cancel()
	if err := s.checkPeriodEnd(ctx, sub.ID); err != nil {
		s.deps.Log.WarnContext(ctx, "not known yet whether it ends with its period",
			slog.String("subscription_id", sub.ID.String()), slog.Any("error", err))
	}
	return s.db.SubscriptionGet(ctx, s.deps.Pool, sub.ID)
}

// CheckPeriodEnds reads what is due. While a gateway does not answer the rest waits.
func (s *Reconciler) CheckPeriodEnds(ctx context.Context, now time.Time) (failed error) {
	for _, name := range gateway.Names() {
		if name.Traits().EndsWithPeriod {
			failed = errors.Join(failed, s.checkPeriodEnds(ctx, name, now))
		}
	}
	return failed
}

func (s *Reconciler) checkPeriodEnds(ctx context.Context, name gateway.Name, now time.Time) error {
	ids, err := s.db.SubscriptionListDuePeriodEnds(ctx, s.deps.Pool, &now, name)
	failed := err
	for _, id := range ids {
		if err := s.deps.Payments.Comparison().Pace(ctx, name); err != nil {
			return errors.Join(failed, err)
		}
		err := s.checkPeriodEnd(gateway.Background(ctx), id)
		failed = errors.Join(failed, err)
		if errors.Is(err, gateway.ErrUnavailable) {
			return failed
		}
	}
	return failed
}

// checkPeriodEnd reads at the gateway whether a subscription ends with its period, and has
// the row say the same: what stands there is what charges the customer. While a call or
// an event changes the row meanwhile it reads again.
func (s *Reconciler) checkPeriodEnd(ctx context.Context, id objectid.ID) error {
	for range checkTries {
		sub, err := s.db.SubscriptionGet(ctx, s.deps.Pool, id)
		if err != nil || sub.Status.Ended() || sub.RemoteID() == "" {
			return err
		}
		gw, err := s.deps.Payments.Gateway(sub.Gateway)
		if err != nil {
			return err
		}
		remote, err := s.deps.Calls.ReadRunning(ctx, gw, sub)
		missing := err == calls.ErrMissingOnce //nolint:errorlint // joined with another, that one has failed
		if err != nil && !missing {
			return fmt.Errorf("read whether %s ends with its period: %w", id, err)
		}
		if written, err := s.agree(ctx, sub, remote, missing); err != nil || written {
			return err
		}
	}
	return nil // the sweep looks again
}

// agree writes what was read into the row, unless that has changed since before it.
func (s *Reconciler) agree(ctx context.Context, before lifecycle.Subscription, remote gateway.RemoteSubscription,
	missing bool,
) (written bool, err error) {
	err = s.deps.Store.Locked(context.WithoutCancel(ctx), before, func(tx pgx.Tx, sub lifecycle.Subscription) error {
		same := sub.PeriodEndTells == before.PeriodEndTells &&
			nullable.Value(sub.LastEventID) == nullable.Value(before.LastEventID) &&
			sub.CancelAtPeriodEnd == before.CancelAtPeriodEnd
		if !same {
			return nil
		}
		written = true
		if sub.Status.Ended() {
			return nil
		}
		extended, err := s.deps.Reads.ExtendedTo(ctx, tx, sub)
		if err != nil {
			return err
		}
		// The end itself is told by its event, or found by the reconciliation.
		continues := !missing && !sub.EndsThere() && remote.Status != gateway.RemoteCanceled &&
			remote.Status != gateway.RemoteIncompleteExpired
		putBack := false
		if continues {
			if putBack, err = s.deps.PutEndBackTx(ctx, tx, sub, remote); err != nil {
				return err
			}
		}
		err = s.deps.Store.EditTx(ctx, tx, &sub, state.PeriodEndRead, func(r *lifecycle.Subscription) {
			r.PeriodEndLookAt = nil
			if continues && !putBack {
				s.deps.Applier.SetPeriodEnd(r, &remote, extended)
			}
			if end := r.ExpiresAt; r.PeriodEndLookAt == nil && r.CancelAtPeriodEnd && end != nil &&
				end.Add(-webhooks.CheckAhead).After(s.deps.Clock.Now()) {
				s.deps.Applier.PlanPeriodEndCheck(r)
			}
		})
		if err == nil && sub.CancelAtPeriodEnd != before.CancelAtPeriodEnd {
			s.deps.Log.WarnContext(ctx, "whether it ends with its period stood otherwise at the gateway",
				slog.String("subscription_id", sub.ID.String()),
				slog.Bool("cancel_at_period_end", sub.CancelAtPeriodEnd))
		}
		return err
	})
	return written, err
}
