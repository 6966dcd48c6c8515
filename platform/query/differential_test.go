package query_test

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/testutil/pgtest"
)

var (
	differentialRuns = flag.Int("query.runs", 3000, "random filters and sorts of the differential tests")
	differentialSeed = flag.Uint64("query.seed", 1, "seed of the differential tests")
)

// setupThings is a transaction with random documents, and the documents in the order of their ids.
func setupThings(t *testing.T, r draw) (pgx.Tx, []document) {
	tx := pgtest.Tx(t)
	_, err := tx.Exec(t.Context(), thingsTable)
	require.NoError(t, err)
	documents := make([]document, 60)
	for i := range documents {
		var row []any
		documents[i], row = r.thing(i)
		_, err := tx.Exec(t.Context(), thingsInsert, row...)
		require.NoError(t, err)
	}
	return tx, documents
}

func idsOf(documents []document) []string {
	ids := []string{}
	for _, d := range documents {
		ids = append(ids, string(d["_id"].(objectID)))
	}
	return ids
}

// Random filters over random documents find what the evaluator in memory finds.
func TestFilter_differential(t *testing.T) {
	t.Parallel()
	r := draw{Rand: rand.New(rand.NewPCG(*differentialSeed, 1))}
	tx, documents := setupThings(t, r)
	useful := 0
	for range *differentialRuns {
		text, err := json.Marshal(r.filter(2))
		require.NoError(t, err)
		filter := decode(string(text))
		want := idsOf(slices.DeleteFunc(slices.Clone(documents), func(d document) bool { return !matches(d, filter) }))
		got, err := find(t.Context(), tx, things, "things t", string(text), "")
		require.NoError(t, err, string(text))
		require.Equal(t, want, append([]string{}, got...), string(text))
		if len(want) > 0 && len(want) < len(documents) {
			useful++
		}
	}
	require.Greater(t, useful, *differentialRuns/6, "the filters have to tell documents apart")
}

// Random sorts over random documents order as the evaluator in memory does.
func TestSort_differential(t *testing.T) {
	t.Parallel()
	r := draw{Rand: rand.New(rand.NewPCG(*differentialSeed, 2))}
	tx, documents := setupThings(t, r)
	for range *differentialRuns / 10 {
		type key struct {
			path      string
			direction int
		}
		var order []key
		var parts []string
		for range 1 + r.IntN(3) {
			k := key{r.path(), pick(r, 1, -1)}
			if slices.ContainsFunc(order, func(other key) bool { return other.path == k.path }) {
				continue
			}
			order = append(order, k)
			name, _ := json.Marshal(k.path)
			parts = append(parts, string(name)+":"+map[int]string{1: "1", -1: "-1"}[k.direction])
		}
		sort := "{" + strings.Join(parts, ",") + "}"
		want := slices.Clone(documents)
		slices.SortStableFunc(want, func(a, b document) int {
			for _, k := range order {
				if c := sorted(a, b, strings.Split(k.path, "."), k.direction); c != 0 {
					return c
				}
			}
			return 0
		})
		got, err := find(t.Context(), tx, things, "things t", "", sort)
		require.NoError(t, err, sort)
		require.Equal(t, idsOf(want), got, sort)
	}
}
