package finance_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/finance/financetest"
	"marquee/platform/postgres"
	"marquee/testutil/pgtest"
)

// TestDaysOverdueNeverFallWhileNothingIsPaid: not when the gateway moves the next billing
// on, nor when that day is past too.
func TestDaysOverdueNeverFallWhileNothingIsPaid(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	financetest.Golden(t, db)
	for _, next := range []string{"NULL", "'2026-08-18T12:00:00Z'", "'2026-09-10T12:00:00Z'"} {
		_, err := db.Exec(t.Context(), `UPDATE subscriptions.subscriptions SET next_billing_date = `+next+
			` WHERE status = 'suspended' AND payment_failures = 3`)
		require.NoError(t, err)
		require.NoError(t, asOf(t, db, financetest.Now, func(tx postgres.DB) error {
			require.Equal(t, []string{"2026-08-10 10\n"},
				lines(t, tx, `SELECT due_on, days_overdue FROM finance.overdue WHERE payment_failures = 3`), next)
			return nil
		}))
	}
}
