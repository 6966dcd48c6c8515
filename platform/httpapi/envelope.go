package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Envelope is the answer of the collection routes, also given by routes about
// one record (docs/contract/collections.md, The envelope).
type Envelope[T any] struct {
	Docs       []T        `json:"docs"`
	Links      []Link     `json:"links"`
	Msg        string     `json:"msg"`
	Pagination Pagination `json:"pagination"`
	Info       any        `json:"info"`
}

// Link points to a page of the list or to the record itself.
type Link struct {
	LinkType string `json:"link_type" enum:"GET"`
	Rel      string `json:"rel" enum:"self,first,prev,next,last"`
	Href     string `json:"href"`
}

// Pagination tells the page and the exact total of the filter.
type Pagination struct {
	CurrentPage  int `json:"current_page" doc:"Zero-based"`
	QtyDocsPage  int `json:"qty_docs_page"`
	QtyOfPages   int `json:"qty_of_pages"`
	QtyTotalDocs int `json:"qty_total_docs"`
}

// EnvelopeOutput is a handler's output that holds an envelope.
type EnvelopeOutput[T any] struct{ Body Envelope[T] }

// One wraps a single record; info is nil or an object.
func One[T any](ctx context.Context, doc T, info any) *EnvelopeOutput[T] {
	return &EnvelopeOutput[T]{Body: Envelope[T]{
		Docs: []T{doc}, Msg: "ok", Info: info,
		Links:      []Link{{LinkType: "GET", Rel: "self", Href: SelfURL(ctx)}},
		Pagination: Pagination{QtyDocsPage: 1, QtyOfPages: 1, QtyTotalDocs: 1},
	}}
}

// All wraps records that are all there are, and never more than a page.
func All[T any](ctx context.Context, docs []T) *EnvelopeOutput[T] {
	return &EnvelopeOutput[T]{Body: Envelope[T]{
		Docs: docs, Msg: "ok", Links: []Link{{LinkType: "GET", Rel: "self", Href: SelfURL(ctx)}},
		Pagination: Pagination{QtyDocsPage: len(docs), QtyOfPages: 1, QtyTotalDocs: len(docs)},
	}}
}

// Output is a handler's output with a plain JSON body.
type Output[T any] struct{ Body T }

// OK wraps a body.
func OK[T any](body T) (*Output[T], error) { return &Output[T]{Body: body}, nil }

// Time is an instant as the API shows it: RFC 3339 UTC with milliseconds and Z.
// It reads RFC 3339 with any offset, a date-time without offset (UTC), or a date.
type Time time.Time

const timeLayout = "2006-01-02T15:04:05.000Z"

// ErrTime says that a text is no instant.
var ErrTime = errors.New("has to be a date or a date-time such as 2026-11-20T17:03:12Z")

// String returns the API's form.
func (t Time) String() string { return time.Time(t).UTC().Format(timeLayout) }

// MarshalJSON writes the API's form.
func (t Time) MarshalJSON() ([]byte, error) { return []byte(`"` + t.String() + `"`), nil }

// UnmarshalJSON reads the forms that ParseTime takes.
func (t *Time) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return ErrTime
	}
	at, err := ParseTime(s)
	*t = Time(at)
	return err
}

// Schema describes the form for OpenAPI.
func (Time) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: "string", Format: "date-time"}
}

// SentTime is an instant that a request may say in every form that ParseTime takes.
type SentTime struct{ Time }

// Schema describes the forms; date-time alone would refuse those without offset.
func (SentTime) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{
		Type: "string", Pattern: `^\d{4}-\d{2}-\d{2}([Tt ]\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?([Zz]|[+-]\d{2}:\d{2})?)?)?$`,
		PatternDescription: "a date or a date-time such as 2026-11-20T17:03:12Z",
		Description:        "Without an offset it is UTC",
		Examples:           []any{"2026-11-20T17:03:12Z", "2026-11-20"},
	}
	s.PrecomputeMessages()
	return s
}

// TimePtr turns a nullable instant of the database into one of the API.
func TimePtr(t *time.Time) *Time {
	if t == nil {
		return nil
	}
	at := Time(*t)
	return &at
}

// ParseTime reads an instant of a request, cut to the millisecond.
func ParseTime(s string) (time.Time, error) {
	if !offsetInDay(s) {
		return time.Time{}, ErrTime
	}
	for _, layout := range []string{
		time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04",
		time.DateOnly,
	} {
		at, err := time.Parse(layout, s)
		if at = at.UTC(); err == nil && at.Year() >= 1 && at.Year() <= 9999 { // in UTC, as it is stored and shown
			return at.Truncate(time.Millisecond), nil
		}
	}
	return time.Time{}, ErrTime
}

// offsetInDay is false for a text whose offset is beyond 23:59, where those of RFC 3339
// end; time.Parse takes 24:60 too.
func offsetInDay(s string) bool {
	at := len(s) - len("+00:00")
	if at < len(time.DateOnly) || s[at] != '+' && s[at] != '-' {
		return true
	}
	return s[at+1:at+3] <= "23" && s[at+4:] <= "59"
}

// Opt is a field of a partial update: absent, null, or a value.
type Opt[T any] struct {
	Set   bool // the field was in the body
	Null  bool // and was null
	Value T
}

// UnmarshalJSON records that the field was there.
func (o *Opt[T]) UnmarshalJSON(b []byte) error {
	o.Set = true
	if string(b) == "null" {
		o.Null = true
		return nil
	}
	return json.Unmarshal(b, &o.Value)
}

// Schema is the value's, nullable.
func (o Opt[T]) Schema(r huma.Registry) *huma.Schema {
	s := *huma.SchemaFromType(r, typeFor[T]())
	s.Nullable = true
	return &s
}

// Or returns the value, or the present one when the field was absent.
func (o Opt[T]) Or(present T) T {
	if o.Set {
		return o.Value
	}
	return present
}
