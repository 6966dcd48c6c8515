package checkout

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts/accountstest"
	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/plans"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/platform/clock"
	"marquee/platform/jobs"
	"marquee/platform/postgres"
	"marquee/testutil/pgtest"
	"marquee/testutil/secrettest"
)

// newCheckout is the room with gateways that nobody calls.
func newCheckout(t *testing.T, db *pgxpool.Pool) *Checkout {
	t.Helper()
	log, now := secrettest.Logger(t), clock.System{}
	client, err := jobs.New(db, jobs.Options{Log: log})
	require.NoError(t, err)
	p := payments.New(payments.Deps{
		Pool: db, Jobs: client, Clock: now, Log: log, Adapters: paymentstest.NewGateways(t).Adapters(),
	})
	base := lifecycle.New(lifecycle.Deps{
		Pool: db, Jobs: client, Clock: now, Log: log, Accounts: accountstest.Service(t, db), Payments: p,
		Intents: p.Intents(), Promos: lifecycle.NoPromoCodes{}, Config: lifecycle.Config{}.WithDefaults(),
	})
	return New(Deps{Base: base, Plans: plans.New(base)})
}

func (s *Checkout) requestOf(t *testing.T, db *pgxpool.Pool) request {
	t.Helper()
	subscriptionstest.Plan(t, db, subscriptionstest.PlanID, 4990)
	plan, err := s.deps.Plans.SellablePlan(t.Context(), s.deps.Pool, subscriptionstest.PlanID)
	require.NoError(t, err)
	gw, err := s.deps.Payments.Gateway(gateway.GWB)
	require.NoError(t, err)
	return request{
		customer: accountstest.Customer(t, db), plan: plan, gateway: gw, method: gateway.MethodCard, months: 1,
	}
}

// twoIntents inserts two intents of one customer at once, each of which saw no
// live subscription: what happens when the lock on the customer is left out.
func twoIntents(t *testing.T, s *Checkout, db *pgxpool.Pool) (live int, second error) {
	t.Helper()
	w := s.requestOf(t, db)
	ctx := t.Context()
	a, err := db.Begin(ctx)
	require.NoError(t, err)
	defer func() { _ = a.Rollback(ctx) }()
	b, err := db.Begin(ctx)
	require.NoError(t, err)
	defer func() { _ = b.Rollback(ctx) }()
	for _, tx := range []pgx.Tx{a, b} {
		_, err := s.db.SubscriptionGetLive(ctx, tx, w.customer.ID)
		require.ErrorIs(t, err, pgx.ErrNoRows)
	}
	_, err = s.insertTx(ctx, a, w)
	require.NoError(t, err)
	require.NoError(t, a.Commit(ctx))
	if _, second = s.insertTx(ctx, b, w); second == nil {
		second = b.Commit(ctx)
	}
	require.NoError(t, db.QueryRow(ctx, "SELECT count(*) FROM subscriptions.subscriptions WHERE customer_id = $1",
		w.customer.ID).Scan(&live))
	return live, second
}

func TestOneLiveSubscriptionIsAConstraint(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	live, err := twoIntents(t, newCheckout(t, db), db)
	require.Equal(t, 1, live)
	require.Equal(t, ConstraintOneLive, postgres.Constraint(err))
}

func TestWithoutTheConstraintThereAreTwo(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	_, err := db.Exec(t.Context(), "DROP INDEX subscriptions."+ConstraintOneLive)
	require.NoError(t, err)
	live, err := twoIntents(t, newCheckout(t, db), db)
	require.NoError(t, err)
	require.Equal(t, 2, live)
}
