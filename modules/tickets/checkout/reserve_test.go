package checkout

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/tickets/events"
	"marquee/modules/tickets/orders"
	"marquee/platform/clock"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/testutil/pgtest"
	"marquee/testutil/secrettest"
)

// newCheckout is the room without gateways.
func newCheckout(t testing.TB, db *pgxpool.Pool) *Checkout {
	t.Helper()
	log, users := secrettest.Logger(t), accountstest.Service(t, db)
	client, err := jobs.New(db, jobs.Options{Log: log})
	require.NoError(t, err)
	money := payments.New(payments.Deps{Pool: db, Jobs: client, Clock: clock.System{}, Log: log})
	base := events.Base{
		Pool: db, Jobs: client, Clock: clock.System{}, Log: log, Accounts: users, Payments: money,
	}
	sale := events.New(events.Deps{Base: base})
	store := orders.New(orders.Deps{Base: base, Events: sale})
	money.Connect(payments.Hooks{Intents: map[intent.Kind]intent.Checker{intent.Order: store.Charge().Checker()}})
	return New(Deps{
		Base: base, Events: sale, Orders: store,
		Config: Config{
			FileKey: []byte("0123456789abcdef0123456789abcdef"), MaxQuantity: 10, PixTTL: 30 * time.Minute,
			CardTTL: 24 * time.Hour,
		},
	})
}

// freeEvent makes a free event on sale.
func freeEvent(t testing.TB, db *pgxpool.Pool, capacity int) events.Event {
	t.Helper()
	id := objectid.New()
	_, err := db.Exec(t.Context(),
		`INSERT INTO tickets.events (id, title, event_date, capacity, is_sale_box_office) VALUES ($1, 'Premiere', $2, $3, true)`,
		id, time.Now().Add(24*time.Hour), capacity)
	require.NoError(t, err)
	return events.Event{ID: id}
}

func buyer(n int) accounts.Customer {
	id := objectid.New()
	return accounts.Customer{ID: id, Username: fmt.Sprintf("buyer%d", n), Email: id.String() + "@example.com"}
}

// rush lets many buyers at one event at once, half of them past the gate as other
// processes are, and returns how many have a ticket.
func rush(t *testing.T, s *Checkout, e events.Event, buyers int) (served int) {
	t.Helper()
	var wg sync.WaitGroup
	var mu sync.Mutex
	for n := range buyers {
		wg.Go(func() {
			w := request{event: e, customer: buyer(n), quantity: 1}
			var r reservation
			if n%2 == 0 {
				r = s.gate.enter(t.Context(), w)
			} else {
				r = s.reserveMany(t.Context(), []request{w})[0]
			}
			mu.Lock()
			defer mu.Unlock()
			if r.err == nil {
				served++
			}
		})
	}
	wg.Wait()
	return served
}

// TestOnePersonsOrdersAreCountedAcrossProcesses: half of them pass the gate by, as those
// of other processes do. Each lock sees what was held before it.
func TestOnePersonsOrdersAreCountedAcrossProcesses(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	s := newCheckout(t, db)
	e := freeEvent(t, db, 1000)
	_, err := db.Exec(t.Context(), "UPDATE tickets.events SET ticket_value_cents = 5000")
	require.NoError(t, err)
	me := buyer(0)
	var all sync.WaitGroup
	for n := range 60 {
		all.Go(func() {
			w := request{
				event: e, customer: me, quantity: 1, gateway: noCalls{}, method: gateway.MethodPix,
				payer: gateway.Payer{CustomerID: me.ID, GatewayID: "cus_1"},
			}
			if n%2 == 0 {
				s.gate.enter(t.Context(), w)
			} else {
				s.reserveMany(t.Context(), []request{w})
			}
		})
	}
	all.Wait()
	issued, rows := counts(t, db, e)
	require.Equal(t, 10, issued)
	require.Equal(t, 10, rows)
}

func counts(t *testing.T, db *pgxpool.Pool, e events.Event) (issued, rows int) {
	t.Helper()
	require.NoError(t,
		db.QueryRow(t.Context(),
			`SELECT tickets_issued, (SELECT count(*) FROM tickets.tickets t WHERE t.event_id = e.id AND holds_place)
		FROM tickets.events e WHERE id = $1`, e.ID).Scan(&issued, &rows))
	return issued, rows
}

func TestThreeHundredSeatsAreSoldOnce(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	s := newCheckout(t, db)
	e := freeEvent(t, db, 300)
	served := rush(t, s, e, 500)
	issued, rows := counts(t, db, e)
	require.Equal(t, 300, served)
	require.Equal(t, 300, issued)
	require.Equal(t, 300, rows)
}

// TestWithoutTheLockTheConditionStillHolds: the lock only saves the losers work.
func TestWithoutTheLockTheConditionStillHolds(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	s := newCheckout(t, db)
	s.lockForSale = func(ctx context.Context, tx pgx.Tx, requests []request) (onSale, holdings, error) {
		read, err := s.db.EventGet(ctx, tx, requests[0].event.ID)
		return onSale{read.ID: &read}, holdings{}, err
	}
	s.lockManyForSale = s.lockForSale
	e := freeEvent(t, db, 20)
	served := rush(t, s, e, 120)
	issued, rows := counts(t, db, e)
	require.Equal(t, issued, rows)
	require.Equal(t, issued, served)
	require.LessOrEqual(t, issued, 20)
}

// TestWithoutGuardsSeatsAreSoldTwice shows that the tests above can fail.
func TestWithoutGuardsSeatsAreSoldTwice(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	s := newCheckout(t, db)
	_, err := db.Exec(t.Context(), "ALTER TABLE tickets.events DISABLE TRIGGER events_capacity_respected")
	require.NoError(t, err)
	var barrier sync.WaitGroup
	barrier.Add(2)
	s.lockForSale = func(ctx context.Context, tx pgx.Tx, requests []request) (onSale, holdings, error) {
		read, err := s.db.EventGet(ctx, tx, requests[0].event.ID)
		barrier.Done()
		barrier.Wait() // both have seen the last place free
		return onSale{read.ID: &read}, holdings{}, err
	}
	e := freeEvent(t, db, 1)
	var wg sync.WaitGroup
	for n := range 2 {
		wg.Go(func() { s.reserveMany(t.Context(), []request{{event: e, customer: buyer(n), quantity: 1}}) })
	}
	wg.Wait()
	issued, _ := counts(t, db, e)
	require.Equal(t, 2, issued)
}

// TestAnOrderTooLargeDoesNotKeepOthersOut: of those that come together, who fits
// is served.
func TestAnOrderTooLargeDoesNotKeepOthersOut(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	s := newCheckout(t, db)
	e := freeEvent(t, db, 5)
	var requests []request
	for n, quantity := range []int{3, 10, 2, 1} {
		requests = append(requests, request{event: e, customer: buyer(n), quantity: quantity})
	}
	results := s.reserveMany(t.Context(), requests)
	require.NoError(t, results[0].err)
	require.Error(t, results[1].err)
	require.NoError(t, results[2].err)
	require.Len(t, results[2].tickets, 2)
	require.Error(t, results[3].err)
	issued, rows := counts(t, db, e)
	require.Equal(t, 5, issued)
	require.Equal(t, 5, rows)
}

func TestHistoryIsAppendOnlyAndComplete(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	s := newCheckout(t, db)
	e := freeEvent(t, db, 5)
	r := s.reserveMany(t.Context(), []request{{event: e, customer: buyer(1), quantity: 1}})[0]
	require.NoError(t, r.err)
	_, err := db.Exec(t.Context(), "UPDATE tickets.tickets SET status = 'expired' WHERE id = $1", r.tickets[0])
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), "DELETE FROM tickets.tickets WHERE id = $1", r.tickets[0])
	require.NoError(t, err)
	rows, err := db.Query(t.Context(),
		"SELECT concat(from_status, '>', to_status) FROM tickets.transitions WHERE ticket_id = $1 ORDER BY id",
		r.tickets[0])
	require.NoError(t, err)
	moves, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Equal(t, []string{">available", "available>expired", "expired>deleted"}, moves)
	for _, statement := range []string{
		"UPDATE tickets.transitions SET reason = 'x'", "DELETE FROM tickets.transitions",
		"TRUNCATE tickets.transitions",
	} {
		_, err := db.Exec(t.Context(), statement)
		require.ErrorContains(t, err, "append-only", statement)
	}
}
