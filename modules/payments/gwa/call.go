package gwa

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"sync"
	"time"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/reply"
	"marquee/platform/postgres"
)

// request is one call.
type request struct {
	method  string
	path    string
	query   url.Values
	body    any
	timeout time.Duration
	take    func(raw []byte) error // judges and keeps the body of a 2xx answer
}

// binds reports whether the call may move money or what will be charged: a new payer
// does not, and is found again where nobody has written it down.
func (r *request) binds() bool {
	return r.method != http.MethodGet && (r.method != http.MethodPost || r.path != "/customers")
}

// problem is an answer other than 2xx. Native tells that it has the gateway's own
// form of an error: without it, it may be a proxy's.
type problem struct {
	status int
	native bool
	code   string
	text   string
}

func (p *problem) Error() string { return fmt.Sprintf("status %d, %s", p.status, p.code) }

// repeat makes a call whose repetition is harmless.
func (g *client) repeat(ctx context.Context, r request) error {
	err := reply.Repeat(ctx, g.cfg.RetryWait, func() (again bool, err error) {
		err = g.call(ctx, r)
		return worthRepeating(err), err
	})
	return translated(err, r.method != http.MethodGet)
}

func worthRepeating(err error) bool {
	var p *problem
	if errors.As(err, &p) {
		return p.status >= http.StatusInternalServerError
	}
	return !errors.Is(err, gateway.ErrUnavailable)
}

// call makes one HTTP call. The error is *problem for an answer that is not 2xx,
// gateway.ErrUnavailable when the gateway has certainly not been asked,
// reply.ErrOdd for an answer that is none, else a failure on the way.
func (g *client) call(ctx context.Context, r request) error {
	endpoint := r.endpoint()
	if wait := g.limits.wait(endpoint, gateway.IsBackground(ctx), g.cfg.Clock.Now()); wait > 0 {
		return fmt.Errorf("%w: too many calls, rest for another %s", gateway.ErrUnavailable, wait.Round(time.Second))
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	req, err := g.httpRequest(ctx, r)
	if err != nil {
		g.limits.failed(endpoint)
		return err
	}
	if r.binds() {
		postgres.BePatient(ctx) // what comes of it has to be written down
	}
	res, err := g.http.Do(req)
	if err != nil {
		g.limits.failed(endpoint)
		return onTheWay(err)
	}
	defer res.Body.Close()
	g.quota.record(res.Header, g.cfg.Clock.Now())
	if g.limits.observe(endpoint, res.StatusCode, res.Header, g.cfg.Clock.Now()) {
		g.health.Report(ctx, false)
	}
	raw, err := reply.Body(res.Body)
	if err != nil {
		return onTheWay(err)
	}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		p := problemOf(res.StatusCode, raw)
		if p.native && res.StatusCode < http.StatusInternalServerError && !wouldNotListen[res.StatusCode] {
			g.health.Report(ctx, true)
		}
		return p
	}
	if err := r.take(raw); err != nil {
		return err
	}
	g.health.Report(ctx, true)
	return nil
}

// OnReply calls f with each answer that tells how the gateway as a whole is
// doing.
func (g *client) OnReply(f func(ctx context.Context, right bool)) { g.health.On(f) }

// Probe asks for one customer.
func (g *client) Probe(ctx context.Context) error {
	_, err := get(ctx, g, "/customers", url.Values{"limit": {"1"}}, (*list[customer]).check)
	return err
}

func (g *client) httpRequest(ctx context.Context, r request) (*http.Request, error) {
	var body io.Reader
	if r.body != nil {
		raw, err := json.Marshal(r.body)
		if err != nil {
			return nil, fmt.Errorf("%w: the request cannot be written as JSON", gateway.ErrUnavailable)
		}
		body = bytes.NewReader(raw)
	}
	address := g.cfg.URL + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, address, body)
	if err != nil {
		return nil, fmt.Errorf("%w: the address of the gateway is not valid", gateway.ErrUnavailable)
	}
	req.Header.Set("access_token", g.cfg.APIKey)
	req.Header.Set("User-Agent", g.cfg.UserAgent)
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// onTheWay words a failure without the address, whose query names people.
func onTheWay(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return fmt.Errorf("%w: %w", gateway.ErrUnavailable, op)
	}
	var ue *url.Error
	if errors.As(err, &ue) {
		return ue.Err
	}
	return err
}

func problemOf(status int, raw []byte) *problem {
	var body struct {
		Errors []struct {
			Code        string `json:"code"`
			Description string `json:"description"`
		} `json:"errors"`
	}
	p := &problem{status: status}
	if json.Unmarshal(raw, &body) == nil && len(body.Errors) > 0 {
		p.native = body.Errors[0].Code != "" || body.Errors[0].Description != ""
		p.code, p.text = masked(body.Errors[0].Code), masked(body.Errors[0].Description)
	}
	return p
}

// longDigits may be a card number, tax id or phone that the gateway quotes, address
// somebody's e-mail.
var (
	longDigits = regexp.MustCompile(`\d(?:[ .-]?\d){10,}`)
	address    = regexp.MustCompile(`[^\s<>"'(),;:]+@[^\s<>"'(),;:]+`)
)

func masked(s string) string {
	return address.ReplaceAllString(longDigits.ReplaceAllString(s, "[digits]"), "[address]")
}

// translated puts an error in the words of payments.Gateway. Acts tells that the
// call may have changed something.
func translated(err error, acts bool) error {
	var p *problem
	switch {
	case err == nil:
		return nil
	case errors.Is(err, gateway.ErrUnavailable):
		return err
	case !errors.As(err, &p):
		return fmt.Errorf("%w: %w", reply.Failure(acts), err)
	case p.status == http.StatusNotFound:
		return fmt.Errorf("%w: %w: %w", reply.Failure(acts), errNotThere, p)
	case p.status == http.StatusBadRequest && p.native:
		return &gateway.Rejected{Code: p.code, Message: p.text}
	case p.native && wouldNotListen[p.status]:
		return fmt.Errorf("%w: %w", gateway.ErrUnavailable, p)
	}
	return fmt.Errorf("%w: %w", reply.Failure(acts), p)
}

// wouldNotListen are the answers after which the gateway has certainly done
// nothing, in its own form: a wrong key, one that lacks the permission, too many
// calls.
var wouldNotListen = map[int]bool{
	http.StatusUnauthorized: true, http.StatusForbidden: true, http.StatusTooManyRequests: true,
}

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
