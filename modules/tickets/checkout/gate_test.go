package checkout

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"marquee/modules/tickets/events"
	"marquee/platform/objectid"
	"marquee/testutil/pgtest"
)

// stopped makes a reserver that stops at its first call, and tells of each how many it reserves for.
func stopped() (reserve reserver, entered, goOn chan struct{}, sizes *[]int) {
	entered, goOn, sizes = make(chan struct{}), make(chan struct{}), new([]int)
	reserve = func(_ context.Context, requests []request) []reservation {
		if *sizes = append(*sizes, len(requests)); len(*sizes) == 1 {
			close(entered)
			<-goOn
		}
		results := make([]reservation, len(requests))
		for i, w := range requests {
			results[i].order.Quantity = int32(w.quantity)
		}
		return results
	}
	return reserve, entered, goOn, sizes
}

func (g *gate) waiting(queue objectid.ID) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.queues[queue])
}

// requireIdle: nothing waits, and nobody serves.
func requireIdle(t *testing.T, g *gate) {
	t.Helper()
	require.Eventually(t, func() bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		return len(g.queues) == 0
	}, 10*time.Second, time.Millisecond)
}

// TestPurchasesOfManyEventsPassTogether: what comes while a transaction is under way shares the
// next, whatever the event, in the order of arrival; what comes alone waits for nobody.
func TestPurchasesOfManyEventsPassTogether(t *testing.T) {
	t.Parallel()
	reserve, entered, goOn, sizes := stopped()
	g := newGate(reserve, nil)
	const waiting = 2*maxTogether + 10
	var all sync.WaitGroup
	for n := range 1 + waiting {
		w := request{event: events.Event{ID: objectid.New()}, quantity: n}
		e := &entry{request: w, done: make(chan reservation, 1)}
		g.enqueue(t.Context(), sharedQueue, e)
		if n == 0 {
			<-entered
		}
		all.Go(func() { assert.EqualValues(t, n, (<-e.done).order.Quantity) })
	}
	require.Equal(t, waiting, g.waiting(sharedQueue))
	close(goOn)
	all.Wait()
	require.Equal(t, []int{1, maxTogether, maxTogether, 10}, *sizes)
	requireIdle(t, g)
}

// TestTheOutcomeIsAwaitedWhenTheClientLeaves: what is reserved has to be followed up.
func TestTheOutcomeIsAwaitedWhenTheClientLeaves(t *testing.T) {
	t.Parallel()
	reserve, entered, goOn, _ := stopped()
	g := newGate(func(ctx context.Context, requests []request) []reservation {
		results := reserve(ctx, requests)
		_, bounded := ctx.Deadline()
		assert.True(t, bounded)
		return append(results[:0], reservation{order: results[0].order, err: ctx.Err()})
	}, nil)
	ctx, leave := context.WithCancel(t.Context())
	outcome := make(chan reservation, 1)
	go func() { outcome <- g.enter(ctx, request{quantity: 3}) }()
	<-entered
	leave()
	require.Never(t, func() bool { return len(outcome) > 0 }, 20*time.Millisecond, time.Millisecond)
	close(goOn)
	r := <-outcome
	require.NoError(t, r.err)
	require.EqualValues(t, 3, r.order.Quantity)
}

// TestEachPurchaseIsAnsweredOnce, also where many are sent on to the queues of their events.
func TestEachPurchaseIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	reserve := func(sentOn int) reserver {
		return func(_ context.Context, requests []request) []reservation {
			assert.LessOrEqual(t, len(requests), maxTogether)
			results := make([]reservation, len(requests))
			for i, w := range requests {
				if results[i].order.Quantity = int32(w.quantity); rand.IntN(10) < sentOn {
					results[i].err = errEventQueue
				}
				if sentOn == 0 {
					assert.Equal(t, requests[0].event, w.event)
				}
			}
			return results
		}
	}
	g := newGate(reserve(5), reserve(0))
	sold := []events.Event{{ID: objectid.New()}, {ID: objectid.New()}, {ID: objectid.New()}}
	var all sync.WaitGroup
	for n := range 100 {
		all.Go(func() {
			for i := range 100 {
				r := g.enter(t.Context(), request{event: sold[(n+i)%len(sold)], quantity: 100*n + i})
				if !assert.NoError(t, r.err) { //nolint:testifylint // not the test's goroutine
					return
				}
				assert.EqualValues(t, 100*n+i, r.order.Quantity)
			}
		})
	}
	all.Wait()
	requireIdle(t, g)
}

// TestAPanicIsAnErrorOfItsPurchase: what shared its transaction is reserved all the same.
func TestAPanicIsAnErrorOfItsPurchase(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	s := newCheckout(t, db)
	e, other := freeEvent(t, db, 5), freeEvent(t, db, 5)
	bad := buyer(0)
	panicking := func(lock lockSale) lockSale {
		return func(ctx context.Context, tx pgx.Tx, requests []request) (onSale, holdings, error) {
			for _, w := range requests {
				if w.customer.ID == bad.ID {
					panic("boom")
				}
			}
			return lock(ctx, tx, requests)
		}
	}
	s.lockForSale, s.lockManyForSale = panicking(s.lockForSale), panicking(s.lockManyForSale)
	entries := together(s,
		request{event: e, customer: bad, quantity: 1},
		request{event: e, customer: buyer(1), quantity: 1}, request{event: other, customer: buyer(2), quantity: 1})
	require.ErrorContains(t, (<-entries[0].done).err, "boom")
	require.NoError(t, (<-entries[1].done).err)
	require.NoError(t, (<-entries[2].done).err)
	requireIdle(t, s.gate)
}

// together has purchases reserved by one transaction of the shared queue.
func together(s *Checkout, requests ...request) (entries []*entry) {
	for _, w := range requests {
		entries = append(entries, &entry{request: w, done: make(chan reservation, 1)})
	}
	s.gate.commit(context.Background(), sharedQueue, entries)
	return entries
}

// TestALockedEventHoldsUpNoOther: its own buyers alone wait.
func TestALockedEventHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	s := newCheckout(t, db)
	locked, free := freeEvent(t, db, 20), freeEvent(t, db, 20)
	tx, err := db.Begin(t.Context())
	require.NoError(t, err)
	defer tx.Rollback(context.WithoutCancel(t.Context())) //nolint:errcheck // nothing was written
	_, err = tx.Exec(t.Context(), "SELECT FROM tickets.events WHERE id = $1 FOR UPDATE", locked.ID)
	require.NoError(t, err)
	waiting := make(chan reservation, 3)
	for n := range 3 {
		go func() {
			waiting <- s.gate.enter(t.Context(), request{event: locked, customer: buyer(n), quantity: 1})
		}()
	}
	for n := range 10 {
		require.NoError(t, s.gate.enter(t.Context(), request{event: free, customer: buyer(n), quantity: 1}).err)
	}
	require.Empty(t, waiting)
	require.NoError(t, tx.Rollback(t.Context()))
	for range 3 {
		require.NoError(t, (<-waiting).err)
	}
	for e, sold := range map[objectid.ID]int{locked.ID: 3, free.ID: 10} {
		issued, rows := counts(t, db, events.Event{ID: e})
		require.Equal(t, sold, issued)
		require.Equal(t, sold, rows)
	}
	requireIdle(t, s.gate)
}

// TestAFaultOfOneEventSpoilsNoOther: nothing of a transaction that fails in the middle stays, and its
// purchases are reserved apart.
func TestAFaultOfOneEventSpoilsNoOther(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	s := newCheckout(t, db)
	full, free := freeEvent(t, db, 0), freeEvent(t, db, 5)
	boundless := func(lock lockSale) lockSale {
		return func(ctx context.Context, tx pgx.Tx, requests []request) (onSale, holdings, error) {
			sale, taken, err := lock(ctx, tx, requests)
			for _, e := range sale {
				e.Capacity = nil // so that the condition of the database refuses the order
			}
			return sale, taken, err
		}
	}
	s.lockForSale, s.lockManyForSale = boundless(s.lockForSale), boundless(s.lockManyForSale)
	entries := together(s,
		request{event: free, customer: buyer(0), quantity: 1},
		request{event: full, customer: buyer(1), quantity: 1}, request{event: free, customer: buyer(2), quantity: 1})
	require.NoError(t, (<-entries[0].done).err)
	require.Equal(t, events.ErrSoldOut(), (<-entries[1].done).err)
	require.NoError(t, (<-entries[2].done).err)
	issued, rows := counts(t, db, free)
	require.Equal(t, 2, issued)
	require.Equal(t, 2, rows)
}

// TestWhatMayStandIsNotReservedAgain: the answer to the commit is lost.
func TestWhatMayStandIsNotReservedAgain(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	pool, armed := pgtest.LosingCommits(t, db)
	s := newCheckout(t, pool)
	e, other := freeEvent(t, db, 5), freeEvent(t, db, 5)
	armed.Store(true)
	entries := together(s,
		request{event: e, customer: buyer(0), quantity: 1}, request{event: other, customer: buyer(1), quantity: 1})
	require.False(t, armed.Load(), "nothing was committed")
	for _, entry := range entries {
		require.ErrorIs(t, (<-entry.done).err, errUnsure)
	}
	requireIdle(t, s.gate)
	for _, sold := range []events.Event{e, other} {
		issued, rows := counts(t, db, sold)
		require.Equal(t, 1, issued)
		require.Equal(t, 1, rows)
	}
	armed.Store(true)
	for _, r := range s.reserveMany(t.Context(), []request{
		{event: e, customer: buyer(2), quantity: 1}, {event: e, customer: buyer(3), quantity: 1},
	}) {
		require.ErrorIs(t, r.err, errUnsure)
	}
	issued, _ := counts(t, db, e)
	require.Equal(t, 3, issued)
}

// TestNobodyWaitsTwiceForADatabaseThatHasNoRoom: another queue would have none either.
func TestNobodyWaitsTwiceForADatabaseThatHasNoRoom(t *testing.T) {
	t.Parallel()
	s := newCheckout(t, pgtest.DB(t))
	s.lockManyForSale = func(ctx context.Context, _ pgx.Tx, _ []request) (onSale, holdings, error) {
		<-ctx.Done()
		return nil, nil, errors.New("the connection broke")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	r := s.reserveShared(ctx, []request{{event: events.Event{ID: objectid.New()}, customer: buyer(0), quantity: 1}})
	require.Error(t, r[0].err)
	require.NotErrorIs(t, r[0].err, errEventQueue)
}

// TestTwoProcessesSellManyEventsToTheSeat: neither waits for the other with an event locked.
func TestTwoProcessesSellManyEventsToTheSeat(t *testing.T) {
	t.Parallel()
	const seats, buyers = 15, 40 // of each event
	db := pgtest.DB(t)
	shops := []*Checkout{newCheckout(t, db), newCheckout(t, db)}
	var all []events.Event
	for range 4 {
		all = append(all, freeEvent(t, db, seats))
	}
	var wg sync.WaitGroup
	outcomes := make([]error, len(all)*buyers)
	for n := range outcomes {
		wg.Go(func() {
			outcomes[n] = shops[n/len(all)%2].gate.
				enter(t.Context(), request{event: all[n%len(all)], customer: buyer(n), quantity: 1}).err
		})
	}
	wg.Wait()
	served := 0
	for _, err := range outcomes {
		if err == nil {
			served++
			continue
		}
		require.Equal(t, events.ErrSoldOut(), err)
	}
	require.Equal(t, len(all)*seats, served)
	for _, e := range all {
		issued, rows := counts(t, db, e)
		require.Equal(t, seats, issued)
		require.Equal(t, seats, rows)
	}
}
