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
	// gateway's longest (section 1).
	defaultReset, maxReset = time.Minute, 12 * time.Hour
)

// limits keeps calls from the gateway where it has had too many: from one endpoint
// for a minute or two, or from all until the account's window ends. Then background
// work stops, and what a customer waits for goes on with one probe a minute, and
// freely once a probe was answered.
type limits struct {
	mu        sync.Mutex
	endpoints map[string]*rest
	until     time.Time // the account rests
	nextProbe time.Time
	heard     bool // a probe was answered since
}

// rest is an endpoint that has answered 429.
type rest struct {
	at, until time.Time
	probe     time.Time // when one was let through; zero: none is under way
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
	if now.Before(l.until) {
		switch {
		case background:
			return l.until.Sub(now)
		case !l.heard && now.Before(l.nextProbe):
			return l.nextProbe.Sub(now)
		case !l.heard:
			l.nextProbe = now.Add(probeEvery)
			return 0
		}
	}
	r := l.endpoints[endpoint]
	switch {
	case r == nil:
		return 0
	case now.Before(r.until):
		return r.until.Sub(now)
	case !r.probe.IsZero() && now.Before(r.probe.Add(probeLife)):
		return r.probe.Add(probeLife).Sub(now)
	}
	r.probe = now
	return 0
}

// answered takes note of an answer.
func (l *limits) answered(endpoint string, status int, h http.Header, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if status != http.StatusTooManyRequests {
		delete(l.endpoints, endpoint)
		l.heard = true
		return
	}
	r := l.endpoints[endpoint]
	pause := restAgain
	if r == nil {
		r, pause = &rest{}, restOnce
	}
	*r = rest{at: now, until: now.Add(pause)}
	if l.endpoints == nil {
		l.endpoints = map[string]*rest{}
	}
	l.endpoints[endpoint] = r
	account := now.Before(l.until)
	for other, one := range l.endpoints {
		account = account || other != endpoint && now.Sub(one.at) <= accountWide
	}
	if account {
		l.heard, l.nextProbe = false, now.Add(probeEvery)
		if until := now.Add(resetAfter(h)); until.After(l.until) {
			l.until = until
		}
	}
}

// failed ends a probe of which no answer came.
func (l *limits) failed(endpoint string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.endpoints[endpoint]; r != nil {
		r.probe = time.Time{}
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
// (section 1).
type quota struct {
	mu        sync.Mutex
	known     bool
	remaining int
	until     time.Time
}

func (q *quota) note(h http.Header, now time.Time) {
	remaining, err := strconv.Atoi(h.Get("RateLimit-Remaining"))
	if err != nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.known, q.remaining, q.until = true, remaining, now.Add(resetAfter(h))
}

// left is not known before the first answer, and when the window has passed.
func (q *quota) left(now time.Time) (remaining int, known bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.remaining, q.known && now.Before(q.until)
}
