package subscriptions_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments"
	"marquee/modules/payments/paymentstest"
	"marquee/testutil/sandbox/stage"
)

// reconciliation is a row of what is kept of reconciliations.
type reconciliation struct {
	StartedBy, Starter             string
	DryRun, Ended                  bool
	Checked, Found, Repaired, Left int
	Failed                         int
}

func reconciliations(t *testing.T, b *bundle) []reconciliation {
	t.Helper()
	rows, err := b.db.Query(t.Context(), `SELECT started_by, coalesce(starter, '') AS starter, dry_run, ended_at IS NOT NULL AS ended,
		checked, found, repaired, not_repaired AS left, failed FROM payments.reconcile_runs ORDER BY seen_at`)
	require.NoError(t, err)
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[reconciliation])
	require.NoError(t, err)
	return all
}

// TestAReconciliationIsWrittenDown: who began it, what it checked at and found, and of what it repaired what was and what
// is; a dry run says what it would have done, and one that finds nothing that it found nothing.
func TestAReconciliationIsWrittenDown(t *testing.T) {
	t.Parallel()
	for gateway, pay := range map[string]func(b *bundle, payment string) error{
		"gwa": func(b *bundle, payment string) error { _, err := b.gateways.Sandbox.GWA.Pay(payment); return err },
		"gwb": func(b *bundle, payment string) error { return b.gateways.Sandbox.GWB.PayPIX(payment) },
	} {
		t.Run(gateway, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id := idOf(b.expect(t, 201, http.MethodPost, "/"+gateway+"/subscribe/pix", object{"plan_id": plan}))
			require.NoError(t, pay(b, column[string](t, b, id, "pix_payment_id")))
			since := b.clock.Now().Add(-time.Hour)
			_, err := b.service.Reconcile(t.Context(), payments.ReconcileOptions{Since: since, DryRun: true, Starter: "ana@ops"})
			require.NoError(t, err)
			for range 2 {
				_, err := b.service.Reconcile(t.Context(), payments.ReconcileOptions{Since: since, StartedBy: payments.BySchedule})
				require.NoError(t, err)
			}
			runs := reconciliations(t, b)
			require.Len(t, runs, 3)
			for i := range runs {
				require.Positive(t, runs[i].Checked)
				runs[i].Checked = 0
			}
			require.Equal(t, "command", runs[0].StartedBy)
			require.Equal(t, "ana@ops", runs[0].Starter)
			require.True(t, runs[0].DryRun)
			require.Zero(t, runs[0].Repaired)
			require.NotZero(t, runs[0].Left)
			require.NotZero(t, runs[1].Repaired)
			require.Equal(t, reconciliation{StartedBy: "schedule", Ended: true}, runs[2])

			type change struct{ Record, Was, Became, Paid, Payment string }
			read := func(verdict string) change {
				rows, err := b.db.Query(t.Context(), `SELECT coalesce(record, ''), coalesce(was->>'status', ''), coalesce(became->>'status', ''),
						coalesce(became->>'paid', ''), coalesce(was->>'paid', '')
					FROM payments.reconcile_findings WHERE verdict = $1 AND (local_id = $2 OR $1 <> 'repaired') ORDER BY id LIMIT 1`, verdict, id)
				require.NoError(t, err)
				all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[change])
				require.NoError(t, err)
				require.Len(t, all, 1)
				return all[0]
			}
			require.Equal(t, change{"subscription", "pending", "active", "4990", "0"}, read("repaired"))
			require.Empty(t, read("repairable").Became, "a dry run changes nothing")
		})
	}
}

// TestAReconciliationThatCannotAskSaysSo: its end is written down all the same, with what failed.
func TestAReconciliationThatCannotAskSaysSo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	idOf(b.expect(t, 201, http.MethodPost, "/gwa/subscribe", gwaCard(paymentstest.CardApproved)))
	ctx, cancel := context.WithCancel(t.Context())
	require.NoError(t, stages["gwa"](b).Faults.Plan(stage.Fault{
		Path: "/v", Kind: stage.FaultStatus, Status: 500, Times: manyTimes,
	}))
	_, err := b.service.Reconcile(ctx, payments.ReconcileOptions{Since: b.clock.Now().Add(-time.Hour)})
	require.Error(t, err)
	runs := reconciliations(t, b)
	require.True(t, runs[0].Ended)
	require.NotZero(t, runs[0].Failed)

	cancel()
	_, err = b.service.Reconcile(ctx, payments.ReconcileOptions{Since: b.clock.Now().Add(-time.Hour)})
	require.Error(t, err)
	require.Len(t, reconciliations(t, b), 1, "nothing began")
}
