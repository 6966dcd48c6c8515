package stage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// Options of a stage.
type Options struct {
	Name     string // the gateway's short name, for the log and the page of controls
	Webhooks WebhookOptions
	// StateFile keeps objects, clock and waiting deliveries over restarts. Empty: memory only.
	StateFile string
	// FaultBody is the gateway's error document for an injected status without a body. nil: "{}".
	FaultBody func(status int) []byte
	// HandlesFaults leaves faults of the kinds status, status_after and delay to the gateway, which asks FaultOf where
	// in its call they belong; else the stage carries them out around the gateway.
	HandlesFaults bool
	// Frozen is where the clock stands until it is advanced. Jobs run within Advance alone, so that the same steps
	// always give the same story. Zero: real time.
	Frozen time.Time
	Logger *slog.Logger // nil: silent
}

// Stage is the machinery below one gateway. Its lock guards the gateway's objects.
type Stage struct {
	Clock    *Clock
	Webhooks *Webhooks
	Faults   *Faults
	Journal  *Journal

	opts     Options
	log      *slog.Logger
	objects  sync.Mutex
	controls []Control
	mux      *http.ServeMux
	saver    *saver
	restored restored
	saved    []persisted
	ctx      context.Context
	stop     context.CancelFunc
	work     sync.WaitGroup
}

// New makes a stage and reads the state file when there is one. Nothing runs before Start. A state file that can't be
// read is an error that names it, so that nobody's objects are thrown away silently.
func New(o Options) (*Stage, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Stage{opts: o, log: o.Logger.With("sandbox", o.Name), mux: http.NewServeMux()}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.saver = newSaver(o.StateFile, o.Name, s.collect, s.log)
	s.Clock = newClock(&s.objects, s.Changed, o.Frozen)
	s.Journal = &Journal{now: s.Clock.Now}
	s.Faults = &Faults{}
	s.Webhooks = newWebhooks(o.Name, o.Webhooks, s.Clock, s.Journal, s.Changed, s.Flush)
	if err := s.load(); err != nil {
		return nil, err
	}
	s.registerControls()
	return s, nil
}

// Restored says whether there was a state file: the gateway goes on, it doesn't begin.
func (s *Stage) Restored() bool { return s.restored.found }

// Lock guards the gateway's objects; clock jobs run with it held.
func (s *Stage) Lock() { s.objects.Lock() }

// Unlock ends Lock.
func (s *Stage) Unlock() { s.objects.Unlock() }

// Changed marks the state as worth saving; cheap, may be called with the stage locked.
func (s *Stage) Changed() { s.saver.mark() }

// Flush waits until everything changed so far is in the state file. Without a state file it returns at once.
func (s *Stage) Flush() error { return s.saver.save() }

// Start begins to run clock jobs, deliveries and saving. All job kinds must be handled by now.
func (s *Stage) Start() error {
	if kind := s.Clock.unknownKind(); kind != "" {
		return fmt.Errorf("state file %s schedules %q, which this version does not know", s.opts.StateFile, kind)
	}
	if s.opts.Frozen.IsZero() {
		s.work.Go(func() { s.Clock.alarm(s.ctx.Done()) })
	}
	if s.restored.old != nil { // read from a file of version 1, to be written as one of this
		s.Lock()
		for _, k := range s.saved {
			k.markAll()
		}
		s.Unlock()
		s.Changed()
	}
	s.work.Add(2)
	go func() { defer s.work.Done(); s.Webhooks.work(s.ctx) }()
	go func() { defer s.work.Done(); s.saver.run(s.ctx.Done()) }()
	return nil
}

// Close stops everything, hanging calls too, and saves a last time.
func (s *Stage) Close() error {
	s.stop()
	s.work.Wait()
	return s.saver.close()
}

// Emit puts an event into the webhook queue. With the context of a call it is sent after that call's answer; with any
// other context at once.
func (s *Stage) Emit(ctx context.Context, ev Event) {
	c := callOf(ctx)
	ids := s.Webhooks.enqueue(ev, c != nil)
	if c != nil {
		c.deliveries = append(c.deliveries, ids...)
	}
}

// collect hands out what may have changed since the last time, as of one moment.
func (s *Stage) collect(all bool, put func(table, id string, n int64, value any)) {
	s.Lock()
	defer s.Unlock()
	for _, k := range s.saved {
		if all {
			k.markAll()
		}
		k.drain(put)
	}
}

func (s *Stage) load() (err error) {
	if s.restored, err = s.saver.load(); err != nil {
		return err
	}
	saves := s.opts.StateFile != ""
	err = errors.Join(s.Clock.restore(s.restored, saves), s.Webhooks.restore(s.restored, saves))
	if err != nil {
		return fmt.Errorf("sandbox state file %s: %w (delete it to start afresh)", s.opts.StateFile, err)
	}
	s.saved = append(s.saved, s.Clock, s.Webhooks)
	return nil
}
