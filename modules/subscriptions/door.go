package subscriptions

import (
	"context"
	"time"

	"marquee/modules/payments"
	"marquee/modules/subscriptions/plans"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/resource"
)

// SyncSubscription asks the gateway about the customer's live subscription and settles what it
// says (docs/contract/accounts.md, Tokens).
func (s *Service) SyncSubscription(ctx context.Context, customerID objectid.ID) error {
	return s.reconciler.SyncSubscription(ctx, customerID)
}

// ConfirmStrays confirms that the recurrences listed so far, which name one of our ids, are
// to end: a person has run `marquee reconcile --apply`.
func (s *Service) ConfirmStrays(ctx context.Context, o payments.ReconcileOptions) error {
	return s.strays.ConfirmStrays(ctx, o)
}

// PlanSearch makes the plans searchable: all of them for admins, what is on offer for
// everybody else.
func (s *Service) PlanSearch() resource.Searchable {
	return s.plans.PlanSearch()
}

// SeedPlans makes the plans that a new platform begins with; those that are there stay as
// they are.
func SeedPlans(ctx context.Context, db postgres.DB, now time.Time) error {
	return plans.SeedPlans(ctx, db, now)
}
