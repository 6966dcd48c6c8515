package attacks

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app"
)

// hold locks tables until the test ends, by a connection that is none of the platform's.
func (p *platform) hold(tables string) {
	p.t.Helper()
	conn, err := pgx.Connect(p.t.Context(), p.db.Config().ConnString())
	require.NoError(p.t, err)
	_, err = conn.Exec(p.t.Context(), "BEGIN; LOCK TABLE "+tables)
	require.NoError(p.t, err)
	p.t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(p.t.Context())) })
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

// Thirty requests for a table that somebody holds keep everybody else waiting: with five
// connections they are told to come again, and all else goes on.
func TestALockedTableStopsEverythingElse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ table, route string }{
		"which every caller needs": {"accounts.users", "/customers"},
		"of the list alone":        {"catalog.videos", "/videos"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := attacked(t, unthrottled, func(c *app.Config) { c.MaxConns, c.DatabaseWait, c.LockWait = 5, time.Second, 2*time.Second })
			_, admin := p.admin()
			var all sync.WaitGroup
			for range 10 { // connections are open, as they are where there is load
				all.Go(func() { p.nobody.Get("/plans").Expect(http.StatusOK) })
			}
			all.Wait()
			p.hold(c.table)
			for range 30 {
				all.Go(func() {
					within(t, 2500*time.Millisecond, "a list", func() {
						a := admin.Get(c.route).Expect(http.StatusServiceUnavailable)
						require.Equal(t, "SERVICE_BUSY", a.Code())
						require.NotEmpty(t, a.Header.Get("Retry-After"))
					})
				})
			}
			for i := range 10 {
				all.Go(func() {
					within(t, 5*time.Second, "a webhook", func() {
						event := fmt.Sprintf(`{"id":"evt_busy%d","event":"PAYMENT_CONFIRMED","dateCreated":"2026-11-20 14:03:12","payment":{"object":"payment","id":"pay_busy%d","customer":"cus_1","subscription":"sub_1","value":49.9,"netValue":47.92,"billingType":"CREDIT_CARD","status":"CONFIRMED","confirmedDate":"2026-11-20","dueDate":"2026-11-20","deleted":false}}`, i, i)
						webhook(p.nobody, "gwa", "asaas-access-token", secretOfGateways, event).Expect(http.StatusOK)
					})
				})
			}
			for range 4 {
				within(t, 500*time.Millisecond, "health", func() { p.nobody.Get("/health").Expect(http.StatusOK) })
				p.nobody.Get("/config/payment-gateway").Expect(http.StatusOK)
				p.nobody.Get("/plans").Expect(http.StatusOK)
			}
			all.Wait()
		})
	}
}

// More requests at once than can be worked on wait for ever: beyond the number each is
// told to come again, while health and webhooks are answered.
func TestMoreRequestsThanCanBeWorkedOn(t *testing.T) {
	t.Parallel()
	p := attacked(t, unthrottled, func(c *app.Config) { c.InFlight, c.DatabaseWait, c.LockWait = 3, time.Minute, 2*time.Second })
	_, admin := p.admin()
	p.hold("accounts.users")
	var all sync.WaitGroup
	statuses := make(chan int, 12)
	for range 12 {
		all.Go(func() { statuses <- admin.Get("/customers").Status })
	}
	require.Eventually(t, func() bool { return len(statuses) >= 9 }, 20*time.Second, time.Millisecond, "nine are turned away at once")
	p.nobody.Get("/health").Expect(http.StatusOK)
	p.nobody.Post("/webhooks/gwa", "{}").Expect(http.StatusUnauthorized)
	all.Wait()
	for range 12 {
		require.Equal(t, http.StatusServiceUnavailable, <-statuses)
	}
	p.nobody.Get("/plans").Expect(http.StatusOK)
}
