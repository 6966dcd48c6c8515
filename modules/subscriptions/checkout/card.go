package checkout

import (
	"context"
	"errors"
	"log/slog"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/platform/fault"
	"marquee/platform/faultpoint"
	"marquee/platform/objectid"
)

// CardOrder is what a customer orders by card, at either gateway.
type CardOrder struct {
	CustomerID objectid.ID
	PlanID     string
	promoCode  string
	Instrument gateway.Instrument
	Renews     *lifecycle.Row // the subscription that a renewal replaces
}

// CardOutcome is what the subscribe routes answer.
type CardOutcome struct {
	Sub           lifecycle.Row
	PaymentStatus string
	declined      bool
	clientSecret  string
	Message       string // the gateway's sentence for the card's owner
}

// SubscribeCard starts a card subscription as the gateway takes cards.
func (s *Checkout) SubscribeCard(ctx context.Context, gw gateway.Name, o CardOrder) (CardOutcome, error) {
	if gw.Traits().TakesTokens {
		return s.SubscribeGWB(ctx, o)
	}
	return s.SubscribeGWA(ctx, o)
}

// SubscribeGWB starts a card subscription at gateway B and charges it at once.
// A declined card is no error: the subscription comes back cancelled
// (specification, States and transitions).
func (s *Checkout) SubscribeGWB(ctx context.Context, o CardOrder) (CardOutcome, error) {
	w, err := s.prepareCard(ctx, o, gateway.GWB)
	if err != nil {
		return CardOutcome{}, err
	}
	if w.plan, err = s.plans.SyncPlan(ctx, w.gateway, w.plan); err != nil {
		return CardOutcome{}, err
	}
	sub, remote, err := s.startCard(ctx, w, o)
	var declined *gateway.Declined
	var rejected *gateway.Rejected
	switch {
	case errors.As(err, &rejected):
		if err := s.giveUp(ctx, sub, err); !fault.Is(err, fault.BadRequest) {
			return CardOutcome{}, err
		}
		return CardOutcome{}, fault.Bad("The payment gateway did not accept this payment method.").WithField("payment_method_id").WithCause(err)
	case errors.As(err, &declined):
		sub, err = s.settler.Settle(ctx, sub, settle.Answer{Source: lifecycle.BySubscribe, Declined: true, Remote: declined.Remote})
		return CardOutcome{Sub: sub, PaymentStatus: string(gateway.RequiresPaymentMethod), declined: true, Message: declined.Message}, err
	case err != nil:
		return s.notAnswered(ctx, sub, err)
	}
	sub, err = s.settler.Settle(ctx, sub, settle.Answer{Source: lifecycle.BySubscribe, Remote: &remote, Open: remote.Outcome == gateway.OutcomeUnknown})
	return CardOutcome{Sub: sub, PaymentStatus: string(remote.Outcome), clientSecret: remote.ClientSecret.Reveal()}, err
}

// SubscribeGWA starts a card subscription at gateway A. The gateway checks the
// card within the call and charges it after, so the answer is pending; a refused
// card is 400 with the gateway's sentence.
func (s *Checkout) SubscribeGWA(ctx context.Context, o CardOrder) (CardOutcome, error) {
	w, err := s.prepareCard(ctx, o, gateway.GWA)
	if err != nil {
		return CardOutcome{}, err
	}
	if w.first != nil && *w.first > 0 {
		return s.subscribeDiscounted(ctx, w, o)
	}
	sub, remote, err := s.startCard(ctx, w, o)
	if err != nil {
		return s.notCharged(ctx, sub, err)
	}
	sub, err = s.settler.Settle(ctx, sub, settle.Answer{Source: lifecycle.BySubscribe, Remote: &remote})
	return CardOutcome{Sub: sub, PaymentStatus: remote.PaymentStatus}, err
}

// notCharged is what gateway A's card routes answer to a first charge that failed:
// a declined card ends the subscription, a lost answer leaves it to the recovery.
func (s *Checkout) notCharged(ctx context.Context, sub lifecycle.Row, cause error) (CardOutcome, error) {
	var declined *gateway.Declined
	switch {
	case errors.As(cause, &declined):
		if _, err := s.settler.Settle(ctx, sub, settle.Answer{Source: lifecycle.BySubscribe, Declined: true, Remote: declined.Remote}); err != nil {
			return CardOutcome{}, err
		}
		return CardOutcome{}, fault.Bad("%s", declined.Message).WithField("credit_card")
	}
	return s.notAnswered(ctx, sub, cause)
}

// notAnswered is what the card routes answer when the call brought neither a
// subscription nor a declined card: what the gateway certainly did not do is given up,
// and everything else is not known, errors that nobody foresaw among it.
func (s *Checkout) notAnswered(ctx context.Context, sub lifecycle.Row, cause error) (CardOutcome, error) {
	if sub.ID == "" || lifecycle.Certain(cause) {
		return CardOutcome{}, s.giveUp(ctx, sub, cause)
	}
	s.recovery.NotKnown(ctx, sub, cause)
	return CardOutcome{Sub: sub, PaymentStatus: string(gateway.OutcomeUnknown)}, nil
}

func (s *Checkout) prepareCard(ctx context.Context, o CardOrder, name gateway.Name) (wish, error) {
	w, err := s.prepare(ctx, o.CustomerID, name, o.PlanID)
	if err != nil {
		return w, err
	}
	w.method, w.renews = gateway.MethodCard, o.Renews
	if w.plan.TrialEnabled && w.customer.TrialUsedAt == nil && w.renews == nil {
		w.trial = int(w.plan.TrialDays)
	}
	if w.renews == nil { // gateway B's card route takes no code: that of the signup counts
		if err := s.discount(ctx, &w, o.promoCode); err != nil {
			return w, err
		}
	}
	if err := checkCardAmount(w, name); err != nil {
		return w, err
	}
	return w, s.admit(ctx, &w)
}

// checkCardAmount refuses a first month that the gateway would not charge as it is.
func checkCardAmount(w wish, name gateway.Name) error {
	least := name.Traits().LeastCharge
	if w.first == nil || *w.first == 0 || *w.first >= least {
		return nil
	}
	return fault.Bad("The first month costs less than R$ %s with your promo code, the smallest amount that can be paid here by card.", least).WithField("plan_id")
}

// startCard commits the intent and calls the gateway. The call outlives the
// client's patience: what it does has to be known.
func (s *Checkout) startCard(ctx context.Context, w wish, o CardOrder) (lifecycle.Row, gateway.RemoteSubscription, error) {
	sub, err := s.intend(ctx, w)
	if err != nil {
		return lifecycle.Row{}, gateway.RemoteSubscription{}, err
	}
	if w.renews != nil && sub.RenewsID == nil { // it was pending, and has ended here
		if _, err := s.calls.EndNow(ctx, *w.renews); err != nil {
			return sub, gateway.RemoteSubscription{}, err
		}
	}
	terms := s.calendar.TermsOf(sub, w.plan, w.payer)
	terms.Instrument = o.Instrument
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.intents.CallTime())
	defer cancel()
	remote, err := w.gateway.Subscribe(call, terms)
	faultpoint.Hit("subscribe.after_call")
	return sub, remote, err
}

// giveUp cancels an intent of which the gateway certainly made nothing. An error
// that came before the intent passes as it is.
func (s *Checkout) giveUp(ctx context.Context, sub lifecycle.Row, cause error) error {
	if sub.ID == "" {
		return cause
	}
	s.log.WarnContext(ctx, "gateway refused a subscription", slog.String("subscription_id", sub.ID.String()),
		slog.String("gateway", sub.Gateway), slog.Any("error", cause))
	if _, err := s.settler.Settle(ctx, sub, settle.Answer{Source: lifecycle.BySubscribe, Nothing: true}); err != nil {
		return errors.Join(gateway.FaultOf(cause), err)
	}
	return gateway.FaultOf(cause)
}
