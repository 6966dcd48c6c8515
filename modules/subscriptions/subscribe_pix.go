package subscriptions

import (
	"context"
	"errors"
	"time"

	"marquee/modules/payments"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/platform/fault"
	"marquee/platform/faultpoint"
	"marquee/platform/money"
	"marquee/platform/objectid"
)

const (
	// pixKind is told to gateway B as metadata.
	pixKind = "subscription_pix"
	// minPixGWA is gateway A's smallest PIX charge (gateway A, section 5).
	minPixGWA = money.Cents(500)
	// pixRecurring is the setting under which a PIX is an automatic one.
	pixRecurring = "recurring"
)

// subscribePixGWA makes one PIX payment at gateway A for the configured months.
func (s *Service) subscribePixGWA(ctx context.Context, customerID objectid.ID, planID, promoCode string) (row, error) {
	mode, err := s.settings.PixSubscriptionMode(ctx)
	if err != nil {
		return row{}, err
	}
	if mode == pixRecurring {
		return row{}, &fault.Error{Kind: fault.Unimplemented, Message: "Automatic PIX is not available yet. Subscribe by card."}
	}
	months, err := s.settings.PixBillingMonths(ctx)
	if err != nil {
		return row{}, err
	}
	if err := s.checkPixAmount(ctx, planID, months); err != nil {
		return row{}, err
	}
	w, err := s.prepare(ctx, customerID, payments.GWA, planID, promoCode)
	if err != nil {
		return row{}, err
	}
	w.method, w.months = payments.MethodPix, months
	sub, err := s.intend(ctx, w)
	if err != nil {
		return row{}, err
	}
	return s.startPix(ctx, w, sub)
}

func (s *Service) checkPixAmount(ctx context.Context, planID string, months int) error {
	plan, err := s.sellablePlan(ctx, planID)
	if err != nil {
		return err
	}
	if money.Cents(plan.AmountCents*int64(months)) < minPixGWA {
		return fault.Bad("This plan costs less than R$ %s, the smallest amount that can be paid by PIX. Subscribe by card.", minPixGWA).WithField("plan_id")
	}
	return nil
}

func (s *Service) startPix(ctx context.Context, w wish, sub row) (row, error) {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTime)
	defer cancel()
	charge, err := w.gateway.CreatePix(call, s.pixTermsOf(sub, w.plan, w.payer))
	faultpoint.Hit("subscribe.after_call")
	if errors.Is(err, payments.ErrOutcomeUnknown) {
		return row{}, (&fault.Error{
			Kind: fault.Unavailable, RetryAfter: s.cfg.RecoveryDelay,
			Message: "The payment gateway did not answer in time. Your PIX code may be there soon: see GET /customers/me/pix-qr.",
		}).WithCause(err)
	}
	if err != nil {
		return row{}, s.giveUp(ctx, sub, err)
	}
	return s.settle(ctx, sub, answer{source: BySubscribe, pix: &charge})
}

// pixTermsOf is what the gateway is asked for, and by which it is searched after
// a crash.
func (s *Service) pixTermsOf(sub row, plan subscriptionsdb.Plan, payer payments.Payer) payments.PixTerms {
	return payments.PixTerms{
		Reference: sub.ID, Kind: pixKind, Payer: payer, Amount: pixAmount(sub), Description: plan.Name,
		DueDate: startOfDay(sub.RegisterDate, s.cfg.Zone).In(s.cfg.Zone), ExpiresIn: s.cfg.PixPendingTTL,
	}
}

// pixAmount is what one PIX payment of the subscription costs.
func pixAmount(sub row) money.Cents { return money.Cents(sub.PriceCents * int64(sub.PeriodMonths)) }

// pixDue is when an unpaid PIX is given up: its code runs out, or the wait is
// over.
func (s *Service) pixDue(sub row) time.Time {
	due := sub.RegisterDate.Add(s.cfg.PixPendingTTL)
	if sub.PixExpiresAt != nil && sub.PixExpiresAt.Before(due) {
		return *sub.PixExpiresAt
	}
	return due
}

// dropPix ends an unpaid PIX: its code first, so that nobody pays an old one.
// When it has just been paid, the payment is settled instead.
func (s *Service) dropPix(ctx context.Context, sub row, by Action, source Source) error {
	gateway, err := s.payments.Gateway(payments.GatewayName(sub.Gateway))
	if err != nil {
		return err
	}
	if sub.PixPaymentID == nil {
		return s.end(ctx, sub, by, source)
	}
	err = gateway.CancelPix(ctx, *sub.PixPaymentID)
	switch {
	case errors.Is(err, payments.ErrAlreadyPaid):
		charge, err := gateway.ReadPix(ctx, *sub.PixPaymentID)
		if err != nil {
			return err
		}
		_, err = s.settle(ctx, sub, answer{source: source, pix: &charge})
		return err
	case err != nil && !errors.Is(err, payments.ErrGatewayMissing):
		return err
	}
	return s.end(ctx, sub, by, source)
}
