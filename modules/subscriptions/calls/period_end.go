package calls

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
)

// stopThere stops at the gateway what would charge beyond the paid time, and notes that it has.
func (s *Calls) stopThere(ctx context.Context, sub lifecycle.Subscription) error {
	if err := s.stopRemote(ctx, sub); err != nil {
		return err
	}
	return s.deps.Store.Locked(ctx, sub, func(tx pgx.Tx, locked lifecycle.Subscription) error {
		if !locked.Stops() {
			return nil
		}
		return s.deps.Store.EditTx(ctx, tx, &locked, state.EndedThere, s.deps.Calendar.EndedThere)
	})
}

// SetPeriodEnd has the gateway end the subscription with the paid period, or takes that
// back; it answers when that period ends.
func (s *Calls) SetPeriodEnd(ctx context.Context, sub lifecycle.Subscription, cancel bool) (*time.Time, error) {
	gw, err := s.deps.Payments.Gateway(sub.Gateway)
	if err != nil {
		return nil, err
	}
	remote, err := gw.SetCancelAtPeriodEnd(ctx, sub.RemoteID(), sub.ID, cancel)
	if err != nil {
		return nil, err
	}
	if remote.NextBilling == nil {
		return sub.NextBillingDate, nil
	}
	return remote.NextBilling, nil
}

// ProvedMissing has a check confirm that what a call did not find at the gateway is not
// there, which is then looked for again in an hour, as anything that was there once.
func (s *Calls) ProvedMissing(ctx context.Context, sub lifecycle.Subscription, cause error) error {
	gw, err := s.deps.Payments.Gateway(sub.Gateway)
	if err != nil {
		return err
	}
	_, err = s.ReadRunning(ctx, gw, sub)
	switch err {
	case nil:
		return fmt.Errorf("%w: a read shows it: %w", gateway.ErrUnavailable, errors.New(cause.Error()))
	case ErrMissingOnce: //nolint:errorlint // joined with another, that one has failed
		return nil
	}
	return err
}
