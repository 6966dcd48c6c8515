package replica

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"marquee/platform/postgres"
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
	said  moment       // how far it was at last, of the watch alone

	mu   sync.Mutex
	last standing
	well int // answers in a row since it was away
	// reason is why it was given up last; nil once it has served
	reason error
	alive  context.Context //nolint:containedctx // of the reads under way, which end when it is given up
	end    context.CancelCauseFunc
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
func (r *replica) read(ctx context.Context, f func(ctx context.Context, db postgres.Pool) error) error {
	r.mu.Lock()
	alive, away := r.alive, r.last.state == Away
	r.mu.Unlock()
	if away { // since it was chosen
		return errGivenUp
	}
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

// giveUp ends the reads under way. The replica is taken back when it has answered twice. The log has each reason once.
func (s *Set) giveUp(ctx context.Context, r *replica, reason, detail error) {
	r.mu.Lock()
	was, known := r.last.state, r.reason
	r.last, r.well, r.reason = standing{state: Away}, 0, reason
	if was != Away {
		r.end(errGivenUp)
		r.alive, r.end = context.WithCancelCause(context.WithoutCancel(ctx))
	}
	r.mu.Unlock()
	if was != Away {
		r.pools.Reset()
	}
	if was != Away || known != reason { //nolint:errorlint // whether it is another
		s.cfg.Log.WarnContext(ctx, "replica given up", slog.String("replica", r.name),
			slog.String("address", r.pools.Address), slog.Any("reason", reason), slog.Any("error", detail))
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
	var of atomic.Pointer[position]
	every(func(ctx context.Context) { s.observePrimary(ctx, &of) })
	for _, r := range s.replicas {
		every(func(ctx context.Context) { s.observe(ctx, r, &of) })
	}
}

// identity is what a primary and its replicas have in common.
type identity struct {
	system   int64
	database string
}

// position is what a server says of itself. The timeline of a replica is at least so much: it counts up where a
// replica is promoted, and those that follow that one come to know of it.
type position struct {
	identity
	standby  bool
	started  time.Time // when its process did: a copy of the primary that runs has all else in common with it
	timeline int64
	place    *LSN
}

const whereabouts = `SELECT (SELECT system_identifier FROM pg_control_system()), current_database()::text,
	pg_is_in_recovery(), pg_postmaster_start_time(),
	CASE WHEN pg_is_in_recovery() THEN greatest((SELECT timeline_id FROM pg_control_checkpoint()),
		(SELECT min_recovery_end_timeline FROM pg_control_recovery()),
		(SELECT received_tli FROM pg_stat_get_wal_receiver()))::bigint
	ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint END,
	CASE WHEN pg_is_in_recovery() THEN pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')
	ELSE pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0') END::bigint`

func locate(ctx context.Context, db postgres.DB) (p position, err error) {
	err = db.QueryRow(ctx, whereabouts).Scan(&p.system, &p.database, &p.standby, &p.started, &p.timeline, &p.place)
	return p, err
}

func (s *Set) observePrimary(ctx context.Context, found *atomic.Pointer[position]) {
	at := time.Now()
	p, err := locate(ctx, s.cfg.Watch)
	if err == nil && !p.standby && p.place != nil {
		found.Store(&p)
		s.primary.add(moment{at, *p.place}, s.cfg.MaxLag+silence)
	}
}

// Why a replica is given up.
var (
	errSilent    = errors.New("it does not answer")
	errBroke     = errors.New("it broke a read off")
	errStranger  = errors.New("it is no replica of DATABASE_URL")
	errNoPlace   = errors.New("it does not tell how far it is")
	errPromoted  = errors.New("it is a primary of its own")
	errElsewhere = errors.New("it follows another primary")
	errAhead     = errors.New("it has more than the primary")
)

// observe asks a replica. The first answers wait for the primary's.
func (s *Set) observe(ctx context.Context, r *replica, of *atomic.Pointer[position]) {
	at := time.Now()
	p, err := locate(ctx, r.pools.Watch)
	primary := of.Load()
	switch {
	case err != nil:
		if !errors.Is(ctx.Err(), context.Canceled) { // nobody looks any more
			s.giveUp(ctx, r, errSilent, err)
		}
		return
	case primary == nil:
		return
	}
	if err := s.follower(r, p, primary); err != nil {
		s.giveUp(ctx, r, err, nil)
		return
	}
	r.said = moment{time.Now(), *p.place}
	if !p.standby { // it is the primary
		*p.place = Everything
	}
	s.heard(ctx, r, *p.place, at)
}

// follower says why a server is no replica of the primary.
func (s *Set) follower(r *replica, p position, primary *position) error {
	newest, known := s.primary.newest()
	switch {
	case p.identity != primary.identity:
		return errStranger
	case p.place == nil:
		return errNoPlace
	case !p.standby && (p.timeline != primary.timeline || !p.started.Equal(primary.started)):
		return errPromoted
	case p.timeline > primary.timeline:
		return errElsewhere
	case p.standby && known && r.said.place > newest.place && newest.at.After(r.said.at):
		return errAhead
	}
	return nil
}

// heard notes how far a replica is. How far behind one is that was behind already when the process began is not known
// before it has come where the primary was then, or was given its time.
func (s *Set) heard(ctx context.Context, r *replica, place LSN, at time.Time) {
	lag, known := s.primary.lag(place, at)
	now := standing{state: OK, lag: lag, replayed: place, at: at}
	switch {
	case lag > s.cfg.MaxLag:
		now.state = Lagging
	case !known:
		return
	}
	r.mu.Lock()
	r.well++
	if r.well < 2 {
		r.mu.Unlock()
		return
	}
	was := r.last.state
	r.last = now
	if now.state == OK {
		r.reason = nil
	}
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
