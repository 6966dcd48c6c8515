package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"marquee/platform/openapi"
)

// eventsType is the content type of a stream of events.
const eventsType = "text/event-stream"

// lastEventID is the header in which a client repeats the id of the last event that it has.
const lastEventID = "Last-Event-ID"

// Event is one of a stream of events.
type Event struct {
	ID   string // what a client repeats in Last-Event-ID
	Name string // what it is
	Data any    // is sent as JSON
}

// Events writes a stream of events (WHATWG HTML, 9.2). Each leaves at once, and has to be taken within the time for a
// piece of an answer.
type Events struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// BeginEvents sends the head of a stream, and how long a client is to wait before it takes the stream up again. The
// request counts as answered from here on (marquee_http_request_seconds).
func BeginEvents(w http.ResponseWriter, retry time.Duration) (*Events, error) {
	e := &Events{w: w, control: http.NewResponseController(w)}
	_ = e.control.SetReadDeadline(time.Time{}) // the one of the request would end the connection
	SetEventHeaders(w.Header())
	w.WriteHeader(http.StatusOK)
	if ww := watchedOf(w); ww != nil {
		ww.answered = time.Now()
	}
	return e, e.write("retry: " + strconv.FormatInt(retry.Milliseconds(), 10) + "\n\n")
}

// SetEventHeaders are the headers of a stream of events: nobody on the way may keep, gather or compress it.
func SetEventHeaders(h http.Header) {
	h.Set("Content-Type", eventsType)
	h.Set("Cache-Control", "no-cache, no-store, no-transform")
	h.Set("X-Accel-Buffering", "no")
}

// Send sends an event. An error says that the client has gone, or takes nothing.
func (e *Events) Send(event Event) error {
	data, err := json.Marshal(event.Data)
	if err != nil {
		return fmt.Errorf("write event %s: %w", event.Name, err)
	}
	return e.write("id: " + oneLine(event.ID) + "\nevent: " + oneLine(event.Name) + "\ndata: " + string(data) + "\n\n")
}

// Comment sends what clients pass over: it shows that the stream is alive, or says why it ends.
func (e *Events) Comment(text string) error { return e.write(": " + oneLine(text) + "\n\n") }

// Hurry leaves a client that takes nothing no more than this time.
func (e *Events) Hurry(within time.Duration) { _ = e.control.SetWriteDeadline(time.Now().Add(within)) }

func (e *Events) write(text string) error {
	if _, err := e.w.Write([]byte(text)); err != nil {
		return fmt.Errorf("write to a stream: %w", err)
	}
	if err := e.control.Flush(); err != nil {
		return fmt.Errorf("write to a stream: %w", err)
	}
	return nil
}

// oneLine keeps a text from ending its line.
func oneLine(text string) string {
	return strings.NewReplacer("\n", " ", "\r", " ", "\x00", " ").Replace(text)
}

// watchedOf is the watched writer below others; nil without one.
func watchedOf(w http.ResponseWriter) *watched {
	for {
		switch above := w.(type) {
		case *watched:
			return above
		case interface{ Unwrap() http.ResponseWriter }:
			w = above.Unwrap()
		default:
			return nil
		}
	}
}

// LastEventID is the id of the last event that the client of the request has; "" of one that has none.
func LastEventID(ctx context.Context) string { return requestOf(ctx).lastID }

// EventStream marks an operation that answers with a stream of events, and documents them: the name of their schema,
// their own names, and the type of their data. Streams are counted apart from other requests.
func EventStream(a *API, schema string, names []any, data reflect.Type) Option {
	text := &huma.Schema{Type: huma.TypeString}
	event := &huma.Schema{
		Type: huma.TypeObject, Extensions: map[string]any{openapi.NameKey: schema}, Required: []string{"id", "event", "data"},
		Properties: map[string]*huma.Schema{
			"id":    {Type: huma.TypeString, Description: "What the client repeats in Last-Event-ID"},
			"event": {Type: huma.TypeString, Enum: names},
			"data":  a.huma.OpenAPI().Components.Schemas.Schema(data, true, ""),
		},
	}
	return func(o *operation) {
		o.events = true
		o.Operation.Parameters = append(o.Operation.Parameters, &huma.Param{
			Name: lastEventID, In: "header", Description: "The id of the last event that the client has", Schema: text,
		})
		o.Responses = map[string]*huma.Response{"200": {
			Description: "Events, each with its fields on lines of their own; data is JSON on one line",
			Content: map[string]*huma.MediaType{eventsType: {
				Schema: &huma.Schema{Type: huma.TypeArray, Items: event},
			}},
		}}
	}
}

// Again reads the caller of a request that is answered for long anew, and checks that they may still call the route.
// An error says that they may not, or that it cannot be known.
func Again(ctx context.Context, a *API, route RouteInfo) (Caller, error) {
	ctx, err := known(ctx, a, operation{auth: route.Auth, permission: route.Permission}, ClaimsOf(ctx))
	if err != nil {
		return Caller{}, err
	}
	return CallerOf(ctx), nil
}

// ListsFromNow lets the next lists of the caller show what is written by now, where replicas are read.
func ListsFromNow(ctx context.Context, a *API) error {
	if a.cfg.StillWrites == nil {
		return nil
	}
	return a.cfg.StillWrites(ctx, CallerOf(ctx).ID)
}
