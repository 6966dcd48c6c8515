package resource_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/stretchr/testify/require"

	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/postgres"
	"marquee/platform/resource"
	"marquee/testutil/pgtest"
)

func TestEnvelope(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.db.Exec(t.Context(), `
		INSERT INTO shelf.books VALUES
		('b00000000000000000000001', '978-1', 'Só "isto"', 90, 1250, 0.10, true, '2024-02-29 12:30:00.5+00', 'c00000000000000000000001',
		 '{a,"b c"}', 'audio', 'line' || chr(10), '{"k":[1,null]}', 'A-7', 3, 'secret', $1, $2, $2),
		('b00000000000000000000002', '978-2', 'Bare', 1, NULL, NULL, false, NULL, NULL, '{}', 'paper', NULL, NULL, NULL, 0, NULL, NULL, $2, $2)`, admin, start)
	require.NoError(t, err)
	got := b.get("/books?qty_docs_page=1000&tracking=a%26b").raw
	golden(t, "testdata/envelope.json", got)
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if os.Getenv("UPDATE_GOLDEN") != "" {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func TestEmptyListHasNoPages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.get("/books")
	require.Equal(t, http.StatusOK, a.status)
	require.Contains(t, a.raw, `{"docs":[],`)
	require.Zero(t, a.Page.Pages)
	require.Zero(t, a.Page.Total)
	require.Equal(t, 10, a.Page.Size)
}

func TestPaging(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fill(25)
	for _, tc := range []struct {
		params              string
		first, n            int
		page, size, pages   int
		self, prev, next    string
		firstLink, lastLink string
	}{
		{
			params: "", first: 0, n: 10, page: 0, size: 10, pages: 3, self: "", prev: "", next: "?current_page=1",
			firstLink: "?current_page=0", lastLink: "?current_page=2",
		},
		{
			params: "?current_page=1", first: 10, n: 10, page: 1, size: 10, pages: 3, self: "?current_page=1",
			prev: "?current_page=0", next: "?current_page=2", firstLink: "?current_page=0", lastLink: "?current_page=2",
		},
		{
			params: "?current_page=2&x=1", first: 20, n: 5, page: 2, size: 10, pages: 3, self: "?current_page=2&x=1",
			prev: "?x=1&current_page=1", next: "", firstLink: "?x=1&current_page=0", lastLink: "?x=1&current_page=2",
		},
		{
			params: "?current_page=9", first: 0, n: 0, page: 9, size: 10, pages: 3, self: "?current_page=9",
			prev: "?current_page=2", next: "", firstLink: "?current_page=0", lastLink: "?current_page=2",
		},
		{
			params: "?qty_docs_page=25", first: 0, n: 25, page: 0, size: 25, pages: 1, self: "?qty_docs_page=25",
			prev: "", next: "", firstLink: "?qty_docs_page=25&current_page=0",
			lastLink: "?qty_docs_page=25&current_page=0",
		},
		{
			params: "?qty_docs_page=%2B7", first: 0, n: 7, page: 0, size: 7, pages: 4, self: "?qty_docs_page=%2B7",
			prev: "", next: "?qty_docs_page=%2B7&current_page=1", firstLink: "?qty_docs_page=%2B7&current_page=0",
			lastLink: "?qty_docs_page=%2B7&current_page=3",
		},
		{
			params: "?qty_docs_page=&current_page=&docs_range=&query=&sort=&_id=", first: 0, n: 10, page: 0, size: 10,
			pages: 3, self: "?qty_docs_page=&current_page=&docs_range=&query=&sort=&_id=", prev: "",
			next:      "?qty_docs_page=&docs_range=&query=&sort=&_id=&current_page=1",
			firstLink: "?qty_docs_page=&docs_range=&query=&sort=&_id=&current_page=0",
			lastLink:  "?qty_docs_page=&docs_range=&query=&sort=&_id=&current_page=2",
		},
		{
			params: "?docs_range=(0,0)", first: 0, n: 10, page: 0, size: 10, pages: 3, self: "?docs_range=(0,0)",
			prev: "", next: "?docs_range=(0,0)&current_page=1", firstLink: "?docs_range=(0,0)&current_page=0",
			lastLink: "?docs_range=(0,0)&current_page=2",
		},
		{
			params: "?docs_range=(3,8)&current_page=2&qty_docs_page=4", first: 3, n: 5, page: 0, size: 5, pages: 5,
			self:      "?docs_range=(3,8)&current_page=2&qty_docs_page=4",
			prev:      "?current_page=2&qty_docs_page=4&docs_range=%280%2C3%29",
			next:      "?current_page=2&qty_docs_page=4&docs_range=%288%2C13%29",
			firstLink: "?current_page=2&qty_docs_page=4&docs_range=%280%2C5%29",
			lastLink:  "?current_page=2&qty_docs_page=4&docs_range=%2820%2C25%29",
		},
		{
			params: "?docs_range=(%2020%20,%2030)", first: 20, n: 5, page: 0, size: 10, pages: 3,
			self: "?docs_range=(%2020%20,%2030)", prev: "?docs_range=%2810%2C20%29", next: "",
			firstLink: "?docs_range=%280%2C10%29", lastLink: "?docs_range=%2820%2C30%29",
		},
	} {
		t.Run(tc.params, func(t *testing.T) {
			t.Parallel()
			a := b.get("/books" + tc.params)
			require.Equal(t, http.StatusOK, a.status, a.raw)
			require.Len(t, a.Docs, tc.n)
			for i, d := range a.Docs {
				require.Equal(t, fmt.Sprintf("Book %d", tc.first+i), d["title"])
			}
			require.Equal(t, []int{
				tc.page, tc.size, tc.pages, 25,
			}, []int{a.Page.Current, a.Page.Size, a.Page.Pages, a.Page.Total})
			want := map[string]string{"self": tc.self, "first": tc.firstLink, "last": tc.lastLink}
			if tc.prev != "" {
				want["prev"] = tc.prev
			}
			if tc.next != "" {
				want["next"] = tc.next
			}
			got := map[string]string{}
			for _, l := range a.Links {
				require.Equal(t, "GET", l.LinkType)
				got[l.Rel] = strings.TrimPrefix(l.Href, "http://api.test/api/v1/books")
			}
			require.Equal(t, want, got)
		})
	}
}

func TestDeepPagesHoldTheSameOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fill(300)
	sort := url.QueryEscape(`{"pages":-1}`)
	for _, page := range []int{0, 9, 10, 29} {
		a := b.get(fmt.Sprintf("/books?sort=%s&current_page=%d", sort, page))
		require.Len(t, a.Docs, 10)
		for i, d := range a.Docs {
			require.EqualValues(t, 399-10*page-i, d["pages"])
		}
	}
}

func TestRefusedParameters(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for params, field := range map[string]string{
		"_id=xyz":                                  "_id",
		"_id=b0000000000000000000000":              "_id",
		"qty_docs_page=0":                          "qty_docs_page",
		"qty_docs_page=-1":                         "qty_docs_page",
		"qty_docs_page=1001":                       "qty_docs_page",
		"qty_docs_page=1.5":                        "qty_docs_page",
		"qty_docs_page=1e2":                        "qty_docs_page",
		"qty_docs_page=99999999999999999999":       "qty_docs_page",
		"qty_docs_page=5&qty_docs_page=5":          "qty_docs_page",
		"current_page=-1":                          "current_page",
		"current_page=1000001":                     "current_page",
		"current_page=x":                           "current_page",
		"docs_range=5":                             "docs_range",
		"docs_range=(1,2":                          "docs_range",
		"docs_range=(1)":                           "docs_range",
		"docs_range=(5,5)":                         "docs_range",
		"docs_range=(8,5)":                         "docs_range",
		"docs_range=(0,1001)":                      "docs_range",
		"docs_range=(-1,5)":                        "docs_range",
		"docs_range=(1,2,3)":                       "docs_range",
		"docs_range=(0,99999999999999999999)":      "docs_range",
		"query=%FF":                                "query",
		"query=x":                                  "query",
		"query=[]":                                 "query",
		"query={}&query={}":                        "query",
		"query=" + url.QueryEscape(`{"$where":1}`): "query",
		"query=" + url.QueryEscape(`{"title":{"$in":"x"}}`): "query",
		"sort=" + url.QueryEscape(`{"title":2}`):            "sort",
		"sort=title":                                        "sort",
	} {
		t.Run(params, func(t *testing.T) {
			t.Parallel()
			a := b.get("/books?" + params)
			require.Equal(t, http.StatusUnprocessableEntity, a.status, a.raw)
			loc, msg := a.issue()
			require.Equal(t, []any{"query", field}, loc[:2])
			require.NotEmpty(t, msg)
			require.Equal(t, "VALIDATION_ERROR", a.Error.Code)
			require.Equal(t, field, a.Error.Field)
			require.NotContains(t, a.raw, "SQLSTATE")
		})
	}
	a := b.get("/books?query=%zz")
	require.Equal(t, http.StatusUnprocessableEntity, a.status, a.raw)
}

func TestByID(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fill(3)
	a := b.get("/books?_id=B00000000000000000000001&query=nonsense&current_page=-4")
	require.Equal(t, http.StatusOK, a.status, a.raw)
	require.Equal(t, []any{"Book 1"}, a.values("title"))
	require.Equal(t, []int{0, 1, 1, 1}, []int{a.Page.Current, a.Page.Size, a.Page.Pages, a.Page.Total})
	require.Len(t, a.Links, 1)

	a = b.get("/books?_id=b00000000000000000000009")
	require.Equal(t, http.StatusNotFound, a.status)
	require.Equal(t, "NOT_FOUND", a.Error.Code)
	require.Equal(t, "Book not found.", a.Detail)

	a = b.get("/shop?_id=b00000000000000000000001")
	require.Equal(t, http.StatusNotFound, a.status, "the view's own condition applies to look-ups too")
}

func TestFilterAndSort(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fill(6)
	for _, tc := range []struct {
		query, sort string
		want        []any
	}{
		{`{"pages":{"$gte":103}}`, `{"pages":-1}`, []any{"Book 5", "Book 4", "Book 3"}},
		{`{"price":10.02}`, ``, []any{"Book 2"}},
		{`{"price":{"$gt":10.031,"$lt":10.05}}`, ``, []any{"Book 4"}},
		{`{"topics":"t1"}`, ``, []any{"Book 1", "Book 4"}},
		{`{"label":"BOOK 3"}`, ``, []any{"Book 3"}},
		{`{"register_date":{"$lt":"2026-11-20T12:00:01.123Z"}}`, ``, []any{"Book 0"}},
		{
			`{"$or":[{"title":"Book 0"},{"in_print":true,"pages":{"$gt":103}}]}`, `{"title":-1}`,
			[]any{"Book 4", "Book 0"},
		},
		{`{"password":{"$exists":true}}`, ``, []any{}},
		{
			`{"lock":null}`, `{"password":-1,"title":-1}`,
			[]any{"Book 5", "Book 4", "Book 3", "Book 2", "Book 1", "Book 0"},
		},
		{`{"shelf_mark":{"$exists":false},"note":null,"weight":{"$lte":0.5}}`, ``, []any{"Book 0"}},
	} {
		a := b.get("/books?query=" + url.QueryEscape(tc.query) + "&sort=" + url.QueryEscape(tc.sort))
		require.Equal(t, http.StatusOK, a.status, a.raw)
		require.Equal(t, tc.want, a.values("title"), tc.query)
		require.Equal(t, len(tc.want), a.Page.Total)
	}
}

func TestRestrictedViewHidesRowsAndFields(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fill(4)
	a := b.get("/shop?query=" + url.QueryEscape(`{"$or":[{},{"in_print":false}]}`) + "&sort=" +
		url.QueryEscape(`{"price":-1}`))
	require.Equal(t, []any{"Book 0", "Book 2"}, a.values("title"))
	require.NotContains(t, a.raw, `"price":`)
	require.NotContains(t, a.raw, "password")
	a = b.get("/shop?query=" + url.QueryEscape(`{"price":{"$exists":true}}`))
	require.Empty(t, a.Docs, "a hidden field is as unknown as any")
}

func TestStatementThatRunsTooLong(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	pool, err := postgres.NewPool(t.Context(), db.Config().ConnString(), postgres.Options{
		MaxConns: 1, StatementTimeout: 2 * time.Second,
	})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	_, err = db.Exec(t.Context(), schema)
	require.NoError(t, err)
	_, err = db.Exec(t.Context(),
		`INSERT INTO shelf.books (id, isbn, title, pages, in_print, topics, format, register_date, register_update_date)
		VALUES ('b00000000000000000000001', '1', 'x', 1, true, '{}', 'paper', now(), now())`)
	require.NoError(t, err)
	list, err := books.Restrict("pg_sleep(60) IS NOT NULL").Prepare(resource.Params{Size: 10})
	require.NoError(t, err)
	began := time.Now()
	err = list.Run(t.Context(), pool)
	require.ErrorContains(t, err, "query is too expensive")
	require.Less(t, time.Since(began), 30*time.Second)
	var one int
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT 1").Scan(&one), "the connection is still good")
}

func TestAnswersFitTheDocument(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fill(2)
	b.must(http.MethodPost, "/books",
		`[{"isbn":"978-3","title":"Full","note":"n","extra":{"a":1},"price":9.9,"published":"2020-01-01","cover_id":"c00000000000000000000001"}]`)
	var decoded any
	require.NoError(t, jsonDecode(b.get("/books").raw, &decoded))
	res := &huma.ValidateResult{}
	s := books.EnvelopeSchema()
	s.PrecomputeMessages()
	huma.Validate(b.api.OpenAPI().Components.Schemas, s, huma.NewPathBuffer(nil, 0), huma.ModeReadFromServer, decoded,
		res)
	require.Empty(t, res.Errors)

	doc := b.api.OpenAPI().Paths["/api/v1/books"]
	require.Len(t, doc.Get.Parameters, 6)
	require.True(t, doc.Post.RequestBody.Required)
	require.True(t, doc.Put.RequestBody.Required)
	require.False(t, doc.Delete.RequestBody.Required)
	body := doc.Post.RequestBody.Content["application/json"].Schema.Items
	require.Equal(t, []string{"isbn", "title"}, body.Required)
	require.NotContains(t, body.Properties, "shelf_mark")
	require.True(t, body.Properties["password"].WriteOnly)
	require.NotContains(t,
		doc.Get.Responses["200"].Content["application/json"].Schema.Properties["docs"].Items.Properties, "password")
}

// A filter that the database refuses is a hole in the compiler: people hear 422
// without its words, the log hears them as an error.
func TestFilterThatTheDatabaseRefuses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fill(1)
	list, err := books.Restrict("1 / t.lent > 0").Prepare(resource.Params{Size: 10, Query: `{"pages":{"$gt":1}}`})
	require.NoError(t, err)
	var log bytes.Buffer
	err = resource.Report(t.Context(), slog.New(slog.NewTextHandler(&log, nil)), list.Run(t.Context(), b.db))
	var refused *fault.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, fault.KindInvalid, refused.Kind)
	require.Equal(t, "query", refused.Field)
	require.NotContains(t, refused.Message, "division")
	require.Contains(t, log.String(), "level=ERROR")
	require.Contains(t, log.String(), "division by zero")
}

func TestHeadOfAListReadsNoList(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.db.Exec(t.Context(), "DROP TABLE shelf.books CASCADE")
	require.NoError(t, err)
	status := func(method, path string) int {
		req, err := http.NewRequestWithContext(t.Context(), method, b.client.URL()+httpapi.Prefix+path, nil)
		require.NoError(t, err)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		require.Equal(t, "application/json", res.Header.Get("Content-Type"))
		return res.StatusCode
	}
	require.Equal(t, http.StatusInternalServerError, status(http.MethodGet, "/books"))
	require.Equal(t, http.StatusOK, status(http.MethodHead, "/books"))
	require.Equal(t, http.StatusUnprocessableEntity, status(http.MethodHead, "/books?query=%7B"),
		"what GET refuses before it reads")
}
