package postgres

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Class says how long what is done for a context waits for the database, and how many
// connections of a pool with a Gate are open to it. A context without a class, as of
// commands and of the job client itself, goes past the gate.
type Class int

// The classes. Each is kept from the part of the pool that stands for those below it.
const (
	none    Class = iota
	Job           // waits as long as it takes, for connections and for locks
	Request       // a request
	Urgent        // what the reserve is for, and may stand behind a lock: a token, applying an event
	Brief         // what takes milliseconds: storing an event; the last connections are kept for it
)

// Gate bounds the waits of a pool and keeps a part of its connections.
type Gate struct {
	Wait     time.Duration // longest that a request waits for a connection
	LockWait time.Duration // longest that it waits for a lock
	Reserve  bool          // keep a fifth of the connections, at least 2, for Urgent and Brief
	// Waited, where it is not nil, hears how long each connection was waited for, had or not.
	Waited func(time.Duration)
}

// ErrBusy says that no connection was free in time.
var ErrBusy = errors.New("postgres: no connection was free in time")

// errLock is Postgres's lock_not_available, what a statement ends with that has waited
// too long for a lock.
const errLock = "55P03"

// errConnections is Postgres's too_many_connections.
const errConnections = "53300"

// errProtocol is protocol_violation, which is PgBouncer's code for all that it says itself.
const errProtocol = "08P01"

// IsLocked reports whether a lock was waited for too long.
func IsLocked(err error) bool { return code(err) == errLock }

// IsBusy reports whether err says no more than that the database has no room at this
// moment: the same may well succeed later.
func IsBusy(err error) bool {
	return errors.Is(err, ErrBusy) || IsLocked(err) || code(err) == errConnections || isPoolerFull(err)
}

// isPoolerFull reports whether PgBouncer has lent no connection: it was waited for too long (query_wait_timeout), or
// there are too many clients (max_client_conn). Nothing has been asked of Postgres then.
func isPoolerFull(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == errProtocol &&
		(e.Message == "query_wait_timeout" || strings.HasPrefix(e.Message, "no more connections allowed"))
}

// IsServers reports whether the database itself has refused a statement.
func IsServers(err error) bool { return code(err) != "" }

// waiting is what a context says about its waits.
type waiting struct {
	class   Class
	share   string       // whose share of the connections it takes: the route
	patient *atomic.Bool // nothing may be given up any more
}

type waitingKey struct{}

// As gives the context a class. Work of one share, such as a route, leaves some
// connections of those that its class may take to the others, so that what stands
// behind a lock does not stop everything; "" keeps the share that the context has.
func As(ctx context.Context, class Class, share string) context.Context {
	w, ok := ctx.Value(waitingKey{}).(waiting)
	if !ok {
		w.patient = new(atomic.Bool)
	}
	w.class = class
	if share != "" {
		w.share = share
	}
	return context.WithValue(ctx, waitingKey{}, w)
}

// Sharing is As with the class that the context has.
func Sharing(ctx context.Context, share string) context.Context {
	if w, ok := ctx.Value(waitingKey{}).(waiting); ok {
		return As(ctx, w.class, share)
	}
	return ctx
}

// BePatient lets everything that follows for the context, and for those it came from
// since As, wait as long as it takes: something has been done outside of the database
// that has to be written down.
func BePatient(ctx context.Context) {
	if w, ok := ctx.Value(waitingKey{}).(waiting); ok {
		w.patient.Store(true)
	}
}

// Detach gives work that outlives a request, or that is done for several, a context
// without the request's end and patience.
func Detach(ctx context.Context) context.Context {
	ctx = context.WithoutCancel(ctx)
	if w, ok := ctx.Value(waitingKey{}).(waiting); ok {
		w.patient = new(atomic.Bool)
		return context.WithValue(ctx, waitingKey{}, w)
	}
	return ctx
}

// bounded reports whether locks are not waited for without end.
func (w waiting) bounded() bool { return w.class > Job && !w.patient.Load() }

// hurried reports whether a connection is not waited for to the context's own end: Brief
// has a way of its own to one.
func (w waiting) hurried() bool { return w.bounded() && w.class != Brief }

// gate hands out the connections of a pool. It hangs in the pool as its tracer.
type gate struct {
	Gate
	ordinary chan struct{} // holds one a connection of Job and Ask
	urgent   chan struct{} // holds one a connection of Urgent
	slow     chan struct{} // holds one a connection of Job, Ask and Urgent
	brief    chan struct{} // holds one a connection of Brief, which may stand behind a lock as well
	share    int           // connections of one share of Job and Ask
	apart    int           // connections of one share of Urgent: less than all of them
	broken   atomic.Int64  // connections that ended under their holders

	mu     sync.Mutex
	shares map[shareKey]chan struct{}
	passes map[*pgx.Conn]*pass
}

type shareKey struct {
	urgent bool
	name   string
}

// pass is what a connection's holder has taken, to be put back with it.
type pass struct {
	of     context.Context //nolint:containedctx // what it was acquired for, as in acquiring
	taken  []chan struct{}
	cancel context.CancelFunc
}

func (p *pass) putBack() {
	for _, c := range p.taken {
		<-c
	}
	p.taken = nil
}

func newGate(g Gate, conns int) *gate {
	open, urgent, brief := conns, conns, conns
	share := min(open, max(2, open-max(1, open/4)))
	if g.Reserve {
		// A route, events being applied and stored, tokens and a job may wait behind one lock:
		// together they leave one connection to others. Of the reserved ones, events being
		// applied leave one to tokens, and tokens one to them.
		open -= max(2, conns/5)
		urgent, brief = (conns-2)*2/5, max(1, conns/10)
		share = max(1, min(open-2, conns-2-max(1, urgent)-brief))
		urgent = max(2, urgent)
	}
	return &gate{
		Gate: g, ordinary: make(chan struct{}, max(open, 1)), urgent: make(chan struct{}, urgent),
		slow:  make(chan struct{}, max(conns-1, 1)),
		brief: make(chan struct{}, brief),
		share: share, apart: max(urgent-1, 1), shares: map[shareKey]chan struct{}{}, passes: map[*pgx.Conn]*pass{},
	}
}

// stages are what a class has to take before a connection, in order.
func (g *gate) stages(w waiting) []chan struct{} {
	switch w.class {
	case Job, Request:
		return []chan struct{}{g.shareOf(shareKey{name: w.share}, g.share), g.ordinary, g.slow}
	case Urgent:
		return []chan struct{}{g.shareOf(shareKey{urgent: true, name: w.share}, g.apart), g.urgent, g.slow}
	case Brief:
		return []chan struct{}{g.brief}
	}
	return nil
}

func (g *gate) shareOf(key shareKey, size int) chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	c, ok := g.shares[key]
	if !ok {
		c = make(chan struct{}, size)
		g.shares[key] = c
	}
	return c
}

// acquiring is a context whose end is ErrBusy.
type acquiring struct {
	context.Context
	of    context.Context // what the connection is acquired for
	p     *pass
	since time.Time
}

// Err implements context.Context.
func (a acquiring) Err() error {
	if a.Context.Err() == nil {
		return nil
	}
	if err := a.of.Err(); err != nil {
		return err
	}
	return ErrBusy
}

// TraceAcquireStart implements pgxpool.AcquireTracer: it waits for the caller's turn.
func (g *gate) TraceAcquireStart(ctx context.Context, _ *pgxpool.Pool,
	_ pgxpool.TraceAcquireStartData,
) context.Context {
	w, ok := ctx.Value(waitingKey{}).(waiting)
	if !ok {
		return ctx
	}
	a := acquiring{Context: ctx, of: ctx, p: &pass{of: ctx, cancel: func() {}}, since: time.Now()}
	if w.hurried() {
		a.Context, a.p.cancel = context.WithTimeout(ctx, g.Wait)
	}
	for _, stage := range g.stages(w) {
		select {
		case stage <- struct{}{}:
			a.p.taken = append(a.p.taken, stage)
		case <-a.Done():
			return a // with which the pool gives nothing
		}
	}
	return a
}

// TraceAcquireEnd implements pgxpool.AcquireTracer.
func (g *gate) TraceAcquireEnd(ctx context.Context, _ *pgxpool.Pool, data pgxpool.TraceAcquireEndData) {
	a, ok := ctx.(acquiring)
	if !ok {
		return
	}
	a.p.cancel()
	if g.Waited != nil {
		g.Waited(time.Since(a.since))
	}
	if data.Conn == nil {
		a.p.putBack()
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.passes[data.Conn] = a.p
}

// TraceRelease implements pgxpool.ReleaseTracer.
func (g *gate) TraceRelease(_ *pgxpool.Pool, data pgxpool.TraceReleaseData) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p, ok := g.passes[data.Conn]; ok {
		delete(g.passes, data.Conn)
		p.putBack()
		if data.Conn.IsClosed() && p.of.Err() == nil {
			g.broken.Add(1)
		}
	}
}

// TraceQueryStart implements pgx.QueryTracer, which every tracer has to.
func (*gate) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (*gate) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// lockWait is how long a lock may be waited for; 0: as long as it takes.
func (g Gate) lockWait(ctx context.Context) time.Duration {
	if w, ok := ctx.Value(waitingKey{}).(waiting); ok && w.bounded() {
		return g.LockWait
	}
	return 0
}

// aliveKey is under what a connection keeps how many had ended when it was last known to be alive.
const aliveKey = "broken_before"

// alive asks a connection for a sign of life, where another has ended since the last: when the server stops, or an
// operator ends its sessions, most are found dead. A dead one is false without an error, in whose place the pool gives
// another.
func (g *gate) alive(ctx context.Context, conn *pgx.Conn) (bool, error) {
	broken := g.broken.Load()
	data := conn.PgConn().CustomData()
	if known, _ := data[aliveKey].(int64); known == broken {
		return true, nil
	}
	if err := conn.Ping(ctx); err != nil {
		return false, ctx.Err()
	}
	data[aliveKey] = broken
	return true, nil
}

// lockWaitKey is under what a connection keeps the lock_timeout that it has.
const lockWaitKey = "lock_timeout"

// localLockWait is what a transaction has to begin with where its connection has another lock_timeout.
type localLockWait struct{ sql, value string }

// prepare gives the connection the lock_timeout of its new holder, where it has
// another. A new one has the requests'. A transaction of InTx says it itself, for its own time.
func (g *gate) prepare(ctx context.Context, conn *pgx.Conn) (bool, error) {
	if ok, err := g.alive(ctx, conn); !ok {
		return false, err
	}
	want := g.lockWait(ctx)
	data := conn.PgConn().CustomData()
	has, ok := data[lockWaitKey].(time.Duration)
	if !ok {
		has = g.LockWait
	}
	if has == want {
		return true, nil
	}
	if local, ok := ctx.Value(localLockWait{}).(*localLockWait); ok {
		*local = localLockWait{"SELECT set_config('lock_timeout', $1, true)", milliseconds(want)}
		return true, nil
	}
	if _, err := conn.Exec(ctx, "SET lock_timeout = "+milliseconds(want), pgx.QueryExecModeSimpleProtocol); err != nil {
		if ended := ctx.Err(); ended != nil { // ErrBusy, which the driver tells of as the connection's timeout
			return false, ended
		}
		if conn.IsClosed() {
			g.broken.Add(1)
			return false, nil
		}
		return false, err
	}
	data[lockWaitKey] = want
	return true, nil
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

func code(err error) string {
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		return pgErr.Code
	}
	return ""
}
