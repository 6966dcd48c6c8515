package reconcile

import (
	"context"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/tickets/events"
	"marquee/modules/tickets/orders"
	"marquee/modules/tickets/state"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
)

// Deps is what New needs.
type Deps struct {
	events.Base
	Orders *orders.Store
}

// Reconciler is the room.
type Reconciler struct {
	deps    Deps
	intents *intent.Service
	db      orders.Queries
}

// New makes the room.
func New(d Deps) *Reconciler {
	return &Reconciler{deps: d, intents: d.Payments.Intents()}
}

// Recover checks an open order at once. One that is not open is left alone, and so is
// one whose call may still be under way.
func (s *Reconciler) Recover(ctx context.Context, id objectid.ID) error {
	return s.intents.CheckOne(ctx, intent.Order, id)
}

// ReleaseUnpaid frees the places of an order that nobody paid before its code ran out or its event ended, or before its
// customer deleted the account: by is one of these actions.
func (s *Reconciler) ReleaseUnpaid(ctx context.Context, id objectid.ID, by state.Action) error {
	o, err := s.db.OrderGet(ctx, s.deps.Pool, id)
	if err != nil || o.State != state.Reserved || o.IntentOpen {
		return err
	}
	return s.Release(ctx, id, by)
}

// Release makes the charge unpayable at the gateway first, so that nobody pays
// an old code, and frees the places after. When it has just been paid, the
// payment is settled instead. By is the action that gives it up.
func (s *Reconciler) Release(ctx context.Context, id objectid.ID, by state.Action) error {
	o, err := s.db.OrderGet(ctx, s.deps.Pool, id)
	if err != nil {
		return err
	}
	if o.GatewayPaymentID != nil {
		gw, err := s.deps.Payments.Gateway(nullable.Value(o.Gateway))
		if err != nil {
			return err
		}
		paid, err := gateway.WithdrawPix(ctx, gw, *o.GatewayPaymentID, o.ID)
		if err != nil {
			return err
		}
		if paid != nil {
			_, err = s.deps.Orders.Settle(ctx, id, orders.Succeeded{Result: orders.Made{Pix: paid}})
			return err
		}
	}
	_, err = s.deps.Orders.Settle(ctx, id, orders.Void{Result: orders.Made{By: by}})
	return err
}
