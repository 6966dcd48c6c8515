package sessions

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/fault"
)

// queue is a queue before one turn, which somebody has.
type queue struct {
	*turns
	t      *testing.T
	served chan string
}

func newQueue(t *testing.T, limit int) *queue {
	t.Helper()
	q := &queue{turns: newTurns(1, limit), t: t, served: make(chan string, 2*limit)}
	require.NoError(t, q.take(t.Context(), "whoever is first"))
	return q
}

// join waits in the queue for a turn, which is told of and not given back: refused hears of who is turned away. It
// returns once they stand there, of those whom the queue has room for.
func (q *queue) join(ctx context.Context, address string) (refused chan error) {
	q.t.Helper()
	before, refused := q.queued(), make(chan error, 1)
	go func() {
		if err := q.take(ctx, address); err != nil {
			refused <- err
			return
		}
		q.served <- address
	}()
	if before < q.limit {
		require.Eventually(q.t, func() bool { return q.queued() == before+1 }, time.Minute, time.Millisecond)
	}
	return refused
}

// next is at which address somebody gets the next turn.
func (q *queue) next() string {
	q.end()
	return <-q.served
}

func requireFull(t *testing.T, err error) {
	t.Helper()
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.Equal(t, fault.KindUnavailable, f.Kind)
	require.Equal(t, fault.CodeBusy, f.Code)
	require.Positive(t, f.RetryAfter)
}

func TestHasherRefusesWhenTheQueueIsFull(t *testing.T) {
	t.Parallel()
	q := newQueue(t, 3)
	for range 3 {
		q.join(t.Context(), "office")
	}
	requireFull(t, <-q.join(t.Context(), "office"))
	require.Equal(t, "office", q.next())
	q.join(t.Context(), "office")
	require.Equal(t, 3, q.queued(), "whom a turn was given to has left the queue")
}

func TestOneAmongACrowdOfAnotherAddressIsNext(t *testing.T) {
	t.Parallel()
	q := newQueue(t, 20)
	for range 10 {
		q.join(t.Context(), "crowd")
	}
	q.join(t.Context(), "ann")
	q.join(t.Context(), "bob")
	var order []string
	for range 12 {
		order = append(order, q.next())
	}
	require.Equal(t, []string{"crowd", "ann", "bob", "crowd"}, order[:4])
	require.Zero(t, q.queued())
	require.Empty(t, q.lines)
	q.end()
	require.NoError(t, q.take(t.Context(), "ann"), "a turn that nobody waits for is free")
}

func TestACrowdTurnsNobodyElseAway(t *testing.T) {
	t.Parallel()
	q := newQueue(t, 4)
	var crowd []chan error
	for range 4 {
		crowd = append(crowd, q.join(t.Context(), "crowd"))
	}
	ann := q.join(t.Context(), "ann")
	requireFull(t, <-crowd[3]) // the last of them
	bob := q.join(t.Context(), "bob")
	requireFull(t, <-crowd[2])
	requireFull(t, <-q.join(t.Context(), "ann")) // as many as there would wait nowhere: two of the crowd
	require.Equal(t, []string{"crowd", "ann", "bob", "crowd"}, []string{q.next(), q.next(), q.next(), q.next()})
	require.Empty(t, ann)
	require.Empty(t, bob)

	q = newQueue(t, 2)
	q.join(t.Context(), "ann")
	q.join(t.Context(), "bob")
	requireFull(t, <-q.join(t.Context(), "cid")) // where one waits at each, who comes last is turned away
}

func TestWhoHangsUpLeavesTheQueue(t *testing.T) {
	t.Parallel()
	q := newQueue(t, 3)
	ctx, hangUp := context.WithCancel(t.Context())
	gone := q.join(ctx, "ann")
	q.join(t.Context(), "ann")
	hangUp()
	require.ErrorIs(t, <-gone, context.Canceled)
	require.Equal(t, 1, q.queued())
	require.Equal(t, "ann", q.next())

	// Who is given a turn when they have hung up gives it back.
	w, err := q.enter("bob")
	require.NoError(t, err)
	q.end()
	<-w.done
	require.False(t, q.leave("bob", w))
	require.Zero(t, q.queued())
}

func TestSignInsTakeHalfOfThePlacesAtMost(t *testing.T) {
	t.Parallel()
	cores := runtime.GOMAXPROCS(0)
	for requests, most := range map[int]int{1: 2, 2: 2, 8: 4, 9: 4, 1 << 20: cores * signInsPerCore} {
		h := NewHasher(cheap, requests)
		require.Equal(t, most, h.turns.free+h.turns.limit, "of %d", requests)
		require.Positive(t, h.turns.limit)
		require.LessOrEqual(t, h.turns.free, cores)
	}
}
