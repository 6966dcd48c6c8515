package disputes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/money"
	"marquee/platform/postgres"
)

// ApplyDisputeTx does what a dispute means for its subscription. Money that is held
// closes it and pauses what it collects; money that is lost ends it; a dispute that is
// won opens it again, when no other one is open and it was the dispute that closed it,
// and has it be collected again. Money that gave nobody anything is none of the
// subscription's, which other money paid for: the ledger and the list have it.
func (s *Disputes) ApplyDisputeTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription,
	changed payments.DisputeChange, c lifecycle.Change,
) (gateway.Reason, error) {
	won := changed.Closed && changed.State == gateway.DisputeWon
	switch {
	case changed.Unused && !(won && sub.HasChargeback): // which may be from before it was listed
		return gateway.ReasonUnapplied, nil
	case changed.State == gateway.DisputeLost && (changed.Opened || changed.Closed):
		return "", s.loseDisputeTx(ctx, tx, sub, c)
	case changed.Opened:
		return "", s.OpenDisputeTx(ctx, tx, sub, c)
	case won:
		return "", s.winDisputeTx(ctx, tx, sub, changed.At, c)
	}
	return gateway.ReasonNoConsequence, nil
}

// OpenDisputeTx suspends a subscription for a dispute, and has nothing collected meanwhile.
func (s *Disputes) OpenDisputeTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription,
	c lifecycle.Change,
) error {
	disputed, err := s.disputedTx(ctx, tx, sub)
	if err != nil {
		return err
	}
	c.Action, c.Edit = state.DisputeOpens, func(r *lifecycle.Subscription) { r.HasChargeback = true }
	for _, r := range disputed {
		if _, err := s.deps.Store.MoveTx(ctx, tx, r, c); err != nil {
			return err
		}
		if err := s.pauseTx(ctx, tx, *r); err != nil {
			return err
		}
		if err := s.listSlippedTx(ctx, tx, *r); err != nil {
			return err
		}
	}
	return nil
}

// loseDisputeTx ends the subscription, here and at its gateway. Access ended with the
// dispute's opening, which is the exit that is counted. Other money that paid for time
// which is lost with it goes back.
func (s *Disputes) loseDisputeTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription,
	c lifecycle.Change,
) error {
	disputed, err := s.disputedTx(ctx, tx, sub)
	if err != nil {
		return err
	}
	c.Action, c.Edit = state.DisputeLost, func(r *lifecycle.Subscription) { r.HasChargeback = true }
	for _, r := range disputed {
		was := r.Status
		if _, err := s.deps.Store.MoveTx(ctx, tx, r, c); err != nil {
			return err
		}
		if !was.Ended() {
			if err := s.listUnusedTx(ctx, tx, *r, was); err != nil {
				return err
			}
		}
		if err := s.deps.Store.EndAtGatewayTx(ctx, tx, *r); err != nil {
			return err
		}
	}
	return nil
}

// disputedTx are those that a dispute of one's payment concerns: itself and, where renewals
// have replaced it, the one that its customer has by them now. A renewal that waits for
// its card is ended: it would open what is held.
func (s *Disputes) disputedTx(ctx context.Context, tx pgx.Tx,
	sub *lifecycle.Subscription,
) ([]*lifecycle.Subscription, error) {
	renewals, err := s.db.SubscriptionLockRenewals(ctx, tx, sub.ID)
	if err != nil {
		return nil, fmt.Errorf("lock renewals: %w", err)
	}
	rows := []*lifecycle.Subscription{sub}
	for i := range renewals {
		r := &renewals[i]
		switch {
		case r.IsPendingRenewal():
			if _, err := s.deps.Store.MoveTx(ctx, tx, r,
				lifecycle.Change{Action: state.DisputeLost, Source: state.ByJob}); err != nil {
				return nil, err
			}
			if err := s.deps.Store.EndAtGatewayTx(ctx, tx, *r); err != nil {
				return nil, err
			}
		case !r.Status.Ended():
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// winDisputeTx lifts the dispute from all that it held, unless another one holds them.
func (s *Disputes) winDisputeTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, at time.Time,
	c lifecycle.Change,
) error {
	c.Action = state.DisputeWon
	return s.LiftAllTx(ctx, tx, sub, func(r *lifecycle.Subscription) error {
		all, err := s.holdingDisputesOf(ctx, tx, *r)
		if err != nil || hasState(all, gateway.DisputeOpen) || r.Status.Ended() && hasState(all, gateway.DisputeLost) {
			return err // another one was lost, and stays so
		}
		return s.liftDisputeTx(ctx, tx, r, at, c)
	})
}

// LiftAllTx lifts from a subscription, and from those that followed it by renewals and
// were held with it.
func (s *Disputes) LiftAllTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription,
	lift func(r *lifecycle.Subscription) error,
) error {
	renewals, err := s.db.SubscriptionLockRenewals(ctx, tx, sub.ID)
	if err != nil {
		return fmt.Errorf("lock renewals: %w", err)
	}
	if err := lift(sub); err != nil {
		return err
	}
	for i := range renewals {
		if !renewals[i].HasChargeback {
			continue
		}
		if err := lift(&renewals[i]); err != nil {
			return err
		}
	}
	return nil
}

// liftDisputeTx has a subscription be collected again, and opens it where it was the
// dispute that closed it. Money that a withdrawal could not give back meanwhile goes back.
func (s *Disputes) liftDisputeTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, at time.Time,
	c lifecycle.Change,
) error {
	if err := s.deps.Store.ResumeTx(ctx, tx, *sub, at); err != nil {
		return err
	}
	if err := s.deps.Store.GiveBackWithdrawnTx(ctx, tx, sub.ID); err != nil {
		return err
	}
	c.Edit = func(r *lifecycle.Subscription) { r.HasChargeback = false }
	closed, err := s.deps.Reads.ClosedByDisputeTx(ctx, tx, *sub)
	if err != nil {
		return err
	}
	if sub.Status == state.Suspended && !closed {
		return s.deps.Store.EditTx(ctx, tx, sub, state.DisputeLeft, c.Edit)
	}
	_, err = s.deps.Store.MoveTx(ctx, tx, sub, c)
	return err
}

// DisputesOf are the disputes of a subscription and of all that it followed by renewals.
func (s *Disputes) DisputesOf(ctx context.Context, db postgres.DB,
	sub lifecycle.Subscription,
) ([]payments.Dispute, error) {
	chain, err := s.deps.Reads.RenewalChain(ctx, db, sub)
	if err != nil {
		return nil, err
	}
	var all []payments.Dispute
	for _, r := range chain {
		of, err := s.deps.Payments.DisputesOf(ctx, db, gateway.ForSubscription, r.ID)
		if err != nil {
			return nil, err
		}
		all = append(all, of...)
	}
	return all, nil
}

// holdingDisputesOf are those of DisputesOf that concern the subscription: of money that
// gave it time.
func (s *Disputes) holdingDisputesOf(ctx context.Context, db postgres.DB,
	sub lifecycle.Subscription,
) ([]payments.Dispute, error) {
	all, err := s.DisputesOf(ctx, db, sub)
	return slices.DeleteFunc(all, func(d payments.Dispute) bool { return d.Unused }), err
}

func hasState(all []payments.Dispute, state gateway.DisputeState) bool {
	for _, d := range all {
		if d.State == state {
			return true
		}
	}
	return false
}

// ApplyDisputes does for a suspended subscription with a chargeback what its disputes
// ask for and was not done: its recurrence was not known yet when the dispute was
// opened, or the dispute is from before collection was paused. Held for money that is
// listed by now as having given nobody anything, it is opened again.
func (s *Disputes) ApplyDisputes(ctx context.Context, sub lifecycle.Subscription) error {
	return s.deps.Store.Locked(ctx, sub, func(tx pgx.Tx, locked lifecycle.Subscription) error {
		if locked.Status != state.Suspended || !locked.HasChargeback {
			return nil
		}
		all, err := s.DisputesOf(ctx, tx, sub)
		if err != nil {
			return err
		}
		holding, err := s.holdingDisputesOf(ctx, tx, sub)
		if err != nil {
			return err
		}
		switch {
		case !hasState(holding, gateway.DisputeOpen) && hasState(holding, gateway.DisputeLost):
			return s.loseDisputeTx(ctx, tx, &locked, lifecycle.Change{Source: state.ByJob})
		case !slices.ContainsFunc(holding, takesMoney) && slices.ContainsFunc(all, takesMoney):
			return s.winDisputeTx(ctx, tx, &locked, s.deps.Clock.Now(), lifecycle.Change{Source: state.ByJob})
		}
		return s.pauseTx(ctx, tx, locked)
	})
}

// HoldUnheld does for an active subscription what a dispute of a payment of those that it
// followed by renewals asks for, and the release that took it in did not do: as its event
// would now. What an admin has activated since stays open.
func (s *Disputes) HoldUnheld(ctx context.Context, sub lifecycle.Subscription) error {
	return s.deps.Store.Locked(ctx, sub, func(tx pgx.Tx, locked lifecycle.Subscription) error {
		if locked.Status != state.Active || locked.HasChargeback {
			return nil
		}
		all, err := s.holdingDisputesOf(ctx, tx, locked)
		if err != nil {
			return err
		}
		for _, d := range all {
			if d.State != gateway.DisputeOpen && d.State != gateway.DisputeLost {
				continue
			}
			lifted, err := s.db.TransitionHasActivationSince(ctx, tx, sub.CustomerID, d.OpenedAt)
			if err != nil {
				return fmt.Errorf("read who has activated: %w", err)
			}
			if lifted {
				continue
			}
			disputed, err := s.db.SubscriptionLock(ctx, tx, d.LocalID)
			if err != nil {
				return fmt.Errorf("read disputed subscription: %w", err)
			}
			if d.State == gateway.DisputeLost {
				return s.loseDisputeTx(ctx, tx, &disputed, lifecycle.Change{Source: state.ByJob})
			}
			if err := s.OpenDisputeTx(ctx, tx, &disputed, lifecycle.Change{Source: state.ByJob}); err != nil {
				return err
			}
		}
		return nil
	})
}

// DisputedPayment reports whether a payment is one of those that are disputed.
func DisputedPayment(all []payments.Dispute, p gateway.Payment) bool {
	for _, d := range all {
		if d.State != gateway.DisputeWithdrawn && IsOne(p, []string{d.PaymentID}) {
			return true
		}
	}
	return false
}

// LostOf is what disputes that were lost took of a payment.
func LostOf(all []payments.Dispute, p gateway.Payment) (lost money.Cents) {
	for _, d := range all {
		if d.State == gateway.DisputeLost && IsOne(p, []string{d.PaymentID}) {
			lost += d.Amount
		}
	}
	return lost
}

// pauseTx has the gateway collect nothing for a disputed subscription: recorded here
// first, so that the echo of it changes nothing, and done by the checks. It may be repeated.
func (s *Disputes) pauseTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription) error {
	if sub.Status.Ended() || !sub.Collects() || sub.GatewayDeletedAt != nil {
		return nil
	}
	all, err := s.holdingDisputesOf(ctx, tx, sub)
	if err != nil || !hasState(all, gateway.DisputeOpen) {
		return err
	}
	now := s.deps.Clock.Now()
	since := now
	for _, d := range all {
		if d.State == gateway.DisputeOpen && d.OpenedAt.Before(since) {
			since = d.OpenedAt
		}
	}
	open, err := s.db.PauseLockOpen(ctx, tx, sub.ID)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return s.deps.Store.PauseTx(ctx, tx, sub, since)
	case err != nil:
		return fmt.Errorf("read pause: %w", err)
	}
	return s.deps.Store.TurnPauseTx(ctx, tx, sub, open, state.PauseDisputed, since, nil)
}
