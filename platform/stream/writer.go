package stream

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"marquee/platform/httpapi"
	"marquee/platform/openapi"
)

// eventsType is the content type of a stream of events.
const eventsType = "text/event-stream"

// event is one of a stream.
type event struct {
	id   string // what a client repeats in Last-Event-ID
	name string // what it is
	data any    // goes out as JSON
}

// writer writes a stream of events (WHATWG HTML, 9.2). Each leaves at once, and has to be taken within the time for a
// piece of an answer.
type writer struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// begin writes the head of a stream, and how long a client is to wait before it takes the stream up again.
func begin(w http.ResponseWriter) (*writer, error) {
	out := &writer{w: w, control: http.NewResponseController(w)}
	_ = out.control.SetReadDeadline(time.Time{}) // the one of the request would end the connection
	setHeaders(w.Header())
	w.WriteHeader(http.StatusOK)
	httpapi.HeadIsOut(w)
	return out, out.writeText("retry: " + strconv.FormatInt(retry.Milliseconds(), 10) + "\n\n")
}

// setHeaders are the headers of a stream of events: nobody on the way may keep, gather or compress it.
func setHeaders(h http.Header) {
	h.Set("Content-Type", eventsType)
	h.Set("Cache-Control", "no-cache, no-store, no-transform")
	h.Set("X-Accel-Buffering", "no")
}

// write writes an event. An error says that the client has gone, or takes none.
func (out *writer) write(e event) error {
	data, err := json.Marshal(e.data)
	if err != nil {
		return fmt.Errorf("write event %s: %w", e.name, err)
	}
	return out.writeText("id: " + oneLine(e.id) + "\nevent: " + oneLine(e.name) + "\ndata: " + string(data) + "\n\n")
}

// comment writes what clients pass over: it shows that the stream is alive, or says why it ends.
func (out *writer) comment(text string) error { return out.writeText(": " + oneLine(text) + "\n\n") }

// hurry leaves a client that takes nothing no more than this time.
func (out *writer) hurry(within time.Duration) {
	_ = out.control.SetWriteDeadline(time.Now().Add(within))
}

func (out *writer) writeText(text string) error {
	if _, err := out.w.Write([]byte(text)); err != nil {
		return fmt.Errorf("write to a stream: %w", err)
	}
	if err := out.control.Flush(); err != nil {
		return fmt.Errorf("write to a stream: %w", err)
	}
	return nil
}

// oneLine keeps a text from ending its line.
func oneLine(text string) string {
	return strings.NewReplacer("\n", " ", "\r", " ", "\x00", " ").Replace(text)
}

// Doc documents a route that Serve answers: the name of the schema, that of its event, and the type of the data.
func Doc[D any](api *httpapi.API, schema, event string) []httpapi.Option {
	text := &huma.Schema{Type: huma.TypeString}
	one := &huma.Schema{
		Type: huma.TypeObject, Extensions: map[string]any{openapi.NameKey: schema},
		Required: []string{"id", "event", "data"},
		Properties: map[string]*huma.Schema{
			"id":    {Type: huma.TypeString, Description: "What the client repeats in Last-Event-ID"},
			"event": {Type: huma.TypeString, Enum: []any{event, Gone}},
			"data":  api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[D](), true, ""),
		},
	}
	return []httpapi.Option{
		httpapi.Events(),
		httpapi.Parameters(&huma.Param{
			Name: httpapi.LastEventIDHeader, In: "header", Description: "The id of the last event that the client has",
			Schema: text,
		}),
		httpapi.Response("200", &huma.Response{
			Description: "Events, each with its fields on lines of their own; data is JSON on one line",
			Content: map[string]*huma.MediaType{
				eventsType: {Schema: &huma.Schema{Type: huma.TypeArray, Items: one}},
			},
		}),
	}
}
