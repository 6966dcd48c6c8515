package modeltest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"marquee/testutil/sandbox/stage"
)

// fault is what goes wrong with a call to a gateway: before the gateway has done
// what it was asked for, or after, so that only its answer is lost.
type fault string

const (
	crashBefore   fault = "crash before"
	crashAfter    fault = "crash after"
	timeoutBefore fault = "time-out before"
	timeoutAfter  fault = "time-out after"
	tooMany       fault = "429"
	brokenBefore  fault = "500 before"
	brokenAfter   fault = "500 after"
	resetBefore   fault = "reset before"
	resetAfter    fault = "reset after"
	slowBefore    fault = "slow body before" // of a 500
	slowAfter     fault = "slow body after"
)

var faults = []fault{
	crashBefore, crashAfter, timeoutBefore, timeoutAfter, tooMany, brokenBefore, brokenAfter, resetBefore,
	resetAfter, slowBefore, slowAfter,
}

func (f fault) kills() bool { return f == crashBefore || f == crashAfter }

// calls watches the calls that one thing the platform does makes to the gateways,
// and troubles one of them.
type calls struct {
	fault   fault
	at      int    // the call that the fault meets, from 1; 0: none
	lasting bool   // it meets all later ones too: the gateway has gone
	named   string // instead of at: it meets all calls of this name
	over    bool   // what comes now is not watched any more

	mu      sync.Mutex
	made    []string
	waited  time.Duration // what hanging calls would have taken, until their deadlines
	endless string        // a call without a deadline
}

// hits notes a call and tells whether the fault meets it.
func (c *calls) hits(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return false
	}
	c.made = append(c.made, name)
	n := len(c.made)
	return c.at > 0 && (n == c.at || c.lasting && n > c.at) || c.named != "" && strings.HasSuffix(name, c.named)
}

// inTime is asked after each job and each request: a client or River would have
// lost its patience.
func (h *history) inTime(limit time.Duration) {
	c := h.calls
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.endless != "" {
		h.fail("a call without a deadline", "%s", c.endless)
	}
	if c.waited >= limit {
		h.fail("it takes too long", "%s of waiting", c.waited.Round(time.Second))
	}
	c.waited = 0
}

// anID is a part of a path that names one object.
var anID = regexp.MustCompile(`/([^/]*[0-9]|(ch|cus|dp|evt|in|pay|pi|plan|pm|price|prod|re|seti|si|sub)_)[^/]*`)

func nameOf(x wire, r *http.Request) string {
	version, path, _ := strings.Cut(r.URL.Path[1:], "/")
	return fmt.Sprintf("%s %s /%s%s", x.name, r.Method, version, anID.ReplaceAllString("/"+path, "/{id}"))
}

func (c *calls) roundTrip(h *history, x wire, r *http.Request) (*http.Response, error) {
	name := nameOf(x, r)
	hit := c.hits(name)
	if !hit {
		res := x.respond(r)
		h.logStep("  %s: %d", name, res.StatusCode)
		return res, nil
	}
	h.logStep("  %s: %s", name, c.fault)
	if f, odd := odds[c.fault]; odd {
		return c.respondWith(h, x, r, f)
	}
	switch c.fault {
	case crashBefore:
		die(r.Context())
		return nil, reset() // in a goroutine besides, which others wait for
	case timeoutBefore:
		return nil, c.hang(r, name)
	case resetBefore:
		return nil, reset()
	case tooMany:
		return c.respondWith(h, x, r, stage.Fault{Kind: stage.FaultStatus, Status: http.StatusTooManyRequests})
	case brokenBefore:
		return c.respondWith(h, x, r, stage.Fault{Kind: stage.FaultStatus})
	case brokenAfter:
		return c.respondWith(h, x, r, stage.Fault{Kind: stage.FaultStatusAfter})
	case slowBefore:
		return c.stall(x.refuse(r, broken), r, name), nil
	}
	res := x.respond(r)
	switch c.fault {
	case crashAfter:
		die(r.Context())
		return nil, reset()
	case timeoutAfter:
		return nil, c.hang(r, name)
	case resetAfter:
		return nil, reset()
	}
	return c.stall(res, r, name), nil // slowAfter
}

// respondWith has the gateway itself answer with an error, which gateway B keeps
// for the idempotency key of the call as the real one does.
func (c *calls) respondWith(h *history, x wire, r *http.Request, f stage.Fault) (*http.Response, error) {
	if err := h.gateways.stage(x.name).Faults.Plan(f); err != nil {
		return nil, err
	}
	return x.respond(r), nil
}

// hang answers as a client does whose deadline has passed, without waiting for it.
func (c *calls) hang(r *http.Request, name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	deadline, set := r.Context().Deadline()
	if !set {
		c.endless = name
		return context.DeadlineExceeded
	}
	c.waited += time.Until(deadline)
	return context.DeadlineExceeded
}

func reset() error {
	return &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
}

// stall lets half of the body through.
func (c *calls) stall(res *http.Response, r *http.Request, name string) *http.Response {
	whole, _ := io.ReadAll(res.Body)
	res.Body = &stalled{Reader: bytes.NewReader(whole[:len(whole)/2]), hang: func() error { return c.hang(r, name) }}
	res.ContentLength = int64(len(whole))
	return res
}

type stalled struct {
	io.Reader
	hang func() error
}

func (s *stalled) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err == io.EOF { //nolint:errorlint // a reader's own
		err = s.hang()
	}
	return n, err
}

func (*stalled) Close() error { return nil }

// scenario is something that the platform does and for which it asks a gateway: a
// request, or the jobs of some time.
type scenario struct {
	name   string           // operation id, or kind of the job
	what   string           // tells the scenarios of one name apart
	given  func(h *history) // what comes before
	do     func(h *history) response
	good   []int                     // statuses when all goes well; the first is the usual one
	also   []int                     // further statuses under a fault, beside 503
	again  []int                     // further statuses of the repetition, when all is over
	done   func(h *history) bool     // the effect is there, once; asked at the very end
	anew   func(h *history) response // what is asked for when the scenario came to nothing; nil: the same
	after  func(h *history)          // what comes after, before all comes to rest
	beside bool                      // the calls are made beside the request, which a crash of the histories' processes cannot end cleanly
	lapses bool                      // what is there runs out while gateway A rests
	rests  time.Duration             // how long it may take until all is well
	key    bool                      // the request carries an Idempotency-Key
}

func (d scenario) String() string {
	if d.what == "" {
		return d.name
	}
	return d.name + ", " + d.what
}
