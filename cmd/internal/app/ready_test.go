package app_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
	"marquee/modules/payments/paymentstest"
)

// readiness is what GET /readyz says.
type readiness struct {
	Status string
	Checks struct {
		Database struct{ Status string }
		Jobs     struct {
			Status string
			Oldest float64 `json:"oldest_ready_seconds"`
		}
		Gateways map[string]struct {
			Status, Breaker string
			FailingSince    *time.Time `json:"failing_since"`
			SuspectSince    *time.Time `json:"suspect_since"`
			LastWebhookAt   *time.Time `json:"last_webhook_at"`
		}
	}
}

// TestReadyzTellsOnWhatTheProcessStands: the age of the oldest job that waits, and what is known of the gateways, which
// make nobody send requests elsewhere.
func TestReadyzTellsOnWhatTheProcessStands(t *testing.T) {
	t.Parallel()
	p := platformtest.New(t)
	h := p.Handler()
	says := func(what string, is func(readiness) bool) {
		t.Helper()
		var said string
		require.Eventually(t, func() bool { // an answer stands for a second
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz", http.NoBody))
			require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
			said = w.Body.String()
			var r readiness
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &r), said)
			require.Equal(t, "ready", r.Status)
			require.Equal(t, "ok", r.Checks.Database.Status)
			require.Len(t, r.Checks.Gateways, 2)
			return is(r)
		}, time.Minute, 50*time.Millisecond, "%s", what)
	}
	says("nothing waits and both gateways are well", func(r readiness) bool {
		a, b := r.Checks.Gateways["gwa"], r.Checks.Gateways["gwb"]
		return r.Checks.Jobs.Status == "ok" && a.Status == "ok" && a.Breaker == "closed" && a.LastWebhookAt == nil &&
			b.Status == "ok" && b.LastWebhookAt == nil
	})

	ctx := t.Context()
	_, err := p.DB.Exec(ctx, `INSERT INTO jobs.river_job (kind, args, max_attempts, state, scheduled_at)
		VALUES ('test', '{}', 1, 'scheduled', now() + interval '1 day'), ('test', '{}', 1, 'retryable', now() - interval '1 hour')`)
	require.NoError(t, err)
	says("a job is late", func(r readiness) bool {
		return r.Checks.Jobs.Status == "late" && r.Checks.Jobs.Oldest >= 3600
	})

	_, err = p.DB.Exec(ctx, `UPDATE payments.gateway_state SET suspect_since = now() WHERE gateway = 'gwa';
		UPDATE payments.gateway_state SET failing_since = now(), suspect_since = now() WHERE gateway = 'gwb'`)
	require.NoError(t, err)
	p.Guest.With("asaas-access-token", paymentstest.GWAToken).Post("/webhooks/gwa", `{"id":"evt_ready&1",`+
		`"event":"PAYMENT_CREATED","dateCreated":"2031-03-03 12:00:00","payment":{"object":"payment","id":"pay_ready"}}`).
		Expect(http.StatusOK)
	says("one is suspect and has called, the other fails", func(r readiness) bool {
		a, b := r.Checks.Gateways["gwa"], r.Checks.Gateways["gwb"]
		return a.Status == "suspect" && a.Breaker == "closed" && a.SuspectSince != nil && a.LastWebhookAt != nil &&
			b.Status == "failing" && b.Breaker == "open" && b.FailingSince != nil && b.LastWebhookAt == nil
	})
	_, err = p.DB.Exec(ctx, `UPDATE payments.gateway_state SET suspect_since = NULL, failing_since = NULL;
		DELETE FROM jobs.river_job WHERE kind = 'test'`)
	require.NoError(t, err)
}
