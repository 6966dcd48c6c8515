package resource_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/platform/fault"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/query"
	"marquee/platform/resource"
)

// counted are books with a computed column, a check and a count of writes, and
// with only the printed ones in sight.
var counted = resource.New(resource.Definition{
	Name: "books", Singular: "Book", Table: "shelf.books", Base: "t.in_print OR false",
	Fields: []resource.Field{
		{Name: "title", Kind: query.String, Rule: resource.Rule{Required: true}},
		{Name: "pages", Kind: query.Int, Rule: resource.Rule{Default: 1}},
		{Name: "isbn", Kind: query.String, Write: resource.ReadOnly},
	},
	Hooks: resource.Hooks{
		BeforeCreate: func(_ context.Context, _ pgx.Tx, records []*resource.Record) error {
			for _, r := range records {
				title, _ := r.Value("title")
				if title == "forbidden" {
					return r.Invalid("title", "is forbidden")
				}
				r.Set("isbn", "made-for-"+title.(string))
				r.Set("topics", []string{})
				r.Set("format", "paper")
				r.Set("in_print", true)
			}
			return nil
		},
		BeforeUpdate: func(_ context.Context, _ pgx.Tx, records []*resource.Record) error {
			for _, r := range records {
				if _, sent := r.Value("title"); sent {
					r.Set("note", "renamed")
				}
			}
			return nil
		},
		BeforeDelete: func(_ context.Context, _ pgx.Tx, ids []objectid.ID) error {
			if len(ids) > 1 {
				return fault.Conflict("One at a time.")
			}
			return nil
		},
		AfterWrite: func(ctx context.Context, tx pgx.Tx, ids []objectid.ID) error {
			_, err := tx.Exec(ctx, "UPDATE shelf.books SET lent = lent + 1 WHERE id = ANY($1::text[])", ids)
			return err
		},
	},
})

func TestHooks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, by := t.Context(), resource.Actor{Now: start}
	run := func(f func(tx pgx.Tx) ([]objectid.ID, error)) (ids []objectid.ID, err error) {
		err = postgres.InTx(ctx, b.db, func(tx pgx.Tx) (err error) { ids, err = f(tx); return err })
		return ids, err
	}
	create := func(body string) ([]objectid.ID, error) {
		return run(func(tx pgx.Tx) ([]objectid.ID, error) {
			return counted.CreateTx(ctx, tx, by, resource.RawJSON(body))
		})
	}
	_, err := create(`[{"title":"fine"},{"title":"forbidden"}]`)
	var refused *fault.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, []any{"body", 1, "title"}, refused.Issues[0].Loc)

	ids, err := create(`[{"title":"a"},{"title":"b"}]`)
	require.NoError(t, err)
	require.Equal(t, []any{"made-for-a", "made-for-b"}, b.get("/books").values("isbn"))
	require.Equal(t, []any{1.0, 1.0}, b.get("/books").values("lent"))

	change := resource.RawJSON(`[{"_id":"` + string(ids[0]) + `","title":"A"},{"_id":"` + string(ids[1]) +
		`","pages":2}]`)
	_, err = run(func(tx pgx.Tx) ([]objectid.ID, error) { return counted.UpdateTx(ctx, tx, by, change) })
	require.NoError(t, err)
	require.Equal(t, []any{"renamed", nil}, b.get("/books").values("note"))
	require.Equal(t, []any{2.0, 2.0}, b.get("/books").values("lent"))

	remove := func(ids ...objectid.ID) error {
		_, err := run(func(tx pgx.Tx) ([]objectid.ID, error) { return counted.DeleteTx(ctx, tx, ids) })
		return err
	}
	require.ErrorContains(t, remove(ids...), "One at a time.")
	require.Len(t, b.get("/books").Docs, 2)

	_, err = b.db.Exec(ctx, "UPDATE shelf.books SET in_print = false WHERE id = $1", ids[0])
	require.NoError(t, err)
	require.True(t, fault.Is(remove(ids[0]), fault.KindNotFound), "what the base does not hold is not there")
	_, err = run(func(tx pgx.Tx) ([]objectid.ID, error) { return counted.UpdateTx(ctx, tx, by, change) })
	require.True(t, fault.Is(err, fault.KindNotFound))
	list, err := counted.Prepare(resource.Params{Size: 10})
	require.NoError(t, err)
	require.NoError(t, list.Run(ctx, b.db))
	require.Equal(t, 1, list.Page().Total)
	require.NoError(t, remove(ids[1]))
}

func TestWholeNumbersAreBounded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	err := postgres.InTx(t.Context(), b.db, func(tx pgx.Tx) error {
		_, err := counted.CreateTx(t.Context(), tx, resource.Actor{Now: start},
			resource.RawJSON(`[{"title":"a","pages":2147483648}]`))
		return err
	})
	require.True(t, fault.Is(err, fault.KindInvalid), "%v", err)
}
