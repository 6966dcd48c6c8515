package resource_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/platform/audit"
	"marquee/platform/clock"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/query"
	"marquee/platform/resource"
	"marquee/testutil/apitest"
	"marquee/testutil/pgtest"
	"marquee/testutil/secrettest"
)

// books has a field of every kind and of every right.
var books = resource.New(resource.Definition{
	Name: "books", Singular: "Book", Table: "shelf.books",
	Fields: []resource.Field{
		{
			Name: "isbn", Kind: query.String, Write: resource.Once,
			Rule: resource.Rule{
				Required: true, MinLength: 3, MaxLength: 20, Pattern: `^[0-9-]+$`, Means: "digits and hyphens",
			},
		},
		{Name: "title", Kind: query.String, Rule: resource.Rule{Required: true, MinLength: 1, MaxLength: 10}},
		{
			Name: "pages", Kind: query.Int,
			Rule: resource.Rule{Default: 1, Min: new(int64(1)), Max: new(int64(5000))},
		},
		{
			Name: "price", Column: "price_cents", Kind: query.Cents, Nullable: true,
			Rule: resource.Rule{Min: new(int64(0))},
		},
		{Name: "weight", Kind: query.Number, Nullable: true},
		{Name: "in_print", Kind: query.Bool, Rule: resource.Rule{Default: true}},
		{Name: "published", Kind: query.Date, Nullable: true},
		{Name: "cover_id", Kind: query.OID, Nullable: true},
		{Name: "topics", Kind: query.String, Array: true, Rule: resource.Rule{MaxItems: 3}},
		{Name: "format", Kind: query.String, Rule: resource.Rule{Default: "paper", Enum: []string{"paper", "audio"}}},
		{Name: "note", Kind: query.String, WhenSet: true},
		{Name: "extra", Kind: query.JSON, Nullable: true},
		{Name: "shelf_mark", Kind: query.String, WhenSet: true, Write: resource.Privileged},
		{Name: "lent", Kind: query.Int, Write: resource.ReadOnly},
		{Name: "label", Expr: "upper(t.title)", Kind: query.String},
		{Name: "password", Column: "lock", Kind: query.String, Nullable: true, Secret: true},
	},
	Constraints: map[string]resource.Violation{
		"books_isbn_unique": {Field: "isbn", Message: "is already taken"},
		"books_cover_known": {Kind: fault.KindInvalid, Field: "cover_id", Message: "names an unknown cover"},
		"loans_book":        {Message: "Book is lent."},
	},
})

var staffOnly = books.Restrict("t.in_print", "price", "note")

const schema = `
CREATE SCHEMA shelf;
CREATE TABLE shelf.covers (id platform.object_id PRIMARY KEY);
INSERT INTO shelf.covers VALUES ('c00000000000000000000001');
CREATE TABLE shelf.books (
	id platform.object_id PRIMARY KEY,
	isbn text COLLATE "C" NOT NULL CONSTRAINT books_isbn_unique UNIQUE, title text COLLATE "C" NOT NULL,
	pages integer NOT NULL, price_cents bigint, weight numeric, in_print boolean NOT NULL, published timestamptz,
	cover_id platform.object_id CONSTRAINT books_cover_known REFERENCES shelf.covers,
	topics text[] COLLATE "C" NOT NULL, format text COLLATE "C" NOT NULL, note text COLLATE "C", extra jsonb,
	shelf_mark text COLLATE "C", lent integer NOT NULL DEFAULT 0, lock text COLLATE "C",
	document_created_by_id platform.object_id, register_date timestamptz NOT NULL, register_update_date timestamptz NOT NULL
);
CREATE TABLE shelf.loans (book_id platform.object_id CONSTRAINT loans_book REFERENCES shelf.books);`

const admin = objectid.ID("ad0000000000000000000001")

// onlyAdmin stands for the module that knows tokens; here there is one.
type onlyAdmin struct{}

func (onlyAdmin) Verify(token string) (httpapi.Claims, error) {
	if token != "good" {
		return httpapi.Claims{}, errors.New("bad token")
	}
	return httpapi.Claims{UserID: admin}, nil
}

func (onlyAdmin) Caller(_ context.Context, c httpapi.Claims) (httpapi.Caller, error) {
	return httpapi.Caller{ID: c.UserID, Type: httpapi.TypeAdmin}, nil
}

// namedTrail says who changed every record; it watches once it has a name.
type namedTrail struct{ name string }

func (n *namedTrail) Watches(context.Context) bool { return n.name != "" }

func (*namedTrail) RecordTx(context.Context, pgx.Tx, ...audit.Change) error { return nil }

func (n *namedTrail) ChangedByTx(context.Context, pgx.Tx, string, objectid.ID, time.Time) (string, error) {
	return n.name, nil
}

type bundle struct {
	t      *testing.T
	trail  namedTrail
	db     *pgxpool.Pool
	clock  *clock.Fake
	api    *httpapi.API
	client *apitest.Client
}

var start = time.Date(2026, 11, 20, 12, 0, 0, int(123*time.Millisecond), time.UTC)

func setup(t *testing.T) *bundle {
	t.Helper()
	b := &bundle{t: t, db: pgtest.DB(t), clock: clock.NewFake(start)}
	_, err := b.db.Exec(t.Context(), schema)
	require.NoError(t, err)
	log := secrettest.Logger(t)
	b.api = httpapi.New(httpapi.Config{
		Version: "test", PublicURL: "http://api.test", Auth: onlyAdmin{}, Trail: &b.trail, Log: log,
	})
	routes := resource.Routes{Pool: b.db, Clock: b.clock, Log: log}
	httpapi.Route(b.api, http.MethodGet, "/books", "book_list", httpapi.Public, routes.List(books.View),
		books.ListDoc()...)
	httpapi.Route(b.api, http.MethodGet, "/shop", "book_shop", httpapi.Public, routes.List(staffOnly),
		staffOnly.ListDoc()...)
	httpapi.Route(b.api, http.MethodPost, "/books", "book_create", httpapi.Admin, routes.Create(books),
		books.CreateDoc()...)
	httpapi.Route(b.api, http.MethodPut, "/books", "book_update", httpapi.Admin, routes.Update(books),
		books.UpdateDoc()...)
	httpapi.Route(b.api, http.MethodDelete, "/books", "book_delete", httpapi.Admin, routes.Delete(books),
		books.DeleteDoc()...)
	b.client = apitest.New(t, b.api)
	return b
}

type response struct {
	status int
	raw    string
	Docs   []map[string]any `json:"docs"`
	Links  []httpapi.Link   `json:"links"`
	Msg    string           `json:"msg"`
	Page   struct {
		Current int `json:"current_page"`
		Size    int `json:"qty_docs_page"`
		Pages   int `json:"qty_of_pages"`
		Total   int `json:"qty_total_docs"`
	} `json:"pagination"`
	Detail any                 `json:"detail"`
	Error  *httpapi.ErrorCoded `json:"error"`
}

func (b *bundle) call(method, path, body string) response {
	b.t.Helper()
	contentType := ""
	if body != "" {
		contentType = "application/json"
	}
	res := b.client.As("good").Send(method, path, contentType, []byte(body))
	a := response{status: res.Status, raw: string(res.Body)}
	res.JSON(&a)
	return a
}

func (b *bundle) get(path string) response { b.t.Helper(); return b.call(http.MethodGet, path, "") }

// must is call, with 200 expected.
func (b *bundle) must(method, path, body string) response {
	b.t.Helper()
	a := b.call(method, path, body)
	require.Equal(b.t, http.StatusOK, a.status, a.raw)
	return a
}

// titles lists a field of the documents in order.
func (a response) values(field string) []any {
	out := []any{}
	for _, d := range a.Docs {
		out = append(out, d[field])
	}
	return out
}

// issue is the first finding of a 422.
func (a response) issue() (loc []any, msg string) {
	list, ok := a.Detail.([]any)
	if !ok || len(list) == 0 {
		return nil, ""
	}
	first, _ := list[0].(map[string]any)
	loc, _ = first["loc"].([]any)
	msg, _ = first["msg"].(string)
	return loc, msg
}

// fill inserts n books straight into the table, b00 … in order of id, isbn and
// time.
func (b *bundle) fill(n int) {
	b.t.Helper()
	_, err := b.db.Exec(b.t.Context(), `
		INSERT INTO shelf.books (id, isbn, title, pages, price_cents, weight, in_print, topics, format, register_date, register_update_date)
		SELECT 'b' || lpad(i::text, 23, '0'), '000-' || i, 'Book ' || i, 100 + i, 1000 + i, 0.5 + i, i % 2 = 0, ARRAY['t' || i % 3], 'paper',
		       $2::timestamptz + i * interval '1 second', $2::timestamptz + i * interval '1 second'
		FROM generate_series(0, $1::int - 1) i`, n, start)
	require.NoError(b.t, err)
}

func jsonDecode(text string, into any) error { return json.Unmarshal([]byte(text), into) }
