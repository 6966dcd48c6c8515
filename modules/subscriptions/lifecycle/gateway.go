package lifecycle

import (
	"context"
	"time"

	"marquee/modules/accounts"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/platform/money"
	"marquee/platform/nullable"
)

// TraitsOf are what the subscription's gateway does in a way of its own.
func TraitsOf(sub Row) gateway.Traits { return sub.Gateway.Traits() }

// idColumns are the columns that keep the row's ids at its gateway: each has its own, so
// that a row which moves to the other keeps both.
func idColumns(r *Row) (subscription, customer **string) {
	if r.Gateway == gateway.GWA {
		return &r.GwaSubscriptionID, &r.GwaCustomerID
	}
	return &r.GwbSubscriptionID, &r.GwbCustomerID
}

// CustomerColumns puts a payer's id in the column of their gateway; the other is nil.
func CustomerColumns(gw gateway.Name, id string) (atA, atB *string) {
	r := Row{Gateway: gw}
	_, customer := idColumns(&r)
	*customer = nullable.Ptr(id)
	return r.GwaCustomerID, r.GwbCustomerID
}

// RemoteCustomer is the payer's id at the subscription's gateway, "" while it is not known.
func RemoteCustomer(sub Row) string {
	_, customer := idColumns(&sub)
	return nullable.Value(*customer)
}

// SetRecurrence keeps the gateway's id of the subscription.
func SetRecurrence(r *Row, id string) {
	subscription, _ := idColumns(r)
	SetOnce(subscription, id)
}

// LeastPix is the smallest amount that can be paid by a PIX code.
func LeastPix(gw gateway.Name) money.Cents {
	return max(gw.Traits().LeastPix, gw.Traits().LeastCharge)
}

// TermsOf are the terms of the call to the gateway, by which its result is
// found after a crash.
func (s *Calendar) TermsOf(sub Row, plan subscriptionsdb.Plan, payer gateway.Payer) gateway.SubscriptionTerms {
	return gateway.SubscriptionTerms{
		SubscriptionID: sub.ID, Payer: payer, PlanID: plan.PlanID, PlanName: plan.Name, PriceID: nullable.Value(sub.GwbPriceID),
		Amount: money.Cents(sub.PriceCents), First: (*money.Cents)(sub.FirstAmountCents), TrialDays: int(sub.TrialDays), StartsAt: sub.StartsAt,
		FirstDue: s.FirstDue(sub),
	}
}

// FirstDue is the day of the first charge: the first, or the one after the trial, the
// month that was paid apart (gateway B charges it with the others), or the paid time of the subscription that it renews.
func (s *Calendar) FirstDue(sub Row) time.Time {
	if sub.StartsAt != nil {
		return StartOfDay(*sub.StartsAt, s.cfg.Zone).In(s.cfg.Zone)
	}
	days := int(sub.TrialDays)
	if s.ChargesFirstMonth(sub) {
		days = discountedDays
	}
	return StartOfDay(sub.RegisterDate, s.cfg.Zone).In(s.cfg.Zone).AddDate(0, 0, days)
}

// PayerOf is a customer as the gateways know payers.
func PayerOf(c accounts.Customer, name gateway.Name) gateway.Payer {
	return gateway.Payer{
		CustomerID: c.ID, GatewayID: c.GatewayCustomerIDs[string(name)],
		Name: c.FullName, Email: c.Email, Phone: c.Phone, TaxID: c.TaxID,
	}
}

// discountedDays is how long after the discounted first month the recurrence
// charges first (docs/contract/promo-codes.md, At subscribing).
const discountedDays = 30

// ChargesFirstMonth reports whether the first month is a payment of its own: a
// card at gateway A with a promo code.
func (*Calendar) ChargesFirstMonth(sub Row) bool {
	return sub.FirstAmountCents != nil && TraitsOf(sub).FirstMonthApart && sub.PaymentMethod == gateway.MethodCard
}

// AuthorizationOf is what gateway A is asked for to authorize an automatic PIX.
func (s *Calendar) AuthorizationOf(sub Row, plan subscriptionsdb.Plan, payer gateway.Payer) gateway.AuthorizationTerms {
	return gateway.AuthorizationTerms{
		SubscriptionID: sub.ID, Payer: payer, Description: plan.Name, PeriodMonths: int(sub.PeriodMonths),
		FirstAmount: PixAmount(sub), Amount: money.Cents(sub.PriceCents * int64(sub.PeriodMonths)),
		FirstDebit: AddMonths(StartOfDay(sub.RegisterDate, s.cfg.Zone), int(sub.PeriodMonths), s.cfg.Zone), ExpiresIn: s.cfg.PixPendingTTL,
	}
}

// PixTermsOf are the terms of the call to the gateway, by which its result is
// found after a crash.
func (s *Calendar) PixTermsOf(sub Row, plan subscriptionsdb.Plan, payer gateway.Payer) gateway.PixTerms {
	return gateway.PixTerms{
		Reference: sub.ID, Kind: gateway.KindSubscriptionPix, Payer: payer, Amount: PixAmount(sub), Description: plan.Name,
		DueDate: StartOfDay(sub.RegisterDate, s.cfg.Zone).In(s.cfg.Zone), ExpiresIn: s.cfg.PixPendingTTL,
	}
}

// PixAmount is what the first PIX payment of the subscription costs.
func PixAmount(sub Row) money.Cents {
	if sub.FirstAmountCents != nil {
		return money.Cents(*sub.FirstAmountCents)
	}
	return money.Cents(sub.PriceCents * int64(sub.PeriodMonths))
}

// PayerOfRow is the payer of a subscription; of a deleted customer it has the ids alone.
func (s *Reads) PayerOfRow(ctx context.Context, sub Row) gateway.Payer {
	customer, err := s.deps.Accounts.CustomerByID(ctx, s.deps.Pool, sub.CustomerID)
	if err != nil {
		customer = accounts.Customer{ID: sub.CustomerID}
	}
	payer := PayerOf(customer, sub.Gateway)
	if _, known := idColumns(&sub); *known != nil {
		payer.GatewayID = **known
	}
	return payer
}
