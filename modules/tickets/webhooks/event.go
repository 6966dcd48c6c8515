package webhooks

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/orders"
	"marquee/modules/tickets/state"
	"marquee/platform/money"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
)

// applyOneTx does what each kind of event does to the order it is about, which is
// locked. The text is why it did nothing, "" when it did.
func (s *Applier) applyOneTx(ctx context.Context, tx pgx.Tx, o *orders.Order,
	e gateway.Event,
) (ignored gateway.Reason, err error) {
	switch payload := e.Payload.(type) {
	case gateway.SettledPayment:
		return "", s.applyPaymentTx(ctx, tx, o, payload.Payment)
	case gateway.FailedPayment:
		return s.applyFailureTx(ctx, tx, o, payload.Payment)
	case gateway.LostPayment:
		return s.applyLossTx(ctx, tx, o, payload.Payment)
	case gateway.DeletedPayment:
		return s.applyLossTx(ctx, tx, o, payload.Payment)
	case gateway.RefundChange:
		return s.applyRefundTx(ctx, tx, o, e.Gateway)
	case gateway.DisputeChange:
		return "", s.deps.Orders.DisputedTx(ctx, tx, o)
	default:
		return "", fmt.Errorf("an event %s is of no order", e.Kind())
	}
}

// isOfOrders reports whether an event may be about an order at all.
func isOfOrders(e gateway.Event) bool {
	switch e.Payload.(type) {
	case gateway.SettledPayment, gateway.FailedPayment, gateway.LostPayment, gateway.DeletedPayment,
		gateway.RefundChange, gateway.DisputeChange:
		return e.SubscriptionID == "" && e.AuthorizationID == ""
	default:
		return false
	}
}

// ApplyEventTx applies a gateway's event to the order that it is about
// (docs/contract/payments.md, Webhooks). It answers Unclaimed when there is none.
func (s *Applier) ApplyEventTx(ctx context.Context, tx pgx.Tx, e gateway.Event) (gateway.Result, error) {
	unclaimed := gateway.Result{Status: gateway.ResultIgnored, Unclaimed: true}
	if !isOfOrders(e) {
		return unclaimed, nil
	}
	o, err := s.locateOrder(ctx, tx, e)
	if errors.Is(err, pgx.ErrNoRows) {
		return s.applyDeletedTx(ctx, tx, e)
	}
	if err != nil {
		return gateway.Result{}, err
	}
	if confirming, err := s.confirmFirstTx(ctx, tx, o, e); err != nil || confirming {
		return gateway.AwaitingConfirmation(nil, gateway.ReasonToConfirmPayment), err
	}
	if nullable.Value(o.Gateway) != e.Gateway {
		return s.strayTx(ctx, tx, o, e, gateway.ReasonOrderOtherGateway)
	}
	// Refunds and disputes lock their ledger first, as the answer to a refund does.
	if err := s.recordTx(ctx, tx, o, e); err != nil {
		return gateway.Result{}, err
	}
	if o, err = s.db.OrderLock(ctx, tx, o.ID); err != nil {
		return gateway.Result{}, fmt.Errorf("lock order: %w", err)
	}
	ignored, err := s.applyOneTx(ctx, tx, &o, e)
	if err != nil {
		return gateway.Result{}, err
	}
	r := gateway.Result{Status: gateway.ResultApplied, NewStatus: &o.PaymentStatus, Reason: ignored}
	if ignored != "" && ignored != gateway.ReasonOrderPart {
		r.Status = gateway.ResultIgnored
	}
	return r, nil
}

// locate finds the order, or what is kept of a deleted one: by the ledger's row, by the gateway's payment, by the
// local id that the gateway was told, which also finds events that overtook our own commit.
func locate[T any](e gateway.Event, byID func(objectid.ID) (T, error), byPayment func(string) (T, error)) (T, error) {
	var none T
	if e.Known != nil {
		if e.Known.Purpose != gateway.ForOrder {
			return none, pgx.ErrNoRows
		}
		return byID(e.Known.LocalID)
	}
	for _, paymentID := range []string{e.PaymentID(), e.TakenFrom()} {
		if paymentID == "" {
			continue
		}
		if found, err := byPayment(paymentID); !errors.Is(err, pgx.ErrNoRows) {
			return found, err
		}
	}
	if e.Purpose == gateway.ForSubscription || !objectid.Valid(e.Reference.String()) {
		return none, pgx.ErrNoRows
	}
	return byID(e.Reference)
}

func (s *Applier) locateOrder(ctx context.Context, tx pgx.Tx, e gateway.Event) (orders.Order, error) {
	return locate(e,
		func(id objectid.ID) (orders.Order, error) { return s.db.OrderGet(ctx, tx, id) },
		func(id string) (orders.Order, error) {
			return s.db.OrderGetByPayment(ctx, tx,
				ticketsdb.OrderGetByPaymentParams{Gateway: &e.Gateway, GatewayPaymentID: &id})
		})
}

// confirmFirstTx has money that the event alone does not prove be read from the gateway, by
// job: until then nothing is booked, and no ticket is issued. What the ledger has is not
// asked for again.
func (s *Applier) confirmFirstTx(ctx context.Context, tx pgx.Tx, o orders.Order, e gateway.Event) (bool, error) {
	paid, settled := e.Payload.(gateway.SettledPayment)
	if !settled || e.IsProof() {
		return false, nil
	}
	p := paid.Payment
	ordered := nullable.Value(o.Gateway) == e.Gateway && nullable.Value(o.GatewayPaymentID) == p.ID &&
		int64(p.Amount) == o.TotalCents
	if ordered {
		return false, nil
	}
	known, err := s.deps.Payments.FindPayment(ctx, tx, e.Gateway, p.ID)
	if err != nil || known != nil {
		return false, err
	}
	return true, s.insertLiveTx(ctx, tx,
		LiveMoneyArgs{Gateway: e.Gateway, OrderID: o.ID, PaymentID: p.ID, EventID: e.ID})
}

// applyPaymentTx: PAYMENT_CONFIRMED, PAYMENT_RECEIVED, payment_intent.succeeded.
func (s *Applier) applyPaymentTx(ctx context.Context, tx pgx.Tx, o *orders.Order, p gateway.Payment) error {
	return s.deps.Orders.SettleTx(ctx, tx, o, orders.Succeeded{Result: orders.Made{Payment: &p}}, intent.ByWebhook)
}

// applyFailureTx: PAYMENT_OVERDUE, a card capture refused. An overdue PIX can
// still be paid until its places are given back; it only gets the gateway's word.
func (s *Applier) applyFailureTx(ctx context.Context, tx pgx.Tx, o *orders.Order,
	p gateway.Payment,
) (gateway.Reason, error) {
	if o.State != state.Reserved {
		return gateway.ReasonOrderNotOpen, nil
	}
	if p.Status == gateway.PaymentStatusFailed {
		return "", s.deps.Orders.SettleTx(ctx, tx, o, orders.Declined{}, intent.ByWebhook)
	}
	return "", s.deps.Orders.EditTx(ctx, tx, o, state.Overdue,
		func(o *orders.Order) { o.PaymentStatus = orders.StatusOverdue })
}

// applyLossTx: payment_intent.payment_failed, .canceled; PAYMENT_DELETED. A
// declined card is told by the answer to the buyer, too; whichever comes first
// releases the places.
func (s *Applier) applyLossTx(ctx context.Context, tx pgx.Tx, o *orders.Order,
	p gateway.Payment,
) (gateway.Reason, error) {
	if o.State != state.Reserved {
		return gateway.ReasonOrderNotOpen, nil
	}
	if o.GatewayPaymentID != nil && *o.GatewayPaymentID != p.ID {
		return gateway.ReasonOrderOtherPayment, nil
	}
	expired := nullable.Value(o.PaymentMethod) != gateway.MethodCard
	return "", s.deps.Orders.SettleTx(ctx, tx, o, orders.Declined{Result: orders.Made{Expired: expired}},
		intent.ByWebhook)
}

// recordTx takes what an event says of refunds and disputes into the ledgers.
func (s *Applier) recordTx(ctx context.Context, tx pgx.Tx, o orders.Order, e gateway.Event) error {
	switch payload := e.Payload.(type) {
	case gateway.RefundChange:
		paid := gateway.Payment{Method: nullable.Value(o.PaymentMethod), Amount: money.Cents(o.TotalCents)}
		if e.Known != nil {
			paid.Amount = e.Known.Payment.Amount
		}
		_, err := s.deps.Payments.RecordRefundTx(ctx, tx,
			payments.RefundRecord{Owner: o.Owner(), Report: payload.Report, Payment: &paid})
		if err != nil {
			return fmt.Errorf("record refund: %w", err)
		}
	case gateway.DisputeChange:
		_, err := s.deps.Payments.RecordDisputeTx(ctx, tx,
			payments.DisputeRecord{Owner: o.Owner(), Report: payload.Report})
		if err != nil {
			return fmt.Errorf("record dispute: %w", err)
		}
	default:
	}
	return nil
}

// applyRefundTx: an order whose money is all back loses its unused tickets and
// leaves the revenue. At gateway A a lost dispute is told as a refund.
func (s *Applier) applyRefundTx(ctx context.Context, tx pgx.Tx, o *orders.Order,
	gw gateway.Name,
) (gateway.Reason, error) {
	if err := s.deps.Orders.DisputedTx(ctx, tx, o); err != nil {
		return "", err
	}
	if err := s.deps.Orders.ReturnedTx(ctx, tx, o, ""); err != nil || o.State != state.Paid ||
		o.GatewayPaymentID == nil {
		return "", err
	}
	listed, err := s.deps.Payments.Cases().UnappliedStateOf(ctx, tx, gw, *o.GatewayPaymentID)
	if err != nil || listed != payments.UnappliedOpen {
		return "", err
	}
	return gateway.ReasonOrderPart, nil
}
