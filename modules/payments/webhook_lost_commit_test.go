package payments_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/testutil/cleanup"
	"marquee/testutil/pgtest"
)

// losing is a connection that breaks once after the server has committed.
type losing struct {
	net.Conn
	armed *atomic.Bool
}

func (l losing) Write(p []byte) (int, error) {
	commits := bytes.Contains(p, []byte("commit")) && l.armed.CompareAndSwap(true, false)
	n, err := l.Conn.Write(p)
	if commits && err == nil {
		_, _ = l.Conn.Read(make([]byte, 1024)) // the server's answer: it has committed
		_ = l.Conn.Close()
		err = errors.New("the connection broke")
	}
	return n, err
}

// The delivery is told once more what became of its event, and is logged once.
func TestADeliveryWhoseCommitIsNotAnsweredIsNoFailure(t *testing.T) {
	t.Parallel()
	var armed atomic.Bool
	cfg := pgtest.DB(t).Config()
	dial := cfg.ConnConfig.DialFunc
	cfg.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		return losing{Conn: conn, armed: &armed}, err
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	cleanup.Add(t, pool.Close)
	b := setupOn(t, pool)
	armed.Store(true)
	res := b.deliver("gwa", sample(t, "gwa.PAYMENT_CONFIRMED.card-subscription"))
	require.False(t, armed.Load(), "nothing was committed")
	require.Equal(t, http.StatusOK, res.status, res.raw)
	require.Equal(t, gateway.ResultApplied, res.body.Result.Status)
	require.Equal(t, 1, b.count("SELECT count(*) FROM public.effects"))
	require.Equal(t, 1, b.count("SELECT count(*) FROM payments.webhook_logs WHERE processed"))
	require.Equal(t, 1, b.count("SELECT count(*) FROM payments.webhook_logs"))
}
