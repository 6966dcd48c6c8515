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
