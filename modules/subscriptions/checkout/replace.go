package checkout

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/fault"
	"marquee/platform/postgres"
)

// cancelReplaceable ends a pending subscription that a new one may replace: at the
// gateway first, so that no money can move for it afterwards. Anything else that
// is live is a conflict (docs/contract/subscriptions.md, One live subscription).
func (s *Checkout) cancelReplaceable(ctx context.Context, live lifecycle.Subscription) (err error) {
	if !s.replaceable(live) {
		return s.ConflictWith(ctx, s.deps.Pool, live)
	}
	if live.PaymentMethod == gateway.MethodPix {
		err = s.deps.Recovery.DropPixAs(ctx, live, state.Replaced, state.BySubscribe)
	} else {
		err = s.dropPendingCard(ctx, live)
	}
	if err != nil {
		return gateway.FaultOf(err)
	}
	return nil
}

// replaceable: a PIX that waits too long, or a card of gateway B whose payment
// was begun and not finished. While the gateway is being asked, nobody knows
// what there is to replace.
func (s *Checkout) replaceable(sub lifecycle.Subscription) bool {
	if sub.Status != state.Pending || sub.IntentOpen {
		return false
	}
	if sub.PaymentMethod == gateway.MethodPix {
		return s.deps.Clock.Now().Sub(sub.RegisterDate) > s.deps.Config.PixPendingTTL
	}
	return sub.Traits().PayerConfirms && sub.RemoteID() != ""
}

// dropPendingCard ends a pending card subscription whose payer has to confirm it. One that turns
// out to be paid is settled instead; the caller finds it live.
func (s *Checkout) dropPendingCard(ctx context.Context, sub lifecycle.Subscription) error {
	gw, err := s.deps.Payments.Gateway(sub.Gateway)
	if err != nil {
		return err
	}
	remote, err := gw.ReadSubscription(ctx, sub.RemoteID(), sub.ID)
	if err != nil && !errors.Is(err, gateway.ErrMissing) {
		return err
	}
	if err == nil && lifecycle.Running(remote.Status) {
		_, err = s.deps.Settler.Settle(ctx, sub, state.ByLiveRead,
			settle.Succeeded{Result: settle.Recurrence{RemoteSubscription: remote}})
		return err
	}
	if err := gw.CancelSubscription(ctx, sub.RemoteID(), sub.ID); err != nil {
		return s.deps.Recovery.EndLater(ctx, sub, state.BySubscribe, err)
	}
	return s.deps.Recovery.End(ctx, sub, state.Replaced, state.BySubscribe)
}

// replaceTx sees to it that the live subscription is the one that is renewed, and stands as
// it was read. It goes on until the gateway took the new card, when it is active; one that
// is pending gives no access and ends here, and by job at its gateway.
func (s *Checkout) replaceTx(ctx context.Context, tx pgx.Tx, w *request, live lifecycle.Subscription) error {
	if w.renews == nil || live.ID != w.renews.ID || live.Status != w.renews.Status || live.IntentOpen {
		return s.ConflictWith(ctx, tx, live)
	}
	if live.Status != state.Pending {
		return s.beginRenewalTx(ctx, tx, w, live)
	}
	moved, err := s.deps.Store.MoveTx(ctx, tx, &live,
		lifecycle.Change{Action: state.Replaced, Source: state.ByCustomer, Actor: &w.customer.ID})
	if err != nil {
		return err
	}
	if !moved {
		return s.ConflictWith(ctx, tx, live)
	}
	return s.deps.Store.EndAtGatewayTx(ctx, tx, live)
}

// ConflictWith words why the live subscription is in the way; while its gateway is
// being asked, since when, and when it is asked next.
func (s *Checkout) ConflictWith(ctx context.Context, db postgres.DB, live lifecycle.Subscription) error {
	if live.IntentOpen && live.Status == state.Pending {
		i, open, err := s.deps.Intents.OpenOf(ctx, db, live.ID)
		if err != nil {
			return err
		}
		if open {
			return fault.Conflict("%s", calls.Clarified(live, i))
		}
	}
	switch live.Status {
	case state.Active:
		return fault.Conflict("You already have an active subscription.")
	case state.Suspended:
		if live.HasChargeback {
			return fault.Conflict("A payment of your subscription is disputed: nothing is charged, and access waits, until the bank has decided. You can cancel it and subscribe again.")
		}
		return fault.Conflict("Your subscription is suspended. Change the card to pay what is open, or cancel it and subscribe again.")
	default:
		if live.PaymentMethod == gateway.MethodPix {
			return fault.Conflict("A PIX payment is still open: GET /customers/me/pix-qr shows its code.")
		}
		return fault.Conflict("A payment is still being confirmed. If it does not go through, change the card, or cancel the subscription.")
	}
}
