package finance_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/finance"
	"marquee/platform/replica"
	"marquee/testutil/secrettest"
	"marquee/testutil/soak"
)

// breaking are connections of which all break once so many more bytes have been read from them.
type breaking struct {
	left  atomic.Int64
	armed atomic.Bool
	broke atomic.Int64
}

type breakingConn struct {
	net.Conn
	by *breaking
}

func (c breakingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.by.armed.Load() && c.by.left.Add(int64(-n)) < 0 {
		c.by.broke.Add(1)
		_ = c.Close()
		return 0, errors.New("the connection was cut")
	}
	return n, err
}

// behindBreaking is a database whose replica, which is itself, breaks off.
func behindBreaking(t *testing.T, by *breaking) func(*finance.Deps) {
	t.Helper()
	return func(d *finance.Deps) {
		primary := d.Pool.(*pgxpool.Pool)
		cfg := primary.Config().Copy()
		dial := cfg.ConnConfig.DialFunc
		cfg.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dial(ctx, network, addr)
			return breakingConn{conn, by}, err
		}
		reads, err := pgxpool.NewWithConfig(t.Context(), cfg)
		require.NoError(t, err)
		t.Cleanup(reads.Close)
		d.Reads = replica.New(replica.Config{
			Primary: primary, Watch: primary, MaxLag: time.Hour, Log: secrettest.Logger(t),
			Replicas: []replica.Pools{{Address: "a replica", Reads: reads, Reset: reads.Reset, Watch: primary}},
		})
		t.Cleanup(d.Reads.Close)
		require.Eventually(t, func() bool { return d.Reads.Standings()[0].State == replica.OK }, time.Minute,
			5*time.Millisecond)
	}
}

// TestAReplicaBreaksReportsAndExportsOffLong: wherever it does, the primary answers, with each row once.
func TestAReplicaBreaksReportsAndExportsOffLong(t *testing.T) {
	t.Parallel()
	soak.Long(t)
	var by breaking
	var reads *replica.Set
	b := setup(t, behindBreaking(t, &by), func(d *finance.Deps) { reads = d.Reads })
	b.customers(2000)
	b.work()
	for path, bytes := range map[string][]int64{
		"/admin/customers/export?format=json":               {0, 1000, 50_000, 200_000},
		"/admin/customers/export?format=csv":                {50_000},
		"/admin/finance/export?format=json":                 {500},
		"/admin/finance/churn":                              {0, 300},
		"/admin/finance/revenue?period=daily":               {0, 300, 500},
		"/admin/finance/overview":                           {300},
		"/admin/subscriptions/dashboard":                    {300},
		"/admin/events-dashboard/overview":                  {0},
		"/admin/customers/360?_id=00000000000000000000007f": {300},
	} {
		by.armed.Store(false)
		whole := b.admin.Get(path)
		for _, after := range bytes {
			broke := by.broke.Load()
			by.left.Store(after)
			by.armed.Store(true)
			got := b.admin.Get(path)
			by.armed.Store(false)
			require.Greater(t, by.broke.Load(), broke, "%s after %d bytes", path, after)
			require.Equal(t, whole.Status, got.Status, "%s after %d bytes", path, after)
			require.Equal(t, string(whole.Body), string(got.Body), "%s after %d bytes", path, after)
			require.Eventually(t, func() bool { return reads.Standings()[0].State == replica.OK }, time.Minute,
				5*time.Millisecond, "it is taken back")
		}
	}

	by.left.Store(100_000)
	by.armed.Store(true)
	broke := by.broke.Load()
	state := b.admin.Get("/admin/customers/export?format=json&async=1").Expect(http.StatusAccepted).Map()
	require.Eventually(t, func() bool { return by.broke.Load() > broke }, time.Minute, time.Millisecond)
	by.armed.Store(false)
	done := b.until(state["_id"].(string), "done")
	file := b.admin.Get(path(t, done["download_url"])).Expect(http.StatusOK)
	require.Equal(t, string(b.admin.Get("/admin/customers/export?format=json").Body), string(file.Body))
}
