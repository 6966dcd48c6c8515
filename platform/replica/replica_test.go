package replica_test

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/platform/fault"
	"marquee/platform/postgres"
	"marquee/platform/replica"
	"marquee/testutil/pgtest"
	"marquee/testutil/secrettest"
	"marquee/testutil/soak"
)

// fixture is a set before a real cluster, with a table whose rows are counted.
type fixture struct {
	*replica.Set
	t       *testing.T
	cluster *pgtest.Cluster
	primary *pgxpool.Pool
	log     *secrettest.Log
}

func pool(t *testing.T, address string, conns int32) *pgxpool.Pool {
	t.Helper()
	p, err := postgres.NewPool(t.Context(), address, postgres.Options{MaxConns: conns, Lazy: true})
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p
}

// pools are those of a replica at an address.
func pools(t *testing.T, address string, conns int32) replica.Pools {
	t.Helper()
	reads := pool(t, address, conns)
	return replica.Pools{Address: "a replica", Reads: reads, Reset: reads.Reset, Watch: pool(t, address, 1)}
}

// newSet makes a further set before the cluster.
func newSet(t *testing.T, c *pgtest.Cluster, maxLag time.Duration, replicas ...string) *fixture {
	t.Helper()
	f := &fixture{t: t, cluster: c, primary: pool(t, c.URL(), 4), log: &secrettest.Log{}}
	cfg := replica.Config{
		Primary: f.primary, Watch: pool(t, c.URL(), 1), MaxLag: maxLag, Log: secrettest.Logger(t, f.log),
	}
	for _, address := range replicas {
		cfg.Replicas = append(cfg.Replicas, pools(t, address, 4))
	}
	f.Set = replica.New(cfg)
	t.Cleanup(f.Close)
	return f
}

// read counts the rows, and tells the port of who counted.
func (f *fixture) read(ctx context.Context) (rows, port int, err error) {
	err = f.Read(ctx, func(ctx context.Context, db postgres.Pool) error {
		return db.QueryRow(ctx, "SELECT count(*), inet_server_port() FROM things").Scan(&rows, &port)
	})
	return rows, port, err
}

func (f *fixture) states() (states []replica.State) {
	for _, s := range f.Standings() {
		states = append(states, s.State)
	}
	return states
}

// are waits until the replicas are so.
func (f *fixture) are(want ...replica.State) {
	f.t.Helper()
	require.Eventually(f.t, func() bool { return slices.Equal(want, f.states()) }, 2*time.Minute, 20*time.Millisecond, "%v", want)
}

// streams waits until the n-th replica gets its log of another one.
func (f *fixture) streams(n, other int) {
	f.t.Helper()
	follower, port := pool(f.t, f.cluster.ReplicaURL(n), 1), portOf(f.t, f.cluster.ReplicaURL(other))
	require.Eventually(f.t, func() bool {
		var from *int
		require.NoError(f.t, follower.QueryRow(f.t.Context(),
			"SELECT (SELECT sender_port FROM pg_stat_wal_receiver WHERE status = 'streaming')").Scan(&from))
		return from != nil && *from == port
	}, time.Minute, 20*time.Millisecond)
}

func (f *fixture) insert() {
	f.t.Helper()
	_, err := f.primary.Exec(f.t.Context(), "INSERT INTO things DEFAULT VALUES")
	require.NoError(f.t, err)
}

func (f *fixture) place() (place replica.LSN) {
	f.t.Helper()
	require.NoError(f.t, f.primary.QueryRow(f.t.Context(),
		"SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint").Scan(&place))
	return place
}

func portOf(t *testing.T, address string) int {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	port, err := strconv.Atoi(u.Port())
	require.NoError(t, err)
	return port
}

// as is a database's address for another role.
func as(t *testing.T, address, role, password string) string {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	u.User = url.UserPassword(role, password)
	return u.String()
}

// TestReplicasAreChosenGivenUpAndTakenBackLong: two that stream from a primary, paused, killed, frozen and started again; no
// read fails meanwhile, and who has written reads nothing older.
func TestReplicasAreChosenGivenUpAndTakenBackLong(t *testing.T) {
	t.Parallel()
	soak.Long(t)
	ctx, c := t.Context(), pgtest.Replicated(t, 2)
	primary, first, second := portOf(t, c.URL()), portOf(t, c.ReplicaURL(0)), portOf(t, c.ReplicaURL(1))
	patient := newSet(t, c, time.Hour, c.ReplicaURL(0), c.ReplicaURL(1))
	_, err := patient.primary.Exec(ctx, "CREATE TABLE things (id bigserial)")
	require.NoError(t, err)
	patient.insert()
	patient.are(replica.OK, replica.OK)
	asked := func(f *fixture, ports ...int) { // of the replicas these alone; the primary may be, on a slow machine
		t.Helper()
		seen := map[int]bool{}
		require.Eventually(t, func() bool {
			_, port, err := f.read(ctx)
			require.NoError(t, err)
			if port != primary {
				require.Contains(t, ports, port)
			}
			seen[port] = true
			return !slices.ContainsFunc(ports, func(port int) bool { return !seen[port] })
		}, time.Minute, time.Millisecond, "%v", ports)
	}
	require.Eventually(t, func() bool { // the table has come
		rows, port, err := patient.read(ctx)
		require.NoError(t, err)
		return rows == 1 && port != primary
	}, time.Minute, 10*time.Millisecond)
	asked(patient, first, second)

	c.Pause(0)
	c.Pause(1)
	patient.insert()
	written := patient.place()
	require.Eventually(t, func() bool {
		rows, _, err := patient.read(ctx)
		require.NoError(t, err)
		return rows == 1
	}, time.Minute, 5*time.Millisecond, "others may be told what was")
	for range 20 {
		rows, port, err := patient.read(replica.After(ctx, written))
		require.NoError(t, err)
		require.Equal(t, 2, rows, "who has written is told what is")
		require.Equal(t, primary, port)
	}
	c.Resume(1)
	require.Eventually(t, func() bool {
		rows, port, err := patient.read(replica.After(ctx, written))
		require.NoError(t, err)
		require.Equal(t, 2, rows)
		return port == second
	}, time.Minute, 10*time.Millisecond, "the one that has caught up answers those who have written")
	fresh, err := patient.CatchUp(ctx)
	require.NoError(t, err)
	_, port, err := patient.read(fresh)
	require.NoError(t, err)
	require.NotEqual(t, first, port)

	hasty := newSet(t, c, time.Second, c.ReplicaURL(0), c.ReplicaURL(1))
	require.Eventually(t, func() bool { // the primary has written since
		rows, _, err := hasty.read(ctx)
		require.NoError(t, err)
		require.Equal(t, 2, rows, "one that was behind already when the process began is not read before that is known")
		return slices.Equal([]replica.State{replica.Lagging, replica.OK}, hasty.states())
	}, time.Minute, time.Millisecond)
	asked(hasty, second)
	c.Resume(0)
	hasty.are(replica.OK, replica.OK)
	asked(hasty, first, second)

	stop, failed := hasty.readOn(ctx)
	c.Kill(0)
	hasty.are(replica.Away, replica.OK)
	asked(hasty, second)
	c.Freeze(1)
	hasty.are(replica.Away, replica.Away)
	asked(hasty, primary)
	c.Thaw(1)
	hasty.are(replica.Away, replica.OK)
	c.Start(0)
	hasty.are(replica.OK, replica.OK)
	asked(hasty, first, second)
	stop()
	require.Empty(t, failed(), "no read fails while the primary lives")
}

// readOn reads without a pause until stop is called, and tells what failed.
func (f *fixture) readOn(ctx context.Context) (stop func(), failed func() []error) {
	ctx, cancel := context.WithCancel(ctx)
	var readers sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	for range 4 {
		readers.Go(func() {
			for ctx.Err() == nil {
				if _, _, err := f.read(context.WithoutCancel(ctx)); err != nil {
					mu.Lock()
					errs = append(errs, err)
					mu.Unlock()
				}
			}
		})
	}
	return func() { cancel(); readers.Wait() }, func() []error { return errs }
}

// TestWhatIsNoReplicaIsNotRead: another database, and a server that is not there; the primary itself may be named.
func TestWhatIsNoReplicaIsNotRead(t *testing.T) {
	t.Parallel()
	ctx, address, other := t.Context(), pgtest.URL(t), pgtest.URL(t)
	primary := pool(t, address, 2)
	cfg := replica.Config{Primary: primary, Watch: pool(t, address, 1), MaxLag: time.Minute, Log: secrettest.Logger(t)}
	for _, at := range []string{other, "postgres://127.0.0.1:1/marquee", address} {
		cfg.Replicas = append(cfg.Replicas, pools(t, at, 1))
	}
	set := replica.New(cfg)
	t.Cleanup(set.Close)
	f := &fixture{Set: set, t: t}
	f.are(replica.Away, replica.Away, replica.OK)

	calls := 0
	failing := func(err error) error {
		calls = 0
		return set.Read(ctx, func(context.Context, postgres.Pool) error { calls++; return err })
	}
	odd, missing, refused := errors.New("odd"), fault.NotFound("Thing"), fault.InvalidAt("is wrong", "query", "sort")
	require.ErrorIs(t, failing(odd), odd)
	require.Equal(t, 2, calls, "the primary is asked as well")
	require.ErrorIs(t, failing(missing), missing)
	require.Equal(t, 2, calls, "also for what is not there")
	require.ErrorIs(t, failing(refused), refused)
	require.Equal(t, 1, calls)
	require.Equal(t, odd, failing(replica.Final(odd)))
	require.Equal(t, 1, calls)
	require.Equal(t, odd, replica.Only(primary).Read(ctx, func(context.Context, postgres.Pool) error { return replica.Final(odd) }))
	f.are(replica.Away, replica.Away, replica.OK)
}
