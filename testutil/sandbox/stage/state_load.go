package stage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
)

// restored is what a state file held.
type restored struct {
	found  bool
	tables map[string][]record        // in their places
	old    map[string]json.RawMessage // objects of the gateway from a file of version 1, else nil
}

// load reads the state file when there is one. A last line without its end is what a process wrote as it died: nobody
// was told of it, so it counts for nothing.
func (s *saver) load() (r restored, err error) {
	if s.path == "" {
		return r, nil
	}
	raw, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		r, err = s.parse(raw)
	}
	if err != nil {
		return r, fmt.Errorf("sandbox state file %s: %w (delete it to start afresh)", s.path, err)
	}
	return r, nil
}

func (s *saver) parse(raw []byte) (r restored, err error) {
	first, rest, whole := bytes.Cut(raw, []byte{'\n'})
	var head header
	if err := json.Unmarshal(first, &head); err != nil {
		return r, err
	}
	switch {
	case head.Version == 1:
		s.afresh = true
		return parseVersion1(raw)
	case head.Version != stateVersion:
		return r, fmt.Errorf("it has version %d, want %d", head.Version, stateVersion)
	case head.Gateway != s.gateway:
		return r, fmt.Errorf("it is that of gateway %q, not of %q", head.Gateway, s.gateway)
	case !whole:
		return r, errors.New("its first line is cut off")
	}
	end := bytes.LastIndexByte(raw, '\n') + 1
	s.size = int64(end)
	rest = rest[:end-len(first)-1]
	for n := 2; len(rest) > 0; n++ {
		line, after, _ := bytes.Cut(rest, []byte{'\n'})
		if err := s.take(line); err != nil {
			return r, fmt.Errorf("line %d: %w", n, err)
		}
		rest = after
	}
	r.found, r.tables = true, map[string][]record{}
	for name, table := range s.records {
		for _, record := range table {
			r.tables[name] = append(r.tables[name], record)
			s.base += int64(len(record.Value))
		}
		slices.SortFunc(r.tables[name], byPlace)
	}
	return r, nil
}

func (s *saver) take(line []byte) error {
	var c changes
	if err := json.Unmarshal(line, &c); err != nil {
		return err
	}
	for _, r := range c.Records {
		if r.Value == nil {
			delete(s.records[r.Table], r.ID)
			continue
		}
		s.keep(r)
	}
	return nil
}

// parseVersion1 reads a file that was one document, rewritten at each change.
func parseVersion1(raw []byte) (r restored, err error) {
	var f struct {
		Clock struct {
			clockState
			Jobs []job `json:"jobs"`
		} `json:"clock"`
		Webhooks struct {
			webhookState
			Deliveries []Delivery `json:"deliveries"`
		} `json:"webhooks"`
		Gateway map[string]json.RawMessage `json:"gateway"`
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		return r, err
	}
	r = restored{found: true, old: f.Gateway, tables: map[string][]record{}}
	if r.old == nil {
		r.old = map[string]json.RawMessage{}
	}
	add := func(table, id string, n int64, v any) {
		value, e := json.Marshal(v)
		err = errors.Join(err, e)
		r.tables[table] = append(r.tables[table], record{Table: table, ID: id, N: n, Value: value})
	}
	add(clockTable, "", 0, f.Clock.clockState)
	for _, j := range f.Clock.Jobs {
		add(jobTable, strconv.FormatInt(j.Seq, 10), j.Seq, j)
	}
	add(queueTable, "", 0, f.Webhooks.webhookState)
	for i, d := range f.Webhooks.Deliveries {
		add(deliveryTable, strconv.FormatInt(d.ID, 10), int64(i+1), d)
	}
	return r, err
}

// value decodes the one record of a table, if there is one.
func (r restored) value(table string, into any) error {
	for _, rec := range r.tables[table] {
		if err := json.Unmarshal(rec.Value, into); err != nil {
			return fmt.Errorf("%s: %w", table, err)
		}
	}
	return nil
}

// records are those of a table; of a file of version 1 they had the form {"items": {id: …}, "order": [id, …]} or {id:
// {"order": n, …}}.
func (r restored) records(table string) ([]record, error) {
	raw, isOld := r.old[table]
	if !isOld {
		return r.tables[table], nil
	}
	var listed struct {
		Items map[string]json.RawMessage `json:"items"`
		Order []string                   `json:"order"`
	}
	if err := json.Unmarshal(raw, &listed); err == nil && listed.Items != nil {
		out := make([]record, 0, len(listed.Order))
		for i, id := range listed.Order {
			out = append(out, record{Table: table, ID: id, N: int64(i + 1), Value: listed.Items[id]})
		}
		return out, nil
	}
	objects := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &objects); err != nil {
		return nil, fmt.Errorf("%s: %w", table, err)
	}
	delete(objects, "items") // of an empty table
	delete(objects, "order")
	out := make([]record, 0, len(objects))
	for id, value := range objects {
		var placed struct {
			Order int64 `json:"order"`
		}
		if err := json.Unmarshal(value, &placed); err != nil {
			return nil, fmt.Errorf("%s %s: %w", table, id, err)
		}
		out = append(out, record{Table: table, ID: id, N: placed.Order, Value: value})
	}
	slices.SortFunc(out, byPlace)
	return out, nil
}
