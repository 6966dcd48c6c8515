//go:build !nosandbox

package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"marquee/modules/payments"
	"marquee/platform/clock"
	"marquee/platform/jobs"
	"marquee/testutil/sandbox"
	"marquee/testutil/sandbox/stage"
)

// Bounds of a move, and what a stop on its way may take in real time.
const (
	farthestMove = 366 * 24 * time.Hour
	farthestNow  = 10 * farthestMove
	moveTime     = 100 * time.Second // an answer may take 120
	stopTimeout  = 10 * time.Second
	shortestStop = time.Second
	sweepPause   = 6 * time.Hour // between two runs of what comes more often than daily
	checkedMove  = time.Hour     // a move of a clock that stands is stopped for each check, up to this length
)

// devClock moves the clocks of the platform and of both sandbox gateways together.
type devClock struct {
	app      *App
	gateways *sandbox.Sandbox
	clock    *clock.Moved
	file     string

	moving  sync.Mutex
	plan    []planned
	swept   time.Time // when what comes more often than daily came last
	checked bool      // the move is stopped for each check
}

// planned is a job that comes by the clock, while the clock is moved.
type planned struct {
	jobs.Periodic
	next  time.Time
	daily bool // or rarer: it is stopped for
}

// newMovedClock is the clock as the last `marquee dev` on this data left it. One whose file has stands_at stands
// between its moves.
func newMovedClock(dir string) (*clock.Moved, string, error) {
	file, c := filepath.Join(dir, "clock.json"), &clock.Moved{}
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return c, file, nil
	}
	var saved savedClock
	if err == nil {
		err = json.Unmarshal(raw, &saved)
	}
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w (delete it for the machine's time)", file, err)
	}
	if saved.StandsAt != nil {
		return clock.NewStanding(*saved.StandsAt), file, nil
	}
	c.Move(saved.Ahead)
	return c, file, nil
}

type savedClock struct {
	Ahead    time.Duration `json:"ahead_ns"`
	StandsAt *time.Time    `json:"stands_at,omitempty"`
}

// keep saves the clock as it is after a move.
func (d *devClock) keep(by time.Duration) error {
	saved := savedClock{Ahead: d.clock.Ahead() + by}
	if d.clock.Stands() {
		saved.StandsAt = new(d.clock.At().Add(by))
	}
	raw, err := json.Marshal(saved)
	if err == nil {
		err = os.WriteFile(d.file+".new", raw, 0o600)
	}
	if err == nil {
		err = os.Rename(d.file+".new", d.file)
	}
	return err
}

// catchUp brings gateways that stand behind the platform's clock to it: their state was deleted, or a move was cut off.
func (d *devClock) catchUp() error {
	for _, s := range d.gateways.Stages() {
		if now := d.clock.Now(); s.Clock.Now().Before(now) {
			if _, err := s.Clock.AdvanceTo(now); err != nil && !errors.Is(err, stage.ErrBackwards) {
				return err
			}
		}
	}
	return nil
}

// handler serves the control to this machine's programs; pages of other sites can't use it.
func (d *devClock) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+controlRoot+"/clock", func(w http.ResponseWriter, _ *http.Request) { d.respond(w, nil) })
	mux.HandleFunc("POST "+controlRoot+"/clock/advance", d.advance)
	guarded := http.NewCrossOriginProtection().Handler(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			d.refuse(w, http.StatusMisdirectedRequest, errors.New("the controls answer to loopback names only"))
			return
		}
		guarded.ServeHTTP(w, r)
	})
}

func (d *devClock) advance(w http.ResponseWriter, r *http.Request) {
	if !d.moving.TryLock() {
		d.refuse(w, http.StatusConflict, errors.New("the clock is being moved"))
		return
	}
	defer d.moving.Unlock()
	var to struct {
		By stage.Duration `json:"by"`
		To *time.Time     `json:"to"`
	}
	if err := stage.Decode(r, &to); err != nil {
		d.refuse(w, http.StatusBadRequest, err)
		return
	}
	target := d.clock.At().Add(time.Duration(to.By))
	if to.To != nil {
		target = to.To.UTC()
	}
	if err := d.allows(target, to.To != nil && to.By != 0); err != nil {
		d.refuse(w, http.StatusBadRequest, err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), moveTime)
	defer cancel()
	err := d.moveTo(ctx, target)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		d.refuse(w, http.StatusInternalServerError, err)
		return
	}
	reached := err == nil
	d.respond(w, &reached)
}

func (d *devClock) allows(target time.Time, both bool) error {
	now := d.clock.At()
	switch {
	case both:
		return errors.New(`give "by" or "to", not both`)
	case !target.After(now):
		return fmt.Errorf(`the clock only goes forward: it is %s; give {"by":"32d"} or {"to":"…"}`,
			now.Format(time.RFC3339))
	case target.Sub(now) > farthestMove:
		return fmt.Errorf("one move is 366 days at most: until %s", now.Add(farthestMove).Format(time.RFC3339))
	case time.Until(target) > farthestNow:
		return errors.New("the clock goes at most 10 years ahead of the machine's; a fresh --data-dir begins at the machine's time")
	}
	return nil
}

func (d *devClock) respond(w http.ResponseWriter, reached *bool) {
	status := map[string]any{
		"now": d.clock.Now(), "ahead": d.clock.Ahead().String(),
		"gwa": d.gateways.GWA.Stage().Clock.Now().Truncate(time.Millisecond),
		"gwb": d.gateways.GWB.Stage().Clock.Now().Truncate(time.Millisecond),
	}
	if reached != nil {
		status["reached"] = *reached // false: the time for an answer was over; ask again
	}
	d.write(w, http.StatusOK, status)
}

func (d *devClock) refuse(w http.ResponseWriter, status int, err error) {
	d.write(w, status, map[string]string{"error": err.Error()})
}

func (*devClock) write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// moveTo moves all clocks to the target, stopping wherever something falls due on the way, until it is done. Jobs
// that come by the clock more often than daily come every 6 h and at the end: a month has half a million turns of
// checks. While the clock stands nothing but its moves has them come: checks at each stop, the others once their time
// is over.
func (d *devClock) moveTo(ctx context.Context, target time.Time) error {
	d.planJobs()
	d.checked = d.clock.Stands() && target.Sub(d.clock.At()) <= checkedMove
	if err := d.settle(ctx); err != nil {
		return err
	}
	for d.clock.At().Before(target) {
		at, err := d.nextStop(ctx, target)
		if err == nil {
			err = d.stopAt(ctx, at, at.Equal(target))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// planJobs plans what comes by the clock. A clock that stands keeps its plan from one move to the next, since nothing
// comes between them.
func (d *devClock) planJobs() {
	now := d.clock.At()
	d.swept = now
	if d.clock.Stands() && d.plan != nil {
		return
	}
	d.plan = d.plan[:0]
	for _, p := range d.app.periodic {
		next := p.Schedule.Next(now)
		p := planned{Periodic: p, next: next, daily: p.Schedule.Next(next).Sub(next) > 20*time.Hour}
		if d.clock.Stands() {
			if args, _ := p.New(); args.Kind() == payments.TurnKind {
				continue // they are made at each stop
			}
			if p.Opts != nil && p.Opts.RunOnStart {
				p.next = now
			}
		}
		d.plan = append(d.plan, p)
	}
}

// present is the instant from which River's jobs wait.
func (d *devClock) present() time.Time {
	if d.clock.Stands() {
		return jobs.Standing
	}
	return time.Now()
}

// nextStop is when something falls due next, by whole seconds.
func (d *devClock) nextStop(ctx context.Context, target time.Time) (time.Time, error) {
	now, at := d.clock.At(), target
	earlier := func(t time.Time, known bool) {
		if known && t.Before(at) {
			at = t
		}
	}
	for _, s := range d.gateways.Stages() {
		earlier(s.Clock.Next())
		_, retry, known := s.Webhooks.Next()
		earlier(retry, known)
	}
	for _, p := range d.plan {
		earlier(p.next, p.daily)
	}
	in, known, err := jobs.DueIn(ctx, d.app.db.writes, d.present())
	earlier(now.Add(in), known)
	if d.checked && err == nil {
		var next time.Time
		next, known, err = d.app.modules.payments.Turns().Next(ctx, now)
		earlier(next, known)
	}
	if at.Before(target) {
		at = at.Add(shortestStop - time.Millisecond).Truncate(shortestStop)
	}
	if soonest := now.Add(shortestStop); at.Before(soonest) {
		at = soonest
	}
	if at.After(target) {
		at = target
	}
	return at, err
}

// stopAt moves to an instant and has done what is due there: first the platform's clock, so that no event comes from
// its future, then the gateways, then the jobs.
func (d *devClock) stopAt(ctx context.Context, at time.Time, last bool) error {
	by := at.Sub(d.clock.At())
	if err := d.keep(max(by, 0)); err != nil {
		return err
	}
	d.clock.Move(by)
	if err := jobs.BringForward(ctx, d.app.db.writes, max(by, 0)); err != nil {
		return err
	}
	if err := d.catchUp(); err != nil {
		return err
	}
	if err := d.settle(ctx); err != nil {
		return err
	}
	if err := d.check(ctx); err != nil {
		return err
	}
	return d.comeByTheClock(ctx, last)
}

// check makes the checks that are due where no job does, and waits for what follows from them.
func (d *devClock) check(ctx context.Context) error {
	if !d.clock.Stands() {
		return nil
	}
	if err := d.app.modules.payments.Turns().MakeAll(ctx); err != nil {
		d.app.log.WarnContext(ctx, "a turn of checks failed", slog.Any("error", err))
	}
	return d.settle(ctx)
}

// settle has the jobs that are due done, and waits until they, and the events that are due, are; but not for what
// makes no progress.
func (d *devClock) settle(ctx context.Context) error {
	if err := d.stand(ctx); err != nil {
		return err
	}
	if err := jobs.StartDue(ctx, d.app.db.writes, d.app.jobs, d.present()); err != nil {
		return err
	}
	if err := d.quiet(ctx); err != nil {
		return err
	}
	return d.stand(ctx)
}

// stand has the jobs that wait wait for the clock's moves alone, where it stands.
func (d *devClock) stand(ctx context.Context) error {
	if !d.clock.Stands() {
		return nil
	}
	return jobs.Stand(ctx, d.app.db.writes)
}

// quiet waits until no job and no event is due; but not for what makes no progress.
func (d *devClock) quiet(ctx context.Context) error {
	progress, limit := 0, time.Now().Add(stopTimeout)
	for quiet := 0; quiet < 2; {
		left, err := d.underWay(ctx)
		if err != nil {
			return err
		}
		if quiet++; left > 0 {
			quiet = 0
		}
		if left != progress {
			progress, limit = left, time.Now().Add(stopTimeout)
		}
		if time.Now().After(limit) {
			d.app.log.WarnContext(ctx, "the clock goes on although something is still under way",
				slog.Time("at", d.clock.Now()))
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}

// underWay is how many jobs and events are due.
func (d *devClock) underWay(ctx context.Context) (n int, err error) {
	if n, err = jobs.UnderWay(ctx, d.app.db.writes); err != nil {
		return 0, err
	}
	for _, s := range d.gateways.Stages() {
		if sending, _, _ := s.Webhooks.Next(); sending {
			n += s.Webhooks.Status().Waiting
		}
	}
	return n, nil
}

// comeByTheClock inserts what comes by the clock and was passed, in its order, and waits for it.
func (d *devClock) comeByTheClock(ctx context.Context, last bool) error {
	now, due := d.clock.At(), false
	sweep := last || now.Sub(d.swept) >= sweepPause
	if sweep {
		d.swept = now
	}
	slices.SortStableFunc(d.plan, func(a, b planned) int { return a.next.Compare(b.next) })
	for i := range d.plan {
		p := &d.plan[i]
		if p.next.After(now) || !p.daily && !sweep {
			continue
		}
		p.next, due = p.Schedule.Next(now), true
		args, opts := p.New()
		if _, err := d.app.jobs.Insert(ctx, args, opts); err != nil {
			return fmt.Errorf("insert %s: %w", args.Kind(), err)
		}
	}
	if !due {
		return nil
	}
	return d.settle(ctx)
}
