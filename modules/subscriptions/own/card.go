package own

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/platform/fault"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// changeCard gives the customer's subscription another card in its place: 404
// without one, 400 when it is with the other gateway, is not paid by card, or the
// card is refused. At gateway B, what a failed renewal left open is then paid with
// it; the text tells how that went.
func (s *Own) changeCard(ctx context.Context, customerID objectid.ID, name gateway.Name, card gateway.Instrument) (lifecycle.Row, string, error) {
	sub, err := s.currentAt(ctx, customerID, name)
	if err != nil {
		return lifecycle.Row{}, "", err
	}
	if sub.PaymentMethod != string(gateway.MethodCard) {
		return lifecycle.Row{}, "", fault.Bad("Your subscription is not paid by card.")
	}
	if lifecycle.RemoteID(sub) == "" || sub.IntentOpen {
		return lifecycle.Row{}, "", s.checkout.ConflictWith(ctx, s.pool, lifecycle.Pending.StandIn(sub))
	}
	gw, err := s.payments.Gateway(name)
	if err != nil {
		return lifecycle.Row{}, "", gateway.FaultOf(err)
	}
	_, err = gw.ChangeCard(ctx, gateway.CardChange{
		ChangeID: objectid.New(), SubscriptionID: sub.ID, SubscriptionGatewayID: lifecycle.RemoteID(sub), Payer: s.reads.PayerOfRow(ctx, sub), Instrument: card,
	})
	if err != nil {
		return lifecycle.Row{}, "", s.cardRefused(ctx, err, name.Traits().CardField)
	}
	if sub.HasChargeback && lifecycle.Status(sub.Status) == lifecycle.Suspended {
		return sub, cardChanged + " Nothing is charged while a payment is disputed.", nil
	}
	if sub.PaymentFailures == 0 && lifecycle.Status(sub.Status) != lifecycle.Suspended {
		return sub, cardChanged, nil
	}
	return s.payOpen(ctx, gw, sub)
}

const cardChanged = "The card was changed."

func (s *Own) cardRefused(ctx context.Context, err error, field string) error {
	var declined *gateway.Declined
	if errors.As(err, &declined) {
		return fault.Bad("%s", declined.Message).WithField(field)
	}
	var rejected *gateway.Rejected
	if errors.As(err, &rejected) {
		return fault.Bad("The payment gateway did not accept this card.").WithField(field).WithCause(err)
	}
	if errors.Is(err, gateway.ErrMissing) {
		return fault.Conflict("The gateway no longer has this subscription. Cancel it and subscribe anew.").WithCause(err)
	}
	return s.payments.Refused(ctx, "change card", err)
}

// payOpen tries the open invoice with the new card.
func (s *Own) payOpen(ctx context.Context, gw gateway.Gateway, sub lifecycle.Row) (lifecycle.Row, string, error) {
	attempt := intent.Ref{Kind: intent.OpenInvoice, Subject: sub.ID, Item: objectid.New().String()}
	err := postgres.InTx(context.WithoutCancel(ctx), s.pool, func(tx pgx.Tx) error {
		return s.intents.OpenTx(ctx, tx, intent.Opening{
			Ref: attempt, Customer: sub.CustomerID, Gateway: sub.Gateway, Reference: attempt.Item,
			Excludes: "open_invoice:" + sub.ID.String(), CallTime: s.intents.CallTime(),
		})
	})
	var busy *intent.ErrOpen
	if errors.As(err, &busy) {
		return sub, cardChanged + " What is open is being paid already.", nil
	}
	if err != nil {
		return sub, "", err
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.intents.CallTime())
	defer cancel()
	paid, open, err := gw.PayOpenInvoice(call, invoiceOf(sub, attempt))
	var declined *gateway.Declined
	switch {
	case errors.As(err, &declined):
		return sub, cardChanged + " What is open could not be paid with it: " + declined.Message, s.endInvoice(ctx, attempt, intent.Declined[any]{})
	case err != nil && lifecycle.Certain(err):
		_ = s.payments.Refused(ctx, "pay open invoice", err)
		return sub, cardChanged + " What is open could not be paid with it yet.", s.endInvoice(ctx, attempt, intent.Refused[any]{})
	case err != nil:
		_ = s.payments.Refused(ctx, "pay open invoice", err)
		return sub, cardChanged + " What is open is being paid with it.", s.intents.NotKnown(ctx, attempt, err)
	case !open || paid.Status != gateway.PaymentSettled:
		return sub, cardChanged, s.endInvoice(ctx, attempt, intent.Succeeded[any]{})
	}
	if sub, err = s.settler.Settle(ctx, sub, settle.Answer{Source: lifecycle.ByCustomer, Invoice: &paid}); err != nil {
		return sub, "", err
	}
	return sub, cardChanged + " What was open is paid.", s.endInvoice(ctx, attempt, intent.Succeeded[any]{})
}

// invoiceOf is an attempt to pay what is open: its id is committed, and the same
// attempt repeated is paid once.
func invoiceOf(sub lifecycle.Row, attempt intent.Ref) gateway.InvoicePayment {
	return gateway.InvoicePayment{AttemptID: objectid.ID(attempt.Item), SubscriptionID: sub.ID, SubscriptionGatewayID: lifecycle.RemoteID(sub)}
}

func (s *Own) endInvoice(ctx context.Context, attempt intent.Ref, how intent.Outcome[any]) error {
	return postgres.InTx(context.WithoutCancel(ctx), s.pool, func(tx pgx.Tx) error { return s.intents.EndTx(ctx, tx, attempt, how, "answer") })
}

// invoiceRepeats is how long gateway B knows the key of an attempt: later its
// repetition would be another one.
const invoiceRepeats = 23 * time.Hour

// LookForInvoice repeats an attempt whose outcome is not known, under its own id: what
// it has paid is settled, what it has not is paid now. After the key's life what is
// paid is told by event alone.
func (s *Own) LookForInvoice(ctx context.Context, l *intent.Look) (intent.Answer, error) {
	sub, err := s.db.GetSubscription(ctx, s.pool, l.Subject)
	if err != nil {
		return 0, err
	}
	if lifecycle.Status(sub.Status).Ended() || s.clock.Now().Sub(l.CreatedAt) > invoiceRepeats {
		return intent.Settled, nil
	}
	gw, err := s.payments.Gateway(gateway.Name(sub.Gateway))
	if err != nil {
		return 0, err
	}
	if err := l.CallAgain(ctx, s.intents.CallTime()); err != nil {
		return 0, err
	}
	paid, open, err := gw.PayOpenInvoice(ctx, invoiceOf(sub, intent.Ref{Item: l.Item}))
	var declined *gateway.Declined
	switch {
	case errors.As(err, &declined):
		return intent.Settled, nil
	case err != nil:
		return 0, err
	case !open: // the attempt may have paid it
		remote, err := gw.ReadSubscription(ctx, lifecycle.RemoteID(sub), sub.ID)
		if err != nil {
			return 0, err
		}
		if remote.LatestPayment == nil {
			return intent.Settled, nil
		}
		paid = *remote.LatestPayment
	}
	if paid.Status == gateway.PaymentSettled {
		_, err = s.settler.Settle(ctx, sub, settle.Answer{Source: lifecycle.ByRecovery, Invoice: &paid})
	}
	return intent.Settled, err
}
