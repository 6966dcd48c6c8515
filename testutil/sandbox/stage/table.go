package stage

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
)

// Table holds one kind of a gateway's objects by id, in order of creation, and is kept in the state file once
// Stage.Keep was told of it.
// What Get, Find, Newest and Put handed out or in counts as changed: the next save compares it with what the file
// holds, so that nobody has to say what they changed. The stage's lock guards it. The zero value is an empty table.
type Table[T any] struct {
	items   map[string]*entry[T]
	order   []string
	last    int64 // place of the newest
	name    string
	touched map[string]bool // nil: not kept
}

type entry[T any] struct {
	value *T
	place int64
}

// Get is the object of this id, nil when there is none.
func (t *Table[T]) Get(id string) *T {
	v, _ := t.Find(id)
	return v
}

// Find is Get that also says whether there is one.
func (t *Table[T]) Find(id string) (*T, bool) {
	e, known := t.items[id]
	if !known {
		return nil, false
	}
	t.touch(id)
	return e.value, true
}

// Put adds an object, or puts it in the place of the one of that id.
func (t *Table[T]) Put(id string, v *T) {
	t.touch(id)
	if e, known := t.items[id]; known {
		e.value = v
		return
	}
	t.last++
	t.insert(id, v, t.last)
}

func (t *Table[T]) insert(id string, v *T, place int64) {
	if t.items == nil {
		t.items = map[string]*entry[T]{}
	}
	t.items[id] = &entry[T]{v, place}
	t.order = append(t.order, id)
	t.last = max(t.last, place)
}

// Remove forgets the object of this id.
func (t *Table[T]) Remove(id string) {
	if _, known := t.items[id]; !known {
		return
	}
	t.touch(id)
	delete(t.items, id)
	t.order = slices.DeleteFunc(t.order, func(o string) bool { return o == id })
}

// DropOldest forgets the oldest beyond keep.
func (t *Table[T]) DropOldest(keep int) {
	for len(t.order) > keep {
		t.touch(t.order[0])
		delete(t.items, t.order[0])
		t.order = t.order[1:]
	}
}

// Newest lists newest first those that match; nil: all.
func (t *Table[T]) Newest(match func(*T) bool) []*T {
	var out []*T
	for _, id := range slices.Backward(t.order) {
		if v := t.items[id].value; match == nil || match(v) {
			t.touch(id)
			out = append(out, v)
		}
	}
	return out
}

// All goes through all objects, oldest first, to be looked at only: what is to be changed is got with Get.
func (t *Table[T]) All() iter.Seq2[string, *T] {
	return func(yield func(string, *T) bool) {
		for _, id := range t.order {
			if !yield(id, t.items[id].value) {
				return
			}
		}
	}
}

func (t *Table[T]) touch(id string) {
	if t.touched != nil {
		t.touched[id] = true
	}
}

func (t *Table[T]) drain(put func(table, id string, n int64, value any)) {
	for id := range t.touched {
		if e, known := t.items[id]; known {
			put(t.name, id, e.place, e.value)
		} else {
			put(t.name, id, 0, nil)
		}
	}
	clear(t.touched)
}

func (t *Table[T]) markAll() {
	for id := range t.items {
		t.touch(id)
	}
}

func (t *Table[T]) restore(name string, records []record, saves bool) error {
	t.name = name
	for _, r := range records {
		v := new(T)
		if err := json.Unmarshal(r.Value, v); err != nil {
			return fmt.Errorf("%s %s: %w", name, r.ID, err)
		}
		t.insert(r.ID, v, r.N)
	}
	if saves {
		t.touched = map[string]bool{}
	}
	return nil
}

// table is any Table.
type table interface {
	persisted
	restore(name string, records []record, saves bool) error
}

// value is one thing in the state file that is no table.
type value struct {
	name string
	is   any // a pointer
}

func (v value) drain(put func(table, id string, n int64, value any)) { put(v.name, "", 0, v.is) }

func (v value) markAll() {}

// Keep restores a table of the gateway from the state file, and has it kept there from now on. Before Start.
func (s *Stage) Keep(name string, t table) error {
	records, err := s.restored.records(name)
	if err == nil {
		err = t.restore(name, records, s.opts.StateFile != "")
	}
	if err != nil {
		return fmt.Errorf("sandbox state file %s: %w (delete it to start afresh)", s.opts.StateFile, err)
	}
	s.saved = append(s.saved, t)
	return nil
}

// KeepValue is Keep for what is no table: is points to it. It is small, because every save looks whether it has
// changed.
func (s *Stage) KeepValue(name string, is any) error {
	err := s.restored.value(name, is)
	if s.restored.old != nil {
		var whole []byte
		if whole, err = json.Marshal(s.restored.old); err == nil {
			err = json.Unmarshal(whole, is)
		}
	}
	if err != nil {
		return fmt.Errorf("sandbox state file %s: %w (delete it to start afresh)", s.opts.StateFile, err)
	}
	s.saved = append(s.saved, value{name, is})
	return nil
}
