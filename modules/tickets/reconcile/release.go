package reconcile

import (
	"context"
	"errors"
	"fmt"

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
		err = gw.CancelPix(ctx, *o.GatewayPaymentID, o.ID)
		if errors.Is(err, gateway.ErrAlreadyPaid) {
			charge, err := gw.ReadPix(ctx, *o.GatewayPaymentID, o.ID)
			if err != nil {
				return fmt.Errorf("read paid charge: %w", err)
			}
			_, err = s.orders.Settle(ctx, id, orders.Succeeded{Answer: orders.Made{Pix: &charge}})
			return err
		}
		if err != nil && !errors.Is(err, gateway.ErrMissing) {
			return fmt.Errorf("cancel charge: %w", err)
		}
	}
	_, err = s.orders.Settle(ctx, id, orders.Void{})
	return err
}
