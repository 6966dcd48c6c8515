package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
	"marquee/testutil/pgtest"
	"marquee/testutil/sandbox/stage"
)

// TestWhatWasNotKnownForADayIsDecidedByItsAnswer: a subscribe and the end of another one, in
// an outage of more than a day. People see one row of each, which closes with the answer,
// and opens again when the same subscription is not known once more.
func TestWhatWasNotKnownForADayIsDecidedByItsAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	faults := b.gateways.Sandbox.GWB.Stage().Faults
	silent := func() {
		require.NoError(t, faults.Plan(stage.Fault{
			Path: "/v1", Kind: stage.FaultStatus, Status: 500, Times: 100 * manyTimes,
		}))
	}
	row := func(id objectid.ID) string {
		return b.text(t,
			`SELECT concat_ws(' ', state, kind, subscription_id, note) FROM payments.unapplied_payments WHERE subject = $1`, id)
	}
	day := func() {
		b.clock.Advance(25 * time.Hour)
		b.runDueStatusChecks(t)
	}
	ended := idOf(b.expect(t, 201, http.MethodPost, "/gwb/subscribe/pix", object{"plan_id": plan}))
	silent()
	b.expect(t, 200, http.MethodDelete, subscriptionPath, nil)
	_ = b.service.EndAtGateway(t.Context(), ended) // its job
	faults.Clear()
	lose(t, b.gateways.Sandbox.GWB.Stage(), stage.FaultResetBefore, "/v1/subscriptions")
	begun := idOf(b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenApproved)))
	faults.Clear()
	silent()
	day()
	require.Contains(t, row(begun),
		"open unknown "+begun.String()+" The gateway has given no usable answer about this subscription since ")
	require.Contains(t, row(ended),
		"open unknown "+ended.String()+" The gateway has given no usable answer about this end since ")

	faults.Clear()
	b.runStatusChecks(t, 20*time.Minute)
	require.Equal(t, "cancelled", b.status(t, begun))
	outcome := ": nothing of it is at the gateway (the gateway said so when it was asked)."
	require.Contains(t, row(begun),
		"kept unknown "+begun.String()+" This subscription was answered at "+
			b.text(t,
				"SELECT to_char(ended_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') FROM payments.intents WHERE subject_id = $1", begun)+outcome)
	require.Contains(t, row(ended), "kept unknown "+ended.String()+" This end was answered at ")
	require.Equal(t, 2, b.count(t,
		"SELECT count(*) FROM payments.unapplied_decisions WHERE to_state = 'kept' AND source = 'platform'"))
	require.Equal(t, 2, b.count(t, "SELECT count(*) FROM accounts.audit_log WHERE resource = 'unapplied-payments'"))
	require.Zero(t, b.count(t, "SELECT count(*) FROM payments.unapplied_payments WHERE state = 'open'"))
	pgtest.RequireInvariants(t, b.db, b.clock.Now())

	b.set(t, ended, "gateway_ended_at = NULL")
	silent()
	_ = b.service.EndAtGateway(t.Context(), ended)
	day()
	require.Contains(t, row(ended),
		"open unknown "+ended.String()+" The gateway has given no usable answer about this end since ")
	_, err := b.db.Exec(t.Context(),
		"UPDATE payments.intents SET state = 'done', ended_at = now(), next_look_at = NULL, leased_until = NULL WHERE state = 'open'")
	require.NoError(t, err)
	b.refundUnapplied(t) // what an earlier release left open
	require.Contains(t, row(ended), "kept unknown")
}
