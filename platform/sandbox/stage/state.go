package stage

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
)

// saver writes the state file: one writer, changes that come while it writes are one further write (group commit). It does not fsync:
// the file must outlive the process, not the machine.
type saver struct {
	path     string
	snapshot func() ([]byte, error)
	log      *slog.Logger
	wake     chan struct{}
	writing  sync.Mutex

	mu    sync.Mutex
	dirty int64 // changes made
	saved int64 // changes on disk
}

func newSaver(path string, snapshot func() ([]byte, error), log *slog.Logger) *saver {
	return &saver{path: path, snapshot: snapshot, log: log, wake: make(chan struct{}, 1)}
}

func (s *saver) mark() {
	if s.path == "" {
		return
	}
	s.mu.Lock()
	s.dirty++
	s.mu.Unlock()
	signal(s.wake)
}

func (s *saver) run(done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-s.wake:
			if err := s.save(); err != nil {
				s.log.Error("sandbox state not saved", "error", err)
			}
		}
	}
}

// flush returns when all changes marked before the call are on disk.
func (s *saver) flush() error {
	if s.path == "" {
		return nil
	}
	return s.save()
}

// save writes unless everything marked so far is on disk already.
func (s *saver) save() error {
	if s.path == "" {
		return nil
	}
	s.mu.Lock()
	want := s.dirty
	s.mu.Unlock()
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	upTo, saved := s.dirty, s.saved
	s.mu.Unlock()
	if saved >= want {
		return nil
	}
	raw, err := s.snapshot()
	if err != nil {
		return fmt.Errorf("sandbox state: %w", err)
	}
	if err := writeFile(s.path, raw); err != nil {
		return fmt.Errorf("sandbox state: %w", err)
	}
	s.mu.Lock()
	s.saved = max(s.saved, upTo)
	s.mu.Unlock()
	return nil
}

// writeFile replaces the file in one step, readable by its owner only: the objects hold names and addresses.
func writeFile(path string, raw []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	tmp := path + ".new"
	if err := os.WriteFile(tmp, raw, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

func (s *saver) read() ([]byte, error) {
	if s.path == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return raw, err
}
