package reconcile

import (
	"context"

	"marquee/modules/payments/gateway"
	"marquee/modules/tickets/orders"
	"marquee/modules/tickets/state"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// GiveBackUnpaid frees the places of an order that nobody paid before its code
// ran out or its event ended.
func (s *Reconciler) GiveBackUnpaid(ctx context.Context, id objectid.ID) error {
	o, err := s.db.OrderGet(ctx, s.pool, id)
	if err != nil || o.State != state.Reserved || o.IntentOpen {
		return err
	}
	return s.GiveBack(ctx, id)
}

// GiveBack makes the charge unpayable at the gateway first, so that nobody pays
// an old code, and frees the places after. When it has just been paid, the
// payment is settled instead.
func (s *Reconciler) GiveBack(ctx context.Context, id objectid.ID) error {
	o, err := s.db.OrderGet(ctx, s.pool, id)
	if err != nil {
		return err
	}
	if o.GatewayPaymentID != nil {
		gw, err := s.payments.Gateway(postgres.Text(o.Gateway))
		if err != nil {
			return err
		}
		paid, err := gateway.WithdrawPix(ctx, gw, *o.GatewayPaymentID, o.ID)
		if err != nil {
			return err
		}
		if paid != nil {
			_, err = s.orders.Settle(ctx, id, orders.Succeeded{Answer: orders.Made{Pix: paid}})
			return err
		}
	}
	_, err = s.orders.Settle(ctx, id, orders.Void{})
	return err
}
