package extensions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/postgres"
)

// refuseChargeMove notes that the gateway finds the order wrong. It is asked again; once
// it has said so for a while the extension is taken back.
func (s *Extensions) refuseChargeMove(ctx context.Context, sub lifecycle.Row, move chargeMove, cause error) error {
	now := s.deps.Clock.Now()
	since, err := s.db.NoteChargeMoveRefused(ctx, s.deps.Pool, subscriptionsdb.NoteChargeMoveRefusedParams{ID: move.ID, Now: now})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil // it is over
	}
	if err != nil {
		return fmt.Errorf("note refusal of charge move: %w", err)
	}
	if !errors.Is(cause, gateway.ErrUnsupported) && now.Before(since.Add(refusalCounts)) {
		return fmt.Errorf("%w: %w", errChargeMoveRefused, cause)
	}
	s.deps.Log.ErrorContext(ctx, "the gateway refuses to charge an extended subscription later: the extension is taken back",
		slog.String("subscription_id", sub.ID.String()), slog.String("gateway", string(sub.Gateway)), slog.Any("error", cause))
	return s.takeExtensionBack(ctx, sub, move, cause)
}

// takeExtensionBack ends the order as refused: the customer is charged when they would
// have been without it, and what had paid for the extension is open again. One that was
// moved further on meanwhile stays open, and is asked for anew.
func (s *Extensions) takeExtensionBack(ctx context.Context, found lifecycle.Row, move chargeMove, cause error) error {
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		sub, err := s.deps.Store.LockTx(ctx, tx, found.CustomerID, found.ID)
		if err != nil {
			return err
		}
		n, err := s.db.EndChargeMove(ctx, tx, subscriptionsdb.EndChargeMoveParams{
			ID: move.ID, State: state.MoveRefused, ToAt: move.ToAt, Now: new(s.deps.Clock.Now()), Refusal: new(cause.Error()),
		})
		if err != nil || n == 0 {
			return err
		}
		if err := s.deps.Payments.Cases().TakeExtensionBackTx(ctx, tx, sub.ID, move.RegisterDate, cause.Error()); err != nil {
			return err
		}
		if sub.Status.Ended() || sub.ExpiresAt != nil && !sub.ExpiresAt.Equal(move.ToAt) {
			return nil // something else has moved the end since
		}
		earlier, err := s.db.GoesOnAfter(ctx, tx, subscriptionsdb.GoesOnAfterParams{SubscriptionID: sub.ID, Since: move.FromAt.Add(-time.Second)})
		if err != nil {
			return fmt.Errorf("read earlier extension: %w", err)
		}
		return s.deps.Store.EditTx(ctx, tx, &sub, state.ExtensionRefused, func(r *lifecycle.Row) {
			r.ExpiresAt, r.NextBillingDate = nil, &move.FromAt
			if earlier || r.CancelAtPeriodEnd {
				r.ExpiresAt = &move.FromAt
			}
			s.deps.Calendar.Anchor(r, move.FromAt)
		})
	})
}
