package httpapi

import (
	"io"
	"net/http"
	"time"
)

// endReadDeadline takes the deadline for reading a body back once the body is there.
// The deadline is the connection's: it would cancel a request that takes longer than
// the reading may (a gateway's answer), and every later one on the connection.
func endReadDeadline(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = &deadlineBody{ReadCloser: r.Body, conn: http.NewResponseController(w)}
		}
		next.ServeHTTP(w, r)
	})
}

type deadlineBody struct {
	io.ReadCloser
	conn *http.ResponseController
}

// Read implements io.Reader.
func (b *deadlineBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF { //nolint:errorlint // io.Reader's own word, never wrapped
		_ = b.conn.SetReadDeadline(time.Time{}) // a writer without a connection has no deadline
	}
	return n, err
}
