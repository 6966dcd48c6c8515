package idempotency_test

import (
	"bytes"
	"context"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/platform/clock"
	"marquee/platform/fault"
	"marquee/platform/idempotency"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/testutil/pgtest"
)

var master = []byte("0123456789abcdef0123456789abcdef")

type bundle struct {
	*testing.T
	db    *pgxpool.Pool
	clock *clock.Fake
	store *idempotency.Store
}

func setup(t *testing.T) *bundle {
	t.Helper()
	b := &bundle{T: t, db: pgtest.DB(t), clock: clock.NewFake(time.Now())}
	b.store = idempotency.New(b.db, b.clock, master)
	return b
}

var request = idempotency.Request{
	Route: "buy", Caller: "user 1", Key: "k", Body: []byte(`{"quantity": 1, "card": "4111111111111111"}`),
}

// began is an attempt that has to be granted.
func (b *bundle) began(r idempotency.Request) *idempotency.Attempt {
	b.Helper()
	attempt, response, err := b.store.Begin(b.Context(), r)
	require.NoError(b, err)
	require.Nil(b, response)
	return attempt
}

// refused is the code with which a request is turned away.
func (b *bundle) refused(r idempotency.Request) string {
	b.Helper()
	_, _, err := b.store.Begin(b.Context(), r)
	var f *fault.Error
	require.ErrorAs(b, err, &f)
	require.Equal(b, fault.KindConflict, f.Kind)
	return f.Code
}

func (b *bundle) bind(a *idempotency.Attempt, id objectid.ID) error {
	return postgres.InTx(b.Context(), b.db, func(tx pgx.Tx) error { return a.BindTx(b.Context(), tx, id) })
}

func TestARepetitionGetsTheFirstAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.began(request)
	require.Equal(t, idempotency.CodeInProgress, b.refused(request))
	first := idempotency.Response{Status: 201, Body: []byte("{\"client_secret\":\"pi_1_secret_2\"}\n")}
	require.NoError(t, a.Finish(t.Context(), first))
	other := request
	other.Body = []byte(` {"card":"4111111111111111","quantity":1}`)
	for _, r := range []idempotency.Request{request, other} {
		_, response, err := b.store.Begin(t.Context(), r)
		require.NoError(t, err)
		require.Equal(t, &first, response)
	}
	elsewhere := request
	elsewhere.Path = "/shops/2/buy"
	require.Equal(t, idempotency.CodeReused, b.refused(elsewhere))
	other.Body = []byte(`{"card":"4111111111111111","quantity":2}`)
	require.Equal(t, idempotency.CodeReused, b.refused(other))
	for _, change := range []func(*idempotency.Request){
		func(r *idempotency.Request) { r.Caller = "user 2" },
		func(r *idempotency.Request) { r.Route = "subscribe" },
		func(r *idempotency.Request) { r.Key = "K" },
	} {
		r := request
		change(&r)
		b.began(r)
	}
}

func TestTheTableHoldsNothingToRead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NoError(t, b.began(request).Finish(t.Context(),
		idempotency.Response{Status: 201, Body: []byte("pi_1_secret_2")}))
	var row []byte
	require.NoError(t,
		b.db.QueryRow(t.Context(), "SELECT key_mac || body_mac || answer FROM platform.idempotency_keys").Scan(&row))
	for _, text := range []string{"4111", "secret", "user 1", "201"} {
		require.False(t, bytes.Contains(row, []byte(text)), text)
	}
	// A row's answer belongs to its key alone.
	other := request
	other.Key = "another"
	require.NoError(t, b.began(other).Finish(t.Context(), idempotency.Response{Status: 200}))
	_, err := b.db.Exec(t.Context(),
		"UPDATE platform.idempotency_keys SET answer = (SELECT answer FROM platform.idempotency_keys ORDER BY created_at LIMIT 1)")
	require.NoError(t, err)
	failed := 0
	for _, r := range []idempotency.Request{request, other} {
		if _, _, err := b.store.Begin(t.Context(), r); err != nil {
			failed++
		}
	}
	require.Equal(t, 1, failed)
}

func TestAKeyIsForgottenAfterADay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NoError(t, b.began(request).Finish(t.Context(), idempotency.Response{Status: 200}))
	b.clock.Advance(idempotency.Retention - time.Second)
	_, response, err := b.store.Begin(t.Context(), request)
	require.NoError(t, err)
	require.NotNil(t, response)
	require.NoError(t, b.store.Purge(t.Context()))
	b.clock.Advance(time.Second)
	changed := request
	changed.Body = []byte("{}")
	a := b.began(changed) // before the purge has come
	require.Empty(t, a.Subject())
	require.NoError(t, a.Finish(t.Context(), idempotency.Response{Status: 200}))
	b.clock.Advance(idempotency.Retention)
	require.NoError(t, b.store.Purge(t.Context()))
	var left int
	require.NoError(t, b.db.QueryRow(t.Context(), "SELECT count(*) FROM platform.idempotency_keys").Scan(&left))
	require.Zero(t, left)
}

func TestWhatWasCutOffIsTakenOver(t *testing.T) {
	t.Parallel()
	b := setup(t)
	abandoned := b.began(request)
	b.clock.Advance(5 * time.Minute)
	a := b.began(request)
	require.Empty(t, a.Subject(), "nothing was committed, so the request runs anew")
	require.Error(t, b.bind(abandoned, objectid.New()), "who has lost the key commits nothing")
	order := objectid.New()
	require.NoError(t, b.bind(a, order))
	require.Equal(t, idempotency.CodeInProgress, b.refused(request))
	b.clock.Advance(5 * time.Minute)
	require.Equal(t, order, b.began(request).Subject())
	require.NoError(t, abandoned.Finish(t.Context(), idempotency.Response{Status: 200}))
	require.Equal(t, idempotency.CodeInProgress, b.refused(request), "nor does it answer for others")
}

// A client that hangs up while its key is claimed comes again with it, and does not wait for the lease of a request that
// nobody works on.
func TestWhoHungUpComesAgainWithTheKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 200 {
		r := request
		r.Key = strconv.Itoa(i)
		ctx, cancel := context.WithCancel(t.Context())
		var hungUp sync.WaitGroup
		hungUp.Go(func() {
			for range i * 500 { // at each moment of the claim
				runtime.Gosched()
			}
			cancel()
		})
		if a, _, err := b.store.Begin(ctx, r); err == nil {
			require.NoError(t, a.Release(t.Context()))
		}
		hungUp.Wait()
		require.Empty(t, b.began(r).Subject())
	}
}

func TestReleaseKeepsTheSubject(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NoError(t, b.began(request).Release(t.Context()))
	a := b.began(request)
	require.Empty(t, a.Subject())
	order := objectid.New()
	require.NoError(t, b.bind(a, order))
	require.NoError(t, a.Release(t.Context()))
	require.Equal(t, order, b.began(request).Subject())
}

// TestOneOfManyIsGranted: the primary key decides. Without it, everybody is
// granted.
func TestOneOfManyIsGranted(t *testing.T) {
	t.Parallel()
	granted := func(b *bundle) (n int) {
		var mu sync.Mutex
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if a, _, err := b.store.Begin(context.WithoutCancel(b.Context()), request); err == nil && a != nil {
					mu.Lock()
					defer mu.Unlock()
					n++
				}
			})
		}
		wg.Wait()
		return n
	}
	require.Equal(t, 1, granted(setup(t)))
	b := setup(t)
	_, err := b.db.Exec(t.Context(), `CREATE FUNCTION platform.forget_key() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN NEW.key_mac := sha256(random()::text::bytea); RETURN NEW; END $$;
		CREATE TRIGGER forget_key BEFORE INSERT ON platform.idempotency_keys FOR EACH ROW EXECUTE FUNCTION platform.forget_key()`)
	require.NoError(t, err)
	require.Equal(t, 20, granted(b))
}

func TestKeys(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"1", "8e03978e-40d5-43e8-bc93-6894a57f9324", `"quoted"`, strings.Repeat("k", 255)} {
		require.NoError(t, idempotency.CheckKey(good))
	}
	for _, bad := range []string{"", "a b", "é", "a\tb", "\x7f", strings.Repeat("k", 256)} {
		require.Error(t, idempotency.CheckKey(bad), "%q", bad)
	}
}

func TestNoKeyIsNoAttempt(t *testing.T) {
	t.Parallel()
	none := idempotency.AttemptOf(t.Context())
	require.Nil(t, none)
	require.Empty(t, none.Subject())
	require.NoError(t, none.BindTx(t.Context(), nil, objectid.New()))
	require.False(t, none.Final())
	none.KeepOpen()
}

func TestAnswersAreForgottenWithThePerson(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a, order := b.began(request), objectid.New()
	require.NoError(t, b.bind(a, order))
	require.NoError(t, a.Finish(t.Context(), idempotency.Response{Status: 201}))
	other := request
	other.Key = "another"
	require.NoError(t, b.bind(b.began(other), objectid.New()))
	for _, subjects := range [][]string{nil, {order.String(), "pay_1"}} {
		require.NoError(t, postgres.InTx(t.Context(), b.db,
			func(tx pgx.Tx) error { return idempotency.ForgetTx(t.Context(), tx, subjects) }))
	}
	var left int
	require.NoError(t, b.db.QueryRow(t.Context(), "SELECT count(*) FROM platform.idempotency_keys").Scan(&left))
	require.Equal(t, 1, left)
}

// TestAKeyIsReleasedOnAnotherConnection: where the one that was to do it has ended, the key is not claimed for all of its
// lease.
func TestAKeyIsReleasedOnAnotherConnection(t *testing.T) {
	t.Parallel()
	b := setup(t)
	cfg := b.db.Config()
	cfg.MaxConns = 1
	cfg.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false } // as of one that was just used
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	b.store = idempotency.New(pool, b.clock, master)
	a := b.began(request)
	var pid int
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT pg_backend_pid()").Scan(&pid))
	_, err = b.db.Exec(t.Context(), "SELECT pg_terminate_backend($1, 10000)", pid)
	require.NoError(t, err)
	require.NoError(t, a.Release(t.Context()))
	b.began(request)
}
