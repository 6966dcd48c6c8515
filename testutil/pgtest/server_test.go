package pgtest

import (
	"context"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
)

// process is another test process on the shared server, as far as the server can tell.
func process(t *testing.T) *server {
	t.Helper()
	srv, err := shared()
	require.NoError(t, err)
	s, err := openServer(t.Context(), srv.url)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = s.session.Close(context.Background())
		s.admin.Close()
	})
	return s
}

func (s *server) databases(t *testing.T, prefix string) int {
	t.Helper()
	var n int
	require.NoError(t, s.admin.QueryRow(t.Context(), "SELECT count(*) FROM pg_database WHERE starts_with(datname, $1)",
		prefix).Scan(&n))
	return n
}

// sweepUntilGone allows for the moment in which the server notices that a session has ended.
func (s *server) sweepUntilGone(t *testing.T, prefix string) {
	t.Helper()
	require.Eventually(t, func() bool {
		s.sweep(t.Context())
		return s.databases(t, prefix) == 0
	}, time.Minute, 10*time.Millisecond)
}

func TestDatabasesOfEndedProcessesAreSweptAndThoseOfTheLivingAreNot(t *testing.T) {
	t.Parallel()
	living, ended := process(t), process(t)
	for _, s := range []*server{living, ended} {
		for range 2 {
			_, err := s.clone(t.Context())
			require.NoError(t, err)
		}
	}
	require.NoError(t, ended.session.Close(t.Context()))

	living.sweepUntilGone(t, databasePrefix+ended.run)
	require.Equal(t, 2, living.databases(t, databasePrefix+living.run))
	require.Equal(t, 1, living.databases(t, living.template))
}

func TestAProcessOfVeryManyTestsClearsUpAfterItself(t *testing.T) {
	t.Parallel()
	s := process(t)
	running, err := s.clone(t.Context())
	require.NoError(t, err)
	ended, err := s.clone(t.Context())
	require.NoError(t, err)
	for range litter - 1 {
		s.finish(ended.name)
	}
	require.Equal(t, 1, s.databases(t, ended.name))
	s.finish(ended.name)
	require.Eventually(t, func() bool { return s.databases(t, ended.name) == 0 }, time.Minute, 10*time.Millisecond)
	require.Equal(t, 1, s.databases(t, running.name))
}

func TestATemplateHalfMadeByAKilledProcessIsMadeAgain(t *testing.T) {
	t.Parallel()
	s := process(t)
	s.template = templatePrefix + "half_" + s.run
	_, err := s.session.Exec(t.Context(), "SELECT pg_advisory_lock_shared($1)", lockKey(s.template))
	require.NoError(t, err)
	_, err = s.session.Exec(t.Context(), "CREATE DATABASE "+s.template)
	require.NoError(t, err)

	require.NoError(t, s.makeTemplate(t.Context(), s.template))
	_, err = s.clone(t.Context())
	require.NoError(t, err)
	var marked bool
	require.NoError(t, s.session.QueryRow(t.Context(),
		"SELECT datistemplate AND NOT datallowconn FROM pg_database WHERE datname = $1", s.template).Scan(&marked))
	require.True(t, marked)

	// Its name is no hash of migrations, so once nobody claims it, it goes.
	require.NoError(t, s.session.Close(t.Context()))
	s.sweepUntilGone(t, s.template)
}

func TestTheTemplatesNameFollowsTheMigrations(t *testing.T) {
	t.Parallel()
	hash := func(fsys fstest.MapFS) string {
		h, err := migrationsHash(fsys)
		require.NoError(t, err)
		return h
	}
	one := hash(fstest.MapFS{"00001_a.sql": {Data: []byte("SELECT 1")}})
	require.Equal(t, one, hash(fstest.MapFS{"00001_a.sql": {Data: []byte("SELECT 1")}, "embed.go": {}}))
	require.NotEqual(t, one, hash(fstest.MapFS{"00001_a.sql": {Data: []byte("SELECT 2")}}))
	require.NotEqual(t, one, hash(fstest.MapFS{"00001_b.sql": {Data: []byte("SELECT 1")}}))
}

func TestAConnectionThatIsNoURLIsRefused(t *testing.T) {
	t.Parallel()
	_, err := (&server{url: "host=localhost dbname=postgres"}).databaseURL("x")
	require.ErrorContains(t, err, "must be a URL")
	got, err := (&server{url: "postgres://u:p@h:1/postgres?sslmode=disable"}).databaseURL("x")
	require.NoError(t, err)
	require.Equal(t, "postgres://u:p@h:1/x?sslmode=disable", got)
}
