package lifecycle

import (
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/platform/money"
	"marquee/platform/nullable"
)

// Plan is what a subscription is of.
type Plan subscriptionsdb.Plan

// IsPriced reports whether gateway B knows the price that it has now.
func (p Plan) IsPriced() bool {
	return p.GwbPriceID != nil && p.GwbPriceAmountCents != nil && *p.GwbPriceAmountCents == p.AmountCents
}

// Terms are what gateway B gets to know of the plan.
func (p Plan) Terms() gateway.PlanTerms {
	return gateway.PlanTerms{
		PlanID: p.PlanID, Name: p.Name, Amount: money.Cents(p.AmountCents), IntervalUnit: p.IntervalUnit,
		ProductID: nullable.Value(p.GwbProductID), PriceID: nullable.Value(p.GwbPriceID),
		PriceAmount: money.Cents(nullable.Value(p.GwbPriceAmountCents)),
	}
}
