package calls

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/postgres"
)

// ErrMissingOnce says that the gateway did not find a subscription that it had once.
// That ends nothing: it is looked at again in an hour.
var ErrMissingOnce = errors.New("subscriptions: the gateway does not find it; looked at again in an hour")

// goneRef names the intent of a subscription that its gateway did not find.
func goneRef(sub lifecycle.Row) intent.Ref {
	return intent.Ref{Kind: intent.SubscriptionGone, Subject: sub.ID}
}

// ReadRunning reads the recurrence of a live subscription that was there once.
func (s *Calls) ReadRunning(ctx context.Context, gateway gateway.Gateway, sub lifecycle.Row) (gateway.RemoteSubscription, error) {
	remote, err := gateway.ReadSubscription(ctx, lifecycle.RemoteID(sub), sub.ID)
	return remote, s.FoundOnce(ctx, sub, err)
}

// ReadAuthorization reads the automatic PIX of a live subscription.
func (s *Calls) ReadAuthorization(ctx context.Context, gateway gateway.Gateway, sub lifecycle.Row) (gateway.PixAuthorization, error) {
	auth, err := gateway.ReadPixAuthorization(ctx, lifecycle.AuthorizationRef(sub))
	return auth, s.FoundOnce(ctx, sub, err)
}

// FoundOnce judges the error of a read of something that was there once, and counts
// it: what is missing is ErrMissingOnce, and an intent has it looked at again.
func (s *Calls) FoundOnce(ctx context.Context, sub lifecycle.Row, read error) error {
	ctx = context.WithoutCancel(ctx) // the gateway has answered
	missing := errors.Is(read, gateway.ErrMissing)
	if read != nil && !missing {
		return read
	}
	if missing {
		first, err := s.missedOnce(ctx, sub)
		if err != nil {
			return errors.Join(ErrMissingOnce, err)
		}
		if !first {
			return ErrMissingOnce
		}
	}
	if err := s.intents.Health().Saw(ctx, sub.Gateway, missing); err != nil {
		return err
	}
	if missing {
		return ErrMissingOnce
	}
	return nil
}

// missedOnce opens the intent of a live subscription that is missing; first is false
// when it is open already.
func (s *Calls) missedOnce(ctx context.Context, sub lifecycle.Row) (first bool, err error) {
	err = postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		locked, err := s.store.LockTx(ctx, tx, sub.CustomerID, sub.ID)
		if err != nil || lifecycle.Status(locked.Status).Ended() {
			return err
		}
		first = true
		return s.intents.OpenTx(ctx, tx, intent.Opening{
			Ref: goneRef(sub), Customer: sub.CustomerID, Gateway: sub.Gateway, Reference: sub.ID.String(),
		})
	})
	var open *intent.ErrOpen
	if errors.As(err, &open) {
		return false, nil
	}
	return first, err
}

// LookForGone looks again for what its gateway did not find. Missing a second time, an
// hour later and while the gateway is not suspect, it has ended.
func (s *Calls) LookForGone(ctx context.Context, l *intent.Look) (intent.Answer, error) {
	ctx = gateway.Background(ctx)
	sub, err := s.db.GetSubscription(ctx, s.pool, l.Subject)
	if err != nil {
		return 0, err
	}
	if lifecycle.Status(sub.Status).Ended() || lifecycle.RemoteID(sub) == "" && sub.GwaPixAuthID == nil {
		return intent.Settled, nil // nothing is left to be asked
	}
	gw, err := s.payments.Gateway(gateway.Name(sub.Gateway))
	if err != nil {
		return 0, err
	}
	if lifecycle.RemoteID(sub) != "" {
		_, err = gw.ReadSubscription(ctx, lifecycle.RemoteID(sub), sub.ID)
	} else {
		_, err = gw.ReadPixAuthorization(ctx, lifecycle.AuthorizationRef(sub))
	}
	switch {
	case err == nil:
		return intent.FoundAgain, nil // what it says is followed by whoever asks next
	case !errors.Is(err, gateway.ErrMissing):
		return 0, err
	case !l.Proved:
		return intent.NotThere, nil
	}
	return intent.Settled, s.endGone(ctx, sub)
}

// endGone ends a subscription that is gone at its gateway, unless it has paid time
// left, and has its id deleted there once more.
func (s *Calls) endGone(ctx context.Context, sub lifecycle.Row) error {
	return postgres.InTx(context.WithoutCancel(ctx), s.pool, func(tx pgx.Tx) error {
		locked, err := s.store.LockTx(ctx, tx, sub.CustomerID, sub.ID)
		if err != nil {
			return err
		}
		if err := s.intents.EndTx(ctx, tx, goneRef(sub), intent.Missing[any]{}, "look"); err != nil || lifecycle.Status(locked.Status).Ended() {
			return err
		}
		now := s.clock.Now()
		if locked.ExpiresAt != nil && locked.ExpiresAt.After(now) {
			return s.store.EditTx(ctx, tx, &locked, s.calendar.EndedThere)
		}
		if _, err := s.store.MoveTx(ctx, tx, &locked, lifecycle.Change{Action: lifecycle.GoneAtGateway, Source: lifecycle.ByRecovery}); err != nil {
			return err
		}
		return s.store.EndAtGatewayTx(ctx, tx, locked)
	})
}
