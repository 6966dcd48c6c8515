package stage

import (
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"sync"
	"time"
)

// ErrBackwards is returned by Clock.Advance for a negative duration: the clock only goes forward.
var ErrBackwards = errors.New("the sandbox clock only goes forward")

// Clock is real time plus an offset that only grows, with jobs that run in the order of their due times, whether the
// clock is advanced or real time passes.
type Clock struct {
	objects sync.Locker   // the stage's lock, held while a job runs
	running sync.Mutex    // one runner at a time: Advance or the alarm
	wake    chan struct{} // tells the alarm that the earliest job changed
	changed func()
	real    func() time.Time // what the offset is added to

	mu       sync.Mutex
	offset   time.Duration
	jobs     []job
	seq      int64
	handlers map[string]func(ref string)
	watchers []func()
	touched  map[int64]bool // jobs that came or went since the last save; nil: nothing is saved
}

// job is data, not a closure, so that it survives a restart.
type job struct {
	Due  time.Time `json:"due"`
	Seq  int64     `json:"seq"`
	Kind string    `json:"kind"`
	Ref  string    `json:"ref"`
}

// Names in the state file.
const (
	clockTable = "clock"
	jobTable   = "jobs"
)

type clockState struct {
	Offset time.Duration `json:"offset_ns"`
	Seq    int64         `json:"seq"`
}

func newClock(objects sync.Locker, changed func(), frozen time.Time) *Clock {
	wall := time.Now
	if !frozen.IsZero() {
		wall = func() time.Time { return frozen }
	}
	return &Clock{
		real:     wall,
		objects:  objects,
		changed:  changed,
		wake:     make(chan struct{}, 1),
		handlers: map[string]func(string){},
	}
}

// Now is the virtual time, in UTC.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

func (c *Clock) now() time.Time { return c.real().UTC().Add(c.offset) }

// Handle says what a job of this kind does. Called once a kind, before Stage.Start. The function runs with the stage
// locked, at a virtual time not before the job's due time; it may schedule further jobs (also in the past: they run
// next) and emit events.
func (c *Clock) Handle(kind string, run func(ref string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, taken := c.handlers[kind]; taken {
		panic("stage: clock job kind " + kind + " handled twice")
	}
	c.handlers[kind] = run
}

// At schedules a job; ref is handed to the kind's handler (an object id, as a rule).
func (c *Clock) At(due time.Time, kind, ref string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.handlers[kind]; !known {
		panic("stage: clock job kind " + kind + " has no handler")
	}
	c.seq++
	j := job{Due: due.UTC(), Seq: c.seq, Kind: kind, Ref: ref}
	i := sort.Search(len(c.jobs), func(i int) bool { return j.before(c.jobs[i]) })
	c.jobs = append(c.jobs, job{})
	copy(c.jobs[i+1:], c.jobs[i:])
	c.jobs[i] = j
	c.touch(j)
	signal(c.wake)
	c.changed()
}

func (j job) before(other job) bool {
	if j.Due.Equal(other.Due) {
		return j.Seq < other.Seq
	}
	return j.Due.Before(other.Due)
}

// Cancel takes back all jobs of this kind and ref.
func (c *Clock) Cancel(kind, ref string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	remaining := c.jobs[:0]
	for _, j := range c.jobs {
		if j.Kind != kind || j.Ref != ref {
			remaining = append(remaining, j)
			continue
		}
		c.touch(j)
	}
	c.jobs = remaining
	c.changed()
}

// Advance moves the clock forward, stopping at each due time on the way to run its job, and returns the new time.
// Jobs that jobs schedule within the span run, too. Must not be called with the stage locked or from a job.
func (c *Clock) Advance(by time.Duration) (time.Time, error) {
	if by < 0 {
		return time.Time{}, ErrBackwards
	}
	c.running.Lock()
	defer c.running.Unlock()
	target := c.Now().Add(by)
	for c.runNext(target) {
	}
	c.reach(target)
	c.notify()
	c.changed()
	return c.Now(), nil
}

// AdvanceTo is Advance up to a point in time; a point that has passed is an error.
func (c *Clock) AdvanceTo(t time.Time) (time.Time, error) {
	by := t.Sub(c.Now())
	if by < 0 {
		return time.Time{}, fmt.Errorf("%w: it is already %s", ErrBackwards, c.Now().Format(time.RFC3339))
	}
	return c.Advance(by)
}

// runNext runs the earliest job due by the limit. Taking it off the list and its effect are one step under the
// stage's lock, so that no snapshot falls between them.
func (c *Clock) runNext(limit time.Time) bool {
	c.objects.Lock()
	defer c.objects.Unlock()
	c.mu.Lock()
	if len(c.jobs) == 0 || c.jobs[0].Due.After(limit) {
		c.mu.Unlock()
		return false
	}
	j := c.jobs[0]
	c.jobs = c.jobs[1:]
	c.touch(j)
	run := c.handlers[j.Kind]
	c.mu.Unlock()
	c.reach(j.Due)
	c.notify()
	run(j.Ref)
	c.changed()
	return true
}

func (c *Clock) reach(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ahead := t.Sub(c.now()); ahead > 0 {
		c.offset += ahead
	}
}

// watch calls f after each jump of the clock.
func (c *Clock) watch(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watchers = append(c.watchers, f)
}

func (c *Clock) notify() {
	c.mu.Lock()
	watchers := c.watchers
	c.mu.Unlock()
	for _, f := range watchers {
		f()
	}
}

// alarm runs jobs as real time reaches them, until done is closed.
func (c *Clock) alarm(done <-chan struct{}) {
	for {
		c.running.Lock()
		for !closed(done) && c.runNext(c.Now()) {
		}
		c.running.Unlock()
		var timer <-chan time.Time
		if due, found := c.Next(); found {
			timer = time.After(max(due.Sub(c.Now()), time.Millisecond))
		}
		select {
		case <-done:
			return
		case <-c.wake:
		case <-timer:
		}
	}
}

// Next is when the earliest job is due; ok is false when there is none.
func (c *Clock) Next() (due time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.jobs) == 0 {
		return time.Time{}, false
	}
	return c.jobs[0].Due, true
}

func (c *Clock) touch(j job) {
	if c.touched != nil {
		c.touched[j.Seq] = true
	}
}

func (c *Clock) drain(put func(table, id string, n int64, value any)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	put(clockTable, "", 0, clockState{Offset: c.offset, Seq: c.seq})
	for _, j := range c.jobs {
		if len(c.touched) == 0 {
			return
		}
		if c.touched[j.Seq] {
			delete(c.touched, j.Seq)
			put(jobTable, strconv.FormatInt(j.Seq, 10), j.Seq, j)
		}
	}
	for seq := range c.touched {
		put(jobTable, strconv.FormatInt(seq, 10), 0, nil)
	}
	clear(c.touched)
}

func (c *Clock) markAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, j := range c.jobs {
		c.touch(j)
	}
}

func (c *Clock) restore(r restored, saves bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if saves {
		c.touched = map[int64]bool{}
	}
	var s clockState
	if err := r.value(clockTable, &s); err != nil {
		return err
	}
	c.offset, c.seq = s.Offset, s.Seq
	for _, rec := range r.tables[jobTable] {
		var j job
		if err := json.Unmarshal(rec.Value, &j); err != nil {
			return fmt.Errorf("%s %s: %w", jobTable, rec.ID, err)
		}
		c.jobs = append(c.jobs, j)
	}
	sort.Slice(c.jobs, func(i, k int) bool { return c.jobs[i].before(c.jobs[k]) })
	return nil
}

// unknownKind is the first scheduled kind that has no handler, as in a state file of another version.
func (c *Clock) unknownKind() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, j := range c.jobs {
		if c.handlers[j.Kind] == nil {
			return j.Kind
		}
	}
	return ""
}

func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

func closed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}
