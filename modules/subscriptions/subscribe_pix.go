package subscriptions

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/platform/fault"
	"marquee/platform/faultpoint"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/secret"
)

const (
	// Smallest PIX charges at gateway A (section 5), and charges of any kind at gateway
	// B (section 7), which adds a smaller card invoice to the next one.
	minPixGWA = money.Cents(500)
	minGWB    = money.Cents(50)
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
	sub          row
	clientSecret secret.Text    // of gateway B
	clarifying   *intent.Intent // while it is not known what the gateway made: there is no code yet
}

// subscribePix makes one PIX payment for the configured months or, at gateway A,
// the authorization of an automatic PIX.
func (s *Checkout) subscribePix(ctx context.Context, name payments.GatewayName, o pixOrder) (pixOutcome, error) {
	months, err := s.settings.PixBillingMonths(ctx)
	if err != nil {
		return pixOutcome{}, err
	}
	if name == payments.GWA && !o.automatic {
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
	w.method, w.months, w.automatic = payments.MethodPix, months, o.automatic
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
	least := minPixGWA
	switch {
	case w.gateway.Name() == payments.GWB:
		least = minGWB
	case w.automatic:
		first, least = min(first, full), 1
		if full < minPixGWA {
			first, least = full, minPixGWA
		}
	}
	if first >= least {
		return nil
	}
	return fault.Bad("The subscription costs less than R$ %s, the smallest amount that can be paid by PIX. Subscribe by card.", least).WithField("plan_id")
}

func (s *Checkout) startPix(ctx context.Context, w wish, sub row) (pixOutcome, error) {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.intents.CallTime())
	defer cancel()
	charge, err := w.gateway.CreatePix(call, s.calendar.pixTermsOf(sub, w.plan, w.payer))
	faultpoint.Hit("subscribe.after_call")
	if err != nil {
		return s.noCode(ctx, sub, err)
	}
	sub, err = s.settler.settle(ctx, sub, answer{source: BySubscribe, pix: &charge})
	return pixOutcome{sub: sub, clientSecret: charge.ClientSecret}, err
}

// noCode is what the PIX routes answer without a code: the intent ends when there will
// be none; else it is not known whether there is one, and the looks find out.
func (s *Checkout) noCode(ctx context.Context, sub row, cause error) (pixOutcome, error) {
	if certain(cause) {
		return pixOutcome{}, s.giveUp(ctx, sub, cause)
	}
	s.recovery.notKnown(ctx, sub, cause)
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
func (s *Checkout) startAutomatic(ctx context.Context, w wish, sub row) (pixOutcome, error) {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.intents.CallTime())
	defer cancel()
	auth, err := w.gateway.AuthorizePix(call, s.calendar.authorizationOf(sub, w.plan, w.payer))
	faultpoint.Hit("subscribe.after_call")
	if err != nil {
		return s.noCode(ctx, sub, err)
	}
	sub, err = s.settler.settle(ctx, sub, answer{source: BySubscribe, auth: &auth})
	return pixOutcome{sub: sub}, err
}

func (s *Calendar) authorizationOf(sub row, plan subscriptionsdb.Plan, payer payments.Payer) payments.AuthorizationTerms {
	return payments.AuthorizationTerms{
		SubscriptionID: sub.ID, Payer: payer, Description: plan.Name, PeriodMonths: int(sub.PeriodMonths),
		FirstAmount: pixAmount(sub), Amount: money.Cents(sub.PriceCents * int64(sub.PeriodMonths)),
		FirstDebit: AddMonths(startOfDay(sub.RegisterDate, s.cfg.Zone), int(sub.PeriodMonths), s.cfg.Zone), ExpiresIn: s.cfg.PixPendingTTL,
	}
}

// settleAuthorizationTx writes the state in which an authorization was found.
func (s *Settler) settleAuthorizationTx(ctx context.Context, tx pgx.Tx, sub *row, a answer) error {
	c := change{source: a.source}
	switch a.auth.Status {
	case payments.AuthorizationActive:
		c.action = AuthorizationActivated
		if Status(sub.Status).Ended() {
			return s.store.endAtGatewayTx(ctx, tx, *sub)
		}
		return s.authorizeTx(ctx, tx, sub, c, a.auth)
	case payments.AuthorizationCancelled, payments.AuthorizationRefused:
		c.action = AuthorizationCancelled
	case payments.AuthorizationExpired:
		c.action = AuthorizationExpired
	default:
		return nil
	}
	if s.calendar.endsWithPeriod(*sub) {
		c.action, c.edit = GatewayDeletedPaid, s.calendar.endedThere
	}
	_, err := s.store.moveTx(ctx, tx, sub, c)
	return err
}

// pixTermsOf is what the gateway is asked for, and by which it is searched after
// a crash.
func (s *Calendar) pixTermsOf(sub row, plan subscriptionsdb.Plan, payer payments.Payer) payments.PixTerms {
	return payments.PixTerms{
		Reference: sub.ID, Kind: payments.KindSubscriptionPix, Payer: payer, Amount: pixAmount(sub), Description: plan.Name,
		DueDate: startOfDay(sub.RegisterDate, s.cfg.Zone).In(s.cfg.Zone), ExpiresIn: s.cfg.PixPendingTTL,
	}
}

// pixAmount is what the first PIX payment of the subscription costs.
func pixAmount(sub row) money.Cents {
	if sub.FirstAmountCents != nil {
		return money.Cents(*sub.FirstAmountCents)
	}
	return money.Cents(sub.PriceCents * int64(sub.PeriodMonths))
}

// pixDue is when an unpaid PIX is given up: its code runs out, or the wait is
// over.
func (s *Calendar) pixDue(sub row) time.Time {
	due := sub.RegisterDate.Add(s.cfg.PixPendingTTL)
	if sub.PixExpiresAt != nil && sub.PixExpiresAt.Before(due) {
		return *sub.PixExpiresAt
	}
	return due
}

// dropPix ends an unpaid PIX: its code first, so that nobody pays an old one.
// When it has just been paid, the payment is settled instead.
func (s *Recovery) dropPix(ctx context.Context, sub row, by Action, source Source) error {
	gateway, err := s.payments.Gateway(payments.GatewayName(sub.Gateway))
	if err != nil {
		return err
	}
	if sub.GwaPixAuthID != nil {
		return s.dropAuthorization(ctx, gateway, sub, by, source)
	}
	if sub.PixPaymentID == nil {
		return s.end(ctx, sub, by, source)
	}
	err = gateway.CancelPix(ctx, *sub.PixPaymentID, sub.ID)
	switch {
	case errors.Is(err, payments.ErrAlreadyPaid):
		charge, err := gateway.ReadPix(ctx, *sub.PixPaymentID, sub.ID)
		if err != nil {
			return err
		}
		_, err = s.settler.settle(ctx, sub, answer{source: source, pix: &charge})
		return err
	case err != nil && !errors.Is(err, payments.ErrGatewayMissing) && by == Replaced:
		return s.endLater(ctx, sub, source, err)
	case err != nil && !errors.Is(err, payments.ErrGatewayMissing):
		return err
	}
	return s.end(ctx, sub, by, source)
}

// dropAuthorization ends an automatic PIX that nobody consented to; one that has
// just become active is settled instead.
func (s *Recovery) dropAuthorization(ctx context.Context, gateway payments.Gateway, sub row, by Action, source Source) error {
	auth, err := gateway.ReadPixAuthorization(ctx, authorizationRef(sub))
	if err != nil && !errors.Is(err, payments.ErrGatewayMissing) {
		return err
	}
	if err == nil && auth.Status == payments.AuthorizationActive {
		_, err = s.settler.settle(ctx, sub, answer{source: source, auth: &auth})
		return err
	}
	err = gateway.CancelPixAuthorization(ctx, authorizationRef(sub))
	if err != nil && by == Replaced {
		return s.endLater(ctx, sub, source, err)
	}
	if err != nil {
		return err
	}
	return s.end(ctx, sub, by, source)
}
