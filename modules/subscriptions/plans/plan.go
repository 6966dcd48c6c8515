package plans

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/fault"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// SellablePlan finds a plan that can be subscribed to: 404 when there is none of
// that plan_id, 400 when it is no longer offered.
func (s *Plans) SellablePlan(ctx context.Context, planID string) (subscriptionsdb.Plan, error) {
	plan, err := s.db.GetPlanByPlanID(ctx, s.deps.Pool, planID)
	if postgres.IsNoRows(err) {
		return plan, fault.NotFound("Plan")
	}
	if err != nil {
		return plan, fmt.Errorf("read plan: %w", err)
	}
	if !plan.IsActive {
		return plan, fault.Bad("This plan is no longer offered.").WithField("plan_id")
	}
	return plan, nil
}

// SyncPlan makes the plan's price known at gateway B if it is not, or if the
// amount has changed since.
func (s *Plans) SyncPlan(ctx context.Context, gateway gateway.Gateway, p subscriptionsdb.Plan) (subscriptionsdb.Plan, error) {
	if p.GwbPriceID != nil && p.GwbPriceAmountCents != nil && *p.GwbPriceAmountCents == p.AmountCents {
		return p, nil
	}
	return s.pushPlan(ctx, gateway, p)
}

// pushPlan asks gateway B for the plan's product and price, makes what is
// missing there, and keeps the ids.
func (s *Plans) pushPlan(ctx context.Context, gw gateway.Gateway, p subscriptionsdb.Plan) (subscriptionsdb.Plan, error) {
	terms := gateway.PlanTerms{
		PlanID: p.PlanID, Name: p.Name, Amount: money.Cents(p.AmountCents), IntervalUnit: p.IntervalUnit,
		ProductID: lifecycle.Text(p.GwbProductID), PriceID: lifecycle.Text(p.GwbPriceID),
	}
	if p.GwbPriceAmountCents != nil {
		terms.PriceAmount = money.Cents(*p.GwbPriceAmountCents)
	}
	ids, err := gw.SyncPlan(ctx, terms)
	if err != nil {
		return p, s.deps.Payments.Refused(ctx, "synchronise plan", err)
	}
	p.GwbProductID, p.GwbPriceID, p.GwbPriceAmountCents = &ids.ProductID, &ids.PriceID, &p.AmountCents
	err = s.changePlan(ctx, p, func(tx pgx.Tx) error {
		return s.db.UpdatePlanPrice(ctx, tx, subscriptionsdb.UpdatePlanPriceParams{
			ID: p.ID, GwbProductID: p.GwbProductID, GwbPriceID: p.GwbPriceID, AmountCents: &p.AmountCents,
		})
	})
	if err != nil {
		return p, fmt.Errorf("keep the plan's price: %w", err)
	}
	return p, nil
}

// SeedPlans makes the plans that a new platform begins with: basic, plus, and
// premium with seven days of trial. Plans that are there already stay as they
// are.
func SeedPlans(ctx context.Context, db postgres.DB, now time.Time) error {
	for _, p := range []subscriptionsdb.InsertPlanIfNewParams{
		{PlanID: "basic", Name: "Basic", Description: lifecycle.Filled("The whole catalogue on one screen."), AmountCents: 1990, Tier: 1},
		{PlanID: "plus", Name: "Plus", Description: lifecycle.Filled("The whole catalogue on two screens, in full HD."), AmountCents: 2990, Tier: 2},
		{PlanID: "premium", Name: "Premium", Description: lifecycle.Filled("The whole catalogue on four screens, in 4K. Seven days free."), AmountCents: 4990, Tier: 3, TrialEnabled: true, TrialDays: 7},
	} {
		p.ID, p.Now = objectid.At(now), now
		if err := subscriptionsdb.New().InsertPlanIfNew(ctx, db, p); err != nil {
			return fmt.Errorf("seed plan %s: %w", p.PlanID, err)
		}
	}
	return nil
}
