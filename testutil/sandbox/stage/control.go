package stage

import (
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"strings"
)

const controlRoot = "/_sandbox"

// controlBodyLimit bounds the body of a control, in bytes.
const controlBodyLimit = 1 << 20

// Control is one route below /_sandbox. GET /_sandbox lists them.
type Control struct {
	Method string
	Path   string // net/http pattern: "/_sandbox/payments/{id}/pay"
	About  string // one line
	Body   any    // an example of the request body; nil: none is read
	// Do carries it out; its value is answered as JSON with 200 (nil: {}). Path values come from r.PathValue, the
	// body from Decode. It is called without the stage's lock. A *Refusal chooses the status of an error; any other
	// error is 400.
	Do func(r *http.Request) (any, error)
}

// Refusal is a control's error with a status.
type Refusal struct {
	Status  int
	Message string
}

func (e *Refusal) Error() string { return e.Message }

// NotFound is the refusal for an unknown id.
func NotFound(what, id string) error {
	return &Refusal{Status: http.StatusNotFound, Message: fmt.Sprintf("no %s %q", what, id)}
}

// Decode reads a control's JSON body into v. An empty body leaves v as it is; unknown fields are refused.
func Decode(r *http.Request, v any) error {
	dec := json.NewDecoder(io.LimitReader(r.Body, controlBodyLimit))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("body: %w", err)
	}
	return nil
}

// Control adds a route. Before Start.
func (s *Stage) Control(c Control) {
	s.controls = append(s.controls, c)
	s.mux.HandleFunc(c.Method+" "+c.Path, func(w http.ResponseWriter, r *http.Request) {
		v, err := c.Do(r)
		status := http.StatusOK
		if err != nil {
			status = http.StatusBadRequest
			if refusal := (*Refusal)(nil); errors.As(err, &refusal) {
				status = refusal.Status
			}
			v = map[string]string{"error": err.Error()}
		}
		if r.Method != http.MethodGet {
			s.Journal.Record(Entry{Kind: EntryControl, Method: r.Method, Path: r.URL.Path, Status: status})
		}
		writeJSON(w, status, v)
	})
}

func (s *Stage) serveControl(w http.ResponseWriter, r *http.Request) {
	if strings.TrimSuffix(r.URL.Path, "/") == controlRoot && r.Method == http.MethodGet {
		s.serveIndex(w, r)
		return
	}
	if _, pattern := s.mux.Handler(r); pattern == "" {
		writeJSON(w, http.StatusNotFound, map[string]string{
			"error": "no such control; GET " + controlRoot + " lists them",
		})
		return
	}
	s.mux.ServeHTTP(w, r)
	if err := s.Flush(); err != nil {
		s.log.Error("sandbox state not saved", "error", err)
	}
}

// ControlInfo is a control as GET /_sandbox lists it.
type ControlInfo struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	About  string `json:"about"`
	Body   any    `json:"body,omitempty"`
}

// Controls lists the registered controls in order of registration.
func (s *Stage) Controls() []ControlInfo {
	out := make([]ControlInfo, len(s.controls))
	for i, c := range s.controls {
		out[i] = ControlInfo{Method: c.Method, Path: c.Path, About: c.About, Body: c.Body}
	}
	return out
}

var indexPage = template.Must(template.New("index").
	Parse(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Sandbox {{.Name}}</title>
<style>body{font:15px/1.5 system-ui;margin:2rem;max-width:75rem}code{white-space:pre-wrap}
td,th{text-align:left;vertical-align:top;padding:.3rem .8rem .3rem 0;border-bottom:1px solid #ddd}</style>
<h1>Sandbox gateway {{.Name}}</h1><p>The clock shows {{.Now}}.</p>
<table><tr><th>Control<th>What it does<th>Body</tr>
{{range .Controls}}<tr><td><code>{{.Method}} {{.Path}}</code><td>{{.About}}<td><code>{{.Example}}</code></tr>
{{end}}</table></html>
`))

func (s *Stage) serveIndex(w http.ResponseWriter, r *http.Request) {
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		writeJSON(w, http.StatusOK, map[string]any{
			"gateway": s.opts.Name, "now": s.Clock.Now(), "controls": s.Controls(),
		})
		return
	}
	type row struct{ Method, Path, About, Example string }
	rows := make([]row, 0, len(s.controls))
	for _, c := range s.controls {
		example := ""
		if c.Body != nil {
			raw, _ := json.Marshal(c.Body)
			example = string(raw)
		}
		rows = append(rows, row{c.Method, c.Path, c.About, example})
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = indexPage.Execute(w, map[string]any{"Name": s.opts.Name, "Now": s.Clock.Now(), "Controls": rows})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	if v == nil {
		v = struct{}{}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
