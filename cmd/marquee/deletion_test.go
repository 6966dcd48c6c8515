package main_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/testutil/pgtest"
	"marquee/testutil/soak"
)

// TestDeletingAnAccountWhileTheGatewayIsDownLong: the account is closed at once, and
// erased when the gateway is back and has confirmed.
func TestDeletingAnAccountWhileTheGatewayIsDownLong(t *testing.T) {
	soak.Long(t)
	t.Parallel()
	m := startDev(t, pgtest.DataDir(t))
	api, faults := m.URL+"/api/v1", m.Sandbox.GWB+"/_sandbox/faults"
	token := login(t, m, "customer")
	sub := expect(t, 200, http.MethodGet, api+"/customers/me/subscription", token,
		nil)["docs"].([]any)[0].(map[string]any)
	remote := m.Sandbox.GWB + "/v1/subscriptions/" + sub["gwb_subscription_id"].(string)
	data := expect(t, 200, http.MethodGet, api+"/customers/me/data", token, nil)
	require.Len(t, data["subscriptions"], 1)
	require.Len(t, data["payments"].(map[string]any)["settled"], 1)

	status, raw := call(t, http.MethodPost, faults, "", map[string]any{
		"kind": "status", "status": 503, "method": "DELETE", "path": strings.TrimPrefix(remote, m.Sandbox.GWB),
		"times": 1000,
	})
	require.Less(t, status, 300, "%s", raw)
	expect(t, 200, http.MethodDelete, api+"/customers/me", token, nil)
	expect(t, 403, http.MethodGet, api+"/customers/me", token, nil)
	db, err := pgxpool.New(t.Context(), m.DatabaseURL)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	count := func(sql string) (n int) {
		require.NoError(t, db.QueryRow(t.Context(), sql).Scan(&n))
		return n
	}
	eventually(t, "the job did not meet the gateway that is down", func() bool {
		return count(`SELECT count(*) FROM jobs.river_job WHERE kind = 'accounts_erase_customer' AND errors IS NOT NULL`) == 1
	})
	require.Equal(t, 1, count(`SELECT count(*) FROM accounts.deletions WHERE erased_at IS NULL`))
	status, raw = call(t, http.MethodDelete, faults, "", nil)
	require.Less(t, status, 300, "%s", raw)
	eventually(t, "the customer was not erased", func() bool {
		return count(`SELECT count(*) FROM accounts.deletions WHERE erased_at IS NOT NULL`) == 1
	})
	require.Zero(t, count(`SELECT count(*) FROM accounts.users WHERE email = 'customer@example.com'`))
	require.Equal(t, 1, count(`SELECT count(*) FROM subscriptions.subscriptions WHERE status = 'cancelled'`))
	require.Equal(t, 1, count(`SELECT count(*) FROM payments.payments`), "money records stay")
	requireInvariants(t, m.DatabaseURL)
}
