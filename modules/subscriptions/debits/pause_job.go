package debits

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/faultpoint"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// retriesReach is how far back a debit may lie that is still tried again.
const retriesReach = 10 * 24 * time.Hour

// CarryOutPause has the checks carry out a pause at once. Only the release before has a job for that, and makes pauses
// without an intent.
func (s *Pauses) CarryOutPause(ctx context.Context, id objectid.ID) error {
	p, sub, err := s.pause(ctx, id)
	if err != nil || !p.State.Requested() {
		return err
	}
	err = postgres.InTx(ctx, s.deps.Pool,
		func(tx pgx.Tx) error { return s.deps.Store.RequestPauseTx(ctx, tx, sub, id) })
	return errors.Join(err, s.deps.Intents.CheckOne(ctx, intent.Pause, id))
}

// Checker has the gateway collect nothing, or collect again, as the pause wants.
func (s *Pauses) Checker() intent.Checker {
	return intent.Repeat(func(ctx context.Context, r intent.Ref) error { return s.carryOut(ctx, r.Subject) })
}

func (s *Pauses) pause(ctx context.Context, id objectid.ID) (p subscriptionsdb.Pause, sub lifecycle.Subscription,
	err error,
) {
	if p, err = s.db.PauseGet(ctx, s.deps.Pool, id); err != nil {
		return p, sub, fmt.Errorf("read pause: %w", err)
	}
	sub, err = s.db.SubscriptionGet(ctx, s.deps.Pool, p.SubscriptionID)
	return p, sub, err
}

// carryOut asks the gateway for what the pause wants. Repeating it is harmless. One that is turned the other way
// meanwhile stays so: its intent is due again.
func (s *Pauses) carryOut(ctx context.Context, id objectid.ID) error {
	p, sub, err := s.pause(ctx, id)
	if err != nil || !p.State.Requested() {
		return err
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.deps.Intents.CallTime())
	defer cancel()
	switch {
	case sub.Status.Ended():
		return s.deps.Store.VoidPauses(ctx, s.deps.Pool, sub.ID, s.deps.Clock.Now())
	case p.State == state.Pausing:
		return s.stopCollecting(call, sub, p)
	}
	return s.collectAgain(call, sub, p)
}

// stopCollecting stops what would be charged, then drops what was made ahead, and looks
// again until nothing is left: a night's run may have made a charge meanwhile.
func (s *Pauses) stopCollecting(ctx context.Context, sub lifecycle.Subscription, p subscriptionsdb.Pause) error {
	gateway, err := s.deps.Payments.Gateway(sub.Gateway)
	if err != nil {
		return err
	}
	if sub.RemoteID() != "" && sub.GatewayDeletedAt == nil {
		if err := s.ofRunning(ctx, sub, gateway.StopCollection(ctx, sub.Collection())); err != nil {
			return fmt.Errorf("stop collection: %w", err)
		}
		faultpoint.Hit("pause.after_stop")
		if err := s.dropCharges(ctx, gateway, sub, p); err != nil {
			return err
		}
	}
	if sub.PixAutomatic {
		if err := s.dropDebits(ctx, gateway, sub); err != nil {
			return err
		}
	}
	faultpoint.Hit("pause.after_call")
	_, err = s.confirm(ctx, s.deps.Pool, p, state.PauseStopped)
	return err
}

// confirm writes what the gateway has done; n is 0 for a pause that was turned the other way meanwhile.
func (s *Pauses) confirm(ctx context.Context, db postgres.DB, p subscriptionsdb.Pause,
	by state.PauseAction,
) (n int64, err error) {
	to, err := state.Pauses.Move(p.State, by)
	if err != nil {
		return 0, err
	}
	now := s.deps.Clock.Now()
	c := subscriptionsdb.PauseConfirmParams{
		ID: p.ID, FromState: p.State, State: to, Now: now, Action: string(by), Reason: new(state.Pauses.ReasonOf(by)),
	}
	if to == state.Paused {
		c.PausedAt = &now
	} else {
		c.EndedAt = &now
	}
	return s.db.PauseConfirm(ctx, db, c)
}

// ofRunning is the error of a call about a recurrence that was there once. What the
// gateway does not find is looked at again, and when it has ended, nothing is left to
// pause or resume.
func (s *Pauses) ofRunning(ctx context.Context, sub lifecycle.Subscription, err error) error {
	if errors.Is(err, gateway.ErrMissing) {
		return s.deps.Calls.FoundOnce(ctx, sub, err)
	}
	return err
}

// dropCharges removes what was made ahead and is not paid. The first day for which
// there was a charge is kept before it goes: there collection begins again.
func (s *Pauses) dropCharges(ctx context.Context, gw gateway.Gateway, sub lifecycle.Subscription,
	p subscriptionsdb.Pause,
) error {
	for range MaxDropRounds {
		open, err := gw.OpenCharges(ctx, sub.Collection())
		if err != nil {
			return fmt.Errorf("list open charges: %w", err)
		}
		if len(open) == 0 {
			return nil
		}
		for _, charge := range open {
			if charge.DueDate == nil {
				continue
			}
			if err := s.db.PauseSetDue(ctx, s.deps.Pool, *charge.DueDate, p.ID); err != nil {
				return fmt.Errorf("keep due date: %w", err)
			}
		}
		for _, charge := range open {
			if err := gw.DropCharge(ctx, charge.ID, sub.ID); err != nil && !errors.Is(err, gateway.ErrAlreadyPaid) {
				return fmt.Errorf("drop charge %s: %w", charge.ID, err)
			}
		}
	}
	return fmt.Errorf("%w: charges are left after %d rounds", gateway.ErrUnavailable, MaxDropRounds)
}

// MaxDropRounds is how often charges are listed and dropped in one try.
const MaxDropRounds = 3

// dropDebits removes the debits of an automatic PIX that are ordered and may still be
// taken, those that are tried again among them. What an order whose answer was lost has
// made its own intent finds out first. A debit that is dropped is forgotten, so that its
// cycle can be ordered again.
func (s *Pauses) dropDebits(ctx context.Context, gw gateway.Gateway, sub lifecycle.Subscription) error {
	since := s.deps.Calendar.DateOf(s.deps.Clock.Now().Add(-retriesReach))
	debits, err := s.db.DebitListSince(ctx, s.deps.Pool, sub.ID, since)
	if err != nil {
		return fmt.Errorf("list debits: %w", err)
	}
	for _, d := range debits {
		if d.PaidAt != nil {
			continue
		}
		if d.GatewayPaymentID == nil {
			if _, open, err := s.deps.Intents.Open(ctx, s.deps.Pool, d.Ref()); err != nil || open {
				return errors.Join(err, calls.ErrDebitUnderWay)
			}
			// The order may have been found since the debit was read: what it has made is dropped, too.
			d, err = s.db.DebitGet(ctx, s.deps.Pool, sub.ID, d.Cycle)
			if errors.Is(err, pgx.ErrNoRows) || err == nil && d.PaidAt != nil {
				continue
			}
			if err != nil {
				return fmt.Errorf("read debit: %w", err)
			}
		}
		if d.GatewayPaymentID != nil {
			err := gw.DropCharge(ctx, *d.GatewayPaymentID, sub.ID)
			if errors.Is(err, gateway.ErrAlreadyPaid) {
				continue
			}
			if err != nil {
				return fmt.Errorf("drop debit %s: %w", *d.GatewayPaymentID, err)
			}
		}
		if sub.NextBillingDate == nil || d.Cycle.Time.Before(s.deps.Calendar.DateOf(*sub.NextBillingDate).Time) {
			if err := s.debits.DropRetries(ctx, sub, d, state.RetryDisputed,
				""); err != nil { // of a cycle that is over
				return err
			}
			continue
		}
		err = s.db.DebitForget(ctx, s.deps.Pool, subscriptionsdb.DebitForgetParams{
			SubscriptionID: sub.ID, Cycle: d.Cycle, GatewayPaymentID: d.GatewayPaymentID,
		})
		if err != nil {
			return fmt.Errorf("forget debit: %w", err)
		}
	}
	return nil
}

// collectAgain has the subscription be collected from the day on for which it was
// charged last, or from today: nothing is charged for the time of the pause.
func (s *Pauses) collectAgain(ctx context.Context, sub lifecycle.Subscription, p subscriptionsdb.Pause) error {
	var remote *gateway.RemoteSubscription
	if sub.RemoteID() != "" && sub.GatewayDeletedAt == nil &&
		!sub.Stops() { // else it is to charge no more
		gateway, err := s.deps.Payments.Gateway(sub.Gateway)
		if err != nil {
			return err
		}
		from := s.deps.Clock.Now()
		if p.Until != nil {
			from = *p.Until // by the gateway's clock
		}
		due := p.NextDue
		extended, err := s.deps.Reads.ExtendedTo(ctx, s.deps.Pool, sub)
		if err != nil {
			return err
		}
		if extended != nil { // its order has waited for the end of the pause
			due = new(lifecycle.LatestOf(*extended, due))
		}
		resumed, err := gateway.ResumeCollection(ctx, sub.Collection(), due, from)
		if err := s.ofRunning(ctx, sub, err); err != nil {
			return fmt.Errorf("resume collection: %w", err)
		}
		remote = &resumed
	}
	faultpoint.Hit("pause.after_call")
	return s.deps.Store.Locked(ctx, sub, func(tx pgx.Tx, locked lifecycle.Subscription) error {
		n, err := s.confirm(ctx, tx, p, state.PauseRestarted)
		if err != nil || n == 0 || locked.Status.Ended() {
			return err
		}
		if p.NextDue == nil && remote != nil && sub.Traits().ChargesAhead > 0 {
			// No charge was removed: the one that was made ahead is the next, and gateway A
			// tells the date after it.
			remote.NextBilling = s.madeAhead(locked, remote.NextBilling)
		}
		return s.deps.Store.EditTx(ctx, tx, &locked, state.CollectionResumed, func(r *lifecycle.Subscription) {
			if r.PixAutomatic && r.NextBillingDate != nil {
				r.NextBillingDate = new(lifecycle.LatestOf(s.deps.Clock.Now(), r.NextBillingDate))
				s.deps.Calendar.Anchor(r, *r.NextBillingDate)
			}
			s.deps.Calendar.SetRemote(r, remote)
		})
	})
}

// madeAhead is the date of the next charge that is known, as long as it lies ahead, where
// it is before the one that is told.
func (s *Pauses) madeAhead(sub lifecycle.Subscription, reported *time.Time) *time.Time {
	known := sub.NextBillingDate
	if reported == nil || known == nil || !known.After(s.deps.Clock.Now()) || !known.Before(*reported) {
		return reported
	}
	return known
}
