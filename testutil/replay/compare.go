package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// slack is how much later the same may happen than the clocks of both runs were apart when they were last compared:
// machines are slow, between two moves a clock runs by itself, and some jobs come at a time of their own.
const slack = 20 * time.Minute

// nearMachine is how far an instant may be from the machine's own: some are not the moved clock's.
const nearMachine = 6 * time.Hour

// comparison holds what one run has learned about the other.
type comparison struct {
	there, back map[string]string // a recorded name to the replayed one, and back
	recorded    time.Time         // when either run was made, by the machine's clock
	replayed    time.Time
	apart       time.Duration // how far the clocks of both runs were apart at most
	exceptions  []exception
}

// difference is one place where two answers are not alike.
type difference struct{ path, recorded, replayed, note string }

// exception lets a place differ.
type exception struct {
	// "any": whatever it is; "digits": another number; "name": a name of another form; "set": a list in whatever order;
	// "more": a list that also has new members; "cut": without some words; "reworded": in other words
	rule    string
	route   *regexp.Regexp
	path    *regexp.Regexp
	words   *regexp.Regexp
	now     string // what is said in place of words
	why     string
	applied int
}

// readExceptions reads lines of: rule, route, path, reason, with tabs between; "cut" has its words before the reason,
// and "reworded" the recorded words before those said now, without a reason, which is in the CHANGELOG. # begins a
// comment.
func readExceptions(file string) (list []exception, err error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for i, line := range strings.Split(string(raw), "\n") {
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Split(line, "\t")
		want := map[string]int{"any": 4, "digits": 4, "name": 4, "set": 4, "more": 4, "cut": 5, "reworded": 5}[parts[0]]
		if len(parts) != want || strings.TrimSpace(parts[len(parts)-1]) == "" {
			return nil, fmt.Errorf("%s:%d: want rule, route, path and reason, with tabs between", file, i+1)
		}
		e := exception{rule: parts[0], why: parts[len(parts)-1]}
		if e.route, err = regexp.Compile("^(" + parts[1] + ")$"); err == nil {
			e.path, err = regexp.Compile("^(" + parts[2] + ")$")
		}
		switch {
		case e.rule == "cut" && err == nil:
			e.words, err = regexp.Compile(parts[3])
		case e.rule == "reworded":
			e.words, e.now = regexp.MustCompile(regexp.QuoteMeta(parts[3])), parts[4]
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
		}
		list = append(list, e)
	}
	return list, nil
}

func (c *comparison) excepted(rule, route, path string) bool {
	for i := range c.exceptions {
		e := &c.exceptions[i]
		if e.rule == rule && e.route.MatchString(route) && e.path.MatchString(path) {
			e.applied++
			return true
		}
	}
	return false
}

// reword takes the words out of a text that an exception names, or puts those in their place that are said now.
func (c *comparison) reword(route, path, text string) string {
	for i := range c.exceptions {
		e := &c.exceptions[i]
		if e.words != nil && e.route.MatchString(route) && e.path.MatchString(path) && e.words.MatchString(text) {
			e.applied++
			text = e.words.ReplaceAllLiteralString(text, e.now)
		}
	}
	return text
}

// responses compares what was answered to one request.
func (c *comparison) responses(r request, was, is response) (found []difference) {
	route := r.String()
	if r.To == "clock" {
		a, _ := instant(at(was, "b/now"))
		b, _ := instant(at(is, "b/now"))
		c.apart = max(c.apart, a.Sub(b).Abs())
		return nil
	}
	if was.Status != is.Status && !c.excepted("any", route, "status") {
		found = append(found, difference{"status", strconv.Itoa(was.Status), strconv.Itoa(is.Status), ""})
	}
	found = append(found, c.values(route, "h", texts(was.Headers), texts(is.Headers), r.To == "mailbox")...)
	return append(found, c.values(route, "b", was.Body, is.Body, r.To == "mailbox")...)
}

func texts(m map[string]string) any {
	out := map[string]any{}
	for k, v := range m {
		out[k] = v
	}
	return out
}

func (c *comparison) values(route, path string, was, is any, codes bool) []difference {
	if c.excepted("any", route, path) {
		return nil
	}
	differ := func(note string) []difference { return []difference{{path, short(was), short(is), note}} }
	switch was := was.(type) {
	case map[string]any:
		is, ok := is.(map[string]any)
		if !ok {
			return differ("")
		}
		return c.objects(route, path, was, is, codes)
	case []any:
		is, ok := is.([]any)
		if !ok {
			return differ("")
		}
		if len(was) < len(is) && c.excepted("more", route, path) {
			is = common(was, is)
		}
		if len(was) != len(is) {
			return differ(fmt.Sprintf("%d members instead of %d", len(is), len(was)))
		}
		if c.excepted("set", route, path) {
			return c.sets(route, path, was, is, codes)
		}
		var found []difference
		for i := range was {
			found = append(found, c.values(route, path+"/"+strconv.Itoa(i), was[i], is[i], codes)...)
		}
		return found
	case string:
		is, ok := is.(string)
		if !ok {
			return differ("")
		}
		was, is = c.reword(route, path, was), c.reword(route, path, is)
		if note := c.text(was, is, codes); note != "" &&
			!(digits(was) && digits(is) && c.excepted("digits", route, path)) {
			if c.excepted("name", route, path) {
				note = c.token("name", was, is)
			}
			if note != "" {
				return differ(strings.TrimSpace(strings.TrimPrefix(note, "text")))
			}
		}
		return nil
	case json.Number:
		is, ok := is.(json.Number)
		if !ok || was != is && !c.epoch(string(was), string(is)) && !c.excepted("digits", route, path) {
			return differ("")
		}
		return nil
	}
	if was != is {
		return differ("")
	}
	return nil
}

func (c *comparison) objects(route, path string, was, is map[string]any, codes bool) (found []difference) {
	for _, k := range sortedKeys(was) {
		at := path + "/" + escape(k)
		v, there := is[k]
		if !there {
			if !c.excepted("any", route, at) {
				found = append(found, difference{at, short(was[k]), "", "is missing"})
			}
			continue
		}
		found = append(found, c.values(route, at, was[k], v, codes)...)
	}
	for _, k := range sortedKeys(is) {
		at := path + "/" + escape(k)
		if _, there := was[k]; !there && !c.excepted("any", route, at) {
			found = append(found, difference{at, "", short(is[k]), "is new"})
		}
	}
	return found
}

// common are the members of is that equal those of was, each as often and in the order of was.
func common(was, is []any) []any {
	var list []any
	for _, v := range is {
		if len(list) < len(was) && reflect.DeepEqual(v, was[len(list)]) {
			list = append(list, v)
		}
	}
	return list
}

// text tells why two texts are not alike, or nothing.
func (c *comparison) text(was, is string, codes bool) string {
	if was == is {
		return ""
	}
	a, b := tokens(was, codes), tokens(is, codes)
	if len(a) != len(b) {
		return "text"
	}
	fromA, fromB := 0, 0
	for i := range a {
		if was[fromA:a[i].from] != is[fromB:b[i].from] || a[i].kind != b[i].kind {
			return "text"
		}
		if note := c.token(a[i].kind, was[a[i].from:a[i].to], is[b[i].from:b[i].to]); note != "" {
			return note
		}
		fromA, fromB = a[i].to, b[i].to
	}
	if was[fromA:] != is[fromB:] {
		return "text"
	}
	return ""
}

func (c *comparison) token(kind, was, is string) string {
	switch kind {
	case kindCode, kindWait:
		return ""
	case kindTime:
		a, _ := instant(was)
		b, _ := instant(is)
		if !c.instants(a, b) {
			return "another time"
		}
		return ""
	case kindHour:
		if apart := math.Abs(minutes(was) - minutes(is)); math.Min(apart, 24*60-apart) > c.drift().Minutes() {
			return "another time"
		}
		return ""
	case kindSerial:
		a, _ := strconv.ParseFloat(was, 64)
		b, _ := strconv.ParseFloat(is, 64)
		if math.Abs(a-b) > c.drift().Hours()/24 {
			return "another time"
		}
		return ""
	case kindEpoch:
		if was != is && !c.epoch(was, is) {
			return "another time"
		}
		return ""
	}
	there, known := c.there[was]
	back, knownBack := c.back[is]
	switch {
	case known && there != is:
		return "is elsewhere " + there
	case knownBack && back != was:
		return "stands elsewhere for " + back
	}
	c.there[was], c.back[is] = is, was
	return ""
}

// drift is how much later the same may happen.
func (c *comparison) drift() time.Duration { return c.apart + slack }

func (c *comparison) instants(a, b time.Time) bool {
	if a.Sub(b).Abs() <= c.drift() {
		return true
	}
	return a.Sub(c.recorded).Abs() <= nearMachine && b.Sub(c.replayed).Abs() <= nearMachine
}

func (c *comparison) epoch(was, is string) bool {
	a, errA := strconv.ParseInt(was, 10, 64)
	b, errB := strconv.ParseInt(is, 10, 64)
	if errA != nil || errB != nil || len(was) != len(is) {
		return false
	}
	switch len(was) {
	case 10:
		return c.instants(time.Unix(a, 0), time.Unix(b, 0))
	case 13:
		return c.instants(time.UnixMilli(a), time.UnixMilli(b))
	}
	return false
}

func minutes(s string) float64 {
	hours, _ := strconv.Atoi(s[:2])
	minutes, _ := strconv.Atoi(s[3:5])
	return float64(hours*60 + minutes)
}

// sets compares lists without an order: each recorded member takes the first replayed one that is like it.
func (c *comparison) sets(route, path string, was, is []any, codes bool) (found []difference) {
	left := append([]any{}, is...)
	for i, member := range was {
		at, like := path+"/"+strconv.Itoa(i), false
		for j, candidate := range left {
			trial := *c
			trial.there, trial.back = maps.Clone(c.there), maps.Clone(c.back)
			if like = len(trial.values(route, at, member, candidate, codes)) == 0; like {
				c.there, c.back = trial.there, trial.back
				left = append(left[:j:j], left[j+1:]...)
				break
			}
		}
		if !like {
			found = append(found, difference{at, short(member), short(left), "none of those that are left is like it"})
		}
	}
	return found
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func short(v any) string {
	if v == nil {
		return "null"
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}

// excerpt shows two long texts around the first place where they differ.
func excerpt(a, b string) (string, string) {
	const room = 160
	from := 0
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	from = max(from-40, 0)
	cut := func(s string) string {
		begin, end := "", ""
		if from > 0 {
			begin = "…"
		}
		if len(s) > from+room {
			s, end = s[:from+room], "…"
		}
		return begin + s[min(from, len(s)):] + end
	}
	return cut(a), cut(b)
}
