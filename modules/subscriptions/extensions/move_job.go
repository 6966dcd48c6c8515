package extensions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/debits"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/faultpoint"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// refusalCounts is for how long the gateway has to find an order wrong: the first such
// word may be a fault of its own.
const refusalCounts = 15 * time.Minute

// errChargeMoveRefused is not final yet.
var errChargeMoveRefused = errors.New("the gateway refuses it")

// ChargeMoveArgs has the gateway charge next when an extension ends. Only the release before inserts it: the checks do.
type ChargeMoveArgs struct {
	MoveID objectid.ID `json:"move_id"`
	At     time.Time   `json:"at"` // distinguishes the tries of one move
}

// Kind names the job.
func (ChargeMoveArgs) Kind() string { return "subscriptions_charge_move" }

// MoveCharge has the checks carry out a move at once. Only the release before has a job for that, and makes moves
// without an intent.
func (s *Extensions) MoveCharge(ctx context.Context, id objectid.ID) error {
	move, sub, err := s.move(ctx, id)
	if err != nil || move.State != state.MoveOpen {
		return err
	}
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error { return s.requestTx(ctx, tx, sub, id) })
	return errors.Join(err, s.deps.Intents.CheckOne(ctx, intent.ChargeMove, id))
}

func (s *Extensions) requestTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, id objectid.ID) error {
	return s.deps.Store.RequestTx(ctx, tx, sub, intent.Ref{Kind: intent.ChargeMove, Subject: id})
}

func (s *Extensions) move(ctx context.Context, id objectid.ID) (move subscriptionsdb.ChargeMove,
	sub lifecycle.Subscription, err error,
) {
	if move, err = s.db.ChargeMoveGet(ctx, s.deps.Pool, id); err != nil {
		return move, sub, fmt.Errorf("read charge move: %w", err)
	}
	sub, err = s.db.SubscriptionGet(ctx, s.deps.Pool, move.SubscriptionID)
	return move, sub, err
}

// Checker has the gateway charge next when an extension ends. A refusal that is not final yet is a right answer.
func (s *Extensions) Checker() intent.Checker {
	return intent.Repeat(func(ctx context.Context, r intent.Ref) error {
		err := s.moveCharge(ctx, r.Subject)
		if errors.Is(err, errChargeMoveRefused) {
			return intent.ErrUnderWay
		}
		return err
	})
}

// moveCharge asks the gateway once. Repeating it is harmless: it looks first.
func (s *Extensions) moveCharge(ctx context.Context, id objectid.ID) error {
	move, sub, err := s.move(ctx, id)
	if err != nil || move.State != state.MoveOpen {
		return err
	}
	if sub.Status.Ended() || !move.ToAt.After(s.deps.Clock.Now()) {
		return s.endChargeMove(ctx, sub, move, state.MoveOvertaken, nil)
	}
	paused, err := s.db.PauseExistsSince(ctx, s.deps.Pool, sub.ID, s.deps.Clock.Now())
	if err != nil || paused {
		return errors.Join(err, calls.ErrPauseUnderWay) // nothing is charged meanwhile
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.deps.Intents.CallTime())
	defer cancel()
	remote, err := s.moveRemote(call, sub, move)
	faultpoint.Hit("charge_move.after_call")
	switch {
	case err == nil && lifecycle.Running(remote.Status):
		return s.endChargeMove(ctx, sub, move, state.MoveConfirmed, &remote)
	case err == nil: // it has ended there, and charges nobody
		return s.endChargeMove(ctx, sub, move, state.MoveUnchanged, &remote)
	case refusedForGood(err):
		return s.refuseChargeMove(context.WithoutCancel(ctx), sub, move, err)
	}
	return fmt.Errorf("move the next charge of %s: %w", sub.ID, err)
}

// refusedForGood reports whether the gateway found the order wrong. That it was not
// reached, also by the check before, refuses nothing.
func refusedForGood(err error) bool {
	return gateway.Certain(err) && (gateway.IsRejected(err) || errors.Is(err, gateway.ErrUnsupported))
}

// moveRemote moves the next charge. Gateway A makes charges up to 40 days ahead: those
// go first, and it is looked again until none is left that is due at another time.
func (s *Extensions) moveRemote(ctx context.Context, sub lifecycle.Subscription,
	move subscriptionsdb.ChargeMove,
) (gateway.RemoteSubscription, error) {
	gw, err := s.deps.Payments.Gateway(sub.Gateway)
	if err != nil {
		return gateway.RemoteSubscription{}, err
	}
	c := sub.Collection()
	if gw.Name().Traits().ChargesAhead == 0 {
		return gw.MoveNextCharge(ctx, c, move.ToAt)
	}
	for range debits.MaxDropRounds {
		remote, err := gw.ReadSubscription(ctx, c.GatewayID, sub.ID)
		if err != nil || !lifecycle.Running(remote.Status) {
			return remote, err
		}
		open, err := gw.OpenCharges(ctx, c)
		if err != nil {
			return remote, fmt.Errorf("list open charges: %w", err)
		}
		if s.chargesFrom(move.ToAt, remote, open) {
			return remote, nil
		}
		for _, charge := range open {
			if err := gw.DropCharge(ctx, charge.ID, sub.ID); err != nil && !errors.Is(err, gateway.ErrAlreadyPaid) {
				return remote, fmt.Errorf("drop charge %s: %w", charge.ID, err)
			}
		}
		faultpoint.Hit("charge_move.after_drop")
		if _, err := gw.MoveNextCharge(ctx, c, move.ToAt); err != nil {
			return remote, err
		}
	}
	return gateway.RemoteSubscription{},
		fmt.Errorf("%w: charges are left after %d rounds", gateway.ErrUnavailable, debits.MaxDropRounds)
}

// chargesFrom reports whether gateway A charges first on the day: by the charge that it
// will make, or by one that it has made for it.
func (s *Extensions) chargesFrom(at time.Time, remote gateway.RemoteSubscription, open []gateway.Payment) bool {
	day, first := s.deps.Calendar.DateOf(at).Time, false
	for _, charge := range open {
		if charge.DueDate == nil || s.deps.Calendar.DateOf(*charge.DueDate).Time.Before(day) {
			return false
		}
		first = first || s.deps.Calendar.DateOf(*charge.DueDate).Time.Equal(day)
	}
	if remote.NextBilling == nil {
		return false
	}
	next := s.deps.Calendar.DateOf(*remote.NextBilling).Time
	return len(open) == 0 && next.Equal(day) || first && next.After(day)
}

// endChargeMove writes what came of it. One that was moved further on meanwhile stays
// open, and its intent is due again.
func (s *Extensions) endChargeMove(ctx context.Context, found lifecycle.Subscription, move subscriptionsdb.ChargeMove,
	by state.MoveAction, remote *gateway.RemoteSubscription,
) error {
	return s.deps.Store.Locked(context.WithoutCancel(ctx), found, func(tx pgx.Tx, sub lifecycle.Subscription) error {
		if remote != nil && remote.Inactive && by == state.MoveUnchanged {
			if paused, err := s.deps.Reads.PausedLatelyTx(ctx, tx, sub.ID); err != nil || paused {
				return errors.Join(err, calls.ErrPauseUnderWay) // our own doing
			}
		}
		n, err := s.writeEndTx(ctx, tx, move, by, nil)
		if err != nil || n == 0 || remote == nil || sub.Status.Ended() {
			return err
		}
		return s.deps.Store.EditTx(ctx, tx, &sub, state.ChargeMoved, func(r *lifecycle.Subscription) {
			switch {
			case by == state.MoveUnchanged && r.ExpiresAt != nil:
				s.deps.Calendar.EndedThere(r) // nothing charges it: what was given ends with expires_at
			case by == state.MoveConfirmed:
				s.deps.Calendar.SetRemote(r, remote)
				r.NextBillingDate = &move.ToAt // gateway A's is that after the charge that it has made
			}
		})
	})
}

// writeEndTx ends a move; none of one that was moved further on meanwhile.
func (s *Extensions) writeEndTx(ctx context.Context, tx pgx.Tx, move subscriptionsdb.ChargeMove, by state.MoveAction,
	refusal *string,
) (n int64, err error) {
	to, err := state.Moves.Move(move.State, by)
	if err != nil {
		return 0, err
	}
	return s.db.ChargeMoveEnd(ctx, tx, subscriptionsdb.ChargeMoveEndParams{
		ID: move.ID, FromState: move.State, State: to, ToAt: move.ToAt, Now: s.deps.Clock.Now(), Refusal: refusal,
		Action: string(by), Reason: new(state.Moves.ReasonOf(by)),
	})
}

// refuseChargeMove notes that the gateway finds the order wrong. It is asked again; once
// it has said so for a while the extension is taken back.
func (s *Extensions) refuseChargeMove(ctx context.Context, sub lifecycle.Subscription, move subscriptionsdb.ChargeMove,
	cause error,
) error {
	now := s.deps.Clock.Now()
	since, err := s.db.ChargeMoveRefuse(ctx, s.deps.Pool, now, move.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil // it is over
	}
	if err != nil {
		return fmt.Errorf("note refusal of charge move: %w", err)
	}
	if !errors.Is(cause, gateway.ErrUnsupported) && now.Before(since.Add(refusalCounts)) {
		return fmt.Errorf("%w: %w", errChargeMoveRefused, cause)
	}
	s.deps.Log.ErrorContext(ctx,
		"the gateway refuses to charge an extended subscription later: the extension is taken back",
		slog.String("subscription_id", sub.ID.String()), slog.String("gateway", string(sub.Gateway)),
		slog.Any("error", cause))
	return s.takeExtensionBack(ctx, sub, move, cause)
}

// takeExtensionBack ends the order as refused: the customer is charged when they would
// have been without it, and what had paid for the extension is open again. One that was
// moved further on meanwhile stays open, and is asked for anew.
func (s *Extensions) takeExtensionBack(ctx context.Context, found lifecycle.Subscription,
	move subscriptionsdb.ChargeMove, cause error,
) error {
	return s.deps.Store.Locked(ctx, found, func(tx pgx.Tx, sub lifecycle.Subscription) error {
		n, err := s.writeEndTx(ctx, tx, move, state.MoveUnchanged, new(cause.Error()))
		if err != nil || n == 0 {
			return err
		}
		if err := s.deps.Payments.Cases().TakeExtensionBackTx(ctx, tx, sub.ID, move.RegisterDate,
			cause.Error()); err != nil {
			return err
		}
		if sub.Status.Ended() || sub.ExpiresAt != nil && !sub.ExpiresAt.Equal(move.ToAt) {
			return nil // something else has moved the end since
		}
		earlier, err := s.db.ChargeMoveGoesBeyond(ctx, tx, sub.ID, move.FromAt.Add(-time.Second))
		if err != nil {
			return fmt.Errorf("read earlier extension: %w", err)
		}
		return s.deps.Store.EditTx(ctx, tx, &sub, state.ExtensionRefused, func(r *lifecycle.Subscription) {
			r.ExpiresAt, r.NextBillingDate = nil, &move.FromAt
			if earlier || r.CancelAtPeriodEnd {
				r.ExpiresAt = &move.FromAt
			}
			s.deps.Calendar.Anchor(r, move.FromAt)
		})
	})
}
