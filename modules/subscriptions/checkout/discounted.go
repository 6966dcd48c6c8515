package checkout

import (
	"context"
	"fmt"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/platform/faultpoint"
)

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
	if charge.Payment.Status != gateway.PaymentSettled {
		return out, s.recovery.WaitsForGateway(ctx, sub) // it looks at the risk first: the recurrence waits for its word
	}
	out.Sub, err = s.startRecurrence(ctx, sub, w.plan, w.payer, gateway.Instrument{CardToken: charge.CardToken, RemoteIP: o.Instrument.RemoteIP}, lifecycle.BySubscribe)
	return out, err
}

// startRecurrence makes what charges from the second month on. Without it the
// month that was paid stays paid; nobody is told of a failure that the recovery
// will mend.
func (s *Checkout) startRecurrence(ctx context.Context, sub lifecycle.Row, plan subscriptionsdb.Plan, payer gateway.Payer, card gateway.Instrument, source lifecycle.Source) (lifecycle.Row, error) {
	gateway, err := s.payments.Gateway(gateway.GWA)
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
