package resource

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"marquee/platform/fault"
	"marquee/platform/objectid"
)

// maxObjects bounds the array of a body (docs/contract/collections.md, Writing: 413 above).
const maxObjects = 1000

// maxIssues bounds the findings that one answer lists.
const maxIssues = 50

// RawJSON is a request's body as it came. httpapi has checked its depth, and that
// it is JSON without U+0000 whose objects have no member twice.
type RawJSON []byte

// UnmarshalJSON keeps a copy.
func (b *RawJSON) UnmarshalJSON(data []byte) error {
	*b = slices.Clone(data)
	return nil
}

// Schema leaves the description to BodySchema.
func (RawJSON) Schema(huma.Registry) *huma.Schema { return &huma.Schema{} }

// objects splits a body into its objects.
func objects(body RawJSON) ([]map[string]json.RawMessage, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, fault.InvalidAt("is required", "body")
	}
	var items []json.RawMessage
	if err := json.Unmarshal(body, &items); err != nil || items == nil {
		return nil, fault.InvalidAt("has to be an array of objects", "body")
	}
	if len(items) == 0 {
		return nil, fault.InvalidAt("has to hold at least one object", "body")
	}
	if len(items) > maxObjects {
		return nil, &fault.Error{Kind: fault.KindTooLarge, Message: "The body holds more than 1,000 objects."}
	}
	out := make([]map[string]json.RawMessage, len(items))
	for i, item := range items {
		if err := json.Unmarshal(item, &out[i]); err != nil || out[i] == nil {
			return nil, fault.InvalidAt("has to be an object", "body", i)
		}
	}
	return out, nil
}

// findings gathers what is wrong with a body, first fault first.
type findings struct{ issues []fault.Issue }

// add notes what is wrong with a field of an object; at leads to the place within it.
func (f *findings) add(index int, field, kind, says string, at ...any) {
	f.issues = append(f.issues, fault.IssueAt(kind, says, append([]any{"body", index, field}, at...)...))
}

func (f *findings) err() error {
	if len(f.issues) == 0 {
		return nil
	}
	return fault.Invalid(f.issues[:min(len(f.issues), maxIssues)]...)
}

// readNew checks the objects of a POST and fills in the defaults.
func (r *Resource) readNew(body RawJSON) ([]*Record, error) {
	all, err := objects(body)
	if err != nil {
		return nil, err
	}
	var found findings
	records := make([]*Record, len(all))
	for i, object := range all {
		rec := &Record{Index: i, alone: len(all) == 1, ID: objectid.New(), values: map[string]any{}}
		for _, f := range r.all {
			raw, sent := object[f.Name]
			switch {
			case f.writable() && sent:
				r.read(rec, &f, raw, &found)
			case f.writable() && f.Rule.Required:
				found.add(i, f.Name, "missing", "is required")
			case f.writable():
				rec.values[f.Column] = f.absent()
			case sent && f.Write == Privileged:
				found.add(i, f.Name, "forbidden", notToBeSet)
			}
		}
		r.refuseUnknown(i, object, &found)
		records[i] = rec
	}
	return records, found.err()
}

// readChanges checks the objects of a PUT: only what was sent changes, and null
// is a value.
func (r *Resource) readChanges(body RawJSON) ([]*Record, error) {
	all, err := objects(body)
	if err != nil {
		return nil, err
	}
	var found findings
	seen := map[objectid.ID]bool{}
	records := make([]*Record, len(all))
	for i, object := range all {
		rec := &Record{
			Index: i, alone: len(all) == 1, values: map[string]any{}, once: map[string]any{},
			repeated: map[string]json.RawMessage{},
		}
		rec.ID = readID(i, object, seen, &found)
		for _, f := range r.all {
			raw, sent := object[f.Name]
			switch {
			case sent && f.writable():
				r.read(rec, &f, raw, &found)
			case sent && f.Write == Privileged:
				rec.repeated[f.Name] = raw
			case sent && f.Name == updateDate:
				rec.readAt = readInstant(i, &f, raw, &found)
			}
		}
		r.refuseUnknown(i, object, &found)
		records[i] = rec
	}
	return records, found.err()
}

// CheckChanges says what is wrong with the body of a PUT as far as the body alone tells: for
// routes that ask for something dearer before they write.
func (r *Resource) CheckChanges(body RawJSON) error {
	_, err := r.readChanges(body)
	return err
}

// IDs are the ids of a body's objects that have all the fields, as far as they can be
// read: for locks to be taken before a write, which tells what is wrong with the body.
func IDs(body RawJSON, with ...string) []objectid.ID {
	all, err := objects(body)
	if err != nil {
		return nil
	}
	ids := []objectid.ID{}
	for _, object := range all {
		var text string
		lacks := func(field string) bool { _, sent := object[field]; return !sent }
		if json.Unmarshal(object[idField], &text) != nil || slices.ContainsFunc(with, lacks) {
			continue
		}
		if id, err := objectid.Parse(text); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// readIDs checks the body of a DELETE: objects whose _id counts, whatever else
// they carry; but a field in another spelling is refused, as everywhere.
func (r *Resource) readIDs(body RawJSON) ([]objectid.ID, error) {
	all, err := objects(body)
	if err != nil {
		return nil, err
	}
	var found findings
	ids := make([]objectid.ID, len(all))
	for i, object := range all {
		ids[i] = readID(i, object, nil, &found)
		for name := range object {
			if lower := strings.ToLower(name); lower != name && r.named[lower] != nil {
				found.add(i, shortened(name), "extra_forbidden", unknownField)
			}
		}
	}
	return ids, found.err()
}

func readID(i int, object map[string]json.RawMessage, seen map[objectid.ID]bool, found *findings) objectid.ID {
	raw, sent := object[idField]
	if !sent {
		found.add(i, idField, "missing", "is required")
		return ""
	}
	var text string
	err := json.Unmarshal(raw, &text)
	id, malformed := objectid.Parse(text)
	switch {
	case err != nil || malformed != nil:
		found.add(i, idField, "value_error", objectid.ErrMalformed.Error())
	case seen[id]:
		found.add(i, idField, "value_error", "is in the body twice")
	case seen != nil:
		seen[id] = true
	}
	return id
}

// readInstant checks the date of a record that is to be changed, which is compared with the record's own.
func readInstant(i int, f *Field, raw json.RawMessage, found *findings) *time.Time {
	value, problem, _ := f.value(raw)
	if problem != "" {
		found.add(i, f.Name, "value_error", problem)
		return nil
	}
	at, _ := value.(time.Time)
	return &at
}

func (r *Resource) read(rec *Record, f *Field, raw json.RawMessage, found *findings) {
	value, problem, at := f.value(raw)
	if problem != "" {
		found.add(rec.Index, f.Name, "value_error", problem, at...)
		return
	}
	if f.Write == Once && rec.once != nil {
		rec.once[f.Column] = value
		return
	}
	rec.values[f.Column] = value
}

const (
	unknownField = "is not a known field"
	notToBeSet   = "may not be set"
)

func (r *Resource) refuseUnknown(i int, object map[string]json.RawMessage, found *findings) {
	var unknown []string
	for name := range object {
		if r.named[name] == nil {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	for _, name := range unknown {
		found.add(i, shortened(name), "extra_forbidden", unknownField)
	}
}

// shortened bounds the client text that an error repeats.
func shortened(name string) string {
	if runes := []rune(name); len(runes) > 64 {
		return string(runes[:64])
	}
	return strings.ToValidUTF8(name, "\uFFFD")
}
