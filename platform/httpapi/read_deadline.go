package httpapi

import (
	"container/list"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

const (
	defaultBodyStall = 10 * time.Second
	bodyTime         = time.Minute // for a whole body
	unreadTime       = time.Second // for what is left of a body that nobody read, once the answer stands
)

// limitReading bounds how long a body may stall and how long it may take at all, and
// takes the deadline back once the body is there. The deadline is the connection's:
// it would cancel a request that takes longer than the reading may (a gateway's
// answer), and every later one on the connection.
func (a *API) limitReading(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			now := time.Now()
			body := &deadlineBody{
				body: r.Body, conn: http.NewResponseController(w), stall: a.cfg.BodyStall, began: now,
				last: now.Add(bodyTime),
			}
			r.Body, w = body, &hurriedResponse{ResponseWriter: w, body: body}
		}
		next.ServeHTTP(w, r)
	})
}

// hurriedResponse sends an answer that needs no body without waiting for the body: the server would otherwise read
// the rest of it first.
type hurriedResponse struct {
	http.ResponseWriter
	body  *deadlineBody
	begun bool
}

// WriteHeader implements http.ResponseWriter.
func (w *hurriedResponse) WriteHeader(status int) {
	w.begin()
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *hurriedResponse) Write(p []byte) (int, error) {
	w.begin()
	return w.ResponseWriter.Write(p)
}

func (w *hurriedResponse) begin() {
	if !w.begun && !w.body.ended {
		w.body.last = time.Now().Add(unreadTime)
		w.body.setDeadline()
	}
	w.begun = true
}

// Unwrap is for http.ResponseController.
func (w *hurriedResponse) Unwrap() http.ResponseWriter { return w.ResponseWriter }

type deadlineBody struct {
	body   io.ReadCloser
	conn   *http.ResponseController
	stall  time.Duration
	began  time.Time
	last   time.Time // when it has to be there
	places *places   // among which it is cut for others; nil for none
	alone  bool      // it takes a place by itself, not by its request
	place  *list.Element
	ended  bool

	mu  sync.Mutex
	cut bool
}

// Read implements io.Reader.
func (b *deadlineBody) Read(p []byte) (int, error) {
	b.begin()
	if !b.setDeadline() {
		return 0, os.ErrDeadlineExceeded
	}
	n, err := b.body.Read(p)
	if err == io.EOF { //nolint:errorlint // io.Reader's own word, never wrapped
		_ = b.conn.SetReadDeadline(time.Time{})
	}
	if err != nil {
		b.end()
	}
	return n, err
}

// setDeadline gives the next read its time; false once the body has been cut off.
func (b *deadlineBody) setDeadline() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	deadline := time.Now().Add(b.stall)
	if b.last.Before(deadline) {
		deadline = b.last
	}
	if !b.cut {
		_ = b.conn.SetReadDeadline(deadline) // a writer without a connection has no deadline
	}
	return !b.cut
}

// cutOff ends the reading, also one under way.
func (b *deadlineBody) cutOff() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cut = true
	_ = b.conn.SetReadDeadline(time.Now())
}

// begin counts the body among those that are on their way.
func (b *deadlineBody) begin() {
	if b.places == nil || b.place != nil || b.ended {
		return
	}
	if b.alone {
		b.places.enter()
	}
	b.place = b.places.arrives(b)
}

// end takes the body from there.
func (b *deadlineBody) end() {
	if b == nil || b.ended {
		return
	}
	b.ended = true
	if b.place == nil {
		return
	}
	b.places.arrived(b.place)
	if b.alone {
		b.places.leave()
	}
}

// Close implements io.Closer.
func (b *deadlineBody) Close() error { return b.body.Close() }

// HurryBody bounds the reading of what is left of the request's body, where nothing
// depends on it any more.
func HurryBody(r *http.Request, within time.Duration) {
	if b, ok := r.Body.(*deadlineBody); ok {
		b.last = time.Now().Add(within)
	}
}
