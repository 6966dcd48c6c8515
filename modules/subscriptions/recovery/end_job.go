package recovery

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/extensions"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/objectid"
)

// Expire ends a subscription whose expires_at is reached; one that was extended
// meanwhile, or has ended, is left alone. Where a recurrence goes on after an
// extension, that is no end, and is taken away shortly before.
func (s *Recovery) Expire(ctx context.Context, id objectid.ID) error {
	sub, err := s.db.SubscriptionGet(ctx, s.deps.Pool, id)
	if err != nil {
		return err
	}
	return s.deps.Store.Locked(ctx, sub, func(tx pgx.Tx, locked lifecycle.Subscription) error {
		now := s.deps.Clock.Now()
		if locked.ExpiresAt == nil || locked.ExpiresAt.After(now.Add(extensions.HandOver)) {
			return nil
		}
		if goesOn, err := s.deps.Reads.GoesOnTx(ctx, tx, locked); err != nil || goesOn {
			return errors.Join(err,
				s.deps.Store.EditTx(ctx, tx, &locked, state.EndLifted,
					func(r *lifecycle.Subscription) { r.ExpiresAt = nil }))
		}
		if locked.ExpiresAt.After(now) {
			return nil
		}
		action := state.PeriodEnds
		if locked.CancelAtPeriodEnd && locked.RemoteID() != "" {
			action = state.CustomerCancels // as the gateway's own event says, whichever comes first
		}
		if _, err := s.deps.Store.MoveTx(ctx, tx, &locked,
			lifecycle.Change{Action: action, Source: state.ByJob}); err != nil {
			return err
		}
		return s.deps.Store.EndAtGatewayTx(ctx, tx, locked)
	})
}

// DropPix gives up a PIX that nobody paid before its code ran out or the wait was
// over; it cancels the payment at the gateway first. When that fails the checks repeat it.
func (s *Recovery) DropPix(ctx context.Context, id objectid.ID) error {
	sub, err := s.db.SubscriptionGet(ctx, s.deps.Pool, id)
	if err != nil || !s.pixRunsOut(sub) {
		return err
	}
	return s.deps.Intents.Request(ctx, lifecycle.OpeningOfEnd(sub, ""))
}

func (s *Recovery) pixRunsOut(sub lifecycle.Subscription) bool {
	pending := sub.Status == state.Pending && sub.PaymentMethod == gateway.MethodPix && !sub.IntentOpen
	return pending && !s.deps.Calendar.PixDue(sub).After(s.deps.Clock.Now())
}

// Ends ends something at the gateway, what nobody paid among it: since its time is over, or because Drop was to.
func (s *Recovery) Ends() intent.Checker {
	return s.deps.Calls.Ends(func(ctx context.Context, sub lifecycle.Subscription, item string) (err error) {
		by, dropped := strings.CutPrefix(item, dropItem)
		switch {
		case dropped && sub.Status == state.Pending && !sub.IntentOpen:
			_, err = s.drop(ctx, sub, state.Action(by), state.ByJob)
		case s.pixRunsOut(sub):
			_, err = s.drop(ctx, sub, state.PixRunsOut, state.ByJob)
		}
		return err
	})
}
