package recovery

import (
	"context"
	"errors"
	"time"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/platform/money"
)

// riskLife is how long the gateway may look at the risk of a card: what it never
// decides is given up, and money that comes all the same is late money.
const riskLife = 7 * 24 * time.Hour

// FirstMonthOf is what gateway A is asked for to charge a first month that a promo code lowered.
func (s *Recovery) FirstMonthOf(sub lifecycle.Row, plan subscriptionsdb.Plan, payer gateway.Payer) gateway.CardTerms {
	return gateway.CardTerms{
		Reference: sub.ID, Kind: gateway.KindFirstMonth, Payer: payer, Amount: money.Cents(*sub.FirstAmountCents), Description: plan.Name,
	}
}

// askFirstMonth looks for the charge of the first month and for the recurrence, and
// makes the latter when only the former is there, and it is proved that the call of
// the request made none: the gateway's search may lag.
func (s *Recovery) askFirstMonth(ctx context.Context, gw gateway.Gateway, sub lifecycle.Row, plan subscriptionsdb.Plan, payer gateway.Payer, l *intent.Look) (settle.Answer, error) {
	charge, ok, err := gw.FindCardCharge(ctx, s.FirstMonthOf(sub, plan, payer))
	if err != nil || !ok {
		return settle.Answer{Source: lifecycle.ByRecovery, Nothing: true}, err
	}
	a := settle.Answer{Source: lifecycle.ByRecovery, Charge: &charge}
	switch charge.Payment.Status {
	case gateway.PaymentPending:
		a.Open = s.calendar.Age(sub) < riskLife
		a.Declined = !a.Open
		return a, nil
	case gateway.PaymentSettled:
	default:
		// Access that has begun was paid for, and the money given back since: it goes on
		// as any other whose payment is refunded.
		if !settle.AccessBegun(sub) {
			a.Declined = true
			return a, nil
		}
	}
	remote, ok, err := gw.FindSubscription(ctx, s.calendar.TermsOf(sub, plan, payer))
	if err != nil {
		return settle.Answer{}, err
	}
	if !ok {
		if charge.CardToken.Empty() || sub.HasChargeback || charge.Payment.Status != gateway.PaymentSettled {
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
		terms.Instrument = gateway.Instrument{CardToken: charge.CardToken, RemoteIP: settle.NoAddress}
		remote, err = gw.Subscribe(ctx, terms)
		var declined *gateway.Declined
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

// incompleteLife is how long gateway B keeps a first payment open (gateway B,
// section 6.3).
const incompleteLife = 23 * time.Hour

// Resolve reads a pending card subscription of gateway B and settles what it
// finds. What is dead is ended at the gateway first, so that no money can move
// for it afterwards.
func (s *Recovery) Resolve(ctx context.Context, sub lifecycle.Row) (lifecycle.Row, string, error) {
	if sub.GwbSubscriptionID == nil {
		var err error
		if sub, err = s.LookNow(ctx, sub); err != nil || sub.GwbSubscriptionID == nil || lifecycle.Status(sub.Status) != lifecycle.Pending {
			return sub, "", err // what the gateway doesn't show yet, the looks judge
		}
	}
	a, err := s.readLive(ctx, sub)
	if errors.Is(err, calls.ErrMissingOnce) {
		return sub, "", nil
	}
	if err != nil {
		return sub, "", err
	}
	open := a.Open || a.Remote.Outcome == gateway.RequiresAction
	if !lifecycle.Running(a.Remote.Status) && (!open || s.calendar.Age(sub) >= incompleteLife) {
		if err := s.endDead(ctx, sub, *a.Remote); err != nil {
			return sub, "", err
		}
		resolved, err := s.settler.Settle(ctx, sub, settle.Answer{Source: lifecycle.ByLiveRead, Remote: a.Remote, Dead: true})
		return resolved, "", err
	}
	resolved, err := s.settler.Settle(ctx, sub, a)
	return resolved, a.Remote.ClientSecret.Reveal(), err
}

// LookNow looks at the open intent without waiting for its time, and answers the row
// as it is after.
func (s *Recovery) LookNow(ctx context.Context, sub lifecycle.Row) (lifecycle.Row, error) {
	if sub.IntentOpen {
		if err := s.intents.LookNow(ctx, sub.ID); err != nil {
			return sub, err
		}
	}
	return s.db.GetSubscription(ctx, s.pool, sub.ID)
}

func (s *Recovery) readLive(ctx context.Context, sub lifecycle.Row) (settle.Answer, error) {
	gateway, err := s.payments.Gateway(gateway.GWB)
	if err != nil {
		return settle.Answer{}, err
	}
	remote, err := s.calls.ReadRunning(ctx, gateway, sub)
	return ReadRemote(lifecycle.ByLiveRead, &remote), err
}

func (s *Recovery) endDead(ctx context.Context, sub lifecycle.Row, remote gateway.RemoteSubscription) error {
	if remote.Status == gateway.RemoteCanceled || remote.Status == gateway.RemoteIncompleteExpired {
		return nil
	}
	gateway, err := s.payments.Gateway(gateway.GWB)
	if err != nil {
		return err
	}
	return gateway.CancelSubscription(ctx, remote.GatewayID, sub.ID)
}

// EndUntaken ends a waiting renewal at its gateway, unless its card was taken.
func (s *Recovery) EndUntaken(ctx context.Context, waiting lifecycle.Row) (taken bool, err error) {
	id := lifecycle.RemoteID(waiting)
	if id == "" {
		return false, nil
	}
	gw, err := s.payments.Gateway(gateway.Name(waiting.Gateway))
	if err != nil {
		return false, err
	}
	remote, err := gw.ReadSubscription(ctx, id, waiting.ID)
	if errors.Is(err, gateway.ErrMissing) { // one read ends nothing: it is deleted, and looked for after that
		return false, gw.CancelSubscription(ctx, id, waiting.ID)
	}
	if err != nil {
		return false, err
	}
	paid := remote.LatestPayment != nil && remote.LatestPayment.Status == gateway.PaymentSettled
	if paid || lifecycle.Running(remote.Status) && lifecycle.TraitsOf(waiting).StatusTellsPayment {
		_, err = s.settler.Settle(ctx, waiting, settle.Answer{Source: lifecycle.ByLiveRead, Remote: &remote})
		return true, err
	}
	return false, gw.CancelSubscription(ctx, id, waiting.ID)
}

// AsksLive reports whether a live read tells what became of a pending row.
func AsksLive(sub lifecycle.Row) bool {
	return lifecycle.TraitsOf(sub).PayerConfirms && !sub.IntentOpen
}
