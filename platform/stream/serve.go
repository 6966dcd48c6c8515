package stream

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"marquee/platform/fault"
	"marquee/platform/httpapi"
)

// Gone is the name of the event that ends the stream of what there is no more; its data is null.
const Gone = "gone"

// Target is what a stream is about, and how it is told.
type Target struct {
	Route  string // handler name, whose auth and permission are rechecked at again and again
	Key    string
	Event  string                    // its name
	Render func(State) any           // the data for this reader; nil: as it was read
	May    func(httpapi.Caller) bool // whether they may follow this key; nil: whoever may call the route
	// Lists says that the client lists what has changed: where replicas are read, they show nothing older.
	Lists bool
}

// Serve answers with a stream; whoever calls it has checked that there is what the key names. Errors, before it begins:
// 404 where it has gone since, 429 for one stream too many, 503 while the process drains.
func (f *Feed) Serve(ctx context.Context, api *httpapi.API, target Target) (*huma.StreamResponse, error) {
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		_, w := humachi.Unwrap(hc)
		if httpapi.HeadOnly(ctx) {
			setHeaders(w.Header())
			return
		}
		s := &sending{feed: f, api: api, target: target, now: f.streams.cfg.Now}
		if err := s.begin(ctx, w); err != nil {
			api.WriteError(ctx, w, err)
		}
	}}, nil
}

// sending is a stream under way.
type sending struct {
	feed   *Feed
	api    *httpapi.API
	target Target
	now    func() time.Time
	events *writer
	sent   string    // the id of the state that the client has
	spoken time.Time // when anything was sent last
}

// begin sends the stream; an error is one that it could not begin for.
func (s *sending) begin(ctx context.Context, w http.ResponseWriter) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	place, leave, err := s.feed.streams.enter(httpapi.CallerOf(ctx).ID, s.feed.name, cancel)
	if err != nil {
		return err
	}
	defer leave()
	one, end := s.feed.watch(s.target.Key) // before the first state is read: what comes behind it is heard of
	defer end()
	states, err := s.feed.readNow(ctx, []string{s.target.Key})
	if err != nil {
		return err
	}
	first, there := states[s.target.Key]
	if !there {
		return fault.NotFound("What this stream follows")
	}
	if s.events, err = begin(w); err != nil {
		return nil //nolint:nilerr // nobody is there to tell
	}
	s.feed.streams.begun(place, s.events)
	s.sent, s.spoken = httpapi.LastEventID(ctx), s.now()
	if done, err := s.state(ctx, first); err != nil || done {
		return nil //nolint:nilerr // the client has gone
	}
	s.run(ctx, one)
	return nil
}

// run sends until the stream has to end.
func (s *sending) run(ctx context.Context, one *follower) {
	began := s.now()
	rechecked := began
	for {
		select {
		case <-ctx.Done():
			_ = s.events.comment("this server ends, or the client has gone")
			return
		case <-one.wake:
		}
		if s.now().Sub(rechecked) >= recheckAfter {
			if !s.mayGoOn(ctx) {
				_ = s.events.comment("the caller may not follow this any more, or it could not be known")
				return
			}
			rechecked = s.now()
		}
		if done, err := s.deliver(ctx, one); err != nil || done {
			return
		}
		if s.now().Sub(began) >= s.feed.streams.cfg.Longest {
			_ = s.events.comment("take it up again")
			return
		}
	}
}

// deliver sends what is new; done: there will be nothing more.
func (s *sending) deliver(ctx context.Context, one *follower) (done bool, err error) {
	newer, gone := one.latest()
	switch {
	case gone:
		return true, s.events.write(event{id: Gone, name: Gone})
	case newer != nil && (newer.ID != s.sent || newer.Ended):
		return s.state(ctx, *newer)
	case s.now().Sub(s.spoken) >= quiet:
		s.spoken = s.now()
		return false, s.events.comment("nothing new")
	}
	return false, nil
}

// state sends a state, unless the client has it; one that ends the stream always.
func (s *sending) state(ctx context.Context, state State) (done bool, err error) {
	if state.ID == s.sent && !state.Ended {
		return false, nil
	}
	if s.target.Lists {
		if err := httpapi.ListsFromNow(ctx, s.api); err != nil {
			return false, err
		}
	}
	data := state.Data
	if s.target.Render != nil {
		data = s.target.Render(state)
	}
	s.sent, s.spoken = state.ID, s.now()
	return state.Ended, s.events.write(event{id: state.ID, name: s.target.Event, data: data})
}

// mayGoOn looks at the caller as they are now.
func (s *sending) mayGoOn(ctx context.Context) bool {
	caller, err := httpapi.Again(ctx, s.api, httpapi.Named(s.api, s.target.Route))
	return err == nil && (s.target.May == nil || s.target.May(caller))
}
