package secrettest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Secrets are values by what they are. The zero value is ready, also for many goroutines.
type Secrets struct {
	mu   sync.Mutex
	kind map[string]string // by value
}

// shortest is the length from which a value counts also inside other text. A shorter one,
// such as a code of six digits, counts where it stands alone: it may be part of an id.
const shortest = 12

// weak are values too short or too ordinary to be told from other text.
func weak(value string) bool { return len(value) < 6 }

// Add notes a value that must not be found.
func (s *Secrets) Add(kind, value string) {
	if weak(value) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kind == nil {
		s.kind = map[string]string{}
	}
	s.kind[value] = kind
}

// durations are numbers that a log tells of each request: any six digits come up in them.
var durations = regexp.MustCompile(`"took":\d+`)

// Find describes each secret that stands in the text, with what stands around it.
func (s *Secrets) Find(text string) []string {
	text = durations.ReplaceAllLiteralString(text, `"took":0`)
	var found []string
	report := func(kind string, from, to int) {
		found = append(found, fmt.Sprintf("the %s: …%s…", kind, text[max(0, from-120):min(len(text), to+60)]))
	}
	if at := findCard(text); at != nil {
		report("card's number or verification code", at[0], at[1])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for value, kind := range s.kind {
		if at := index(text, value); at >= 0 {
			report(kind, at, at+len(value))
		}
	}
	slices.Sort(found)
	return found
}

func index(text, value string) int {
	if len(value) >= shortest {
		return strings.Index(text, value)
	}
	for from := 0; ; {
		at := strings.Index(text[from:], value)
		if at < 0 {
			return -1
		}
		at += from
		if alone(text, at, at+len(value)) {
			return at
		}
		from = at + 1
	}
}

// alone says that the text between from and to is no part of a longer word or number.
func alone(text string, from, to int) bool {
	joins := func(i int) bool {
		if i < 0 || i >= len(text) {
			return false
		}
		c := text[i]
		return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("._-+", c) >= 0
	}
	return !joins(from-1) && !joins(to)
}

var (
	known   = map[string]*Secrets{} // by the name of the test at the root
	knownMu sync.Mutex
)

// Of returns the secrets of the test that t is, or is a part of.
func Of(t testing.TB) *Secrets {
	root, _, _ := strings.Cut(t.Name(), "/")
	knownMu.Lock()
	defer knownMu.Unlock()
	if known[root] == nil {
		known[root] = &Secrets{}
	}
	return known[root]
}

// Text fails t for each secret of its test in the text.
func Text(t testing.TB, where, text string) {
	t.Helper()
	for _, found := range Of(t).Find(text) {
		t.Errorf("%s holds %s", where, found)
	}
}
