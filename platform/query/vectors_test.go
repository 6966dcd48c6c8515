package query_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/platform/query"
	"marquee/testutil/pgtest"
)

func TestVectors(t *testing.T) {
	t.Parallel()
	runVectors(t, setup(t))
}

// In a database of another locale, and even with columns that are not declared
// COLLATE "C", the results are the same.
func TestVectors_anyLocale(t *testing.T) {
	t.Parallel()
	for name, collate := range map[string]string{"declared": `COLLATE "C"`, "icu": `COLLATE "en-US-x-icu"`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tx := pgtest.Tx(t)
			_, err := tx.Exec(t.Context(), sampleTables(collate))
			require.NoError(t, err)
			runVectors(t, tx)
		})
	}
}

// runVectors runs every row of the contract's fixture on the sample data.
func runVectors(t *testing.T, tx pgx.Tx) {
	require.Len(t, vectors.Cases, 207)
	for _, v := range vectors.Cases {
		c, from := target(v)
		if v.Status != 0 {
			_, err := query.Compile(c, v.Raw, 1)
			var refused *query.Error
			require.ErrorAs(t, err, &refused, v.Name())
			continue
		}
		ids, err := find(t.Context(), tx, c, from, string(v.Query), string(v.Sort))
		require.NoError(t, err, v.Name())
		require.Equal(t, v.IDs, append([]string{}, ids...), v.Name())
	}
}

// A filter and its $nor partition the collection, whatever the filter.
func TestVectors_partition(t *testing.T) {
	t.Parallel()
	tx := setup(t)
	for _, v := range vectors.Cases {
		if v.Status != 0 || v.Query == nil {
			continue
		}
		c, from := target(v)
		rest, err := find(t.Context(), tx, c, from, `{"$nor":[`+string(v.Query)+`]}`, "")
		require.NoError(t, err, v.Name())
		require.Equal(t, 6, len(rest)+len(v.IDs), v.Name())
		for _, id := range rest {
			require.NotContains(t, v.IDs, id, v.Name())
		}
	}
}
