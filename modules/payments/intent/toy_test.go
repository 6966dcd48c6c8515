package intent_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/platform/clock"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/platform/operators"
	"marquee/platform/postgres"
	"marquee/testutil/pgtest"
	"marquee/testutil/secrettest"
)

const callTime = 75 * time.Second

// fakes are gateways that nobody asks: the steps of these tests answer for themselves.
func fakes() gateway.Set {
	fake := probed{probe: func() error { return gateway.ErrUnavailable }}
	return gateway.Set{gateway.GWA: fake, gateway.GWB: fake}
}

// toy is a user with one table: a row is open, made or nothing.
type toy struct {
	t        *testing.T
	db       *pgxpool.Pool
	clock    *clock.Fake
	svc      *intent.Service
	gateways gateway.Set
	log      *slog.Logger

	mu      sync.Mutex
	remote  map[objectid.ID]string // what the gateway has of a row: made, waiting, nothing, failing, panic
	checked []objectid.ID          // in the order in which they were made
	again   bool                   // what is proved to be missing is ordered again
	calls   int
}

func setup(t *testing.T, change ...func(*intent.Deps)) *toy {
	t.Helper()
	b := &toy{
		t: t, db: pgtest.DB(t), clock: clock.NewFake(time.Now()), remote: map[objectid.ID]string{}, gateways: fakes(),
	}
	log := secrettest.Logger(t)
	b.log = log
	client, err := jobs.New(b.db, jobs.Options{Log: log})
	require.NoError(t, err)
	_, err = b.db.Exec(t.Context(), "CREATE TABLE public.toys (id text PRIMARY KEY, state text NOT NULL)")
	require.NoError(t, err)
	d := intent.Deps{
		Pool: b.db, Clock: b.clock, Log: log, Gateways: b.gateways,
		Operators: operators.New(client, nil, []string{"ops@example.com"}),
	}
	for _, c := range change {
		c(&d)
	}
	b.svc = intent.New(d)
	b.svc.Connect(intent.Hooks{Checkers: map[intent.Kind]intent.Checker{
		intent.Order: intent.NewChecker(b.check, false), intent.Refund: intent.NewChecker(b.check, false),
		intent.SubscriptionGone: intent.NewChecker(b.checkGone, true),
	}})
	return b
}

func (b *toy) tx(f func(tx pgx.Tx) error) error { return postgres.InTx(b.t.Context(), b.db, f) }

func ref(id objectid.ID) intent.Ref { return intent.Ref{Kind: intent.Order, Subject: id} }

// order commits a row and its intent; what the gateway makes of the call is set apart.
func (b *toy) order(at gateway.Name, has string) objectid.ID {
	b.t.Helper()
	id := objectid.New()
	b.has(id, has)
	require.NoError(b.t, b.tx(func(tx pgx.Tx) error {
		if _, err := tx.Exec(b.t.Context(), "INSERT INTO public.toys VALUES ($1, 'open')", id); err != nil {
			return err
		}
		return b.svc.OpenTx(b.t.Context(), tx, intent.Opening{Ref: ref(id), Gateway: at, CallTime: callTime})
	}))
	return id
}

// lost is an order whose call ended not known.
func (b *toy) lost(at gateway.Name, has string) objectid.ID {
	b.t.Helper()
	id := b.order(at, has)
	require.NoError(b.t, b.svc.NotKnown(b.t.Context(), ref(id), errors.New("status 500")))
	return id
}

func (b *toy) has(id objectid.ID, what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.remote[id] = what
}

func (b *toy) all(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id := range b.remote {
		b.remote[id] = what
	}
}

func (b *toy) request(id objectid.ID) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.checked = append(b.checked, id)
	return b.remote[id]
}

func (b *toy) settle(ctx context.Context, id objectid.ID, state string, how intent.Outcome[any]) error {
	return b.tx(func(tx pgx.Tx) error {
		n, err := tx.Exec(ctx, "UPDATE public.toys SET state = $2 WHERE id = $1 AND state = 'open'", id, state)
		if err != nil {
			return err
		}
		if n.RowsAffected() == 0 {
			return errors.New("settled twice")
		}
		return b.svc.EndTx(ctx, tx, ref(id), how, "look")
	})
}

func (b *toy) check(ctx context.Context, c *intent.Check) (intent.Finding, error) {
	switch b.request(c.Subject) {
	case "made":
		return intent.Settled, b.settle(ctx, c.Subject, "made", intent.Succeeded[any]{})
	case "waiting":
		return intent.Waiting, nil
	case "nothing":
		if !c.Proved() {
			return intent.NotThere, nil
		}
		if !b.again {
			return intent.Settled, b.settle(ctx, c.Subject, "nothing", intent.Missing[any]{})
		}
		if err := c.CallAgain(ctx); err != nil {
			return 0, err
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.calls++
		return 0, errors.New("the call again ended not known, too")
	case "panic":
		panic("the toy is broken")
	}
	return 0, errors.New("the gateway answers with HTML")
}

func (b *toy) checkGone(ctx context.Context, c *intent.Check) (intent.Finding, error) {
	switch b.request(c.Subject) {
	case "nothing":
		if !c.Proved() {
			return intent.NotThere, nil
		}
		_, err := b.db.Exec(ctx, "INSERT INTO public.toys VALUES ($1, 'gone')", c.Subject)
		return intent.Settled, err
	case "made":
		return intent.FoundAgain, nil
	}
	return 0, errors.New("the gateway answers with HTML")
}

// turn makes a turn of checks after a time.
func (b *toy) turn(at gateway.Name, after time.Duration) {
	b.t.Helper()
	b.clock.Advance(after)
	require.NoError(b.t, b.svc.CheckDue(b.t.Context(), at))
}

func (b *toy) state(id objectid.ID) string {
	b.t.Helper()
	var state string
	require.NoError(b.t,
		b.db.QueryRow(b.t.Context(), "SELECT coalesce((SELECT state FROM public.toys WHERE id = $1), '')", id).
			Scan(&state))
	return state
}

func (b *toy) count(query string, args ...any) (n int) {
	b.t.Helper()
	require.NoError(b.t, b.db.QueryRow(b.t.Context(), query, args...).Scan(&n))
	return n
}

func (b *toy) open(id objectid.ID) (intent.Intent, bool) {
	b.t.Helper()
	i, ok, err := b.svc.OpenOf(b.t.Context(), b.db, id)
	require.NoError(b.t, err)
	return i, ok
}

// seen is how often a row was looked at.
func (b *toy) seen(id objectid.ID) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, other := range b.checked {
		if other == id {
			n++
		}
	}
	return n
}
