package replica_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/platform/postgres"
	"marquee/platform/replica"
	"marquee/testutil/pgbouncer"
	"marquee/testutil/pgtest"
	"marquee/testutil/secrettest"
	"marquee/testutil/soak"
)

// slowThere counts the rows, and takes a minute for it on a replica.
const slowThere = `SELECT count(*), min(inet_server_port()) FROM things,
	LATERAL (SELECT pg_sleep(CASE WHEN pg_is_in_recovery() THEN 60 ELSE 0 END) AS slept OFFSET 0) AS s`

// brokenOff reads on a replica, has something happen to it once it reads, and returns who has answered.
func (f *fixture) brokenOff(number int, happens func()) (port int) {
	f.t.Helper()
	ended := make(chan error, 1)
	go func() {
		ended <- f.Read(context.WithoutCancel(f.t.Context()), func(ctx context.Context, db postgres.Pool) error {
			var rows int
			return db.QueryRow(ctx, slowThere).Scan(&rows, &port)
		})
	}()
	conn, err := pgx.Connect(f.t.Context(), f.cluster.ReplicaURL(number))
	require.NoError(f.t, err)
	require.Eventually(f.t, func() (reads bool) {
		require.NoError(f.t, conn.QueryRow(f.t.Context(),
			"SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep')").Scan(&reads))
		return reads
	}, time.Minute, 5*time.Millisecond)
	require.NoError(f.t, conn.Close(f.t.Context()))
	happens()
	select {
	case err := <-ended:
		require.NoError(f.t, err, "no read fails while the primary lives")
	case <-time.After(50 * time.Second):
		require.Fail(f.t, "the read waits for the replica")
	}
	return port
}

// TestReadsThatAReplicaBreaksOffLong are answered by the primary: those in the way of the log's replay, those of a replica
// that is killed, and those of one that hangs.
func TestReadsThatAReplicaBreaksOffLong(t *testing.T) {
	t.Parallel()
	soak.Long(t)
	c := pgtest.Replicated(t, 1)
	primary := portOf(t, c.URL())
	f := newSet(t, c, time.Hour, c.ReplicaURL(0))
	_, err := f.primary.Exec(t.Context(), "CREATE TABLE things (id bigserial)")
	require.NoError(t, err)
	f.insert()
	served := func() {
		t.Helper()
		f.are(replica.OK)
		require.Eventually(t, func() bool {
			rows, port, err := f.read(t.Context())
			require.NoError(t, err)
			return rows == 1 && port != primary
		}, time.Minute, 5*time.Millisecond)
	}
	served()
	require.Equal(t, primary, f.brokenOff(0, func() { // its replay takes the lock, which the read has a part of
		_, err := f.primary.Exec(t.Context(), "BEGIN; LOCK things IN ACCESS EXCLUSIVE MODE; COMMIT")
		require.NoError(t, err)
	}))
	require.Equal(t, []replica.State{replica.OK}, f.states(), "one read in the way is no reason to give it up")
	served()
	require.Equal(t, primary, f.brokenOff(0, func() { c.Kill(0) }))
	f.are(replica.Away)
	c.Start(0)
	served()
	require.Equal(t, primary, f.brokenOff(0, func() { c.Freeze(0) }))
	f.are(replica.Away)
	c.Thaw(0)
	served()
}

// TestAReplicaThatIsNoneAnyMoreLong is not read: one that was promoted and has rows of its own, and one that follows it.
func TestAReplicaThatIsNoneAnyMoreLong(t *testing.T) {
	t.Parallel()
	soak.Long(t)
	c := pgtest.Replicated(t, 2)
	f := newSet(t, c, time.Hour, c.ReplicaURL(0), c.ReplicaURL(1))
	_, err := f.primary.Exec(t.Context(), "CREATE TABLE things (id bigserial)")
	require.NoError(t, err)
	f.are(replica.OK, replica.OK)
	stop, failed := f.readOn(t.Context())

	c.StreamFrom(1, 0) // before that is promoted: what has more than it had then can follow it no more
	f.streams(1, 0)
	f.are(replica.OK, replica.OK)
	c.Promote(0)
	promoted := pool(t, c.ReplicaURL(0), 1)
	_, err = promoted.Exec(t.Context(), "INSERT INTO things SELECT FROM generate_series(1, 10)")
	require.NoError(t, err)
	f.are(replica.Away, replica.Away)
	follower := pool(t, c.ReplicaURL(1), 1)
	require.Eventually(t, func() bool {
		var rows int
		require.NoError(t, follower.QueryRow(t.Context(), "SELECT count(*) FROM things").Scan(&rows))
		return rows == 10
	}, time.Minute, 20*time.Millisecond, "it follows")
	for range 20 {
		rows, port, err := f.read(t.Context())
		require.NoError(t, err)
		require.Zero(t, rows)
		require.Equal(t, portOf(t, c.URL()), port)
	}
	again := newSet(t, c, time.Hour, c.ReplicaURL(0), c.ReplicaURL(1)) // another process, which never saw them right
	require.Eventually(t, func() bool {
		rows, _, err := again.read(t.Context())
		require.NoError(t, err)
		require.Zero(t, rows)
		return strings.Contains(again.log.String(), "it is a primary of its own") &&
			strings.Contains(again.log.String(), "it follows another primary")
	}, time.Minute, 5*time.Millisecond)
	stop()
	require.Empty(t, failed(), "no read fails while the primary lives")
}

// TestACopyThatRunsByItselfIsNotReadLong: it is of the primary's system, database and timeline, and hears nothing more of it.
func TestACopyThatRunsByItselfIsNotReadLong(t *testing.T) {
	t.Parallel()
	soak.Long(t)
	c := pgtest.Replicated(t, 1)
	c.Detach(0)
	f := newSet(t, c, time.Hour, c.ReplicaURL(0), c.URL())
	_, err := f.primary.Exec(t.Context(), "CREATE TABLE things (id bigserial)")
	require.NoError(t, err)
	f.are(replica.Away, replica.OK) // the primary is no worse than a replica of it
	require.Eventually(t, func() bool { return strings.Contains(f.log.String(), "it is a primary of its own") }, time.Minute,
		5*time.Millisecond)
	for range 20 {
		f.insert()
		_, port, err := f.read(t.Context())
		require.NoError(t, err)
		require.Equal(t, portOf(t, c.URL()), port)
	}
}

// TestReplicasBehindAPoolerLong: a role without rights reads behind PgBouncer as it does without, with the limits of each
// statement.
func TestReplicasBehindAPoolerLong(t *testing.T) {
	t.Parallel()
	soak.Long(t)
	c := pgtest.Replicated(t, 1)
	primary := portOf(t, c.URL())
	direct := pool(t, c.URL(), 1)
	_, err := direct.Exec(t.Context(), "CREATE TABLE things (id bigserial); INSERT INTO things DEFAULT VALUES;"+
		"CREATE ROLE reader LOGIN PASSWORD 'reader'; GRANT SELECT ON things TO reader")
	require.NoError(t, err)
	behind := pool(t, c.ReplicaURL(0), 1)
	require.Eventually(t, func() (there bool) {
		require.NoError(t, behind.QueryRow(t.Context(),
			"SELECT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'reader')").Scan(&there))
		return there
	}, time.Minute, 5*time.Millisecond, "the replica has the role to sign in with")
	pgbouncer.Each(t, func(t *testing.T, program pgbouncer.Program) {
		open := func(t *testing.T, address string) (postgres.Pool, func()) {
			t.Helper()
			address = program.Start(t, as(t, address, "reader", "reader"))
			pooler, err := postgres.FindPooler(t.Context(), address)
			require.NoError(t, err)
			require.NotEqual(t, postgres.NoPooler, pooler)
			o := postgres.Options{MaxConns: 2, Pooler: pooler, Lazy: true, StatementTimeout: time.Second}
			pool, err := postgres.NewPool(t.Context(), address, o)
			require.NoError(t, err)
			t.Cleanup(pool.Close)
			return postgres.Limited(pool, o), pool.Reset
		}
		main, _ := open(t, c.URL())
		reads, reset := open(t, c.ReplicaURL(0))
		set := replica.New(replica.Config{
			Primary: main, Watch: main, MaxLag: time.Hour, Log: secrettest.Logger(t),
			Replicas: []replica.Pools{{Address: "a replica", Reads: reads, Reset: reset, Watch: reads}},
		})
		t.Cleanup(set.Close)
		f := &fixture{Set: set, t: t}
		f.are(replica.OK)
		require.Eventually(t, func() bool {
			rows, port, err := f.read(t.Context())
			require.NoError(t, err)
			return rows == 1 && port != primary
		}, time.Minute, 5*time.Millisecond)
		err := set.Read(t.Context(), func(ctx context.Context, db postgres.Pool) error {
			_, err := db.Exec(ctx, "SELECT pg_sleep(60) WHERE $1", true)
			return err
		})
		require.True(t, postgres.IsTimeout(err), "%v", err)
		f.are(replica.OK)
	})
}
