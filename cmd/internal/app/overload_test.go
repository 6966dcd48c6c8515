package app

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
)

// overloaded is the platform with few connections while somebody holds a table.
func overloaded(t *testing.T, tables string) *world {
	t.Helper()
	w := newWorld(t, func(c *Config) { c.MaxConns, c.DatabaseWait, c.LockWait = 5, time.Second, 2*time.Second })
	w.hold(tables)
	return w
}

// hold locks tables until the test ends, by a connection that is none of the platform's.
func (w *world) hold(tables string) {
	w.t.Helper()
	taken, err := w.app.pool.Acquire(w.t.Context())
	require.NoError(w.t, err)
	conn := taken.Hijack()
	_, err = conn.Exec(w.t.Context(), "BEGIN; LOCK TABLE "+tables)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(w.t.Context())) })
}

// within calls f and fails when it takes longer.
func within(t *testing.T, limit time.Duration, what string, f func()) {
	t.Helper()
	began := time.Now()
	f()
	if took := time.Since(began); took > limit {
		t.Errorf("%s took %v, longer than %v", what, took, limit)
	}
}

// TestALockedTableStopsNothingElse: what asks for the table is told to come again, and
// all else goes on, with five connections.
func TestALockedTableStopsNothingElse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ table, route string }{
		"which every caller needs": {"accounts.users", "/customers"},
		"of the list alone":        {"catalog.videos", "/videos"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := overloaded(t, c.table)
			var all sync.WaitGroup
			for range 30 {
				all.Go(func() {
					within(t, 2500*time.Millisecond, "a list", func() {
						a := w.admin.Get(c.route).Expect(http.StatusServiceUnavailable)
						require.Equal(t, "SERVICE_BUSY", a.Code())
						require.NotEmpty(t, a.Header.Get("Retry-After"))
					})
				})
			}
			for i := range 10 {
				all.Go(func() {
					within(t, 5*time.Second, "a webhook", func() {
						body := fmt.Sprintf(`{"id":"evt_busy%d","event":"PAYMENT_CONFIRMED","dateCreated":"2026-11-20 14:03:12","payment":{"object":"payment","id":"pay_busy%d","customer":"cus_1","subscription":"sub_1","value":49.9,"netValue":47.92,"billingType":"CREDIT_CARD","status":"CONFIRMED","confirmedDate":"2026-11-20","dueDate":"2026-11-20","deleted":false}}`, i, i)
						w.nobody.With("asaas-access-token", paymentstest.GWAToken).Post("/webhooks/gwa", body).Expect(http.StatusOK)
					})
				})
			}
			for range 4 {
				within(t, 500*time.Millisecond, "health", func() { w.nobody.Get("/health").Expect(http.StatusOK) })
				w.nobody.Get("/config/payment-gateway").Expect(http.StatusOK)
				w.nobody.Get("/plans").Expect(http.StatusOK)
			}
			all.Wait()
			figures, err := w.app.metrics.Gather()
			require.NoError(t, err)
			for _, f := range figures {
				if f.GetName() == "marquee_http_busy_total" {
					require.NotEmpty(t, f.GetMetric())
				}
			}
		})
	}
}

// TestOnlySoManyRequestsAtOnce: beyond the number a request is told to come again, while
// health and webhooks are answered.
func TestOnlySoManyRequestsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.InFlight, c.DatabaseWait, c.LockWait = 3, time.Minute, 2*time.Second })
	w.hold("accounts.users")
	var all sync.WaitGroup
	statuses := make(chan int, 12)
	for range 12 {
		all.Go(func() { statuses <- w.admin.Get("/customers").Status })
	}
	require.Eventually(t, func() bool { return len(statuses) >= 9 }, 20*time.Second, time.Millisecond, "nine are turned away at once")
	w.nobody.Get("/health").Expect(http.StatusOK)
	w.nobody.Post("/webhooks/gwa", "{}").Expect(http.StatusUnauthorized)
	all.Wait()
	for range 12 {
		require.Equal(t, http.StatusServiceUnavailable, <-statuses)
	}
	w.nobody.Get("/plans").Expect(http.StatusOK)
}
