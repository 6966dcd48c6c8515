// Package subscriptionstest makes plans and subscriptions for tests: real rows,
// one line each, no gateway.
package subscriptionstest

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts/accountstest"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// PlanID is the plan of the subscriptions made here: 49.90 a month, no trial.
const PlanID = "fixture-plan"

// Plan makes a plan without a trial, unless there is one of that plan_id.
func Plan(t testing.TB, db postgres.DB, planID string, amountCents int64) {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Millisecond)
	_, err := db.Exec(t.Context(),
		`INSERT INTO subscriptions.plans (id, plan_id, name, amount_cents, tier, register_date, register_update_date)
		VALUES ($1, $2, $2, $3, 1, $4, $4) ON CONFLICT ON CONSTRAINT plans_plan_id_unique DO NOTHING`, objectid.New(),
		planID, amountCents, now)
	require.NoError(t, err)
}

// Active gives the customer an active card subscription of gateway B, which
// becomes their current one.
func Active(t testing.TB, db *pgxpool.Pool, customerID objectid.ID) objectid.ID {
	t.Helper()
	return In(t, db, customerID, "active")
}

// Paid is Active with the payment of its period in the ledger.
func Paid(t testing.TB, db *pgxpool.Pool, customerID objectid.ID) objectid.ID {
	t.Helper()
	id := Active(t, db, customerID)
	now := time.Now().UTC().Truncate(time.Millisecond)
	_, err := db.Exec(t.Context(),
		`INSERT INTO payments.payments (gateway, gateway_payment_id, payment_intent_id, purpose, local_id, customer_id, amount_cents, method,
			native_status, settled_at, created_at, updated_at, counted)
		VALUES ('gwb', 'in_' || $1::text, 'pi_' || $1::text, 'subscription', $1::text, $2, 4990, 'credit_card', 'paid', $3, $3, $3, true)`, id, customerID, now)
	require.NoError(t, err)
	return id
}

// In gives the customer a card subscription of gateway B in the given state. A
// live one becomes their current one.
func In(t testing.TB, db *pgxpool.Pool, customerID objectid.ID, status string) objectid.ID {
	t.Helper()
	Plan(t, db, PlanID, 4990)
	id := objectid.New()
	now := time.Now().UTC().Truncate(time.Millisecond)
	ended := status == "cancelled" || status == "expired"
	accounts := accountstest.Service(t, db)
	require.NoError(t, postgres.InTx(t.Context(), db, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `INSERT INTO subscriptions.subscriptions (
				id, customer_id, plan_id, gateway, payment_method, status, price_cents, period_months, gwb_subscription_id,
				started_at, ended_at, next_billing_date, intent_open, document_created_by_id, register_date, register_update_date)
			VALUES ($1, $2, $3, 'gwb', 'credit_card', $4, 4990, 1, $5,
				CASE WHEN $4 <> 'pending' THEN $6::timestamptz END, CASE WHEN $7 THEN $6::timestamptz END, $6::timestamptz + interval '1 month',
				false, $2, $6, $6)`, id, customerID, PlanID, status, "sub_"+id.String(), now, ended)
		if err != nil {
			return err
		}
		_, err = tx.Exec(t.Context(),
			`INSERT INTO subscriptions.transitions (subscription_id, customer_id, at, to_status, reason, source)
			VALUES ($1, $2, $3, $4, 'subscribed', 'subscribe')`, id, customerID, now, status)
		if err != nil || ended {
			return err
		}
		return accounts.SetCurrentSubscriptionTx(t.Context(), tx, customerID, id)
	}))
	return id
}
