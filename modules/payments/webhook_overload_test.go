package payments_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/testutil/cleanup"
	"marquee/testutil/pgtest"
)

// watched applies, together and alone, and tells which.
type watched struct {
	*group
	before func(ctx context.Context, tx pgx.Tx, events []gateway.Event) error

	mu     sync.Mutex
	shared [][]string
	alone  []string
}

func watch(b *bundle, shares bool,
	before func(ctx context.Context, tx pgx.Tx, events []gateway.Event) error,
) *watched {
	w := &watched{group: &group{applier: b.apply}, before: before}
	hooks := payments.Hooks{Applier: w}
	if shares {
		hooks.Together = w
	}
	b.svc.Connect(hooks)
	return w
}

func (w *watched) ApplyEventsTx(ctx context.Context, tx pgx.Tx,
	events []gateway.Event,
) (map[string]gateway.Result, error) {
	var ids []string
	for _, e := range events {
		ids = append(ids, e.ID)
	}
	w.mu.Lock()
	w.shared = append(w.shared, ids)
	w.mu.Unlock()
	if err := w.before(ctx, tx, events); err != nil {
		return nil, err
	}
	return w.group.ApplyEventsTx(ctx, tx, events)
}

func (w *watched) ApplyEventTx(ctx context.Context, tx pgx.Tx, e gateway.Event) (gateway.Result, error) {
	w.mu.Lock()
	w.alone = append(w.alone, e.ID)
	w.mu.Unlock()
	if err := w.before(ctx, tx, []gateway.Event{e}); err != nil {
		return gateway.Result{}, err
	}
	return w.applier.ApplyEventTx(ctx, tx, e)
}

// A transaction of many that waits too long for a lock is tried again in halves, and none of its events alone.
func TestASharedTransactionThatFailsByTimeIsSharedAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.pool.Exec(t.Context(), "CREATE TABLE public.held AS SELECT 1 AS id")
	require.NoError(t, err)
	tx, err := b.pool.Begin(t.Context())
	require.NoError(t, err)
	cleanup.Add(t, func() { _ = tx.Rollback(context.Background()) })
	_, err = tx.Exec(t.Context(), "SELECT FROM public.held FOR UPDATE")
	require.NoError(t, err)
	var failed atomic.Pointer[[]gateway.Event]
	w := watch(b, true, func(ctx context.Context, tx pgx.Tx, events []gateway.Event) error {
		if len(events) < 2 || !failed.CompareAndSwap(nil, &events) {
			return nil
		}
		_, err := tx.Exec(ctx, "SELECT FROM public.held FOR UPDATE")
		if err == nil {
			err = errors.New("nothing was waited for")
		}
		return err
	})
	for round := 0; failed.Load() == nil; round++ {
		require.Less(t, round, 50, "they never met")
		var all sync.WaitGroup
		for i := range 24 {
			body := renewal(t, fmt.Sprintf("evt_%d_%d", round, i))
			all.Go(func() {
				if res := b.deliver("gwb", body); res.body.Result.Status != gateway.ResultApplied {
					t.Errorf("%d %s", res.status, res.raw)
				}
			})
		}
		all.Wait()
	}
	require.Contains(t, b.logs.String(), "55P03")
	whole := len(*failed.Load())
	for _, e := range *failed.Load() {
		require.NotContains(t, w.alone, e.ID)
		sizes := []int{}
		for _, ids := range w.shared {
			if slices.Contains(ids, e.ID) {
				sizes = append(sizes, len(ids))
			}
		}
		require.Equal(t, whole, sizes[0])
		require.Less(t, sizes[1], whole)
		require.InDelta(t, whole, 2*sizes[1], 1)
		require.Len(t, sizes, 2)
	}
}

// acquiring tells of each connection that is waited for.
type acquiring struct {
	pgx.QueryTracer
	begins chan struct{}
}

func (acquiring) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

func (acquiring) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (a acquiring) TraceAcquireStart(ctx context.Context, _ *pgxpool.Pool,
	_ pgxpool.TraceAcquireStartData,
) context.Context {
	select {
	case a.begins <- struct{}{}:
	default:
	}
	return ctx
}

func (acquiring) TraceAcquireEnd(context.Context, *pgxpool.Pool, pgxpool.TraceAcquireEndData) {}

// single is a bundle on a pool of one connection, which begins tells to be waited for.
func single(t *testing.T) (b *bundle, begins chan struct{}) {
	t.Helper()
	begins = make(chan struct{}, 1)
	config := pgtest.DB(t).Config()
	config.MaxConns, config.MinConns = 1, 0
	config.ConnConfig.Tracer = acquiring{begins: begins}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	cleanup.Add(t, pool.Close)
	return setupOn(t, pool), begins
}

// hold takes the only connection until it is given back.
func (b *bundle) hold(t *testing.T, begins chan struct{}) (giveBack func()) {
	t.Helper()
	conn, err := b.pool.Acquire(t.Context())
	require.NoError(t, err)
	for len(begins) > 0 {
		<-begins
	}
	giveBack = sync.OnceFunc(conn.Release)
	cleanup.Add(t, giveBack)
	return giveBack
}

// call is a delivery whose gateway hangs up when ctx ends.
func (b *bundle) call(ctx context.Context, t *testing.T, id string) (response chan *httptest.ResponseRecorder) {
	t.Helper()
	body := renewal(t, id)
	r := httptest.NewRequest(http.MethodPost, "/webhooks/gwb", bytes.NewReader(body)).WithContext(ctx)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Stripe-Signature", signed(paymentstest.GWBSecret, b.clock.Now(), body))
	response = make(chan *httptest.ResponseRecorder, 1)
	go func() {
		w := httptest.NewRecorder()
		b.api.Handler().ServeHTTP(w, r)
		response <- w
	}()
	return response
}

func applyNone(context.Context, pgx.Tx, []gateway.Event) error { return nil }

// Nothing was acknowledged, and the gateway sends the event again.
func TestADeliveryWhoseGatewayHasLeftIsNotApplied(t *testing.T) {
	t.Parallel()
	for _, shares := range []bool{true, false} {
		t.Run(fmt.Sprint("shares: ", shares), func(t *testing.T) {
			t.Parallel()
			b, begins := single(t)
			w := watch(b, shares, applyNone)
			giveBack := b.hold(t, begins)
			ctx, leave := context.WithCancel(t.Context())
			left := b.call(ctx, t, "evt_left")
			<-begins
			leave()
			<-left
			giveBack()
			require.Equal(t, http.StatusOK, b.deliver("gwb", renewal(t, "evt_stays")).status)
			require.NotContains(t, fmt.Sprint(w.shared, w.alone), "evt_left")
			require.Equal(t, 1, b.count("SELECT count(*) FROM public.effects"))
			require.Equal(t, 1, b.count("SELECT count(*) FROM payments.webhook_logs"))
			require.Equal(t, http.StatusOK, b.deliver("gwb", renewal(t, "evt_left")).status, "sent again")
			require.Equal(t, 2, b.count("SELECT count(*) FROM public.effects"))
		})
	}
}

// What has begun is done, and found when the gateway sends it again.
func TestATransactionOutlivesAGatewayThatHangsUp(t *testing.T) {
	t.Parallel()
	for _, shares := range []bool{true, false} {
		t.Run(fmt.Sprint("shares: ", shares), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			ctx, leave := context.WithCancel(t.Context())
			watch(b, shares, func(ctx context.Context, tx pgx.Tx, _ []gateway.Event) error {
				leave()
				for range 200 {
					if _, err := tx.Exec(ctx, "SELECT 1"); err != nil {
						return err
					}
				}
				return nil
			})
			<-b.call(ctx, t, "evt_left")
			require.Eventually(t, func() bool { return b.count("SELECT count(*) FROM public.effects") == 1 },
				time.Minute, time.Millisecond)
			require.Equal(t, http.StatusOK, b.deliver("gwb", renewal(t, "evt_left")).status)
			require.Equal(t, 1, b.count("SELECT count(*) FROM public.effects"))
		})
	}
}

// Those for whom there is no place are told at once to come again, and keep nobody from being served.
func TestOverloadIsTurnedAwayAndEnds(t *testing.T) {
	t.Parallel()
	b, begins := single(t)
	w := watch(b, true, applyNone)
	giveBack := b.hold(t, begins)
	places, more := 128*runtime.GOMAXPROCS(0), 10
	answers := make(chan *httptest.ResponseRecorder, places+more)
	for i := range places + more {
		one := b.call(t.Context(), t, fmt.Sprintf("evt_%d", i))
		go func() { answers <- <-one }()
	}
	for range more {
		turnedAway := <-answers
		require.Equal(t, http.StatusServiceUnavailable, turnedAway.Code)
		require.NotEmpty(t, turnedAway.Header().Get("Retry-After"))
	}
	giveBack()
	for range places {
		require.Equal(t, http.StatusOK, (<-answers).Code)
	}
	require.Equal(t, places, b.count("SELECT count(*) FROM payments.webhook_logs"))
	res := b.deliver("gwb", renewal(t, "evt_after"))
	require.Equal(t, gateway.ResultApplied, res.body.Result.Status)
	require.NotContains(t, strings.Join(w.alone, " "), "evt_after", "they are shared again")
}
