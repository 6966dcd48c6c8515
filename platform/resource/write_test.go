package resource_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/platform/httpapi"
	"marquee/platform/postgres"
	"marquee/platform/query"
	"marquee/platform/resource"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.must(http.MethodPost, "/books", `[
		{"isbn":"1-1-1","title":"Least"},
		{"isbn":"2-2-2","title":"Most","pages":90.0,"price":12.5,"weight":1.25,"in_print":false,"published":"2024-01-10T09:30:00-03:00",
		 "cover_id":"C00000000000000000000001","topics":["b","a"],"format":"audio","note":"n","extra":{"k":[1]},"password":"x",
		 "_id":"ffffffffffffffffffffffff","lent":7,"label":"mine","register_date":"1999-01-01","document_created_by_id":null}]`)
	require.Equal(t, []any{"Least", "Most"}, a.values("title"))
	require.Equal(t, []int{0, 2, 1, 2}, []int{a.Page.Current, a.Page.Size, a.Page.Pages, a.Page.Total})
	least, most := a.Docs[0], a.Docs[1]
	require.Equal(t, string(admin), least["document_created_by_id"])
	require.Equal(t, "2026-11-20T12:00:00.123Z", least["register_date"])
	require.Equal(t, "2026-11-20T12:00:00.123Z", least["register_update_date"])
	require.EqualValues(t, 1, least["pages"])
	require.Equal(t, true, least["in_print"])
	require.Equal(t, "paper", least["format"])
	require.Equal(t, []any{}, least["topics"])
	require.Nil(t, least["published"])
	require.NotContains(t, least, "note")

	require.NotEqual(t, "ffffffffffffffffffffffff", most["_id"], "ids are the service's")
	require.Less(t, least["_id"], most["_id"])
	require.EqualValues(t, 90, most["pages"])
	require.InDelta(t, 12.5, most["price"], 0)
	require.Equal(t, "2024-01-10T12:30:00.000Z", most["published"])
	require.Equal(t, "c00000000000000000000001", most["cover_id"])
	require.Equal(t, []any{"b", "a"}, most["topics"])
	require.Equal(t, map[string]any{"k": []any{1.0}}, most["extra"])
	require.EqualValues(t, 0, most["lent"], "kept fields are ignored")
	require.Equal(t, "MOST", most["label"])
	require.NotContains(t, a.raw, "password")
	var lock string
	require.NoError(t, b.db.QueryRow(t.Context(), "SELECT lock FROM shelf.books WHERE isbn = '2-2-2'").Scan(&lock))
	require.Equal(t, "x", lock)
}

func TestRefusedBodies(t *testing.T) {
	t.Parallel()
	b := setup(t)
	existing := b.must(http.MethodPost, "/books", `[{"isbn":"000","title":"there"}]`).Docs[0]["_id"].(string)
	good := `{"isbn":"111","title":"ok"}`
	object := func(more string) string { return `[` + good + `,{"isbn":"222","title":"x",` + more + `}]` }
	change := func(more string) string { return `[{"_id":"` + existing + `",` + more + `}]` }
	for _, tc := range []struct {
		method, body string
		status       int
		loc          []any
		field        string
	}{
		{method: "POST", body: ``, status: 422, loc: []any{"body"}, field: ""},
		{method: "POST", body: `{`, status: 422, loc: []any{"body"}, field: ""},
		{method: "POST", body: good, status: 422, loc: []any{"body"}, field: ""},
		{method: "POST", body: `null`, status: 422, loc: []any{"body"}, field: ""},
		{method: "POST", body: `[]`, status: 422, loc: []any{"body"}, field: ""},
		{method: "POST", body: `[` + good + `,5]`, status: 422, loc: []any{"body", 1.0}, field: ""},
		{method: "POST", body: `[` + good + `,null]`, status: 422, loc: []any{"body", 1.0}, field: ""},
		{method: "POST", body: `[{"title":"x"}]`, status: 422, loc: []any{"body", 0.0, "isbn"}, field: "isbn"},
		{method: "POST", body: `[{"isbn":"111"}]`, status: 422, loc: []any{"body", 0.0, "title"}, field: "title"},
		{
			method: "POST", body: `[{"isbn":"111","title":""}]`, status: 422, loc: []any{"body", 0.0, "title"},
			field: "title",
		},
		{
			method: "POST", body: `[{"isbn":"111","title":"12345678901"}]`, status: 422,
			loc: []any{"body", 0.0, "title"}, field: "title",
		},
		{
			method: "POST", body: `[{"isbn":"111","title":null}]`, status: 422, loc: []any{"body", 0.0, "title"},
			field: "title",
		},
		{
			method: "POST", body: `[{"isbn":"111","title":5}]`, status: 422, loc: []any{"body", 0.0, "title"},
			field: "title",
		},
		{
			method: "POST", body: `[{"isbn":"abc","title":"x"}]`, status: 422, loc: []any{"body", 0.0, "isbn"},
			field: "isbn",
		},
		{
			method: "POST", body: `[{"isbn":"111","title":"  "}]`, status: 422, loc: []any{"body", 0.0, "title"},
			field: "title",
		},
		{method: "POST", body: object(`"pages":0`), status: 422, loc: []any{"body", 1.0, "pages"}, field: "pages"},
		{method: "POST", body: object(`"pages":1.5`), status: 422, loc: []any{"body", 1.0, "pages"}, field: "pages"},
		{method: "POST", body: object(`"pages":"1"`), status: 422, loc: []any{"body", 1.0, "pages"}, field: "pages"},
		{
			method: "POST", body: object(`"pages":99999999999999999999`), status: 422, loc: []any{"body", 1.0, "pages"},
			field: "pages",
		},
		{method: "POST", body: object(`"price":-0.01`), status: 422, loc: []any{"body", 1.0, "price"}, field: "price"},
		{method: "POST", body: object(`"price":1.001`), status: 422, loc: []any{"body", 1.0, "price"}, field: "price"},
		{method: "POST", body: object(`"price":"1"`), status: 422, loc: []any{"body", 1.0, "price"}, field: "price"},
		{method: "POST", body: object(`"weight":"1"`), status: 422, loc: []any{"body", 1.0, "weight"}, field: "weight"},
		{
			method: "POST", body: object(`"in_print":1`), status: 422, loc: []any{"body", 1.0, "in_print"},
			field: "in_print",
		},
		{
			method: "POST", body: object(`"in_print":null`), status: 422, loc: []any{"body", 1.0, "in_print"},
			field: "in_print",
		},
		{
			method: "POST", body: object(`"published":"yesterday"`), status: 422, loc: []any{"body", 1.0, "published"},
			field: "published",
		},
		{
			method: "POST", body: object(`"published":"2024-02-30"`), status: 422, loc: []any{"body", 1.0, "published"},
			field: "published",
		},
		{
			method: "POST", body: object(`"cover_id":"xyz"`), status: 422, loc: []any{"body", 1.0, "cover_id"},
			field: "cover_id",
		},
		{
			method: "POST", body: object(`"cover_id":"c0000000000000000000000f"`), status: 422,
			loc: []any{"body", 1.0, "cover_id"}, field: "cover_id",
		},
		{method: "POST", body: object(`"topics":"a"`), status: 422, loc: []any{"body", 1.0, "topics"}, field: "topics"},
		{
			method: "POST", body: object(`"topics":null`), status: 422, loc: []any{"body", 1.0, "topics"},
			field: "topics",
		},
		{
			method: "POST", body: object(`"topics":["a",null]`), status: 422, loc: []any{"body", 1.0, "topics", 1.0},
			field: "topics[1]",
		},
		{
			method: "POST", body: object(`"topics":["a","b","c","d"]`), status: 422, loc: []any{"body", 1.0, "topics"},
			field: "topics",
		},
		{
			method: "POST", body: object(`"format":"clay"`), status: 422, loc: []any{"body", 1.0, "format"},
			field: "format",
		},
		{
			method: "POST", body: object(`"shelf_mark":"A"`), status: 422, loc: []any{"body", 1.0, "shelf_mark"},
			field: "shelf_mark",
		},
		{method: "POST", body: object(`"nope":1`), status: 422, loc: []any{"body", 1.0, "nope"}, field: "nope"},
		{
			method: "POST", body: object(`"price_cents":1`), status: 422, loc: []any{"body", 1.0, "price_cents"},
			field: "price_cents",
		},
		{method: "POST", body: object(`"note":"a\u0000"`), status: 422, loc: []any{"body", 1.0, "note"}, field: "note"},
		{method: "POST", body: `[` + good + `,` + good + `]`, status: 409, loc: nil, field: "isbn"},
		{method: "POST", body: `[` + strings.Repeat(`{},`, 1000) + `{}]`, status: 413, loc: nil, field: ""},
		{method: "PUT", body: ``, status: 422, loc: []any{"body"}, field: ""},
		{method: "PUT", body: `[{"title":"x"}]`, status: 422, loc: []any{"body", 0.0, "_id"}, field: "_id"},
		{method: "PUT", body: `[{"_id":5}]`, status: 422, loc: []any{"body", 0.0, "_id"}, field: "_id"},
		{
			method: "PUT", body: `[{"_id":"` + existing + `"},{"_id":"` + strings.ToUpper(existing) + `"}]`,
			status: 422,
			loc:    []any{"body", 1.0, "_id"}, field: "_id",
		},
		{method: "PUT", body: change(`"title":null`), status: 422, loc: []any{"body", 0.0, "title"}, field: "title"},
		{method: "PUT", body: change(`"isbn":"999"`), status: 422, loc: []any{"body", 0.0, "isbn"}, field: "isbn"},
		{
			method: "PUT", body: change(`"shelf_mark":"A"`), status: 422, loc: []any{"body", 0.0, "shelf_mark"},
			field: "shelf_mark",
		},
		{
			method: "PUT", body: change(`"cover_id":"c0000000000000000000000f"`), status: 422,
			loc: []any{"body", 0.0, "cover_id"}, field: "cover_id",
		},
		{
			method: "PUT", body: `[{"_id":"` + existing + `","title":"new"},{"_id":"b0000000000000000000000f"}]`,
			status: 404, loc: nil, field: "_id",
		},
		{method: "DELETE", body: ``, status: 422, loc: []any{"query", "_id"}, field: "_id"},
		{method: "DELETE", body: `[{}]`, status: 422, loc: []any{"body", 0.0, "_id"}, field: "_id"},
		{method: "DELETE", body: `[{"_id":"b0000000000000000000000f"}]`, status: 404, loc: nil, field: ""},
	} {
		a := b.call(tc.method, "/books", tc.body)
		require.Equal(t, tc.status, a.status, "%s %.200s: %s", tc.method, tc.body, a.raw)
		require.NotNil(t, a.Detail)
		if tc.status == 422 {
			loc, msg := a.issue()
			require.Equal(t, tc.loc, loc, a.raw)
			subject := tc.field
			if subject == "" {
				subject = "The"
			}
			require.True(t, strings.HasPrefix(msg, subject+" "), a.raw)
			require.Equal(t, "VALIDATION_ERROR", a.Error.Code)
		} else {
			require.IsType(t, "", a.Detail)
		}
		if tc.field != "" {
			require.Equal(t, tc.field, a.Error.Field, a.raw)
		}
		require.NotContains(t, a.raw, "SQLSTATE")
		require.Equal(t, []any{"there"}, b.get("/books").values("title"), "nothing was written by %s %.200s", tc.method,
			tc.body)
	}
}

func TestConflictNamesTheObject(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.call(http.MethodPost, "/books",
		`[{"isbn":"111","title":"a"},{"isbn":"222","title":"b"},{"isbn":"111","title":"c"}]`)
	require.Equal(t, http.StatusConflict, a.status)
	require.Equal(t, "isbn is already taken (index 2 of the body)", a.Detail)
	require.Equal(t, "CONFLICT", a.Error.Code)
	one := `[{"isbn":"111","title":"a"}]`
	require.Equal(t, http.StatusOK, b.call(http.MethodPost, "/books", one).status)
	a = b.call(http.MethodPost, "/books", one)
	require.Equal(t, "isbn is already taken", a.Detail)
	require.Equal(t, "isbn", a.Error.Field)
	a = b.call(http.MethodPut, "/books", `[{"_id":"b0000000000000000000000f","title":"x"}]`)
	require.Equal(t, "Book not found.", a.Detail)
	require.Equal(t, "_id", a.Error.Field)
}

func TestEveryFaultOfABodyIsListed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.call(http.MethodPost, "/books", `[{"isbn":"1","pages":"x","zz":1,"aa":1}]`)
	var locs []any
	for _, issue := range a.Detail.([]any) {
		locs = append(locs, issue.(map[string]any)["loc"].([]any)[2])
	}
	require.Equal(t, []any{"isbn", "title", "pages", "aa", "zz"}, locs)
}

func TestUpdateMergesWhatWasSent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	made := b.must(http.MethodPost, "/books",
		`[{"isbn":"111","title":"a","price":5,"note":"n","published":"2020-01-01"},{"isbn":"222","title":"b"}]`)
	b.clock.Advance(time.Minute)
	first, second := made.Docs[0]["_id"].(string), made.Docs[1]["_id"].(string)

	a := b.must(http.MethodPut, "/books", `[{"_id":"`+second+`","pages":7},{"_id":"`+first+
		`","price":null,"note":null,"lent":99,"label":"x","isbn":"111","register_date":"1999-01-01"}]`)
	require.Equal(t, []any{second, first}, a.values("_id"), "answered in the order asked")
	require.EqualValues(t, 7, a.Docs[0]["pages"])
	require.Equal(t, "b", a.Docs[0]["title"], "absent fields stay")
	require.Nil(t, a.Docs[1]["price"], "null is a value")
	require.NotContains(t, a.Docs[1], "note")
	require.Equal(t, "2020-01-01T00:00:00.000Z", a.Docs[1]["published"])
	require.EqualValues(t, 0, a.Docs[1]["lent"])
	require.Equal(t, "2026-11-20T12:00:00.123Z", a.Docs[1]["register_date"])
	require.Equal(t, "2026-11-20T12:01:00.123Z", a.Docs[1]["register_update_date"])
}

func TestWhatIsReadCanBeSentBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.must(http.MethodPost, "/books",
		`[{"isbn":"111","title":"a","price":5.25,"note":"n","published":"2020-01-01","extra":[1,{"a":null}],"topics":["x"]}]`)
	read := b.get("/books")
	from := strings.Index(read.raw, `[{"_id"`)
	to := strings.Index(read.raw, `,"links"`)
	a := b.must(http.MethodPut, "/books", read.raw[from:to])
	require.Equal(t, read.Docs, a.Docs)
}

func TestDelete(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fill(6)
	a := b.must(http.MethodDelete, "/books?_id=b00000000000000000000001", "")
	require.Contains(t, a.raw, `"docs":[]`)
	require.Equal(t, "1 document was deleted.", a.Msg)
	require.Equal(t, http.StatusNotFound, b.call(http.MethodDelete, "/books?_id=b00000000000000000000001", "").status)

	a = b.must(http.MethodDelete, "/books",
		`[{"_id":"b00000000000000000000001"},{"_id":"b00000000000000000000002","title":"Book 2"},{"_id":"b00000000000000000000003"}]`)
	require.Equal(t, "2 documents were deleted.", a.Msg)
	require.Equal(t, 3, b.get("/books").Page.Total)

	_, err := b.db.Exec(t.Context(), "INSERT INTO shelf.loans VALUES ('b00000000000000000000004')")
	require.NoError(t, err)
	a = b.call(http.MethodDelete, "/books", `[{"_id":"b00000000000000000000000"},{"_id":"b00000000000000000000004"}]`)
	require.Equal(t, http.StatusConflict, a.status)
	require.Equal(t, "Book is lent.", a.Detail)
	require.Equal(t, 3, b.get("/books").Page.Total, "all or nothing")

	require.Equal(t, http.StatusUnprocessableEntity, b.call(http.MethodDelete, "/books?_id=x", "").status)
}

func TestBodyNeedsItsContentType(t *testing.T) {
	t.Parallel()
	b := setup(t)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.client.URL()+httpapi.Prefix+"/books",
		strings.NewReader(`[{"isbn":"111","title":"a"}]`))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer good")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusUnsupportedMediaType, resp.StatusCode)
}

func TestConcurrentUpdatesInOppositeOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fill(200)
	objects := make([]string, 200)
	for i := range objects {
		objects[i] = fmt.Sprintf(`{"_id":"b%023d","pages":1}`, i)
	}
	up := "[" + strings.Join(objects, ",") + "]"
	slices.Reverse(objects)
	down := strings.ReplaceAll("["+strings.Join(objects, ",")+"]", `"pages":1`, `"pages":2`)
	bodies := []string{up, down}
	errs := make(chan error, 40)
	for i := range 40 {
		go func() {
			errs <- postgres.InTx(t.Context(), b.db, func(tx pgx.Tx) error {
				_, err := books.UpdateTx(t.Context(), tx, resource.Actor{Now: start}, resource.RawJSON(bodies[i%2]))
				return err
			})
		}()
	}
	for range 40 {
		require.NoError(t, <-errs)
	}
	pages := b.get("/books?qty_docs_page=200").values("pages")
	require.Len(t, slices.Compact(pages), 1, "one of the two came last, with all its objects")
}

// Without the locks that a PUT takes first, in the order of the ids, the same two
// writers deadlock.
func TestConcurrentUpdatesWithoutTheLock(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fill(2)
	ids := []string{"b00000000000000000000000", "b00000000000000000000001"}
	var txs []pgx.Tx
	for i := range 2 {
		tx, err := b.db.Begin(t.Context())
		require.NoError(t, err)
		t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
		_, err = tx.Exec(t.Context(), "SET LOCAL deadlock_timeout = '10ms'")
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), "UPDATE shelf.books SET pages = 1 WHERE id = $1", ids[i])
		require.NoError(t, err)
		txs = append(txs, tx)
	}
	errs := make(chan error, 2)
	for i, tx := range txs {
		go func() {
			_, err := tx.Exec(t.Context(), "UPDATE shelf.books SET pages = 1 WHERE id = $1", ids[1-i])
			errs <- errors.Join(err, tx.Rollback(context.Background()))
		}()
	}
	require.ErrorContains(t, errors.Join(<-errs, <-errs), "deadlock")
}

func TestContradictoryDefinitionsPanic(t *testing.T) {
	t.Parallel()
	for name, field := range map[string]resource.Field{
		"no kind":           {Name: "a"},
		"no default":        {Name: "a", Kind: query.String},
		"nullable list":     {Name: "a", Kind: query.String, Array: true, Nullable: true},
		"twice":             {Name: "_id", Kind: query.OID, Nullable: true},
		"secret by name":    {Name: "reset_code_hash", Kind: query.String, Nullable: true},
		"malformed pattern": {Name: "a", Kind: query.String, Nullable: true, Rule: resource.Rule{Pattern: "("}},
	} {
		require.Panics(t, func() {
			resource.New(resource.Definition{Name: "x", Singular: "X", Table: "x.x", Fields: []resource.Field{field}})
		}, name)
	}
	require.Panics(t, func() { books.Restrict("", "nope") })
}
