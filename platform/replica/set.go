package replica

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"marquee/platform/fault"
	"marquee/platform/postgres"
)

// Pools are those of one replica. Who opened them closes them, once the set is closed.
type Pools struct {
	Address string        // for the log
	Reads   postgres.Pool // for reads
	Reset   func()        // closes the connections of Reads: they are to a server that was given up
	Watch   postgres.DB   // for the questions how it is, which must not wait behind reads
}

// Config is what New needs.
type Config struct {
	Primary  postgres.Pool // for reads that no replica answers
	Watch    postgres.DB   // of the primary, for the question how far it is
	Replicas []Pools       // none: everything is read on Primary, and nothing is asked
	MaxLag   time.Duration // beyond it a replica is given up
	Log      *slog.Logger
}

// Set is the primary and its replicas.
type Set struct {
	cfg      Config
	replicas []*replica
	primary  history
	turn     atomic.Uint64
	repeated atomic.Int64
	stop     context.CancelFunc
	watching sync.WaitGroup
}

// Only is a set without replicas.
func Only(primary postgres.Pool) *Set { return &Set{cfg: Config{Primary: primary}, stop: func() {}} }

// New makes a set and watches its replicas until Close. A replica is used once it has said how it is.
func New(cfg Config) *Set {
	s := &Set{cfg: cfg, stop: func() {}}
	if len(cfg.Replicas) == 0 {
		return s
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	for i, pools := range cfg.Replicas {
		s.replicas = append(s.replicas, newReplica(i+1, pools))
	}
	s.watching.Go(func() { s.watch(ctx) })
	return s
}

// Primary is for what is never read on a replica.
func (s *Set) Primary() postgres.Pool { return s.cfg.Primary }

// Replicated reports whether there are replicas.
func (s *Set) Replicated() bool { return len(s.replicas) > 0 }

// Close ends the watch.
func (s *Set) Close() {
	s.stop()
	s.watching.Wait()
}

// Read has f read from the best replica that has what the context needs (After), or from the primary. What a replica
// does not have, or fails to tell, f is to read from the primary; its errors are those of the last call.
func (s *Set) Read(ctx context.Context, f func(ctx context.Context, db postgres.Pool) error) error {
	r := s.choose(afterOf(ctx))
	if r == nil {
		return unmarked(f(ctx, s.cfg.Primary))
	}
	err := r.read(ctx, f)
	if done := unmarked(err); done != err { //nolint:errorlint // whether it is another
		return done
	}
	if ctx.Err() != nil || !worthAnother(err) {
		return err
	}
	s.repeated.Add(1)
	if isGone(err) {
		s.giveUp(ctx, r, errBroke, err)
	}
	return unmarked(f(ctx, s.cfg.Primary))
}

// unmarked is the error without the mark of Final.
func unmarked(err error) error {
	if done, ok := errors.AsType[final](err); ok {
		return done.error
	}
	return err
}

// near is how much more than the least lag may be told of the replicas that share the reads.
const near = time.Second

// choose is the replica with the fewest reads under way of those that have replayed the place and lag little more than
// the best; nil where there is none.
func (s *Set) choose(after LSN) (best *replica) {
	if len(s.replicas) == 0 {
		return nil
	}
	now := time.Now()
	least, standings := time.Duration(-1), make([]standing, len(s.replicas))
	for i, r := range s.replicas {
		standings[i] = r.stands(now)
		if standings[i].serves(after) && (least < 0 || standings[i].lag < least) {
			least = standings[i].lag
		}
	}
	fewest, first := int64(0), int(s.turn.Add(1)%uint64(len(s.replicas))) //nolint:gosec // less than their number
	for i := range s.replicas {
		at := (first + i) % len(s.replicas)
		r := s.replicas[at]
		if !standings[at].serves(after) || standings[at].lag > least+near {
			continue
		}
		if busy := r.busy.Load(); best == nil || busy < fewest {
			best, fewest = r, busy
		}
	}
	return best
}

// final is an error that another try would not change.
type final struct{ error }

func (f final) Unwrap() error { return f.error }

// Final marks an error of f that is no fault of who was asked: Read returns it, as it is, at once.
func Final(err error) error { return final{err} }

// worthAnother reports whether the primary may answer otherwise: not where the client has asked for what cannot be.
func worthAnother(err error) bool {
	var f *fault.Error
	switch {
	case err == nil || postgres.IsTimeout(err):
		return false
	case errors.As(err, &f):
		return f.Kind == fault.KindNotFound || f.Kind == fault.KindUnavailable
	}
	return true
}

// isGone reports whether the error is one of the connection, or of a server that ends or starts: not that a replica
// which is known is given up, or perhaps merely slow.
func isGone(err error) bool { return !errors.Is(err, errGivenUp) && postgres.IsGone(err) }
