package payments_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReconciliationsGoAsTheLogDoes: with what they found, those of the last months stay, and 0 keeps all.
func TestReconciliationsGoAsTheLogDoes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	now := b.clock.Now().UTC()
	for _, back := range []int{0, 2, 3} {
		at := now.AddDate(0, -back, 1-now.Day())
		_, err := b.pool.Exec(t.Context(), `WITH run AS (
				INSERT INTO payments.reconcile_runs (started_by, dry_run, gateways, since, started_at, seen_at, updated_at)
				VALUES ('schedule', false, '{gwa}', $1, $1, $1, $1) RETURNING id)
			INSERT INTO payments.reconcile_findings (run_id, gateway, kind, verdict, gateway_object_id, found_at)
			SELECT id, 'gwa', 'missed_payment', 'repaired', 'pay_1', $1 FROM run`, at)
		require.NoError(t, err)
	}
	left := func() (runs, findings int) {
		require.NoError(t, b.pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM payments.reconcile_runs),
			(SELECT count(*) FROM payments.reconcile_findings)`).Scan(&runs, &findings))
		return runs, findings
	}
	require.NoError(t, b.svc.TidyReconciliations(t.Context(), 0))
	runs, findings := left()
	require.Equal(t, []int{3, 3}, []int{runs, findings})
	require.NoError(t, b.svc.TidyReconciliations(t.Context(), 2))
	runs, findings = left()
	require.Equal(t, []int{2, 2}, []int{runs, findings})
}
