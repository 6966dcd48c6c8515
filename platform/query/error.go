package query

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The parameters that an Error can speak of.
const (
	ParamQuery = "query"
	ParamSort  = "sort"
)

// maxEcho is the number of characters of one piece of client text that an error
// repeats (docs/contract/filters.md, Refusals).
const maxEcho = 64

// Error says why a parameter was refused. Every error of Compile and CompileSort
// is an *Error, and each is the client's: status 422, code VALIDATION_ERROR.
type Error struct {
	// Param is ParamQuery or ParamSort.
	Param string
	// Path leads to the offending place inside the parameter: a string for each key
	// (at most 64 characters of it) and an int for each index of a list. It is what
	// follows ["query", Param] in `loc`.
	Path []any
	// Message is the path and a stable phrase, such as
	// `query.$or[1].tags.$in: needs an array`. It holds nothing of the database or of Go.
	Message string
}

// Error returns Message.
func (e *Error) Error() string { return e.Message }

// place is the position of the compiler in the client's text, kept as a list that
// grows by one step a level so that the good path allocates little.
type place struct {
	parent *place
	key    string
	index  int // of a list, or -1 for a key
}

func root(param string) *place { return &place{key: param, index: -1} }

func (p *place) at(key string) *place { return &place{parent: p, key: key, index: -1} }

func (p *place) item(i int) *place { return &place{parent: p, index: i} }

// errorf makes the error for this place. Client text among args has to go through echo.
func (p *place) errorf(format string, args ...any) *Error {
	var steps []*place
	for s := p; s != nil; s = s.parent {
		steps = append([]*place{s}, steps...)
	}
	e := &Error{Param: steps[0].key, Path: []any{}}
	var text strings.Builder
	text.WriteString(e.Param)
	for _, s := range steps[1:] {
		if s.index >= 0 {
			fmt.Fprintf(&text, "[%d]", s.index)
			e.Path = append(e.Path, s.index)
			continue
		}
		text.WriteString("." + echoKey(s.key))
		e.Path = append(e.Path, shorten(s.key))
	}
	e.Message = text.String() + ": " + fmt.Sprintf(format, args...)
	return e
}

// echo repeats client text as a short JSON string with control characters escaped.
func echo(s string) string {
	quoted, err := json.Marshal(shorten(s))
	if err != nil {
		return `""`
	}
	return string(quoted)
}

// echoKey repeats a key bare when it reads as a plain name, else as echo does.
func echoKey(key string) string {
	plain := key != "" && len(key) <= maxEcho && strings.IndexFunc(key, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("_$.-", r))
	}) < 0
	if plain {
		return key
	}
	return echo(key)
}

func shorten(s string) string {
	n := 0
	for i := range s {
		if n == maxEcho {
			return s[:i]
		}
		n++
	}
	return s
}
