package checkout

import (
	"context"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/platform/fault"
	"marquee/platform/faultpoint"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/secret"
)

const (
	// pixRecurring is the setting under which a PIX is an automatic one.
	pixRecurring = "recurring"
)

// pixOrder is what a customer orders by PIX.
type pixOrder struct {
	customerID objectid.ID
	planID     string
	promoCode  string
	automatic  bool // a must; else the setting decides at gateway A
}

// pixOutcome is what the PIX routes answer.
type pixOutcome struct {
	sub          lifecycle.Row
	clientSecret secret.Text    // of gateway B
	clarifying   *intent.Intent // while it is not known what the gateway made: there is no code yet
}

// subscribePix makes one PIX payment for the configured months or, at gateway A,
// the authorization of an automatic PIX.
func (s *Checkout) subscribePix(ctx context.Context, name gateway.Name, o pixOrder) (pixOutcome, error) {
	months, err := s.settings.PixBillingMonths(ctx)
	if err != nil {
		return pixOutcome{}, err
	}
	if name.Traits().DebitsPix && !o.automatic {
		mode, err := s.settings.PixSubscriptionMode(ctx)
		if err != nil {
			return pixOutcome{}, err
		}
		o.automatic = mode == pixRecurring
	}
	w, err := s.prepare(ctx, o.customerID, name, o.planID)
	if err != nil {
		return pixOutcome{}, err
	}
	w.method, w.months, w.automatic = gateway.MethodPix, months, o.automatic
	if err := s.discount(ctx, &w, o.promoCode); err != nil {
		return pixOutcome{}, err
	}
	if err := checkPixAmount(w); err != nil {
		return pixOutcome{}, err
	}
	if err := s.admit(ctx, &w); err != nil {
		return pixOutcome{}, err
	}
	sub, err := s.intend(ctx, w)
	if err != nil {
		return pixOutcome{}, err
	}
	if w.automatic {
		return s.startAutomatic(ctx, w, sub)
	}
	return s.startPix(ctx, w, sub)
}

// checkPixAmount refuses what the gateway would, before anything is written. The
// first code of an automatic PIX has no minimum but its debits have.
func checkPixAmount(w wish) error {
	full := money.Cents(w.plan.AmountCents * int64(w.months))
	first := full
	if w.first != nil {
		first = *w.first
	}
	least := lifecycle.LeastPix(w.gateway.Name())
	if w.automatic {
		if full < least {
			first = full
		} else {
			first, least = min(first, full), 1
		}
	}
	if first >= least {
		return nil
	}
	return fault.Bad("The subscription costs less than R$ %s, the smallest amount that can be paid by PIX. Subscribe by card.", least).WithField("plan_id")
}

func (s *Checkout) startPix(ctx context.Context, w wish, sub lifecycle.Row) (pixOutcome, error) {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.intents.CallTime())
	defer cancel()
	charge, err := w.gateway.CreatePix(call, s.calendar.PixTermsOf(sub, w.plan, w.payer))
	faultpoint.Hit("subscribe.after_call")
	if err != nil {
		return s.noCode(ctx, sub, err)
	}
	sub, err = s.settler.Settle(ctx, sub, settle.Answer{Source: lifecycle.BySubscribe, Pix: &charge})
	return pixOutcome{sub: sub, clientSecret: charge.ClientSecret}, err
}

// noCode is what the PIX routes answer without a code: the intent ends when there will
// be none; else it is not known whether there is one, and the looks find out.
func (s *Checkout) noCode(ctx context.Context, sub lifecycle.Row, cause error) (pixOutcome, error) {
	if lifecycle.Certain(cause) {
		return pixOutcome{}, s.giveUp(ctx, sub, cause)
	}
	s.recovery.NotKnown(ctx, sub, cause)
	ctx = context.WithoutCancel(ctx)
	i, open, err := s.intents.OpenOf(ctx, s.pool, sub.ID)
	if err != nil || open {
		return pixOutcome{sub: sub, clarifying: &i}, err
	}
	sub, err = s.db.GetSubscription(ctx, s.pool, sub.ID) // somebody has looked meanwhile
	return pixOutcome{sub: sub}, err
}

// startAutomatic makes the authorization with the code of the first payment,
// which also carries the payer's consent.
func (s *Checkout) startAutomatic(ctx context.Context, w wish, sub lifecycle.Row) (pixOutcome, error) {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.intents.CallTime())
	defer cancel()
	auth, err := w.gateway.AuthorizePix(call, s.calendar.AuthorizationOf(sub, w.plan, w.payer))
	faultpoint.Hit("subscribe.after_call")
	if err != nil {
		return s.noCode(ctx, sub, err)
	}
	sub, err = s.settler.Settle(ctx, sub, settle.Answer{Source: lifecycle.BySubscribe, Auth: &auth})
	return pixOutcome{sub: sub}, err
}
