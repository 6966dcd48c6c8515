package calls

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
)

// ErrMissingOnce says that the gateway did not find a subscription that it had once.
// That ends nothing: it is looked at again in an hour.
var ErrMissingOnce = errors.New("subscriptions: the gateway does not find it; looked at again in an hour")

// goneRef names the intent of a subscription that its gateway did not find.
func goneRef(sub lifecycle.Subscription) intent.Ref {
	return intent.Ref{Kind: intent.SubscriptionGone, Subject: sub.ID}
}

// ReadRunning reads the recurrence of a live subscription that was there once.
func (s *Calls) ReadRunning(ctx context.Context, gateway gateway.Gateway,
	sub lifecycle.Subscription,
) (gateway.RemoteSubscription, error) {
	remote, err := gateway.ReadSubscription(ctx, sub.RemoteID(), sub.ID)
	return remote, s.FoundOnce(ctx, sub, err)
}

// ReadAuthorization reads the automatic PIX of a live subscription.
func (s *Calls) ReadAuthorization(ctx context.Context, gateway gateway.Gateway,
	sub lifecycle.Subscription,
) (gateway.PixAuthorization, error) {
	auth, err := gateway.ReadPixAuthorization(ctx, sub.AuthorizationRef())
	return auth, s.FoundOnce(ctx, sub, err)
}

// FoundOnce judges the error of a read of something that was there once, and counts
// it: what is missing is ErrMissingOnce, and an intent has it looked at again.
func (s *Calls) FoundOnce(ctx context.Context, sub lifecycle.Subscription, read error) error {
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
	if err := s.deps.Intents.Health().Saw(ctx, sub.Gateway, missing); err != nil {
		return err
	}
	if missing {
		return ErrMissingOnce
	}
	return nil
}

// missedOnce opens the intent of a live subscription that is missing; first is false
// when it is open already.
func (s *Calls) missedOnce(ctx context.Context, sub lifecycle.Subscription) (first bool, err error) {
	err = s.deps.Store.Locked(ctx, sub, func(tx pgx.Tx, locked lifecycle.Subscription) error {
		if locked.Status.Ended() {
			return nil
		}
		first = true
		return s.deps.Intents.OpenTx(ctx, tx, intent.Opening{
			Ref: goneRef(sub), Customer: sub.CustomerID, Gateway: sub.Gateway, Reference: sub.ID.String(),
		})
	})
	if intent.AlreadyOpen(err) {
		return false, nil
	}
	return first, err
}

// Gone is a live subscription that its gateway did not find. Missing a second time, an hour
// later and while the gateway is not suspect, it has ended; found again, what it says is
// followed by whoever asks next.
func (s *Calls) Gone() *intent.Operation[lifecycle.Subscription, struct{}] {
	return &intent.Operation[lifecycle.Subscription, struct{}]{
		Kind: intent.SubscriptionGone, Intents: s.deps.Intents, WasFound: true,
		Opening: func(sub lifecycle.Subscription) intent.Opening {
			return intent.Opening{
				Ref: goneRef(sub), Gateway: sub.Gateway,
			}
		},
		Row:      s.perhapsGone,
		Steps:    []intent.Step[lifecycle.Subscription, struct{}]{{Find: s.findGone}},
		SettleTx: s.endGoneTx,
	}
}

// perhapsGone reads what is looked for; over when nothing of it is left to be asked.
func (s *Calls) perhapsGone(ctx context.Context, i intent.Intent) (sub lifecycle.Subscription, over bool, err error) {
	sub, err = s.db.SubscriptionGet(ctx, s.deps.Pool, i.Subject)
	return sub, sub.Status.Ended() || sub.RemoteID() == "" && sub.GwaPixAuthID == nil, err
}

func (s *Calls) findGone(ctx context.Context, gw gateway.Gateway, sub lifecycle.Subscription,
	_ struct{},
) (none struct{}, found bool, err error) {
	ctx = gateway.Background(ctx)
	if sub.RemoteID() != "" {
		_, err = gw.ReadSubscription(ctx, sub.RemoteID(), sub.ID)
	} else {
		_, err = gw.ReadPixAuthorization(ctx, sub.AuthorizationRef())
	}
	if errors.Is(err, gateway.ErrMissing) {
		return none, false, nil
	}
	return none, err == nil, err
}

// endGoneTx ends a subscription that is gone at its gateway, unless it has paid time
// left, and has its id deleted there once more.
func (s *Calls) endGoneTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, _ intent.Outcome[struct{}],
	_ intent.By,
) error {
	locked, err := s.deps.Store.LockTx(ctx, tx, sub.CustomerID, sub.ID)
	if err != nil || locked.Status.Ended() {
		return err
	}
	if locked.ExpiresAt != nil && locked.ExpiresAt.After(s.deps.Clock.Now()) {
		return s.deps.Store.EditTx(ctx, tx, &locked, state.EndedThere, s.deps.Calendar.EndedThere)
	}
	if _, err := s.deps.Store.MoveTx(ctx, tx, &locked,
		lifecycle.Change{Action: state.GoneAtGateway, Source: state.ByRecovery}); err != nil {
		return err
	}
	return s.deps.Store.EndAtGatewayTx(ctx, tx, locked)
}
