package stream

import (
	"context"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"marquee/platform/fault"
	"marquee/platform/httpapi"
)

// Gone is the name of the event that ends the stream of what there is no more; its data is null.
const Gone = "gone"

// Follow is what a stream follows, and how it is told.
type Follow struct {
	Route  string // handler name, whose auth and permission are looked at again and again
	Key    string
	Event  string                    // its name
	Render func(State) any           // the data for this reader; nil: as it was read
	May    func(httpapi.Caller) bool // whether they may follow this key; nil: whoever may call the route
	// Lists says that the client lists what has changed: where replicas are read, they show nothing older.
	Lists bool
}

// Doc documents a route that Serve answers: the name of the schema, that of its event, and the type of the data.
func Doc[D any](api *httpapi.API, schema, event string) httpapi.Option {
	return httpapi.EventStream(api, schema, []any{event, Gone}, reflect.TypeFor[D]())
}

// Serve answers with a stream; whoever calls it has checked that there is what the key names. Errors, before it begins:
// 404 where it has gone since, 429 for one stream too many, 503 while the process drains.
func (f *Feed) Serve(ctx context.Context, api *httpapi.API, follow Follow) (*huma.StreamResponse, error) {
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		_, w := humachi.Unwrap(hc)
		if httpapi.HeadOnly(ctx) {
			httpapi.SetEventHeaders(w.Header())
			return
		}
		s := &sending{feed: f, api: api, follow: follow, now: f.streams.cfg.Now}
		if err := s.begin(ctx, w); err != nil {
			api.WriteError(ctx, w, err)
		}
	}}, nil
}

// sending is a stream under way.
type sending struct {
	feed   *Feed
	api    *httpapi.API
	follow Follow
	now    func() time.Time
	events *httpapi.Events
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
	one, end := s.feed.follow(s.follow.Key) // before the first state is read: what comes behind it is heard of
	defer end()
	states, err := s.feed.readNow(ctx, []string{s.follow.Key})
	if err != nil {
		return err
	}
	first, there := states[s.follow.Key]
	if !there {
		return fault.NotFound("What this stream follows")
	}
	if s.events, err = httpapi.BeginEvents(w, retry); err != nil {
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
	looked := began
	for {
		select {
		case <-ctx.Done():
			_ = s.events.Comment("this server ends, or the client has gone")
			return
		case <-one.wake:
		}
		if s.now().Sub(looked) >= lookEvery {
			if !s.mayFollow(ctx) {
				_ = s.events.Comment("the caller may not follow this any more, or it could not be known")
				return
			}
			looked = s.now()
		}
		if done, err := s.tell(ctx, one); err != nil || done {
			return
		}
		if s.now().Sub(began) >= s.feed.streams.cfg.Longest {
			_ = s.events.Comment("take it up again")
			return
		}
	}
}

// tell sends what is new; done: there will be nothing more.
func (s *sending) tell(ctx context.Context, one *follower) (done bool, err error) {
	newer, gone := one.latest()
	switch {
	case gone:
		return true, s.events.Send(httpapi.Event{ID: Gone, Name: Gone})
	case newer != nil && (newer.ID != s.sent || newer.Ended):
		return s.state(ctx, *newer)
	case s.now().Sub(s.spoken) >= quiet:
		s.spoken = s.now()
		return false, s.events.Comment("nothing new")
	}
	return false, nil
}

// state sends a state, unless the client has it; one that ends the stream always.
func (s *sending) state(ctx context.Context, state State) (done bool, err error) {
	if state.ID == s.sent && !state.Ended {
		return false, nil
	}
	if s.follow.Lists {
		if err := httpapi.ListsFromNow(ctx, s.api); err != nil {
			return false, err
		}
	}
	data := state.Data
	if s.follow.Render != nil {
		data = s.follow.Render(state)
	}
	s.sent, s.spoken = state.ID, s.now()
	return state.Ended, s.events.Send(httpapi.Event{ID: state.ID, Name: s.follow.Event, Data: data})
}

// mayFollow looks at the caller as they are now.
func (s *sending) mayFollow(ctx context.Context) bool {
	caller, err := httpapi.Again(ctx, s.api, httpapi.Named(s.api, s.follow.Route))
	return err == nil && (s.follow.May == nil || s.follow.May(caller))
}
