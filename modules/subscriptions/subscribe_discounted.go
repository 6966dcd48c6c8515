package subscriptions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"marquee/modules/payments"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/platform/faultpoint"
	"marquee/platform/money"
)

// riskLife is how long the gateway may look at the risk of a card: what it never
// decides is given up, and money that comes all the same is late money.
const riskLife = 7 * 24 * time.Hour

// subscribeDiscounted charges the discounted first month by itself and then makes
// the recurrence at the full price. The intent stays open until both are there:
// when the second call fails, the recovery makes it with the card that the first
// one left at the gateway, and charges nothing again.
func (s *Checkout) subscribeDiscounted(ctx context.Context, w wish, o CardOrder) (CardOutcome, error) {
	sub, err := s.intend(ctx, w)
	if err != nil {
		return CardOutcome{}, err
	}
	terms := s.recovery.FirstMonthOf(sub, w.plan, w.payer)
	terms.Instrument = o.Instrument
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.intents.CallTime())
	defer cancel()
	charge, err := w.gateway.ChargeCard(call, terms)
	faultpoint.Hit("subscribe.after_first_month")
	if err != nil {
		return s.notCharged(ctx, sub, err)
	}
	out := CardOutcome{Sub: sub, PaymentStatus: charge.Payment.NativeStatus}
	if charge.Payment.Status != payments.PaymentSettled {
		return out, s.recovery.WaitsForGateway(ctx, sub) // it looks at the risk first: the recurrence waits for its word
	}
	out.Sub, err = s.startRecurrence(ctx, sub, w.plan, w.payer, payments.Instrument{CardToken: charge.CardToken, RemoteIP: o.Instrument.RemoteIP}, lifecycle.BySubscribe)
	return out, err
}

// startRecurrence makes what charges from the second month on. Without it the
// month that was paid stays paid; nobody is told of a failure that the recovery
// will mend.
func (s *Checkout) startRecurrence(ctx context.Context, sub lifecycle.Row, plan subscriptionsdb.Plan, payer payments.Payer, card payments.Instrument, source lifecycle.Source) (lifecycle.Row, error) {
	gateway, err := s.payments.Gateway(payments.GWA)
	if err != nil {
		return sub, err
	}
	terms := s.calendar.TermsOf(sub, plan, payer)
	terms.Instrument = card
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.intents.CallTime())
	defer cancel()
	remote, err := gateway.Subscribe(call, terms)
	faultpoint.Hit("subscribe.after_call")
	if err != nil {
		s.recovery.NotKnown(ctx, sub, fmt.Errorf("recurrence not made yet: %w", err))
		return sub, nil
	}
	return s.settler.Settle(ctx, sub, settle.Answer{Source: source, Remote: &remote})
}

func (s *Recovery) FirstMonthOf(sub lifecycle.Row, plan subscriptionsdb.Plan, payer payments.Payer) payments.CardTerms {
	return payments.CardTerms{
		Reference: sub.ID, Kind: payments.KindFirstMonth, Payer: payer, Amount: money.Cents(*sub.FirstAmountCents), Description: plan.Name,
	}
}

// askFirstMonth looks for the charge of the first month and for the recurrence, and
// makes the latter when only the former is there, and it is proved that the call of
// the request made none: the gateway's search may lag.
func (s *Recovery) askFirstMonth(ctx context.Context, gateway payments.Gateway, sub lifecycle.Row, plan subscriptionsdb.Plan, payer payments.Payer, l *intent.Look) (settle.Answer, error) {
	charge, ok, err := gateway.FindCardCharge(ctx, s.FirstMonthOf(sub, plan, payer))
	if err != nil || !ok {
		return settle.Answer{Source: lifecycle.ByRecovery, Nothing: true}, err
	}
	a := settle.Answer{Source: lifecycle.ByRecovery, Charge: &charge}
	switch charge.Payment.Status {
	case payments.PaymentPending:
		a.Open = s.calendar.Age(sub) < riskLife
		a.Declined = !a.Open
		return a, nil
	case payments.PaymentSettled:
	default:
		// Access that has begun was paid for, and the money given back since: it goes on
		// as any other whose payment is refunded.
		if !settle.AccessBegun(sub) {
			a.Declined = true
			return a, nil
		}
	}
	remote, ok, err := gateway.FindSubscription(ctx, s.calendar.TermsOf(sub, plan, payer))
	if err != nil {
		return settle.Answer{}, err
	}
	if !ok {
		if charge.CardToken.Empty() || sub.HasChargeback || charge.Payment.Status != payments.PaymentSettled {
			return a, nil // whose money is disputed or back is charged no further
		}
		if !l.Proved {
			a.Open, a.Seeks = true, true
			return a, nil
		}
		if err := l.CallAgain(ctx, s.intents.CallTime()); err != nil {
			return settle.Answer{}, err
		}
		terms := s.calendar.TermsOf(sub, plan, payer)
		terms.Instrument = payments.Instrument{CardToken: charge.CardToken, RemoteIP: settle.NoAddress}
		remote, err = gateway.Subscribe(ctx, terms)
		var declined *payments.Declined
		if errors.As(err, &declined) {
			return a, nil // the month is paid, and the last
		}
		if err != nil {
			return settle.Answer{}, err
		}
	}
	a.Remote = &remote
	return a, nil
}
