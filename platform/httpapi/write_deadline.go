package httpapi

import (
	"context"
	"net/http"
	"time"

	"marquee/platform/postgres"
)

const (
	// writePiece is how much of an answer has to leave within the time for a piece: a
	// client that takes about a kilobyte a second is served to the end.
	writePiece       = 32 << 10
	defaultPieceTime = 30 * time.Second
)

// Sending is the context with which an answer is read piece by piece while it is sent,
// which may take longer than a request: writing fails when the client has gone, and once
// the head has left there is no other answer to give.
func Sending(ctx context.Context) context.Context {
	ctx = context.WithoutCancel(ctx)
	postgres.BePatient(ctx)
	return ctx
}

// pacedWriter bounds how slowly a client may take an answer, however long that is: not
// the whole, but every piece has to get through in time.
type pacedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	time    time.Duration
	broken  bool // the client has gone, or was cut off
}

// Write sends the answer in pieces, each with a deadline of its own.
func (w *pacedWriter) Write(p []byte) (written int, err error) {
	for {
		piece := p[written:min(written+writePiece, len(p))]
		w.extend()
		n, err := w.ResponseWriter.Write(piece)
		written += n
		if err != nil {
			w.broken = true
			return written, err
		}
		if written >= len(p) {
			return written, nil
		}
	}
}

// Flush implements http.Flusher.
func (w *pacedWriter) Flush() {
	w.extend()
	if err := w.control.Flush(); err != nil {
		w.broken = true
	}
}

// Unwrap is what http.ResponseController finds the connection by.
func (w *pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *pacedWriter) extend() {
	_ = w.control.SetWriteDeadline(time.Now().Add(w.time)) // a writer without a connection has no deadline
}
