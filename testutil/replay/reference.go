package main

import (
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// A reference stands in a recorded request for what an earlier answer gave: ⟦pair place number⟧ is the numbered token
// of the text at that place of that pair's answer, and without a number the whole text.
var reference = regexp.MustCompile(`⟦(\d+) ([^ ⟧]+)(?: (\d+))?⟧`)

// place is where a value was seen first.
type place struct {
	pair  int
	path  string
	token int // -1: the whole text
}

func (p place) String() string {
	if p.token < 0 {
		return fmt.Sprintf("⟦%d %s⟧", p.pair, p.path)
	}
	return fmt.Sprintf("⟦%d %s %d⟧", p.pair, p.path, p.token)
}

// places know every value of the answers so far.
type places struct {
	first map[string]place
	whole []string // texts of the ready line: passwords and secrets are known by themselves
}

var secretPath = regexp.MustCompile(`password|token|secret`)

func (x *places) collect(n int, a response, mails bool) {
	if x.first == nil {
		x.first = map[string]place{}
	}
	walk(a, func(path, text string) {
		if n == 0 {
			if _, known := x.first[text]; !known && secretPath.MatchString(path) {
				x.first[text] = place{n, path, -1}
				x.whole = append(x.whole, text)
			}
			return
		}
		for i, t := range tokens(text, mails) {
			if !t.repeated() {
				continue
			}
			if _, known := x.first[text[t.from:t.to]]; !known {
				x.first[text[t.from:t.to]] = place{n, path, i}
			}
		}
	})
	sort.Slice(x.whole, func(i, j int) bool { return len(x.whole[i]) > len(x.whole[j]) })
}

// refer puts references where a request repeats what was answered.
func (x *places) refer(text string) string {
	for _, w := range x.whole {
		text = strings.ReplaceAll(text, w, x.first[w].String())
	}
	var out strings.Builder
	at := 0
	for _, t := range tokens(text, true) {
		if p, known := x.first[text[t.from:t.to]]; known && !inside(text, t.from) {
			out.WriteString(text[at:t.from] + p.String())
			at = t.to
		}
	}
	return out.String() + text[at:]
}

// inside reports whether a reference stands there already.
func inside(text string, at int) bool {
	open := strings.LastIndex(text[:at], "⟦")
	return open >= 0 && !strings.Contains(text[open:at], "⟧")
}

func (x *places) referAll(r request) request {
	return r.each(x.refer)
}

// resolver puts the replayed values in.
type resolver struct {
	recorded, replayed func(pair int) response
	mails              func(pair int) bool
	twin               func(recorded string) (string, bool) // what the recorded value is in the replayed run
}

func (x resolver) text(s string) string {
	return reference.ReplaceAllStringFunc(s, func(ref string) string {
		m := reference.FindStringSubmatch(ref)
		n, _ := strconv.Atoi(m[1])
		number := -1
		if m[3] != "" {
			number, _ = strconv.Atoi(m[3])
		}
		if was, ok := part(at(x.recorded(n), m[2]), number, x.mails(n)); ok && !codeLike(was) {
			if is, known := x.twin(was); known {
				return is
			}
		}
		is, _ := part(at(x.replayed(n), m[2]), number, x.mails(n))
		return is
	})
}

func (x resolver) request(r request) request {
	return r.each(x.text)
}

// each is the request with all its texts changed.
func (r request) each(change func(string) string) request {
	r.Path, r.Body = change(r.Path), change(r.Body)
	query, headers := make([][2]string, len(r.Query)), map[string]string{}
	for i, q := range r.Query {
		query[i] = [2]string{q[0], change(q[1])}
	}
	for name, value := range r.Headers {
		headers[name] = change(value)
	}
	r.Query, r.Headers = query, headers
	if r.Sign != nil {
		r.Sign = &signature{Secret: change(r.Sign.Secret), Age: r.Sign.Age}
	}
	return r
}

func codeLike(s string) bool { return len(s) == 6 && strings.Trim(s, "0123456789") == "" }

func part(text string, number int, mails bool) (string, bool) {
	if number < 0 {
		return text, text != ""
	}
	found := tokens(text, mails)
	if number >= len(found) {
		return "", false
	}
	return text[found[number].from:found[number].to], true
}

// walk visits the texts of an answer with their places: h/Name of the headers, b/… of the body.
func walk(a response, visit func(path, text string)) {
	for _, name := range sortedKeys(a.Headers) {
		visit("h/"+name, a.Headers[name])
	}
	walkValue("b", a.Body, visit)
}

func walkValue(path string, v any, visit func(path, text string)) {
	switch v := v.(type) {
	case string:
		visit(path, v)
	case []any:
		for i, e := range v {
			walkValue(path+"/"+strconv.Itoa(i), e, visit)
		}
	case map[string]any:
		for _, k := range sortedKeys(v) {
			walkValue(path+"/"+escape(k), v[k], visit)
		}
	}
}

// at is the text at a place, empty where there is none.
func at(a response, path string) string {
	first, rest, _ := strings.Cut(path, "/")
	if first == "h" {
		return a.Headers[rest]
	}
	v := a.Body
	for rest != "" {
		var step string
		step, rest, _ = strings.Cut(rest, "/")
		switch in := v.(type) {
		case map[string]any:
			v = in[unescape(step)]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(in) {
				return ""
			}
			v = in[i]
		default:
			return ""
		}
	}
	text, _ := v.(string)
	return text
}

var (
	escaper   = strings.NewReplacer("~", "~0", "/", "~1", " ", "~2", "⟧", "~3")
	unescaper = strings.NewReplacer("~3", "⟧", "~2", " ", "~1", "/", "~0", "~")
)

func escape(key string) string   { return escaper.Replace(key) }
func unescape(key string) string { return unescaper.Replace(key) }

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
