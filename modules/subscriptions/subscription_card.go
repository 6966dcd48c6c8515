package subscriptions

import (
	"context"
	"errors"

	"marquee/modules/payments"
	"marquee/platform/fault"
	"marquee/platform/objectid"
)

// changeCard gives the customer's subscription another card in its place: 404
// without one, 400 when it is with the other gateway, is not paid by card, or the
// card is refused. At gateway B, what a failed renewal left open is then paid with
// it; the text tells how that went.
func (s *Service) changeCard(ctx context.Context, customerID objectid.ID, name payments.GatewayName, card payments.Instrument) (row, string, error) {
	sub, err := s.currentAt(ctx, customerID, name)
	if err != nil {
		return row{}, "", err
	}
	if sub.PaymentMethod != string(payments.MethodCard) {
		return row{}, "", fault.Bad("Your subscription is not paid by card.")
	}
	if remoteID(sub) == "" || sub.IntentOpen {
		return row{}, "", s.conflictWith(ctx, s.pool, Pending.standIn(sub))
	}
	gateway, err := s.payments.Gateway(name)
	if err != nil {
		return row{}, "", payments.FaultOf(err)
	}
	field := "credit_card"
	if name == payments.GWB {
		field = "payment_method_id"
	}
	_, err = gateway.ChangeCard(ctx, payments.CardChange{
		ChangeID: objectid.New(), SubscriptionID: sub.ID, SubscriptionGatewayID: remoteID(sub), Payer: s.payerOfRow(ctx, sub), Instrument: card,
	})
	if err != nil {
		return row{}, "", s.cardRefused(ctx, err, field)
	}
	if sub.HasChargeback && Status(sub.Status) == Suspended {
		return sub, cardChanged + " Nothing is charged while a payment is disputed.", nil
	}
	if sub.PaymentFailures == 0 && Status(sub.Status) != Suspended {
		return sub, cardChanged, nil
	}
	return s.payOpen(ctx, gateway, sub)
}

const cardChanged = "The card was changed."

// standIn is the row as if it were in the state: what a customer is told of one
// whose gateway is being asked.
func (st Status) standIn(sub row) row {
	sub.Status = string(st)
	return sub
}

func (s *Service) cardRefused(ctx context.Context, err error, field string) error {
	var declined *payments.Declined
	if errors.As(err, &declined) {
		return fault.Bad("%s", declined.Message).WithField(field)
	}
	var rejected *payments.Rejected
	if errors.As(err, &rejected) {
		return fault.Bad("The payment gateway did not accept this card.").WithField(field).WithCause(err)
	}
	if errors.Is(err, payments.ErrGatewayMissing) {
		return fault.Conflict("The gateway no longer has this subscription. Cancel it and subscribe anew.").WithCause(err)
	}
	return s.payments.Refused(ctx, "change card", err)
}

// payOpen tries the open invoice with the new card.
func (s *Service) payOpen(ctx context.Context, gateway payments.Gateway, sub row) (row, string, error) {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.intents.CallTime())
	defer cancel()
	paid, open, err := gateway.PayOpenInvoice(call, payments.InvoicePayment{
		AttemptID: objectid.New(), SubscriptionID: sub.ID, SubscriptionGatewayID: remoteID(sub),
	})
	var declined *payments.Declined
	switch {
	case errors.As(err, &declined):
		return sub, cardChanged + " What is open could not be paid with it: " + declined.Message, nil
	case err != nil:
		_ = s.payments.Refused(ctx, "pay open invoice", err)
		return sub, cardChanged + " What is open is being paid with it.", nil
	case !open || paid.Status != payments.PaymentSettled:
		return sub, cardChanged, nil
	}
	sub, err = s.settle(ctx, sub, answer{source: ByCustomer, invoice: &paid})
	return sub, cardChanged + " What was open is paid.", err
}
