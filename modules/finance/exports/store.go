package exports

import (
	"context"
	"errors"
	"fmt"
	"io"

	"marquee/modules/finance/internal/financedb"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// ChunkBytes is how many bytes stand in one row.
const ChunkBytes = 256 << 10

// errLost says that an export was deleted, or given to another worker, while this
// one wrote it.
var errLost = errors.New("finance: the export is no longer this worker's")

// chunkWriter stores what a worker writes, one row every 256 KiB. Without Flush
// the last bytes are missing.
type chunkWriter struct {
	ctx     context.Context //nolint:containedctx // io.Writer has no place for it
	conn    postgres.DB
	db      *financedb.Queries
	id      objectid.ID
	attempt int32
	n       int32
	size    int64
	buf     []byte
}

func (s *Exports) newChunkWriter(ctx context.Context, e financedb.Export) *chunkWriter {
	return &chunkWriter{
		ctx: ctx, conn: s.deps.Pool, db: s.db, id: e.ID, attempt: e.Attempt, buf: make([]byte, 0, ChunkBytes),
	}
}

// begin implements target: what is stored is no longer this worker's alone.
func (w *chunkWriter) begin() bool {
	if w.n > 0 {
		return false
	}
	w.buf = w.buf[:0]
	return true
}

// Write gathers bytes and stores them when they fill a row.
func (w *chunkWriter) Write(p []byte) (int, error) {
	taken := len(p)
	for len(p) > 0 {
		n := min(len(p), ChunkBytes-len(w.buf))
		w.buf = append(w.buf, p[:n]...)
		p = p[n:]
		if len(w.buf) == ChunkBytes {
			if err := w.Flush(); err != nil {
				return taken - len(p), err
			}
		}
	}
	return taken, nil
}

// Flush stores what is gathered.
func (w *chunkWriter) Flush() error {
	if len(w.buf) == 0 {
		return nil
	}
	n, err := w.db.ExportChunkInsert(w.ctx, w.conn,
		financedb.ExportChunkInsertParams{ExportID: w.id, Attempt: w.attempt, N: w.n, Data: w.buf})
	if err == nil && n == 0 {
		err = errLost
	}
	if err != nil {
		return fmt.Errorf("store export: %w", err)
	}
	w.size += int64(len(w.buf))
	w.n++
	w.buf = w.buf[:0]
	return nil
}

// chunkReader reads a finished export in any order, one chunk at a time in
// memory. It is for one goroutine.
type chunkReader struct {
	ctx     context.Context //nolint:containedctx // io.ReadSeeker has no place for it
	s       *Exports
	id      objectid.ID
	attempt int32
	size    int64
	at      int64
	chunk   []byte
	n       int64 // which chunk is held; -1 for none
}

func (s *Exports) open(ctx context.Context, e financedb.Export) *chunkReader {
	return &chunkReader{ctx: ctx, s: s, id: e.ID, attempt: e.Attempt, size: *e.Size, n: -1}
}

// Read reads from the present place, at most to the end of its chunk.
func (r *chunkReader) Read(p []byte) (int, error) {
	if r.at >= r.size {
		return 0, io.EOF
	}
	if n := r.at / ChunkBytes; n != r.n {
		data, err := r.s.db.ExportChunkGet(r.ctx, r.s.deps.Pool, financedb.ExportChunkGetParams{ExportID: r.id, Attempt: r.attempt, N: int32(n)}) //nolint:gosec // an export has fewer chunks
		if err != nil {
			return 0, fmt.Errorf("read chunk %d of export %s: %w", n, r.id, err)
		}
		r.chunk, r.n = data, n
	}
	from := r.at % ChunkBytes
	if from >= int64(len(r.chunk)) {
		return 0, fmt.Errorf("read chunk %d of export %s: %w", r.n, r.id, io.ErrUnexpectedEOF)
	}
	got := copy(p, r.chunk[from:])
	r.at += int64(got)
	return got, nil
}

// Seek moves the place of the next Read.
func (r *chunkReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.size
	}
	if offset < 0 {
		return 0, errors.New("finance: seek before the start")
	}
	r.at = offset
	return offset, nil
}
