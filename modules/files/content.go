package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"marquee/modules/files/internal/filesdb"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// chunkBytes is how many bytes stand in one row.
const chunkBytes = 256 << 10

// Upload is bytes received and stored that nobody keeps yet: without KeepTx they
// are swept after a day.
type Upload struct {
	ID          objectid.ID // becomes the file's id
	Filename    string
	ContentType string
	Size        int64  // bytes
	SHA256      string // hex
}

// errTooLarge says that a source held more than the limit.
var errTooLarge = errors.New("files: over the limit")

// receive stores a source chunk by chunk, each in a statement of its own, so
// that a slow source holds no connection. limit 0 means none; exactly the limit
// passes, one byte more is errTooLarge.
func (s *Service) receive(ctx context.Context, db postgres.DB, filename, declaredType string, src io.Reader,
	limit int64,
) (Upload, error) {
	up := Upload{ID: objectid.At(s.deps.Clock.Now()), Filename: safeFilename(filename)}
	if err := s.db.ContentInsert(ctx, db,
		filesdb.ContentInsertParams{ID: up.ID, ReceivedAt: s.deps.Clock.Now()}); err != nil {
		return Upload{}, fmt.Errorf("store file: %w", err)
	}
	hash := sha256.New()
	buf := make([]byte, chunkBytes)
	for n, last := int32(0), false; !last; n++ {
		var got int
		var err error
		got, last, err = fill(src, buf)
		up.Size += int64(got)
		if err == nil && limit > 0 && up.Size > limit {
			err = errTooLarge
		}
		if n == 0 {
			up.ContentType = contentType(buf[:got], declaredType)
		}
		if err == nil && got > 0 {
			hash.Write(buf[:got])
			err = s.db.ChunkInsert(ctx, db, filesdb.ChunkInsertParams{ContentID: up.ID, N: n, Data: buf[:got]})
		}
		if err != nil {
			s.discard(ctx, db, up.ID)
			return Upload{}, fmt.Errorf("store file: %w", err)
		}
	}
	up.SHA256 = hex.EncodeToString(hash.Sum(nil))
	return up, nil
}

// fill reads until buf is full or the source has ended. A source that breaks off
// is an error, which io.ReadFull would not tell from its end.
func fill(src io.Reader, buf []byte) (n int, last bool, err error) {
	for n < len(buf) {
		got, err := src.Read(buf[n:])
		n += got
		if errors.Is(err, io.EOF) {
			return n, true, nil
		}
		if err != nil {
			return n, false, err
		}
	}
	return n, false, nil
}

// discard removes what was received of a source that broke off or was too large.
// What it cannot remove, the sweep does.
func (s *Service) discard(ctx context.Context, db postgres.DB, id objectid.ID) {
	_, _ = s.db.ContentDelete(context.WithoutCancel(ctx), db, id)
}

// reader reads a stored file in any order, one chunk at a time in memory. It is
// for one goroutine.
type reader struct {
	ctx   context.Context //nolint:containedctx // io.ReadSeeker has no place for it
	s     *Service
	file  File
	at    int64
	chunk []byte
	n     int64 // which chunk is held; -1 for none
}

// Open returns the bytes of a file, which may be read from any place.
func (s *Service) Open(ctx context.Context, f File) io.ReadSeeker {
	return &reader{ctx: ctx, s: s, file: f, n: -1}
}

// Read reads from the present place, at most to the end of its chunk.
func (r *reader) Read(p []byte) (int, error) {
	if r.at >= r.file.Size {
		return 0, io.EOF
	}
	if n := r.at / chunkBytes; n != r.n {
		data, err := r.s.db.ChunkGet(r.ctx, r.s.deps.Pool, filesdb.ChunkGetParams{ContentID: r.file.ID, N: int32(n)}) //nolint:gosec // a file has fewer chunks
		if err != nil {
			return 0, fmt.Errorf("read chunk %d of file %s: %w", n, r.file.ID, err)
		}
		r.chunk, r.n = data, n
	}
	from := r.at % chunkBytes
	if from >= int64(len(r.chunk)) {
		return 0, fmt.Errorf("read chunk %d of file %s: %w", r.n, r.file.ID, io.ErrUnexpectedEOF)
	}
	got := copy(p, r.chunk[from:])
	r.at += int64(got)
	return got, nil
}

// Seek moves the place of the next Read.
func (r *reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.file.Size
	}
	if offset < 0 {
		return 0, errors.New("files: seek before the start")
	}
	r.at = offset
	return offset, nil
}
