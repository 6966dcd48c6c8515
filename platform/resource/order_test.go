package resource_test

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// What a write answers stands in the order of its body, also when the database
// finds the rows in another: here by a merge of sorted ids.
func TestWrittenDocumentsKeepTheBodysOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fill(30)
	var ids []objectid.ID
	var want []any
	for i := range 30 {
		n := 29 - i*7%30
		ids = append(ids, objectid.ID(fmt.Sprintf("b%023d", n)))
		want = append(want, fmt.Sprintf("Book %d", n))
	}
	var docs []byte
	require.NoError(t, postgres.InTx(t.Context(), b.db, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), "SET LOCAL enable_nestloop = off; SET LOCAL enable_hashjoin = off")
		if err == nil {
			docs, _, err = books.DocsTx(t.Context(), tx, ids)
		}
		return err
	}))
	var found response
	require.NoError(t, jsonDecode(`{"docs":[`+string(docs)+`]}`, &found))
	require.Equal(t, want, found.values("title"))
}

// The documents of a deep page are joined to its ids: the join must not lose
// their order.
func TestDeepPagesAreSortedAfterTheJoin(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fill(3000)
	// Pages that have nothing to do with the order of rows or ids.
	_, err := b.db.Exec(t.Context(), "UPDATE shelf.books SET pages = (right(id, 4)::int * 7) % 3000")
	require.NoError(t, err)
	_, err = b.db.Exec(t.Context(), "ANALYZE shelf.books")
	require.NoError(t, err)
	for _, order := range []int{1, -1} {
		a := b.get("/books?docs_range=(150,1150)&sort=" + url.QueryEscape(fmt.Sprintf(`{"pages":%d}`, order)))
		require.Len(t, a.Docs, 1000)
		for i, d := range a.Docs {
			want := 150 + i
			if order < 0 {
				want = 2999 - want
			}
			require.EqualValues(t, want, d["pages"])
		}
	}
}
