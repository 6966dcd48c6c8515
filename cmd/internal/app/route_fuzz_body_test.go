package app_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// mischief makes requests at random; the same seed makes the same.
type mischief struct{ *rand.Rand }

// headerNames are those of oddHeaders, in an order that a seed keeps.
var headerNames = slices.Sorted(maps.Keys(oddHeaders))

func pick[T any](m *mischief, of []T) T { return of[m.IntN(len(of))] }

// once is true in one of n cases.
func (m *mischief) once(n int) bool { return m.IntN(n) == 0 }

func (m *mischief) text() string {
	if m.once(20) {
		return strings.Repeat(pick(m, texts), 1+m.IntN(200))
	}
	return pick(m, texts)
}

// value is any JSON value, or what looks like one.
func (m *mischief) value() string {
	switch m.IntN(5) {
	case 0:
		return pick(m, raws)
	case 1:
		return pick(m, numbers)
	case 2:
		return quoted(pick(m, moments))
	case 3:
		return quoted(pick(m, numbers))
	}
	return quoted(m.text())
}

func quoted(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}

// body is the sample with one to three places spoilt, or none; or no such body at all.
func (m *mischief) body(sample any) []byte {
	if m.once(25) {
		return []byte(pick(m, wholes))
	}
	w := &spoiler{m: m, at: map[int]bool{}}
	for range pick(m, []int{0, 0, 1, 1, 1, 1, 1, 2, 2, 3}) {
		w.at[m.IntN(nodes(sample))] = true
	}
	w.write(sample)
	raw := []byte(w.out.String())
	switch {
	case len(raw) == 0 || !m.once(20):
	case m.once(2):
		raw = raw[:m.IntN(len(raw))]
	default:
		raw[m.IntN(len(raw))] = byte(m.IntN(256))
	}
	return raw
}

// nodes counts the values of a sample.
func nodes(v any) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			n += nodes(item)
		}
	case map[string]any:
		for _, item := range v {
			n += nodes(item)
		}
	}
	return n
}

// spoiler writes a sample as JSON, the values at some places spoilt.
type spoiler struct {
	m   *mischief
	at  map[int]bool
	n   int
	out strings.Builder
}

func (w *spoiler) write(v any) {
	spoilt := w.at[w.n]
	w.n++
	switch v := v.(type) {
	case map[string]any:
		w.members(v, spoilt)
	case []any:
		w.items(v, spoilt)
	default:
		if spoilt {
			w.out.WriteString(w.m.value())
			return
		}
		raw, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		w.out.Write(raw)
	}
}

// members writes an object; spoilt, one of its members is misspelt, left out, twice there
// or not known, or no object comes.
func (w *spoiler) members(v map[string]any, spoilt bool) {
	names := slices.Sorted(maps.Keys(v))
	victim, how := "", w.m.IntN(7)
	if spoilt && (len(names) == 0 || how == 0) {
		w.out.WriteString(w.m.value())
		return
	}
	if spoilt {
		victim = pick(w.m, names)
	}
	w.out.WriteByte('{')
	comma := ""
	for _, name := range names {
		spellings := []string{name}
		if name == victim {
			spellings = misspelt(w.m, name, how)
		}
		for _, spelling := range spellings {
			w.out.WriteString(comma + `"` + spelling + `":`)
			w.write(v[name])
			comma = ","
		}
	}
	w.out.WriteByte('}')
}

// misspelt are the ways to write a member's name, as it stands in JSON.
func misspelt(m *mischief, name string, how int) []string {
	upper, escaped := strings.ToUpper(name), fmt.Sprintf(`\u%04x%s`, name[0], name[1:])
	switch how {
	case 1:
		return []string{name, upper}
	case 2:
		return []string{upper}
	case 3:
		return []string{name, name}
	case 4:
		return nil
	case 5:
		return []string{
			name,
			pick(m, []string{
				"", "__proto__", "constructor", "$set", "no_such", strings.ReplaceAll(name, "s", "\u017f"),
				strings.ReplaceAll(name, "k", "\u212a"), name + `\u0000`, strings.ReplaceAll(name, "_", "-"),
				strings.Repeat("n", 3_000), "\xff",
			}),
		}
	}
	return []string{escaped, strconv.Itoa(m.IntN(9))}
}

// items writes a list; spoilt, it is empty, long, of itself or none.
func (w *spoiler) items(v []any, spoilt bool) {
	all := v
	if spoilt {
		switch w.m.IntN(4) {
		case 0:
			w.out.WriteString(w.m.value())
			return
		case 1:
			all = nil
		case 2:
			all = slices.Repeat(v, 1+w.m.IntN(60))
		default:
			all = append(slices.Clone(v), v)
		}
	}
	w.out.WriteByte('[')
	for i, item := range all {
		if i > 0 {
			w.out.WriteByte(',')
		}
		w.write(item)
	}
	w.out.WriteByte(']')
}
