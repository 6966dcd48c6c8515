package app_test

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
)

// TestRefusedWebhooksAreCountedBehindALock: what stands behind a lock is written when it
// is gone, though no other call comes, and before the process ends.
func TestRefusedWebhooksAreCountedBehindALock(t *testing.T) {
	t.Parallel()
	a := platformtest.New(t)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- a.ServeAPI(ctx, listener) }()

	count := func() (n int) {
		require.NoError(t, a.DB.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM payments.refused_webhooks)
			+ (SELECT coalesce(sum(calls), 0) FROM payments.refused_webhook_counts)`).Scan(&n))
		return n
	}
	refusedBehindALock := func() (release func()) {
		tx, err := a.DB.Begin(t.Context())
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), "LOCK payments.refused_webhook_counts")
		require.NoError(t, err)
		var calls sync.WaitGroup
		for range 22 {
			calls.Go(func() {
				a.Guest.With("asaas-access-token", "guess").Send(http.MethodPost, "/webhooks/gwa", "application/json",
					[]byte("{}")).Expect(401)
			})
		}
		calls.Wait()
		return func() { require.NoError(t, tx.Rollback(t.Context())) }
	}
	refusedBehindALock()()
	require.Eventually(t, func() bool { return count() == 22 }, time.Minute, 20*time.Millisecond)

	release := refusedBehindALock()
	stop()
	release()
	require.NoError(t, <-served)
	require.Equal(t, 44, count())
}
