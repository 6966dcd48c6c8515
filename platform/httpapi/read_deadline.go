package httpapi

import (
	"io"
	"net/http"
	"time"
)

const (
	defaultBodyStall = 10 * time.Second
	bodyTime         = time.Minute // for a whole body
)

// limitReading bounds how long a body may stall and how long it may take at all, and
// takes the deadline back once the body is there. The deadline is the connection's:
// it would cancel a request that takes longer than the reading may (a gateway's
// answer), and every later one on the connection.
func (a *API) limitReading(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = &deadlineBody{body: r.Body, conn: http.NewResponseController(w), stall: a.cfg.BodyStall, end: time.Now().Add(bodyTime)}
		}
		next.ServeHTTP(w, r)
	})
}

type deadlineBody struct {
	body  io.ReadCloser
	conn  *http.ResponseController
	stall time.Duration
	end   time.Time
}

// Read implements io.Reader.
func (b *deadlineBody) Read(p []byte) (int, error) {
	deadline := time.Now().Add(b.stall)
	if b.end.Before(deadline) {
		deadline = b.end
	}
	_ = b.conn.SetReadDeadline(deadline) // a writer without a connection has no deadline
	n, err := b.body.Read(p)
	if err == io.EOF { //nolint:errorlint // io.Reader's own word, never wrapped
		_ = b.conn.SetReadDeadline(time.Time{})
	}
	return n, err
}

// Close implements io.Closer.
func (b *deadlineBody) Close() error { return b.body.Close() }

// HurryBody bounds the reading of what is left of the request's body, where nothing
// depends on it any more.
func HurryBody(r *http.Request, within time.Duration) {
	if b, ok := r.Body.(*deadlineBody); ok {
		b.end = time.Now().Add(within)
	}
}
