package calls

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// StopNow tries what the job would do, and answers the row as it is after.
func (s *Calls) StopNow(ctx context.Context, sub lifecycle.Row) (lifecycle.Row, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.deps.Intents.CallTime())
	defer cancel()
	if err := s.StopRecurrence(ctx, sub.ID); err != nil {
		s.deps.Log.WarnContext(ctx, "recurrence not stopped yet", slog.String("subscription_id", sub.ID.String()), slog.Any("error", err))
	}
	return s.db.GetSubscription(ctx, s.deps.Pool, sub.ID)
}

// StopRecurrence deletes at the gateway what would charge a subscription that ends with
// its paid time. It may be repeated, and the looks do so when it fails: gateway_deleted_at
// notes that it is gone.
func (s *Calls) StopRecurrence(ctx context.Context, id objectid.ID) error {
	return s.Ends(ctx, id, lifecycle.Stops, s.StopThere)
}

// StopThere stops at the gateway what would charge beyond the paid time, and notes that it has.
func (s *Calls) StopThere(ctx context.Context, sub lifecycle.Row) error {
	if err := s.stopRemote(ctx, sub); err != nil {
		return err
	}
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		locked, err := s.deps.Store.LockTx(ctx, tx, sub.CustomerID, sub.ID)
		if err != nil || !lifecycle.Stops(locked) {
			return err
		}
		return s.deps.Store.EditTx(ctx, tx, &locked, state.EndedThere, s.deps.Calendar.EndedThere)
	})
}

// SetPeriodEnd has gateway B end the subscription with the paid period, or takes that
// back; it answers when that period ends.
func (s *Calls) SetPeriodEnd(ctx context.Context, sub lifecycle.Row, cancel bool) (*time.Time, error) {
	gateway, err := s.deps.Payments.Gateway(gateway.GWB)
	if err != nil {
		return nil, err
	}
	remote, err := gateway.SetCancelAtPeriodEnd(ctx, *sub.GwbSubscriptionID, sub.ID, cancel)
	if err != nil {
		return nil, err
	}
	if remote.NextBilling == nil {
		return sub.NextBillingDate, nil
	}
	return remote.NextBilling, nil
}

// ProvedMissing has a look confirm that what a call did not find at gateway B is not
// there, which is then looked for again in an hour, as anything that was there once.
func (s *Calls) ProvedMissing(ctx context.Context, sub lifecycle.Row, cause error) error {
	gw, err := s.deps.Payments.Gateway(gateway.GWB)
	if err != nil {
		return err
	}
	_, err = s.ReadRunning(ctx, gw, sub)
	switch {
	case err == nil:
		return fmt.Errorf("%w: a read shows it: %w", gateway.ErrUnavailable, errors.New(cause.Error()))
	case err == ErrMissingOnce: //nolint:errorlint // joined with another, that one has failed
		return nil
	}
	return err
}
