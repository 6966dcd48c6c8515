package subscriptions

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/plans"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/resource"
)

// ApplyEventTx applies a gateway's event to the subscription that it is about
// (docs/contract/payments.md, Webhooks). It answers Unclaimed when there is none.
func (s *Service) ApplyEventTx(ctx context.Context, tx pgx.Tx, e gateway.Event) (gateway.Result, error) {
	return s.applier.ApplyEventTx(ctx, tx, e)
}

// ExtendTx moves the end of a living subscription by the months that an amount pays for
// (payments.Extender).
func (s *Service) ExtendTx(ctx context.Context, tx pgx.Tx, e payments.Extension) (objectid.ID, error) {
	return s.extensions.ExtendTx(ctx, tx, e)
}

// TakeStrayMoneyTx takes in settled money that nothing here knows, of a gateway's customer who
// is one of ours (payments.StrayMoneyTaker).
func (s *Service) TakeStrayMoneyTx(ctx context.Context, tx pgx.Tx, e gateway.Event) (gateway.Result, error) {
	return s.strays.TakeStrayMoneyTx(ctx, tx, e)
}

// RefundChanged keeps the total of a subscription when a look at a refund has settled it
// (payments.RefundFollower).
func (s *Service) RefundChanged(ctx context.Context, r payments.Refund) error {
	return s.applier.RefundChanged(ctx, r)
}

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
