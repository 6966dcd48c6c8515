package selfservice

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/fault"
	"marquee/platform/objectid"
)

// changeCard gives the customer's subscription another card in its place: 404
// without one, 400 when it is with the other gateway, is not paid by card, or the
// card is refused. At gateway B, what a failed renewal left open is then paid with
// it; the text tells how that went.
func (s *SelfService) changeCard(ctx context.Context, customerID objectid.ID, name gateway.Name,
	card gateway.Instrument,
) (lifecycle.Subscription, string, error) {
	sub, err := s.currentAt(ctx, customerID, name)
	if err != nil {
		return lifecycle.Subscription{}, "", err
	}
	if sub.PaymentMethod != gateway.MethodCard {
		return lifecycle.Subscription{}, "", fault.BadRequest("Your subscription is not paid by card.")
	}
	if sub.RemoteID() == "" || sub.IntentOpen {
		return lifecycle.Subscription{}, "",
			s.deps.Checkout.ConflictWith(ctx, s.deps.Pool, sub.StandIn(state.Pending))
	}
	gw, err := s.deps.Payments.Gateway(name)
	if err != nil {
		return lifecycle.Subscription{}, "", gateway.FaultOf(err)
	}
	_, err = gw.ChangeCard(ctx, gateway.CardChange{
		ChangeID: objectid.New(), SubscriptionID: sub.ID, SubscriptionGatewayID: sub.RemoteID(),
		Payer: s.deps.Reads.PayerOf(ctx, sub), Instrument: card,
	})
	if err != nil {
		return lifecycle.Subscription{}, "", s.cardRefused(ctx, err, name.Traits().CardField)
	}
	if sub.HasChargeback && sub.Status == state.Suspended {
		return sub, cardChanged + " Nothing is charged while a payment is disputed.", nil
	}
	if sub.PaymentFailures == 0 && sub.Status != state.Suspended {
		return sub, cardChanged, nil
	}
	return s.payOpen(ctx, sub)
}

const cardChanged = "The card was changed."

func (s *SelfService) cardRefused(ctx context.Context, err error, field string) error {
	var declined *gateway.Declined
	if errors.As(err, &declined) {
		return fault.BadRequest("%s", declined.Message).WithField(field)
	}
	if gateway.IsRejected(err) {
		return fault.BadRequest("The payment gateway did not accept this card.").WithField(field).WithCause(err)
	}
	if errors.Is(err, gateway.ErrMissing) {
		return fault.Conflict("The gateway no longer has this subscription. Cancel it and subscribe again.").
			WithCause(err)
	}
	return s.deps.Payments.Refused(ctx, "change card", err)
}

// invoiceRepeats is how long gateway B knows the key of an attempt: later its
// repetition would be another one.
const invoiceRepeats = 23 * time.Hour

// invoice is an attempt to pay what is open: its id is committed, and the same attempt
// repeated is paid once.
type invoice struct {
	sub      lifecycle.Subscription
	attempt  objectid.ID
	begun    time.Time
	recovers bool
}

// InvoiceOperation is the payment of an open invoice. A check repeats the attempt under its own
// id: what it has paid is settled, what it has not is paid now. Once the key has expired,
// only events report what is paid.
func (s *SelfService) InvoiceOperation() *intent.Operation[invoice, *gateway.Payment] {
	return &intent.Operation[invoice, *gateway.Payment]{
		Kind: intent.OpenInvoice, Intents: s.deps.Intents,
		Opening: func(i invoice) intent.Opening {
			return intent.Opening{
				Ref:      intent.Ref{Kind: intent.OpenInvoice, Subject: i.sub.ID, Item: i.attempt.String()},
				Customer: i.sub.CustomerID, Gateway: i.sub.Gateway,
				Reference: i.attempt.String(), Excludes: "open_invoice:" + i.sub.ID.String(),
				CallTime: s.deps.Intents.CallTime(), Begun: i.begun,
			}
		},
		Row: func(ctx context.Context, i intent.Intent) (invoice, bool, error) {
			sub, err := s.db.SubscriptionGet(ctx, s.deps.Pool, i.Subject)
			over := sub.Status.Ended() || s.deps.Clock.Now().Sub(i.CreatedAt) > invoiceRepeats
			return invoice{sub: sub, attempt: objectid.ID(i.Item), recovers: true}, over, err
		},
		Steps: []intent.Step[invoice, *gateway.Payment]{{Call: payInvoice}},
		SettleTx: func(ctx context.Context, tx pgx.Tx, i *invoice, outcome intent.Outcome[*gateway.Payment],
			by intent.By,
		) (err error) {
			paid, ok := outcome.(intent.Succeeded[*gateway.Payment])
			if !ok || !isPaid(paid.Result) {
				return nil
			}
			source := state.ByRecovery
			if by == intent.ByResponse {
				source = state.ByCustomer
			}
			i.sub, err = s.deps.Settler.SettleTx(ctx, tx, i.sub, source,
				settle.Succeeded{Result: settle.Invoice{Payment: *paid.Result}})
			return err
		},
	}
}

func isPaid(p *gateway.Payment) bool { return p != nil && p.Status == gateway.PaymentStatusSettled }

// payInvoice pays what is open; nil: nothing was. A check cannot tell that from what the
// attempt before has paid, which is read.
func payInvoice(ctx context.Context, gw gateway.Gateway, i invoice, _ *gateway.Payment) (*gateway.Payment, error) {
	paid, open, err := gw.PayOpenInvoice(ctx, gateway.InvoicePayment{
		AttemptID: i.attempt, SubscriptionID: i.sub.ID, SubscriptionGatewayID: i.sub.RemoteID(),
	})
	if err != nil || open {
		return &paid, err
	}
	if !i.recovers {
		return nil, nil
	}
	remote, err := gw.ReadSubscription(ctx, i.sub.RemoteID(), i.sub.ID)
	return remote.LatestPayment, err
}

// payOpen tries the open invoice with the new card.
func (s *SelfService) payOpen(ctx context.Context, sub lifecycle.Subscription) (lifecycle.Subscription, string, error) {
	i, operation := invoice{sub: sub, attempt: objectid.New(), begun: s.deps.Clock.Now()}, s.InvoiceOperation()
	err := operation.Begin(context.WithoutCancel(ctx), &i, func(pgx.Tx) error { return nil })
	if intent.AlreadyOpen(err) {
		return sub, cardChanged + " What is open is being paid already.", nil
	}
	if err != nil {
		return sub, "", err
	}
	i, outcome, err := operation.Run(ctx, i)
	said := cardChanged
	switch outcome := outcome.(type) {
	case intent.Declined[*gateway.Payment]:
		var declined *gateway.Declined
		if errors.As(outcome.Cause, &declined) {
			said += " What is open could not be paid with it: " + declined.Message
		}
	case intent.Refused[*gateway.Payment]:
		_ = s.deps.Payments.Refused(ctx, "pay open invoice", outcome.Cause)
		said += " What is open could not be paid with it yet."
	case intent.NotKnown[*gateway.Payment]:
		_ = s.deps.Payments.Refused(ctx, "pay open invoice", outcome.Cause)
		said += " What is open is being paid with it."
	case intent.Succeeded[*gateway.Payment]:
		if isPaid(outcome.Result) {
			said += " What was open is paid."
		}
	case intent.Pending[*gateway.Payment], intent.Missing[*gateway.Payment], intent.Void[*gateway.Payment]:
	}
	return i.sub, said, err
}
