package telemetry

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"sync"
	"time"
)

const (
	lineWait = 50 * time.Millisecond // longest that a line stays in memory
	lineRoom = 1 << 20               // bytes of lines in memory; who logs beyond them waits
	lineFull = 64 << 10              // bytes that are written without waiting for more
)

// LineWriter gathers lines of the log and writes many at once, away from those who log them: a request waits neither
// for a disk nor for who reads the log. A logger that NewLog makes of it writes warnings and errors at once, behind
// all that came before. Nothing is left out: where there is no room, who logs waits. Close writes what is left; only a
// process that ends without it loses its last lines, at most those of 50 ms.
type LineWriter struct {
	to     io.Writer
	begun  chan struct{} // the first line of some is there
	full   chan struct{} // there are many
	ended  chan struct{}
	closed chan struct{} // the goroutine has ended

	writing sync.Mutex // held while lines are written: they keep their order

	mu    sync.Mutex
	lines bytes.Buffer
	room  sync.Cond
	over  bool
	spare bytes.Buffer // what was written last
}

// NewLineWriter makes one, to be closed.
func NewLineWriter(to io.Writer) *LineWriter {
	w := &LineWriter{
		to: to, begun: make(chan struct{}, 1), full: make(chan struct{}, 1), ended: make(chan struct{}),
		closed: make(chan struct{}),
	}
	w.room.L = &w.mu
	go w.run()
	return w
}

// Write takes one line. It never fails; what is written after Close is written at once.
func (w *LineWriter) Write(line []byte) (int, error) {
	w.mu.Lock()
	for !w.over && w.lines.Len() > 0 && w.lines.Len()+len(line) > lineRoom {
		w.room.Wait()
	}
	before := w.lines.Len()
	_, _ = w.lines.Write(line) // a buffer takes all
	after, over := w.lines.Len(), w.over
	w.mu.Unlock()
	if over {
		w.Flush()
		return len(line), nil
	}
	if before == 0 {
		signal(w.begun)
	}
	if after >= lineFull {
		signal(w.full)
	}
	return len(line), nil
}

func signal(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default: // it was given already
	}
}

// run writes what has gathered until Close.
func (w *LineWriter) run() {
	defer close(w.closed)
	for {
		select {
		case <-w.begun:
		case <-w.ended:
			return
		}
		select {
		case <-time.After(lineWait):
		case <-w.full:
		case <-w.ended:
			return
		}
		w.Flush()
	}
}

// Flush writes all that was taken before it was called.
func (w *LineWriter) Flush() {
	w.writing.Lock()
	defer w.writing.Unlock()
	w.mu.Lock()
	w.lines, w.spare = w.spare, w.lines
	w.mu.Unlock()
	if w.spare.Len() > 0 {
		_, _ = w.to.Write(w.spare.Bytes()) // there is nobody to tell
	}
	w.spare.Reset()
	w.room.Broadcast()
}

// Close writes what is left.
func (w *LineWriter) Close() error {
	w.mu.Lock()
	if over := w.over; over {
		w.mu.Unlock()
		return nil
	}
	w.over = true
	w.mu.Unlock()
	close(w.ended)
	<-w.closed
	w.Flush()
	return nil
}

// promptly writes warnings and errors at once.
type promptly struct {
	slog.Handler
	lines *LineWriter
}

// Handle implements slog.Handler.
func (p promptly) Handle(ctx context.Context, r slog.Record) error {
	err := p.Handler.Handle(ctx, r)
	if r.Level >= slog.LevelWarn {
		p.lines.Flush()
	}
	return err
}

// WithAttrs implements slog.Handler.
func (p promptly) WithAttrs(attrs []slog.Attr) slog.Handler {
	return promptly{p.Handler.WithAttrs(attrs), p.lines}
}

// WithGroup implements slog.Handler.
func (p promptly) WithGroup(name string) slog.Handler {
	return promptly{p.Handler.WithGroup(name), p.lines}
}
