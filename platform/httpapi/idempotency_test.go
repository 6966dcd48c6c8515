package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/platform/clock"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/idempotency"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/testutil/apitest"
	"marquee/testutil/pgtest"
)

// shop sells things once a key. What a sale does is told by its title.
type shop struct {
	db      *pgxpool.Pool
	sales   atomic.Int64
	entered chan struct{} // told when a sale titled wait begins
	resume  chan struct{}
	nobody  *apitest.Client
}

type saleInput struct{ Body thing }

func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{db: pgtest.DB(t), entered: make(chan struct{}), resume: make(chan struct{})}
	store := idempotency.New(s.db, clock.NewFake(time.Now()), []byte("0123456789abcdef0123456789abcdef"))
	api := httpapi.New(httpapi.Config{
		Version: "test", PublicURL: "https://api.example.com", Auth: everybody, Log: slog.New(slog.DiscardHandler),
		Idempotency: store,
	})
	httpapi.Route(api, http.MethodPost, "/buy", "buy", httpapi.Customer, s.sell, httpapi.Idempotent(s.replay, nil),
		httpapi.Status(http.StatusCreated))
	httpapi.Route(api, http.MethodPost, "/guest", "guest", httpapi.Public, s.sell,
		httpapi.Idempotent(s.replay, func(body []byte) string {
			return strings.ToLower(string(body[:min(len(body), 14)]))
		}))
	httpapi.Route(api, http.MethodPost, "/plain", "plain", httpapi.Public, s.sell)
	s.nobody = apitest.New(t, api)
	return s
}

func (s *shop) bind(ctx context.Context, id objectid.ID) error {
	return postgres.InTx(ctx, s.db, func(tx pgx.Tx) error { return idempotency.AttemptOf(ctx).BindTx(ctx, tx, id) })
}

const (
	doneID = objectid.ID("aaaaaaaaaaaaaaaaaaaaaaaa")
	voidID = objectid.ID("bbbbbbbbbbbbbbbbbbbbbbbb")
	openID = objectid.ID("cccccccccccccccccccccccc")
)

func (s *shop) sell(ctx context.Context, in *saleInput) (*httpapi.Output[said], error) {
	n := s.sales.Add(1)
	switch in.Body.Title {
	case "wait":
		s.entered <- struct{}{}
		<-s.resume
	case "panic":
		panic("boom")
	case "bad":
		return nil, fault.BadRequest("Sale %d is bad.", n)
	case "late":
		return nil, fault.TooManyRequests(time.Second, "Later.")
	case "crash":
		return nil, errors.New("crash")
	case "done", "void", "open":
		id := map[string]objectid.ID{"done": doneID, "void": voidID, "open": openID}[in.Body.Title]
		return nil, errors.Join(s.bind(ctx, id), errors.New("cut off after the intent"))
	}
	return httpapi.OK(said{fmt.Sprintf("sale %d <&>", n)})
}

func (s *shop) replay(_ context.Context, subject objectid.ID) (*httpapi.Output[said], error) {
	switch subject {
	case voidID:
		return nil, httpapi.ErrWithoutEffect
	case openID:
		return nil, idempotency.InProgress()
	}
	return httpapi.OK(said{"replayed " + subject.String()})
}

func sale(title string) map[string]any { return map[string]any{"title": title} }

func TestTheSameKeyGetsTheFirstAnswerByteForByte(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	me := s.nobody.As("customer").With("Idempotency-Key", "key-1")
	for title, status := range map[string]int{"good": 201, "bad": 400} {
		me := s.nobody.As("customer").With("Idempotency-Key", title)
		first := me.Post("/buy", sale(title)).Expect(status)
		require.Empty(t, first.Header.Get("Idempotent-Replayed"))
		again := me.Post("/buy", sale(title)).Expect(status)
		require.Equal(t, string(first.Body), string(again.Body))
		require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
		require.Equal(t, first.Header.Get("Content-Type"), again.Header.Get("Content-Type"))
	}
	require.EqualValues(t, 2, s.sales.Load())
	me.Post("/buy", sale("one")).Expect(201)
	require.Equal(t, idempotency.CodeReused, me.Post("/buy", sale("two")).Expect(409).Code())
	s.nobody.As("customer").Post("/buy", sale("one")).Expect(201)
	require.EqualValues(t, 4, s.sales.Load(), "no key, no memory")
	for range 2 {
		s.nobody.With("Idempotency-Key", "k").Post("/plain", sale("x")).Expect(200)
	}
	require.EqualValues(t, 6, s.sales.Load(), "an operation that moves no money ignores the header")
}

func TestWhatDidNothingIsNotKept(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	me := s.nobody.As("customer").With("Idempotency-Key", "k")
	me.Post("/buy", sale("too long a title")).Expect(422)
	me.Post("/buy", "{").Expect(422)
	s.nobody.With("Idempotency-Key", "k").Post("/buy", sale("x")).Expect(401)
	s.nobody.As("admin").With("Idempotency-Key", "k").Post("/buy", sale("x")).Expect(403)
	require.Zero(t, s.sales.Load())
	for title, status := range map[string]int{"late": 429, "crash": 500, "panic": 500} {
		for range 2 {
			me.Post("/buy", sale(title)).Expect(status)
		}
	}
	require.EqualValues(t, 6, s.sales.Load())
	a := me.Post("/buy", sale("late")).Expect(429)
	require.Equal(t, "1", a.Header.Get("Retry-After"), "headers of an answer that is not kept pass")
	me.Send(http.MethodPost, "/buy", "application/json", []byte(`{"title":"`+strings.Repeat("x", 1<<20)+`"}`)).
		Expect(413)
	me.Post("/buy", sale("good")).Expect(201)
}

func TestARepetitionMeanwhileIsTurnedAway(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	me := s.nobody.As("customer").With("Idempotency-Key", "k")
	first := make(chan *apitest.Response)
	go func() { first <- me.Post("/buy", sale("wait")) }()
	<-s.entered
	a := me.Post("/buy", sale("wait")).Expect(409)
	require.Equal(t, idempotency.CodeInProgress, a.Code())
	require.NotEmpty(t, a.Header.Get("Retry-After"))
	require.Equal(t, idempotency.CodeReused, me.Post("/buy", sale("other")).Expect(409).Code())
	close(s.resume)
	require.Equal(t, string((<-first).Expect(201).Body), string(me.Post("/buy", sale("wait")).Expect(201).Body))
	require.EqualValues(t, 1, s.sales.Load())
}

func TestARequestThatWasCutOffIsRecalled(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	me := func(key string) *apitest.Client { return s.nobody.As("customer").With("Idempotency-Key", key) }
	me("done").Post("/buy", sale("done")).Expect(500)
	require.Equal(t, "replayed "+doneID.String(), me("done").Post("/buy", sale("done")).Expect(201).Map()["said"])
	require.EqualValues(t, 1, s.sales.Load())
	require.Equal(t, "true", me("done").Post("/buy", sale("done")).Expect(201).Header.Get("Idempotent-Replayed"))

	me("open").Post("/buy", sale("open")).Expect(500)
	for range 2 {
		require.Equal(t, idempotency.CodeInProgress, me("open").Post("/buy", sale("open")).Expect(409).Code())
	}
	require.EqualValues(t, 2, s.sales.Load())

	me("void").Post("/buy", sale("void")).Expect(500)
	me("void").Post("/buy", sale("void")).Expect(500)
	require.EqualValues(t, 4, s.sales.Load(), "what came to nothing runs anew")
}

func TestKeysBelongToTheirCaller(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	guest := s.nobody.With("Idempotency-Key", "k")
	for _, title := range []string{"anna", "otto"} {
		for range 2 {
			guest.Post("/guest", sale(title)).Expect(200)
		}
	}
	require.EqualValues(t, 2, s.sales.Load())
}

func TestMalformedKeys(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	me := s.nobody.As("customer")
	for _, key := range []string{"", "a b", strings.Repeat("k", 256), "é"} {
		require.Equal(t, "Idempotency-Key", me.With("Idempotency-Key", key).Post("/buy", sale("x")).Expect(422).Field(),
			"%q", key)
	}
	me.With("Idempotency-Key", "a").With("Idempotency-Key", "b").Post("/buy", sale("x")).Expect(422)
	me.With("Idempotency-Key", strings.Repeat("k", 255)).Post("/buy", sale("x")).Expect(201)
}
