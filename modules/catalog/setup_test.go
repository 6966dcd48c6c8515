package catalog_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/catalog"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/resource"
	"marquee/testutil/apitest"
	"marquee/testutil/pgtest"
	"marquee/testutil/secrettest"
)

// The users of these tests. Tokens are their names, and of further users their ids.
const (
	admin      = objectid.ID("ad0000000000000000000001")
	subscriber = objectid.ID("c50000000000000000000001")
	stranger   = objectid.ID("c50000000000000000000002")
	deleted    = objectid.ID("c50000000000000000000003")
)

var tokens = map[string]objectid.ID{"admin": admin, "subscriber": subscriber, "stranger": stranger, "deleted": deleted}

// people stands for the module accounts at the API's door.
type people struct{}

func (p people) Verify(token string) (httpapi.Claims, error) {
	id, ok := tokens[token]
	if !ok && objectid.Valid(token) {
		id, ok = objectid.ID(token), true
	}
	if !ok {
		return httpapi.Claims{}, errors.New("bad token")
	}
	return httpapi.Claims{UserID: id}, nil
}

func (p people) Caller(_ context.Context, c httpapi.Claims) (httpapi.Caller, error) {
	switch c.UserID {
	case admin:
		return httpapi.Caller{ID: admin, Type: httpapi.TypeAdmin}, nil
	case deleted:
		return httpapi.Caller{}, httpapi.ErrBadToken()
	}
	return httpapi.Caller{ID: c.UserID, Type: httpapi.TypeCustomer}, nil
}

// furnish makes the users' rows, which the published functions of the modules accounts and
// subscriptions read: the subscriber has a subscription, and of the deleted user nothing is left.
func furnish(t testing.TB, db *pgxpool.Pool) {
	t.Helper()
	for id, userType := range map[objectid.ID]string{
		admin: httpapi.TypeAdmin, subscriber: httpapi.TypeCustomer, stranger: httpapi.TypeCustomer,
	} {
		_, err := db.Exec(t.Context(),
			`INSERT INTO accounts.users (id, user_type, username, email, created_at, updated_at)
			VALUES ($1, $2, $3, $3 || '@example.com', now(), now())`, id, userType, id.String())
		require.NoError(t, err)
	}
	subscriptionstest.Active(t, db, subscriber)
}

type bundle struct {
	t       testing.TB
	db      *pgxpool.Pool
	clock   *clock.Fake
	service *catalog.Service
	api     *httpapi.API
	client  *apitest.Client
}

var streamKey = []byte("a key that only tests know about")

var start = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func setup(t testing.TB) *bundle {
	t.Helper()
	b := &bundle{t: t, db: pgtest.DB(t), clock: clock.NewFake(start)}
	furnish(t, b.db)
	log := secrettest.Logger(t)
	who := people{}
	reads, err := postgres.NewPool(t.Context(), b.db.Config().ConnString(),
		postgres.Options{MaxConns: 4, StatementTimeout: resource.StatementTimeout, Lazy: true})
	require.NoError(t, err)
	t.Cleanup(reads.Close)
	b.api = httpapi.New(httpapi.Config{Version: "test", PublicURL: "http://api.test", Auth: who, Log: log})
	b.service = catalog.New(catalog.Deps{Pool: b.db, Reads: reads, Clock: b.clock, Log: log, StreamURLKey: streamKey})
	b.service.Routes(b.api)
	b.client = apitest.New(t, b.api)
	return b
}

type response struct {
	status int
	raw    string
	Docs   []map[string]any `json:"docs"`
	Msg    string           `json:"msg"`
	Page   struct {
		Total int `json:"qty_total_docs"`
	} `json:"pagination"`
	Detail any                 `json:"detail"`
	Error  *httpapi.ErrorCoded `json:"error"`
}

func (a response) values(field string) []any {
	out := []any{}
	for _, d := range a.Docs {
		out = append(out, d[field])
	}
	return out
}

func (b *bundle) call(who, method, path, body string) response {
	b.t.Helper()
	contentType := ""
	if body != "" {
		contentType = "application/json"
	}
	return read(b.client.As(who).Send(method, path, contentType, []byte(body)))
}

func read(from *apitest.Response) response {
	a := response{status: from.Status, raw: string(from.Body)}
	from.JSON(&a)
	return a
}

func (b *bundle) must(method, path, body string) response {
	b.t.Helper()
	a := b.call("admin", method, path, body)
	require.Equal(b.t, http.StatusOK, a.status, a.raw)
	return a
}

// find lists videos by a filter and a sort.
func (b *bundle) find(query, sort string) response {
	b.t.Helper()
	return b.must(http.MethodGet, "/videos?qty_docs_page=1000&query="+url.QueryEscape(query)+"&sort="+
		url.QueryEscape(sort), "")
}
