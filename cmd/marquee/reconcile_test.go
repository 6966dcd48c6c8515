package main_test

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReconcileRepairsWhatNoWebhookTold: the platform is away when a code is paid,
// and its webhook is lost.
func TestReconcileRepairsWhatNoWebhookTold(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	serving := o.serve("")
	token := o.login()
	status, raw, err := tryCall(http.MethodPost, o.api("/gwa/subscribe/pix"), token, map[string]any{"plan_id": "plus"})
	require.NoError(t, err)
	require.Equal(t, 201, status, "%s", raw)
	require.NoError(t, serving.command.Process.Signal(syscall.SIGTERM))
	<-serving.exited
	payments := o.listed(o.sandbox.GWAURL() + "/payments")
	require.Len(t, payments, 1)
	_, err = o.sandbox.GWA.Pay(payments[0].(map[string]any)["id"].(string))
	require.NoError(t, err)

	active := func() int { return o.count(`SELECT count(*) FROM subscriptions.subscriptions WHERE status = 'active'`) }
	report := o.reconcile("--since", "1h", "--dry-run", "--json")
	require.Contains(t, report, `"verdict": "repairable"`)
	var parsed struct {
		DryRun   bool `json:"dry_run"`
		Findings []struct {
			Kind   string
			Amount int `json:"amount_cents"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(report), &parsed))
	require.True(t, parsed.DryRun)
	require.Equal(t, "missed_payment", parsed.Findings[0].Kind)
	require.Positive(t, parsed.Findings[0].Amount)
	require.Zero(t, active())
	require.Contains(t, o.reconcile("--since", "1h", "--gateway", "gwb", "--apply"), "0 differences")
	require.Contains(t, o.reconcile("--since", "1h"), "repairable")
	require.Zero(t, active(), "without --apply it lists and changes nothing")
	o.exec(`UPDATE payments.database_marks SET mark = 'of the backup'`)
	applied := o.reconcile("--since", "1h", "--apply")
	require.Regexp(t,
		`(?ms)missed_payment +pay_\S+ +[0-9a-f]{24} +\d+\.\d\d +repairable.*^gwa +missed_payment +pay_\S+ +[0-9a-f]{24} +\d+\.\d\d +repaired`, applied, "lists, then repairs")
	require.Equal(t, 1, active())
	require.Equal(t, 1, o.count(`SELECT count(*) FROM payments.database_marks WHERE mark = payments.database_mark()`),
		"refunds go on")
	require.Contains(t, o.reconcile("--since", "1h"), "0 differences")
	requireInvariants(t, o.database)

	for _, since := range []string{"tomorrow", "-1h", "2999-01-01"} {
		c := exec.Command(build(t, "faultpoints"), "reconcile", "--since", since)
		c.Env = o.env
		out, err := c.CombinedOutput()
		require.Error(t, err, since)
		require.Contains(t, string(out), "--since", since)
	}
}

// TestAReconciliationThatIsKilledIsNotEnded: at the very repair; the next run does what it left, and ends.
func TestAReconciliationThatIsKilledIsNotEnded(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	serving := o.serve("")
	token := o.login()
	status, raw, err := tryCall(http.MethodPost, o.api("/gwb/subscribe/pix"), token, map[string]any{"plan_id": "plus"})
	require.NoError(t, err)
	require.Equal(t, 201, status, "%s", raw)
	require.NoError(t, serving.command.Process.Signal(syscall.SIGTERM))
	<-serving.exited
	intents := o.listed(o.sandbox.GWBURL() + "/v1/payment_intents")
	require.NoError(t, o.sandbox.GWB.PayPIX(intents[0].(map[string]any)["id"].(string)))

	c := exec.Command(build(t, "faultpoints"), "reconcile", "--since", "1h", "--apply")
	c.Env = append(o.env, "RECONCILE_PAUSE=0s", "FAULTPOINT=webhook.applied")
	require.Error(t, c.Run())
	runs := func(where string) int { return o.count(`SELECT count(*) FROM payments.reconcile_runs WHERE ` + where) }
	require.Equal(t, 1, runs("NOT dry_run AND ended_at IS NULL"))
	require.Equal(t, 1, runs("dry_run AND ended_at IS NOT NULL AND found > 0 AND starter LIKE '%@%'"))
	o.reconcile("--since", "1h", "--apply")
	require.Equal(t, 1, runs("NOT dry_run AND ended_at IS NOT NULL"))
	require.Equal(t, 1, runs("NOT dry_run AND ended_at IS NULL"), "it does not end for the one that died")
	require.Equal(t, 1, o.count(`SELECT count(*) FROM subscriptions.subscriptions WHERE status = 'active'`))
}

// reconcile runs the command and returns what it prints.
func (o *outside) reconcile(args ...string) string {
	o.t.Helper()
	c := exec.Command(build(o.t, "faultpoints"), append([]string{"reconcile"}, args...)...)
	c.Env = append(o.env, "RECONCILE_PAUSE=0s")
	out, err := c.Output()
	require.NoError(o.t, err, "%s", out)
	return string(out)
}
