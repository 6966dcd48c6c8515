package webhooks

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/orders"
	"marquee/platform/objectid"
)

// strayTx answers an event that names an order and cannot be applied to it. Money is
// listed, never kept in silence.
func (s *Applier) strayTx(ctx context.Context, tx pgx.Tx, o orders.Order, e gateway.Event,
	why gateway.Reason,
) (gateway.Result, error) {
	return gateway.Result{Status: gateway.ResultIgnored, Reason: why}, s.keepMoneyTx(ctx, tx, o, e, payments.Unapplied{
		Kind: payments.UnappliedForeign, Note: "The event names the order, but " + string(why) + ".",
	})
}

// keepMoneyTx books and lists the money that an event tells of; u says why.
func (s *Applier) keepMoneyTx(ctx context.Context, tx pgx.Tx, o orders.Order, e gateway.Event,
	u payments.Unapplied,
) error {
	paid, settled := e.Payload.(gateway.SettledPayment)
	if !settled {
		return nil
	}
	return s.deps.Payments.BookUnappliedTx(ctx, tx, o.Owner().At(e.Gateway), paid.Payment, u)
}

// applyDeletedTx applies an event about an order that was deleted with its event:
// money that arrives for it is booked and given back. Unclaimed when there was none.
func (s *Applier) applyDeletedTx(ctx context.Context, tx pgx.Tx, e gateway.Event) (gateway.Result, error) {
	d, err := s.locateDeleted(ctx, tx, e)
	if errors.Is(err, pgx.ErrNoRows) {
		return gateway.Result{Status: gateway.ResultIgnored, Unclaimed: true}, nil
	}
	if err != nil {
		return gateway.Result{}, fmt.Errorf("read deleted order: %w", err)
	}
	o := orders.Order{ID: d.ID, CustomerID: d.CustomerID, Gateway: &d.Gateway}
	if confirming, err := s.confirmFirstTx(ctx, tx, o, e); err != nil || confirming {
		return gateway.AwaitingConfirmation(nil, gateway.ReasonToConfirmPayment), err
	}
	if d.Gateway != e.Gateway {
		return s.strayTx(ctx, tx, o, e, gateway.ReasonDeletedOtherGateway)
	}
	if err := s.recordTx(ctx, tx, o, e); err != nil {
		return gateway.Result{}, err
	}
	r := gateway.Result{Status: gateway.ResultIgnored, Reason: gateway.ReasonOrderDeleted}
	return r, s.keepMoneyTx(ctx, tx, o, e, payments.Unapplied{
		Kind: payments.UnappliedLate, Note: "Paid after the order had been deleted with its event.", Automatic: true,
	})
}

func (s *Applier) locateDeleted(ctx context.Context, tx pgx.Tx,
	e gateway.Event,
) (ticketsdb.TicketsDeletedOrder, error) {
	return locate(e,
		func(id objectid.ID) (ticketsdb.TicketsDeletedOrder, error) { return s.db.DeletedOrderGet(ctx, tx, id) },
		func(id string) (ticketsdb.TicketsDeletedOrder, error) {
			return s.db.DeletedOrderGetByPayment(ctx, tx,
				ticketsdb.DeletedOrderGetByPaymentParams{Gateway: e.Gateway, GatewayPaymentID: &id})
		})
}
