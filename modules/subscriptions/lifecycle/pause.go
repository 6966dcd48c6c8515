package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/state"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// PauseTx has the gateway collect nothing for a disputed subscription, until it is to collect again: at most one pause
// of a subscription is not over. Since: when its money was disputed. An error is the database's, pauses_one_open
// included.
func (s *Store) PauseTx(ctx context.Context, tx pgx.Tx, sub Subscription, since time.Time) error {
	now := s.deps.Clock.Now()
	id := objectid.At(now)
	to, err := state.Pauses.Move("", state.PauseDisputed)
	if err == nil {
		err = s.db.PauseInsert(ctx, tx, subscriptionsdb.PauseInsertParams{
			ID: id, SubscriptionID: sub.ID, State: to, Since: since, Now: now,
			Action: string(state.PauseDisputed), Reason: new(state.Pauses.ReasonOf(state.PauseDisputed)),
		})
	}
	if err != nil {
		return fmt.Errorf("write pause: %w", err)
	}
	return s.RequestPauseTx(ctx, tx, sub, id)
}

// ResumeTx has the gateway collect again, from an instant on; without a pause there is
// nothing to do. Errors are those of TurnPauseTx.
func (s *Store) ResumeTx(ctx context.Context, tx pgx.Tx, sub Subscription, from time.Time) error {
	return s.turnOpenTx(ctx, tx, sub, state.PauseLifted, &from)
}

// PauseAgainTx has a confirmed pause carried out once more: something was ordered before
// the pause, and is known only now. Errors are those of TurnPauseTx.
func (s *Store) PauseAgainTx(ctx context.Context, tx pgx.Tx, sub Subscription) error {
	return s.turnOpenTx(ctx, tx, sub, state.PauseDebitFound, nil)
}

// turnOpenTx turns the subscription's pause that is not over; without one there is nothing to do. Errors are those of
// TurnPauseTx.
func (s *Store) turnOpenTx(ctx context.Context, tx pgx.Tx, sub Subscription, by state.PauseAction,
	until *time.Time,
) error {
	open, err := s.db.PauseLockOpen(ctx, tx, sub.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read pause: %w", err)
	}
	return s.TurnPauseTx(ctx, tx, sub, open, by, open.Since, until)
}

// TurnPauseTx turns the subscription's locked pause into another state and has it carried out, unless it
// stays as it is. An action that the state does not permit is an error: the caller read another pause.
func (s *Store) TurnPauseTx(ctx context.Context, tx pgx.Tx, sub Subscription, p subscriptionsdb.Pause,
	by state.PauseAction, since time.Time, until *time.Time,
) error {
	to, err := state.Pauses.Move(p.State, by)
	if err != nil || to == p.State {
		return err
	}
	n, err := s.db.PauseTurn(ctx, tx, subscriptionsdb.PauseTurnParams{
		ID: p.ID, FromState: p.State, State: to, Since: since, Until: until, Now: s.deps.Clock.Now(),
		Action: string(by), Reason: new(state.Pauses.ReasonOf(by)),
	})
	if err == nil && n == 0 {
		err = errMoved
	}
	if err != nil {
		return fmt.Errorf("turn pause: %w", err)
	}
	return s.RequestPauseTx(ctx, tx, sub, p.ID)
}

// VoidPauses ends what is open of the pauses of a subscription that has ended: nothing is collected for it
// any more. An error is the database's.
func (s *Store) VoidPauses(ctx context.Context, db postgres.DB, id objectid.ID, at time.Time) error {
	from, to := state.Pauses.Of(state.PauseOvertaken)
	err := s.db.PauseVoid(ctx, db, subscriptionsdb.PauseVoidParams{
		SubscriptionID: id, FromStates: from, ToStates: to, Now: at,
		Action: string(state.PauseOvertaken), Reason: new(state.Pauses.ReasonOf(state.PauseOvertaken)),
	})
	if err != nil {
		return fmt.Errorf("void pauses: %w", err)
	}
	return nil
}

// RequestPauseTx has the checks carry out what a pause wants, since the gateway is called outside of transactions. An
// error is the database's.
func (s *Store) RequestPauseTx(ctx context.Context, tx pgx.Tx, sub Subscription, id objectid.ID) error {
	return s.RequestTx(ctx, tx, sub, intent.Ref{Kind: intent.Pause, Subject: id})
}

// RequestTx has the checks carry out an order to the subscription's gateway. An error is the database's.
func (s *Store) RequestTx(ctx context.Context, tx pgx.Tx, sub Subscription, r intent.Ref) error {
	return s.deps.Intents.RequestTx(ctx, tx, intent.Opening{
		Ref: r, Customer: sub.CustomerID, Gateway: sub.Gateway, Reference: sub.ID.String(),
	})
}
