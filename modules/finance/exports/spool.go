package exports

import (
	"fmt"
	"io"
	"os"
	"sync"
)

// spool stands between who writes an export and who takes it: what is not taken yet
// waits in a file without a name. So the snapshot of the database is given back as soon
// as it is read, however slowly the client takes the file.
type spool struct {
	file  *os.File
	whole bool       // nothing is taken before all is there, so that the writer can begin anew
	more  *sync.Cond // written or ended has changed

	mu      sync.Mutex
	written int64
	ended   error // why there is no more; io.EOF when all is there

	read int64 // the reader's own
}

func newSpool(whole bool) (*spool, error) {
	file, err := os.CreateTemp("", "marquee-export-")
	if err != nil {
		return nil, fmt.Errorf("spool export: %w", err)
	}
	if err := os.Remove(file.Name()); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("spool export: %w", err)
	}
	s := &spool{file: file, whole: whole}
	s.more = sync.NewCond(&s.mu)
	return s, nil
}

// begin implements target.
func (s *spool) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.written == 0 {
		return true
	}
	if !s.whole || s.file.Truncate(0) != nil {
		return false
	}
	_, err := s.file.Seek(0, io.SeekStart)
	s.written = 0
	return err == nil
}

// Write keeps bytes for the reader.
func (s *spool) Write(p []byte) (int, error) {
	n, err := s.file.Write(p)
	s.mu.Lock()
	s.written += int64(n)
	s.mu.Unlock()
	s.more.Broadcast()
	return n, err
}

// end says that no more comes; nil that all is there.
func (s *spool) end(err error) {
	if err == nil {
		err = io.EOF
	}
	s.mu.Lock()
	s.ended = err
	s.mu.Unlock()
	s.more.Broadcast()
}

// Read waits for bytes. Its error is the writer's, as soon as there is one.
func (s *spool) Read(p []byte) (int, error) {
	s.mu.Lock()
	for s.ended == nil && (s.whole || s.read == s.written) {
		s.more.Wait()
	}
	left, ended := s.written-s.read, s.ended
	s.mu.Unlock()
	if ended != nil && (ended != io.EOF || left == 0) { //nolint:errorlint // our own word, never wrapped
		return 0, ended
	}
	n, err := s.file.ReadAt(p[:min(int64(len(p)), left)], s.read)
	s.read += int64(n)
	return n, err
}

func (s *spool) close() { _ = s.file.Close() }
