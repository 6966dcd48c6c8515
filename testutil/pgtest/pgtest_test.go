package pgtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/testutil/pgtest"
)

func TestEveryTestHasAMigratedDatabaseOfItsOwn(t *testing.T) {
	t.Parallel()
	for range 3 {
		began := time.Now()
		db := pgtest.DB(t)
		t.Logf("database in %s", time.Since(began).Round(time.Millisecond))
		var id string
		require.NoError(t, db.QueryRow(t.Context(), "SELECT platform.new_object_id()").Scan(&id))
		require.Len(t, id, 24)
		_, err := db.Exec(t.Context(), "CREATE TABLE mine ()")
		require.NoError(t, err, "the database of another test, or of the last round")
		require.EqualValues(t, 4, db.Config().MaxConns)
	}
}

func TestATransactionIsSeenByNobodyElse(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"one", "other"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tx := pgtest.Tx(t)
			_, err := tx.Exec(t.Context(), "CREATE TABLE mine (); SELECT platform.new_object_id()")
			require.NoError(t, err)
		})
	}
}

func TestSessionsSpeakUTCOnAServerThatDoesNot(t *testing.T) {
	t.Parallel()
	var zone string
	require.NoError(t, pgtest.DB(t).QueryRow(t.Context(), "SELECT current_setting('timezone')").Scan(&zone))
	require.Equal(t, "UTC", zone)
}

func BenchmarkDB(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			pgtest.DB(b)
		}
	})
}

func BenchmarkTx(b *testing.B) {
	for b.Loop() {
		require.NoError(b, pgtest.Tx(b).Rollback(b.Context()))
	}
}
