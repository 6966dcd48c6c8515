package attacks

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app"
	"marquee/testutil/apitest"
)

// endSessions ends those of the platform, as a failover or an operator does.
func (p *platform) endSessions() (ended int) {
	p.T.Helper()
	require.NoError(p.T, p.DB.QueryRow(p.T.Context(), `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`).Scan(&ended))
	return ended
}

// Whose connection ends under a read gets the answer from another; nobody who reads gets 500.
func TestSessionsEndedUnderReaders(t *testing.T) {
	t.Parallel()
	p := attacked(t, unthrottled, func(c *app.Config) {
		c.Database.MaxConns, c.Database.Wait, c.Database.LockWait = 10, time.Minute, time.Minute
	})
	_, admin := p.NewAdmin()
	reads := strings.Fields("/plans /customers /videos /current-user /admin/finance/overview /config/payment-gateway")
	read := func(path string) *apitest.Response {
		a := admin.Get(path)
		if a.Status == http.StatusServiceUnavailable {
			require.Equal(t, "SERVICE_BUSY", a.Code())
			require.NotEmpty(t, a.Header.Get("Retry-After"))
		} else {
			require.Equal(t, http.StatusOK, a.Status, "%s: %s", path, a.Body)
		}
		return a
	}
	all := func() {
		var readers sync.WaitGroup
		for range 3 {
			for _, path := range reads {
				readers.Go(func() { read(path) })
			}
		}
		readers.Wait()
	}
	for range 5 {
		all() // which opens the connections
		require.Greater(t, p.endSessions(), 3)
		for _, path := range reads { // one by one: none ends under the second try
			read(path).Expect(http.StatusOK)
		}
	}
	for range 10 {
		ended := make(chan struct{})
		go func() { defer close(ended); p.endSessions() }()
		all()
		<-ended
	}
	require.NotContains(t, p.Logged(), `"msg":"request failed"`)
}

// Whose statement is cut off under a write is told that it is not known whether it was done.
func TestSessionsEndedUnderAWrite(t *testing.T) {
	t.Parallel()
	p := attacked(t, unthrottled, func(c *app.Config) { c.Database.Wait, c.Database.LockWait = time.Minute, time.Minute })
	_, admin := p.NewAdmin()
	release := p.hold("catalog.tags")
	defer release()
	answer := make(chan *apitest.Response, 1)
	go func() { answer <- admin.Post("/tags", []object{{"name": "late", "slug": "late"}}) }()
	waiting := `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
	require.Eventually(t, func() bool { return p.Count(waiting) > 0 }, time.Minute, time.Millisecond)
	p.Exec(strings.Replace(waiting, "count(*)", "pg_terminate_backend(pid)", 1))
	a := (<-answer).Expect(http.StatusServiceUnavailable)
	require.Empty(t, a.Code())
	require.NotEmpty(t, a.Header.Get("Retry-After"))
	release()
	admin.Post("/tags", []object{{"name": "late", "slug": "late"}}).Expect(http.StatusOK)
}
