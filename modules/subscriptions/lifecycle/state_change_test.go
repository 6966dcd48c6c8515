package lifecycle

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts/accountstest"
	"marquee/modules/payments"
	"marquee/modules/payments/paymentstest"
	"marquee/modules/subscriptions/state"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/platform/clock"
	"marquee/platform/jobs"
	"marquee/platform/postgres"
	"marquee/testutil/pgtest"
	"marquee/testutil/secrettest"
)

// newStore is the room with gateways that nobody calls.
func newStore(t *testing.T, db *pgxpool.Pool) *Store {
	t.Helper()
	log := secrettest.Logger(t)
	client, err := jobs.New(db, jobs.Options{Log: log})
	require.NoError(t, err)
	p := payments.New(payments.Deps{
		Pool: db, Jobs: client, Clock: clock.System{}, Log: log, Adapters: paymentstest.NewGateways(t).Adapters(),
	})
	return New(Deps{
		Pool: db, Jobs: client, Clock: clock.System{}, Log: log, Accounts: accountstest.Service(t, db), Payments: p,
		Intents: p.Intents(),
		Promos:  NoPromoCodes{}, Config: Config{}.WithDefaults(),
	}).Store
}

// TestStateChangesCompareAndSet: of two that read the same state and leave out
// the lock, one moves the row, and the other is told.
func TestStateChangesCompareAndSet(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	s := newStore(t, db)
	customer := accountstest.Customer(t, db)
	id := subscriptionstest.In(t, db, customer.ID, "pending")
	read, err := s.db.SubscriptionGet(t.Context(), db, id)
	require.NoError(t, err)
	move := func(sub Subscription, action state.Action) error {
		return postgres.InTx(t.Context(), db, func(tx pgx.Tx) error {
			_, err := s.MoveTx(t.Context(), tx, &sub, Change{Action: action, Source: state.ByWebhook})
			return err
		})
	}
	require.NoError(t, move(read, state.PaymentSettles))
	require.ErrorIs(t, move(read, state.PixRunsOut), errMoved)
	history, err := s.db.TransitionList(t.Context(), db, id)
	require.NoError(t, err)
	require.Len(t, history, 2)
	now, err := s.db.SubscriptionGet(t.Context(), db, id)
	require.NoError(t, err)
	require.Equal(t, state.Active, now.Status)
}

// TestEveryMoveHasAReason keeps the history complete when an action is added;
// those that end an active subscription carry one that churn knows.
func TestEveryMoveHasAReason(t *testing.T) {
	t.Parallel()
	churn := []state.Reason{
		state.ReasonPaymentFailure, state.ReasonCustomerCancelled, state.ReasonAdminCancelled, state.ReasonChargeback,
		state.ReasonExpired, state.ReasonReplaced, state.ReasonGoneAtGateway, state.ReasonWithdrawn,
	}
	for _, action := range state.Actions {
		for _, from := range state.Statuses {
			to, ok := state.Next(from, action)
			if !ok || to == from {
				continue
			}
			reason := state.ReasonFor(action, state.Known{Status: from})
			require.NotEmpty(t, reason, "%s from %s", action, from)
			if from == state.Active && to != state.Pending {
				require.Contains(t, churn, reason, "%s from %s", action, from)
			}
		}
	}
}
