package stage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// stateVersion is that of the state file; files of version 1, which were one JSON document, are read, too.
const stateVersion = 2

// rewriteFrom is how many bytes of changes a state file collects at least before it is written afresh.
const rewriteFrom = 4 << 20

// header is the first line of a state file.
type header struct {
	Version int    `json:"version"`
	Gateway string `json:"sandbox"`
}

// record is one object as the state file holds it; the last one of its table and id counts.
type record struct {
	Table string          `json:"t"`
	ID    string          `json:"id,omitempty"`
	N     int64           `json:"n,omitempty"` // its place in the table
	Value json.RawMessage `json:"v,omitempty"` // absent: there is no such object any more
}

// changes is every other line of a state file: what changed together is there together, or, when the process died
// while it wrote, not at all.
type changes struct {
	Records []record `json:"c"`
}

// persisted is what stands in the state file: a table of the gateway, a value, the clock or the webhook queue.
type persisted interface {
	// drain hands out what may have changed since it was called last. A nil value: the object is gone.
	drain(put func(table, id string, n int64, value any))
	// markAll has the next drain hand out everything.
	markAll()
}

// saver keeps the state file: a journal to which every change appends the objects that it changed, in one line.
// Changes that come while it writes are one further line (group commit). Once the changes outweigh the objects the
// file is written afresh beside itself and takes its place in one step. It does not fsync: the file must outlive the
// process, not the machine.
type saver struct {
	path    string
	gateway string
	collect func(all bool, put func(table, id string, n int64, value any))
	log     *slog.Logger
	wake    chan struct{}

	writing sync.Mutex
	file    *os.File // nil until something is written
	records map[string]map[string]record
	size    int64 // bytes of the file
	base    int64 // of them, those that it had when it was written afresh
	afresh  bool  // it can't be appended to: old, or its last line failed
	missed  bool  // kept may lack a change

	mu    sync.Mutex
	dirty int64 // changes made
	saved int64 // changes on disk
}

func newSaver(path, gateway string, collect func(all bool, put func(table, id string, n int64, value any)),
	log *slog.Logger,
) *saver {
	return &saver{
		path: path, gateway: gateway, collect: collect, log: log, wake: make(chan struct{}, 1),
		records: map[string]map[string]record{},
	}
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

// save returns when all changes marked before the call are on disk.
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
	if err := s.write(); err != nil {
		return fmt.Errorf("sandbox state: %w", err)
	}
	s.mu.Lock()
	s.saved = max(s.saved, upTo)
	s.mu.Unlock()
	return nil
}

func (s *saver) write() error {
	changed, err := s.changed()
	if err == nil && s.file == nil && !s.afresh {
		err = s.open()
	}
	if err != nil {
		return err
	}
	if s.afresh {
		return s.rewrite()
	}
	if len(changed) == 0 {
		return nil
	}
	line, err := lineOf(changes{changed})
	if err != nil {
		return err
	}
	if err := s.append(line); err != nil {
		return err
	}
	if s.size-s.base > max(rewriteFrom, s.base) {
		return s.rewrite()
	}
	return nil
}

// changed brings kept up to date and returns what differs from it.
func (s *saver) changed() (changed []record, err error) {
	s.collect(s.missed, func(table, id string, n int64, value any) {
		r := record{Table: table, ID: id, N: n}
		old, known := s.records[table][id]
		switch {
		case err != nil, value == nil && !known:
			return
		case value == nil:
			r.N = 0
			delete(s.records[table], id)
			changed = append(changed, r)
			return
		}
		if r.Value, err = json.Marshal(value); err != nil {
			err = fmt.Errorf("%s %s: %w", table, id, err)
			return
		}
		if known && old.N == n && bytes.Equal(old.Value, r.Value) {
			return
		}
		s.keep(r)
		changed = append(changed, r)
	})
	s.missed = err != nil
	s.afresh = s.afresh || s.missed
	return changed, err
}

func (s *saver) keep(r record) {
	if s.records[r.Table] == nil {
		s.records[r.Table] = map[string]record{}
	}
	s.records[r.Table][r.ID] = r
}

// append writes one whole line. When that fails the file may end in a part of it, so that it is written afresh the
// next time.
func (s *saver) append(line []byte) error {
	n, err := s.file.Write(line)
	s.size += int64(n)
	s.afresh = err != nil
	return err
}

// open appends to the file that load has read, or begins one.
func (s *saver) open() (err error) {
	if s.size == 0 {
		s.afresh = true
		return nil
	}
	if s.file, err = os.OpenFile(s.path, os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return err
	}
	return s.file.Truncate(s.size) // less what a process wrote as it died
}

// rewrite puts a file in place that holds each object once, in one step.
func (s *saver) rewrite() error {
	var whole bytes.Buffer
	first, err := lineOf(header{stateVersion, s.gateway})
	if err != nil {
		return err
	}
	whole.Write(first)
	for _, table := range s.records {
		records := make([]record, 0, len(table))
		for _, r := range table {
			records = append(records, r)
		}
		slices.SortFunc(records, byPlace)
		line, err := lineOf(changes{records})
		if err != nil {
			return err
		}
		whole.Write(line)
	}
	s.afresh = true // until it stands
	file, err := replaceFile(s.path, whole.Bytes())
	if err != nil {
		return err
	}
	if s.file != nil {
		_ = s.file.Close()
	}
	s.file, s.size, s.base, s.afresh = file, int64(whole.Len()), int64(whole.Len()), false
	return nil
}

// replaceFile replaces the file in one step, readable by its owner only: the objects hold names and addresses. It
// stays open for more.
func replaceFile(path string, raw []byte) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err = file.Write(raw); err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// close saves a last time, all that there is, and lets go of the file. What changed without being handed out by a
// table since is an error of the gateway's: after kill -9 it would have been lost.
func (s *saver) close() error {
	if s.path == "" {
		return nil
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	err := s.write()
	s.missed = true
	if changed, e := s.changed(); e != nil || len(changed) > 0 {
		for _, r := range changed {
			s.log.Error("a sandbox object was changed unseen", "table", r.Table, "id", r.ID)
		}
		err = errors.Join(err, e, s.rewrite())
	}
	if s.file != nil {
		err = errors.Join(err, s.file.Close())
		s.file = nil
	}
	return err
}

func lineOf(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return append(raw, '\n'), nil
}

func byPlace(a, b record) int {
	switch {
	case a.N < b.N:
		return -1
	case a.N > b.N:
		return 1
	}
	return 0
}
