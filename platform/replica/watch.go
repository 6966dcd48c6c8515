package replica

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// pace is how often servers are asked how they are, and patience how long one may take to say so.
	pace     = 500 * time.Millisecond
	patience = time.Second
	// silence is how old what a replica has said may be.
	silence = 3 * (pace + patience) / 2
)

// State is how a replica is.
type State string

// The states; it is read from in the first alone.
const (
	OK      State = "ok"
	Lagging State = "lagging" // it answers, and is too far behind
	Away    State = "away"    // it does not answer, or is no replica of the primary
)

// Standing is what is known of a replica.
type Standing struct {
	Name  string // its number in the configuration, from 1
	State State
	Lag   time.Duration
}

// Standings lists the replicas in their order.
func (s *Set) Standings() []Standing {
	all, now := make([]Standing, len(s.replicas)), time.Now()
	for i, r := range s.replicas {
		st := r.stands(now)
		all[i] = Standing{Name: r.name, State: st.state, Lag: st.lag}
	}
	return all
}

// standing is a Standing with how far the replica is.
type standing struct {
	state    State
	lag      time.Duration
	replayed LSN
	at       time.Time
}

func (s standing) serves(after LSN) bool { return s.state == OK && s.replayed >= after }

type replica struct {
	name  string
	pools Pools
	busy  atomic.Int64 // reads under way

	mu    sync.Mutex
	last  standing
	well  int             // answers in a row since it was away
	alive context.Context //nolint:containedctx // of the reads under way, which end when it is given up
	end   context.CancelCauseFunc
}

func newReplica(number int, pools Pools) *replica {
	r := &replica{name: strconv.Itoa(number), pools: pools, last: standing{state: Away}, well: 1}
	r.alive, r.end = context.WithCancelCause(context.Background())
	return r
}

// stands is what is known of it; one that has not spoken for long is away.
func (r *replica) stands(now time.Time) standing {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last.state != Away && now.Sub(r.last.at) > silence {
		return standing{state: Away}
	}
	return r.last
}

var errGivenUp = errors.New("the replica was given up")

// read has f read there until it is given up.
func (r *replica) read(ctx context.Context, f func(ctx context.Context, db DB) error) error {
	r.mu.Lock()
	alive := r.alive
	r.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(alive, func() { cancel(errGivenUp) })() //nolint:contextcheck // that of the replica, too
	r.busy.Add(1)
	defer r.busy.Add(-1)
	err := f(ctx, r.pools.Reads)
	if err != nil && errors.Is(context.Cause(ctx), errGivenUp) {
		return errGivenUp // the driver tells of a cancelled context
	}
	return err
}

// giveUp ends the reads under way. The replica is taken back when it has answered twice.
func (s *Set) giveUp(ctx context.Context, r *replica, why error) {
	r.mu.Lock()
	was := r.last.state
	r.last, r.well = standing{state: Away}, 0
	if was != Away {
		r.end(errGivenUp)
		r.alive, r.end = context.WithCancelCause(context.WithoutCancel(ctx))
	}
	r.mu.Unlock()
	if was != Away {
		r.pools.Reads.Reset()
		s.cfg.Log.WarnContext(ctx, "replica given up", slog.String("replica", r.name),
			slog.String("address", r.pools.Address), slog.Any("error", why))
	}
}

// watch asks everybody how they are until ctx ends. A server that hangs holds up nobody else's turn.
func (s *Set) watch(ctx context.Context) {
	var asking sync.WaitGroup
	defer asking.Wait()
	every := func(observe func(context.Context)) {
		asking.Go(func() {
			tick := time.NewTicker(pace)
			defer tick.Stop()
			for {
				within, cancel := context.WithTimeout(ctx, patience)
				observe(within)
				cancel()
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
				}
			}
		})
	}
	var of atomic.Pointer[identity]
	every(func(ctx context.Context) { s.observePrimary(ctx, &of) })
	for _, r := range s.replicas {
		every(func(ctx context.Context) { s.observe(ctx, r, &of) })
	}
}

// identity is what a primary and its replicas have in common.
type identity struct {
	system   int64
	database string
	timeline int64
}

const whereabouts = `SELECT pg_is_in_recovery(), (SELECT system_identifier FROM pg_control_system()),
	current_database()::text, (SELECT timeline_id FROM pg_control_checkpoint())::bigint,
	CASE WHEN pg_is_in_recovery() THEN pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')
	ELSE pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0') END::bigint`

func (s *Set) observePrimary(ctx context.Context, found *atomic.Pointer[identity]) {
	var id identity
	var follows bool
	var place *LSN
	err := s.cfg.Watch.QueryRow(ctx, whereabouts).Scan(&follows, &id.system, &id.database, &id.timeline, &place)
	if err == nil && !follows && place != nil {
		found.Store(&id)
		s.primary.add(moment{time.Now(), *place}, s.cfg.MaxLag+silence)
	}
}

// observe asks a replica. The first answers wait for the primary's.
func (s *Set) observe(ctx context.Context, r *replica, of *atomic.Pointer[identity]) {
	var id identity
	var follows bool
	var place *LSN
	at := time.Now()
	err := r.pools.Watch.QueryRow(ctx, whereabouts).Scan(&follows, &id.system, &id.database, &id.timeline, &place)
	primary := of.Load()
	switch {
	case err != nil:
		if !errors.Is(ctx.Err(), context.Canceled) { // nobody looks any more
			s.giveUp(ctx, r, err)
		}
		return
	case primary == nil:
		return
	case id.system != primary.system || id.database != primary.database:
		s.giveUp(ctx, r, errors.New("it is no replica of DATABASE_URL"))
		return
	case place == nil:
		s.giveUp(ctx, r, errors.New("it does not tell how far it is"))
		return
	case !follows && id.timeline != primary.timeline:
		s.giveUp(ctx, r, errors.New("it is a primary of its own"))
		return
	case !follows: // it is the primary
		*place = math.MaxInt64
	}
	s.heard(ctx, r, *place, at)
}

// heard notes how far a replica is.
func (s *Set) heard(ctx context.Context, r *replica, place LSN, at time.Time) {
	lag, known := s.primary.lag(place, at)
	if !known {
		return
	}
	now := standing{state: OK, lag: lag, replayed: place, at: at}
	if lag > s.cfg.MaxLag {
		now.state = Lagging
	}
	r.mu.Lock()
	r.well++
	if r.well < 2 {
		r.mu.Unlock()
		return
	}
	was := r.last.state
	r.last = now
	r.mu.Unlock()
	log := s.cfg.Log.With(slog.String("replica", r.name), slog.String("address", r.pools.Address),
		slog.Duration("lag", lag))
	switch {
	case was == now.state:
	case now.state == OK:
		log.InfoContext(ctx, "replica serves reads")
	default:
		log.WarnContext(ctx, "replica lags too much and serves no reads")
	}
}
