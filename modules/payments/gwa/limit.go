package gwa

import (
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"time"
)

const (
	// restOnce is how long an endpoint rests after its first 429, restAgain after each
	// further one in a row.
	restOnce, restAgain = time.Minute, 2 * time.Minute
	// accountWide: a 429 of two endpoints within this time is about the whole account.
	accountWide = time.Minute
	// probeEvery is how often what a customer waits for tries the account.
	probeEvery = time.Minute
	// probeLife is after which a probe without an end counts no more: longer than any
	// call.
	probeLife = 2 * time.Minute
	// defaultReset is the window of an account-wide 429 that names none, maxReset the
	// gateway's longest (docs/gateway-facts.md, A1).
	defaultReset, maxReset = time.Minute, 12 * time.Hour
)

// limits keeps calls from the gateway where it has had too many: from one endpoint
// for a minute or two, or from all until the account's window ends. Then background
// work stops, and what a customer waits for goes on with one probe a minute, and
// freely once a probe was answered.
//
// The account's rest ends when the gateway announces that calls are left, too: it
// counts by its own clock.
type limits struct {
	mu        sync.Mutex
	endpoints map[string]*rest
	account   span
	probes    span // until the next probe of the account
	heard     bool // a probe was answered since
}

// rest is an endpoint that has answered 429.
type rest struct {
	span
	probe span // of the one that was let through, while it is under way
}

// span is a time of waiting. A clock that is set back makes it no longer than it was
// to be from the beginning.
type span struct {
	from   time.Time
	length time.Duration
}

// left is zero or less when it is over.
func (s *span) left(now time.Time) time.Duration {
	if now.Before(s.from) {
		s.from = now
	}
	return s.length - now.Sub(s.from)
}

// name is a part of a path that is no id.
var name = regexp.MustCompile(`^[A-Za-z]*$`)

// endpoint is a call's method and path without ids, to which a limit belongs.
func (r *request) endpoint() string {
	return r.method + " " + part.ReplaceAllStringFunc(r.path, func(s string) string {
		if name.MatchString(s[1:]) {
			return s
		}
		return "/{id}"
	})
}

var part = regexp.MustCompile(`/[^/]*`)

// wait is how long a call has to wait, zero or less when it may be made now.
func (l *limits) wait(endpoint string, background bool, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if left := l.account.left(now); left > 0 {
		probe := l.probes.left(now)
		switch {
		case background:
			return left
		case !l.heard && probe > 0:
			return probe
		case !l.heard:
			l.probes = span{now, probeEvery}
			return 0
		}
	}
	r := l.endpoints[endpoint]
	if r == nil {
		return 0
	}
	if left := max(r.left(now), r.probe.left(now)); left > 0 {
		return left
	}
	r.probe = span{now, probeLife}
	return 0
}

// observe takes note of an answer, and reports whether it closes the account.
func (l *limits) observe(endpoint string, status int, h http.Header, now time.Time) (closes bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if status != http.StatusTooManyRequests {
		delete(l.endpoints, endpoint)
		l.heard = true
		if remaining, err := strconv.Atoi(h.Get("RateLimit-Remaining")); err == nil && remaining > 0 {
			l.account = span{}
		}
		return false
	}
	pause := restAgain
	if l.endpoints[endpoint] == nil {
		pause = restOnce
	}
	if l.endpoints == nil {
		l.endpoints = map[string]*rest{}
	}
	l.endpoints[endpoint] = &rest{span: span{now, pause}}
	closes = l.account.left(now) > 0
	for other, one := range l.endpoints {
		closes = closes || other != endpoint && now.Sub(one.from).Abs() <= accountWide
	}
	if closes {
		l.heard, l.probes = false, span{now, probeEvery}
		if reset := resetAfter(h); reset > l.account.left(now) {
			l.account = span{now, reset}
		}
	}
	return closes
}

// failed ends a probe of which no answer came.
func (l *limits) failed(endpoint string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.endpoints[endpoint]; r != nil {
		r.probe = span{}
	}
}

func resetAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("RateLimit-Reset"))
	if err != nil || seconds <= 0 {
		return defaultReset
	}
	return min(time.Duration(seconds)*time.Second, maxReset)
}

// quota is how many calls the gateway will still take, as it announced last
// (docs/gateway-facts.md, A1).
type quota struct {
	mu        sync.Mutex
	known     bool
	remaining int
	window    span
}

func (q *quota) record(h http.Header, now time.Time) {
	remaining, err := strconv.Atoi(h.Get("RateLimit-Remaining"))
	if err != nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.known, q.remaining, q.window = true, remaining, span{now, resetAfter(h)}
}

// left is not known before the first answer, and when the window has passed.
func (q *quota) left(now time.Time) (remaining int, known bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.remaining, q.known && q.window.left(now) > 0
}
