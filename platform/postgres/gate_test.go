package postgres_test

import (
	"context"
	"io"
	"net"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/platform/postgres"
	"marquee/testutil/pgtest"
)

// narrow is a pool of five connections, two of which are kept.
func narrow(t *testing.T, wait time.Duration, tracer ...pgx.QueryTracer) *pgxpool.Pool {
	t.Helper()
	o := postgres.Options{
		MaxConns: 5, Gate: &postgres.Gate{Wait: wait, LockWait: 200 * time.Millisecond, Reserve: true},
	}
	if len(tracer) > 0 {
		o.Tracer = tracer[0]
	}
	pool, err := postgres.NewPool(t.Context(), pgtest.URL(t), o)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// take acquires until nothing is free, and returns how many there were. The first is tried for again: opening one may
// take longer than it may be waited for.
func take(t *testing.T, pool *pgxpool.Pool, class postgres.Class, share string) (n int, release func()) {
	t.Helper()
	var taken []*pgxpool.Conn
	for try := 0; ; try++ {
		ctx, cancel := postgres.As(t.Context(), class, share), func() {}
		if class == postgres.Brief {
			ctx, cancel = context.WithTimeout(ctx, 2*time.Second)
		}
		conn, err := pool.Acquire(ctx)
		if err != nil {
			cancel()
			if len(taken) == 0 && try < 20 {
				continue
			}
			if class == postgres.Brief {
				require.ErrorIs(t, err, context.DeadlineExceeded, "it waits as long as its context lets it")
			} else {
				require.ErrorIs(t, err, postgres.ErrBusy)
				require.True(t, postgres.IsBusy(err))
				require.False(t, postgres.IsTimeout(err), "nothing was too expensive")
			}
			break
		}
		t.Cleanup(cancel)
		taken = append(taken, conn)
	}
	release = func() {
		for _, conn := range taken {
			conn.Release()
		}
	}
	t.Cleanup(release) // or the pool would not close after a failure
	return len(taken), release
}

// counted counts statements.
type counted struct{ statements atomic.Int32 }

func (c *counted) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.statements.Add(1)
	return ctx
}

func (*counted) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TestATracerStandsBesideTheGate: it hears of statements, and the gate bounds what it bounds without.
func TestATracerStandsBesideTheGate(t *testing.T) {
	t.Parallel()
	var tracer counted
	pool := narrow(t, 500*time.Millisecond, &tracer)
	before := tracer.statements.Load() // what a session begins with
	_, err := pool.Exec(t.Context(), "SELECT 1")
	require.NoError(t, err)
	require.Greater(t, tracer.statements.Load(), before)
	requireShares(t, pool)
}

func TestReserveAndSharesOfAPool(t *testing.T) {
	t.Parallel()
	requireShares(t, narrow(t, 500*time.Millisecond))
}

// requireShares: a narrow pool keeps to its shares and its reserve.
func requireShares(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	for range 2 { // the second time with what the first has given back
		one, releaseOne := take(t, pool, postgres.Request, "one route")
		require.Equal(t, 1, one, "a route leaves some to the others")
		job, releaseJob := take(t, pool, postgres.Request, "jobs")
		require.Equal(t, 1, job)
		events, releaseEvents := take(t, pool, postgres.Urgent, "events")
		require.Equal(t, 1, events, "they leave one to tokens")
		tokens, releaseTokens := take(t, pool, postgres.Urgent, "tokens")
		require.Equal(t, 1, tokens)
		releaseTokens()
		other, releaseOther := take(t, pool, postgres.Request, "another")
		require.Equal(t, 1, other, "all of these may stand behind one lock")
		brief, releaseBrief := take(t, pool, postgres.Brief, "")
		require.Equal(t, 1, brief)
		for _, release := range []func(){releaseOne, releaseJob, releaseOther, releaseEvents, releaseBrief} {
			release()
		}
	}
}

// TestNothingOfAPoolIsLost: whoever gives up, at whatever moment, takes nothing along.
func TestNothingOfAPoolIsLost(t *testing.T) {
	t.Parallel()
	pool := narrow(t, 500*time.Millisecond)
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(postgres.As(t.Context(), postgres.Class(1+i%4), "a"),
				time.Duration(i)*time.Millisecond)
			defer cancel()
			_, _ = pool.Exec(ctx, "SELECT pg_sleep(0.01)")
		})
	}
	all.Wait()
	n, release := take(t, pool, postgres.Request, "a")
	require.Equal(t, 1, n)
	release()
}

func TestWhoWaitsForLocks(t *testing.T) {
	t.Parallel()
	pool := narrow(t, time.Minute)
	_, err := pool.Exec(t.Context(), "CREATE TABLE platform.held (id int)")
	require.NoError(t, err)
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	defer tx.Rollback(context.WithoutCancel(t.Context())) //nolint:errcheck // nothing was written
	_, err = tx.Exec(t.Context(), "LOCK TABLE platform.held")
	require.NoError(t, err)
	for _, class := range []postgres.Class{postgres.Request, postgres.Urgent, postgres.Brief} {
		_, err = pool.Exec(postgres.As(t.Context(), class, "a"), "SELECT FROM platform.held")
		require.True(t, postgres.IsLocked(err) && postgres.IsBusy(err), "%v", err)
		require.False(t, postgres.IsTimeout(err))
	}
	patient := postgres.As(t.Context(), postgres.Request, "a")
	postgres.BePatient(context.WithoutCancel(patient))
	for name, c := range map[string]struct {
		ctx  context.Context
		wait string
	}{
		"a request": {postgres.As(t.Context(), postgres.Request, "a"), "200ms"},
		"a request that has to write down what it did": {patient, "0"},
		"a job":     {postgres.As(t.Context(), postgres.Job, "jobs"), "0"},
		"a command": {t.Context(), "0"},
	} {
		var wait string
		require.NoError(t, pool.QueryRow(c.ctx, "SHOW lock_timeout").Scan(&wait), name)
		require.Equal(t, c.wait, wait, name)
	}
}

// TestBusyWhileAConnectionIsPrepared: the time may be over while the new holder's lock_timeout is being set.
func TestBusyWhileAConnectionIsPrepared(t *testing.T) {
	t.Parallel()
	config, err := pgx.ParseConfig(pgtest.URL(t))
	require.NoError(t, err)
	between, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = between.Close() })
	var silent atomic.Bool
	go func() {
		for {
			client, err := between.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port))))
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(client, server) }()
			go func() {
				defer server.Close()
				for piece := make([]byte, 4096); ; {
					n, err := client.Read(piece)
					if err != nil {
						return
					}
					if !silent.Load() {
						_, _ = server.Write(piece[:n])
					}
				}
			}()
		}
	}()
	address, err := url.Parse(config.ConnString())
	require.NoError(t, err)
	address.Host = between.Addr().String()
	pool, err := postgres.NewPool(t.Context(), address.String(), postgres.Options{
		MaxConns: 1, Gate: &postgres.Gate{Wait: 300 * time.Millisecond, LockWait: time.Second},
	})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	_, err = pool.Exec(postgres.As(t.Context(), postgres.Job, "jobs"), "SELECT 1")
	require.NoError(t, err)
	silent.Store(true)
	_, err = pool.Exec(postgres.As(t.Context(), postgres.Request, "a route"), "SELECT 1")
	require.ErrorIs(t, err, postgres.ErrBusy)
}

// A server that ends its sessions ends them all: whoever has met one that is dead is given no other.
func TestOneDeadConnectionIsEnough(t *testing.T) {
	t.Parallel()
	pool := narrow(t, time.Minute)
	ctx := postgres.As(t.Context(), postgres.Request, "test")
	conns := make([]*pgxpool.Conn, 2)
	for i := range conns {
		var err error
		conns[i], err = pool.Acquire(postgres.As(t.Context(), postgres.Request, strconv.Itoa(i)))
		require.NoError(t, err)
	}
	for _, conn := range conns {
		conn.Release()
	}
	other, err := pgx.Connect(t.Context(), pool.Config().ConnString())
	require.NoError(t, err)
	defer func() { _ = other.Close(context.WithoutCancel(t.Context())) }()
	const end = `SELECT count(pg_terminate_backend(pid, 60000)) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`
	var ended int
	require.NoError(t, other.QueryRow(t.Context(), end).Scan(&ended))
	require.GreaterOrEqual(t, ended, 2)
	met := 0 // none where the machine is slow: the pool asks those who have been idle for a second itself
	for range conns {
		if _, err := pool.Exec(ctx, "SELECT 1"); err != nil {
			require.True(t, postgres.IsGone(err), "%v", err)
			met++
		}
	}
	require.LessOrEqual(t, met, 1)
}
