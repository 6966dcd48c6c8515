package modeltest_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// process is the running platform as far as a step is concerned: it may die at a
// point. Points are the beginning and the end of each commit and each answer of a
// gateway, counted from 1.
type process struct {
	dieAt   int  // 0: never
	main    int  // the goroutine that serves the request or works the job
	patient bool // calls of gateways may take as long as they do in production

	mu       sync.Mutex
	passed   int
	died     bool
	gone     bool   // main has been ended
	many     bool   // several of its goroutines may use the database at once
	holds    int    // connections
	deadlock string // where it took a connection while it held another
	webhook  bool   // it answers one: no gateway may be called meanwhile
	called   string // where a gateway was called that may not be
}

type processKey struct{}

func processOf(ctx context.Context) *process {
	p, _ := ctx.Value(processKey{}).(*process)
	return p
}

// point is where the process may die.
func point(ctx context.Context) (died bool) {
	p := processOf(ctx)
	if p == nil || p.dieAt == 0 {
		return false
	}
	p.mu.Lock()
	if !p.died {
		p.passed++
		p.died = p.passed == p.dieAt
	}
	p.mu.Unlock()
	return dying(ctx)
}

// dying ends the goroutine of a process that is dead. What is deferred still
// runs, as the database rolls back for a client that is gone. A goroutine that
// the process has begun besides lives on, for others wait for it, and is told to
// reach nothing any more.
func dying(ctx context.Context) (died bool) {
	p := processOf(ctx)
	if p == nil {
		return false
	}
	p.mu.Lock()
	ends := p.died && !p.gone && p.main == goroutine()
	p.gone = p.gone || ends
	died = p.died && !p.gone
	p.mu.Unlock()
	if ends {
		runtime.Goexit()
	}
	return died
}

// hasEnded tells what may not end here whether the process is. A goroutine of it that
// is being ended may roll back.
func hasEnded(ctx context.Context) bool {
	p := processOf(ctx)
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.died && !p.gone
}

// die ends the process of the context now.
func die(ctx context.Context) {
	if p := processOf(ctx); p != nil {
		p.mu.Lock()
		p.died = true
		p.mu.Unlock()
		dying(ctx)
	}
}

// recordCall notes where the process calls a gateway while it answers a webhook, or holds
// a connection, and so perhaps a transaction.
func recordCall(ctx context.Context) {
	p := processOf(ctx)
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.called != "" || p.died:
	case p.webhook:
		p.called = "while a webhook is answered\n" + string(debug.Stack())
	case p.holds > 0 && !p.many:
		p.called = "while a connection is held\n" + string(debug.Stack())
	}
}

// goroutine is the number of the one that runs.
func goroutine() int {
	var buf [64]byte
	text := bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine "))
	id, _ := strconv.Atoi(string(text[:bytes.IndexByte(text, ' ')]))
	return id
}

// hangs is how long one thing may take.
const hangs = 30 * time.Second

// run does one thing that the platform does, a request or a job, in the process;
// ended is false when the process died of it.
func (p *process) run(ctx context.Context, do func(ctx context.Context)) (ended bool) {
	limit := hangs
	if p.patient {
		limit = 20 * hangs
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if p.died { // and was started anew
		p.dieAt, p.died, p.gone = 0, false, false
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.main = goroutine()
		do(context.WithValue(ctx, processKey{}, p))
		ended = true
	}()
	<-done
	if ctx.Err() != nil && p.deadlock == "" {
		p.deadlock = fmt.Sprintf("it took more than %v", hangs)
	}
	return ended && !p.died
}

// connections watches a pool: the process may die at its commits, and must not
// take a connection while it holds another, since as many that do so at once as
// there are connections would wait for ever.
type connections struct {
	mu    sync.Mutex
	loans map[*pgx.Conn]loan
}

// loan says who has a connection.
type loan struct {
	process *process
	callers []uintptr
}

type commitKey struct{}

func (*connections) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	return sent(ctx, q.SQL)
}

// TraceBatchStart implements pgx.BatchTracer: a commit may be sent with what goes before it.
func (*connections) TraceBatchStart(ctx context.Context, _ *pgx.Conn, b pgx.TraceBatchStartData) context.Context {
	return sent(ctx, b.Batch.QueuedQueries[b.Batch.Len()-1].SQL)
}

// sent is the context of what is sent to the database, whose last statement is sql.
func sent(ctx context.Context, sql string) context.Context {
	if sql != "commit" {
		if hasEnded(ctx) {
			return cancelled(ctx) // the pool gives back what ends in an error, but not what never ends
		}
		return ctx
	}
	if point(ctx) {
		return cancelled(ctx)
	}
	return context.WithValue(ctx, commitKey{}, true)
}

func cancelled(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}

func (*connections) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	ended(ctx)
}

// TraceBatchEnd implements pgx.BatchTracer.
func (*connections) TraceBatchEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchEndData) {
	ended(ctx)
}

// TraceBatchQuery implements pgx.BatchTracer.
func (*connections) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func ended(ctx context.Context) {
	if ctx.Value(commitKey{}) != nil {
		point(ctx)
	}
}

func (*connections) TraceAcquireStart(ctx context.Context, _ *pgxpool.Pool,
	_ pgxpool.TraceAcquireStartData,
) context.Context {
	if p := processOf(ctx); p != nil {
		p.mu.Lock()
		if p.holds > 0 && !p.many && !p.died {
			p.deadlock = "a connection is taken while another is held\n" + string(debug.Stack())
		}
		p.mu.Unlock()
	}
	return ctx
}

func (c *connections) TraceAcquireEnd(ctx context.Context, _ *pgxpool.Pool, data pgxpool.TraceAcquireEndData) {
	if data.Err != nil {
		return
	}
	p := processOf(ctx)
	c.mu.Lock()
	c.loans[data.Conn] = loan{p, callers()}
	c.mu.Unlock()
	if p != nil {
		p.mu.Lock()
		p.holds++
		p.mu.Unlock()
	}
}

func (c *connections) TraceRelease(_ *pgxpool.Pool, data pgxpool.TraceReleaseData) {
	c.mu.Lock()
	h := c.loans[data.Conn]
	delete(c.loans, data.Conn)
	c.mu.Unlock()
	if h.process != nil {
		h.process.mu.Lock()
		h.process.holds--
		h.process.mu.Unlock()
	}
}

// taken says who holds connections, "" when nobody does.
func (c *connections) taken() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all string
	for _, h := range c.loans {
		for frames := runtime.CallersFrames(h.callers); ; {
			frame, more := frames.Next()
			all += fmt.Sprintf("%s\n\t%s:%d\n", frame.Function, frame.File, frame.Line)
			if !more {
				break
			}
		}
	}
	return all
}

// callers are kept as they are: to write them out costs a third of what the tests compute.
func callers() []uintptr {
	pcs := make([]uintptr, 64)
	return pcs[:runtime.Callers(3, pcs)]
}

// The guard against locked pools notices what it is there for.
func TestSecondConnectionAndKeptOneAreNoticed(t *testing.T) {
	t.Parallel()
	watched := &connections{loans: map[*pgx.Conn]loan{}}
	db := tracedPool(t, watched)
	query := func(ctx context.Context, q interface {
		QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	},
	) {
		var n int
		require.NoError(t, q.QueryRow(ctx, "SELECT 1").Scan(&n))
	}
	one := &process{}
	one.run(t.Context(), func(ctx context.Context) {
		query(ctx, db)
		require.NoError(t, pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error { query(ctx, tx); return nil }))
	})
	require.Empty(t, one.deadlock)
	two := &process{}
	two.run(t.Context(), func(ctx context.Context) {
		require.NoError(t, pgx.BeginFunc(ctx, db, func(pgx.Tx) error { query(ctx, db); return nil }))
	})
	require.Contains(t, two.deadlock, "TestSecondConnectionAndKeptOneAreNoticed")
	require.Empty(t, watched.taken())
	conn, err := db.Acquire(t.Context())
	require.NoError(t, err)
	require.Contains(t, watched.taken(), "TestSecondConnectionAndKeptOneAreNoticed")
	conn.Release()
}
