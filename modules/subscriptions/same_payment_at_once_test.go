package subscriptions

import (
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts/accountstest"
	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/platform/clock"
	"marquee/platform/jobs"
	"marquee/platform/postgres"
	"marquee/testutil/pgtest"
	"marquee/testutil/secrettest"
)

// newService is the module without an API and with gateways that nobody calls.
func newService(t *testing.T, db *pgxpool.Pool) *Service {
	t.Helper()
	log := secrettest.Logger(t)
	client, err := jobs.New(db, jobs.Options{Log: log})
	require.NoError(t, err)
	p := payments.New(payments.Deps{
		Pool: db, Jobs: client, Clock: clock.System{}, Log: log, Adapters: paymentstest.NewGateways(t).Adapters(),
	})
	return New(Deps{
		Pool: db, Jobs: client, Clock: clock.System{}, Log: log, Accounts: accountstest.Service(t, db), Payments: p,
	})
}

func TestSamePaymentManyTimesAtOnce(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	s := newService(t, db)
	customer := accountstest.Customer(t, db)
	id := subscriptionstest.In(t, db, customer.ID, "pending")
	at := time.Now()
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() {
			errs[i] = postgres.InTx(t.Context(), db, func(tx pgx.Tx) error {
				_, err := s.ApplyEventTx(t.Context(), tx, gateway.Event{
					Gateway: gateway.GWB, ID: "evt_same", Reference: id, CreatedAt: at,
					Payload: gateway.SettledPayment{
						Payment: gateway.Payment{
							ID: "in_1", InvoiceID: "in_1", Status: gateway.PaymentStatusSettled, NativeStatus: "paid",
							Method: gateway.MethodCard, Amount: 4990,
						},
					},
				})
				return err
			})
		})
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	history, err := s.db.TransitionList(t.Context(), db, id)
	require.NoError(t, err)
	require.Len(t, history, 2)
	all, err := s.deps.Payments.PaymentsOf(t.Context(), db, gateway.ForSubscription, id)
	require.NoError(t, err)
	require.Len(t, all, 1)
}

func TestHistoryIsAppendOnly(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	id := subscriptionstest.Active(t, db, accountstest.Customer(t, db).ID)
	for _, statement := range []string{
		"UPDATE subscriptions.transitions SET reason = 'x'",
		"DELETE FROM subscriptions.transitions",
		"TRUNCATE subscriptions.transitions CASCADE",
	} {
		_, err := db.Exec(t.Context(), statement)
		require.ErrorContains(t, err, "append-only", statement)
	}
	var n int
	require.NoError(t,
		db.QueryRow(t.Context(), "SELECT count(*) FROM subscriptions.transitions WHERE subscription_id = $1", id).
			Scan(&n))
	require.Equal(t, 1, n)
}
