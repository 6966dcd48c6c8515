package stage

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// earlyLimit bounds how long an answer waits for the events that EarlyNext sends before it.
const earlyLimit = 10 * time.Second

// call is one request of the client while it is served.
type call struct {
	deliveries []int64
	fault      *Fault
	journal    func() // writes the call's line, once
}

type callKey struct{}

func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// FaultOf is the fault that the gateway itself has to carry out in this call (Options.HandlesFaults), or nil.
func FaultOf(ctx context.Context) *Fault {
	if c := callOf(ctx); c != nil && c.fault != nil && c.fault.withinGateway() {
		return c.fault
	}
	return nil
}

func (f *Fault) withinGateway() bool {
	return f.Kind == FaultStatus || f.Kind == FaultStatusAfter || f.Kind == FaultDelay
}

// Handler serves the controls below /_sandbox and hands everything else to the gateway's routes, with planned faults,
// one line in the journal a call, the state saved before the answer and the call's events sent after it.
func (s *Stage) Handler(routes http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == controlRoot || strings.HasPrefix(r.URL.Path, controlRoot+"/") {
			s.serveControl(w, r)
			return
		}
		s.serveCall(w, r, routes)
	})
}

func (s *Stage) serveCall(w http.ResponseWriter, r *http.Request, routes http.Handler) {
	c := &call{fault: s.Faults.take(r)}
	entry := Entry{Kind: EntryCall, Method: r.Method, Path: r.URL.Path, IdempotencyKey: r.Header.Get("Idempotency-Key")}
	if c.fault != nil {
		entry.Fault = string(c.fault.Kind)
	}
	c.journal = sync.OnceFunc(func() { s.Journal.Record(entry) })
	ans := &response{header: http.Header{}}
	defer func() {
		c.journal() // a call that is not answered has a line, too
		s.Webhooks.callEnded(c.deliveries)
	}()

	if !s.faultBefore(w, r, c, ans) {
		routes.ServeHTTP(ans, r.WithContext(context.WithValue(r.Context(), callKey{}, c)))
		if err := s.Flush(); err != nil {
			s.log.Error("sandbox state not saved", "error", err)
		}
		s.faultAfter(w, r, c, ans)
	}
	s.sendEarly(r.Context(), c)
	ans.WriteHeader(http.StatusOK)
	entry.Status = ans.status
	c.journal() // who is answered may look at it at once
	ans.send(w)
}

// sendEarly lets the call's events overtake its answer when EarlyNext is on.
func (s *Stage) sendEarly(ctx context.Context, c *call) {
	if len(c.deliveries) == 0 || !s.Webhooks.takeEarly() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, earlyLimit)
	defer cancel()
	s.Webhooks.callEnded(c.deliveries)
	s.Webhooks.attempted(ctx, c.deliveries)
}

// faultBefore carries out what comes before the effect; true means that the answer is complete without it.
func (s *Stage) faultBefore(w http.ResponseWriter, r *http.Request, c *call, ans *response) bool {
	f := c.fault
	if f == nil || s.opts.HandlesFaults && f.withinGateway() {
		return false
	}
	if f.Delay > 0 {
		s.Sleep(r.Context(), time.Duration(f.Delay))
	}
	switch f.Kind {
	case FaultTimeoutBefore:
		s.hang(r, c)
	case FaultResetBefore:
		reset(w, c)
	case FaultBadGateway:
		ans.header.Set("Content-Type", "text/html")
		ans.status = http.StatusBadGateway
		ans.body.WriteString(badGatewayPage)
		return true
	case FaultStatus:
		s.WriteFault(ans, f)
		return true
	case FaultOdd:
		s.writeOdd(ans, f)
		return true
	}
	return false
}

// faultAfter carries out what comes after the effect. Where no answer comes, the events don't wait for it.
func (s *Stage) faultAfter(w http.ResponseWriter, r *http.Request, c *call, ans *response) {
	f := c.fault
	if f == nil || s.opts.HandlesFaults && f.withinGateway() {
		return
	}
	switch f.Kind {
	case FaultTimeoutAfter:
		s.Webhooks.callEnded(c.deliveries)
		s.hang(r, c)
	case FaultResetAfter:
		reset(w, c)
	case FaultStatusAfter:
		ans.header, ans.status = http.Header{}, 0
		ans.body.Reset()
		s.WriteFault(ans, f)
	case FaultOddAfter:
		s.writeOdd(ans, f)
	}
}

// WriteFault answers a status fault.
func (s *Stage) WriteFault(w http.ResponseWriter, f *Fault) {
	body := []byte(f.Body)
	if len(body) == 0 && s.opts.FaultBody != nil {
		body = s.opts.FaultBody(f.Status)
	}
	w.Header().Set("Content-Type", "application/json")
	for k, v := range f.Header {
		w.Header().Set(k, v)
	}
	w.WriteHeader(f.Status)
	_, _ = w.Write(body)
}

// hang gives no answer until the caller hangs up or the stage closes. The server notices a hang-up only once the body
// is read.
func (s *Stage) hang(r *http.Request, c *call) {
	c.journal() // who hangs up may look at it at once
	_, _ = io.Copy(io.Discard, r.Body)
	select {
	case <-r.Context().Done():
	case <-s.ctx.Done():
	}
	panic(http.ErrAbortHandler)
}

// Sleep waits in real time, or until the caller hangs up or the stage closes.
func (s *Stage) Sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-s.ctx.Done():
	case <-timer.C:
	}
}

// reset closes the connection with RST rather than FIN, so that the caller sees "connection reset by peer".
func reset(w http.ResponseWriter, c *call) {
	c.journal() // who sees the reset may look at it at once
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}
	panic(http.ErrAbortHandler)
}

// response is a response held back until the stage lets it go.
type response struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *response) Header() http.Header { return a.header }

func (a *response) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

func (a *response) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

func (a *response) send(w http.ResponseWriter) {
	for k, v := range a.header {
		w.Header()[k] = v
	}
	w.Header().Set("Content-Length", strconv.Itoa(a.body.Len()))
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body.Bytes())
	_ = http.NewResponseController(w).Flush()
}
