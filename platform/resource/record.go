package resource

import (
	"encoding/json"
	"fmt"
	"time"

	"marquee/platform/fault"
	"marquee/platform/objectid"
)

// Record is one object of a request's body: checked values by column.
type Record struct {
	Index int         // in the body's array
	alone bool        // there is no other object
	ID    objectid.ID // new on POST, the object's own on PUT

	values map[string]any
	once   map[string]any // columns that a PUT may repeat but not change
	// repeated are the Privileged fields of a PUT by name, whose values have to be the record's.
	repeated map[string]json.RawMessage
	// readAt is the register_update_date of a PUT: as of when the client knows the record; nil where it does not say.
	readAt *time.Time
}

// Value returns the checked value of a column and whether the body, a default or
// a hook has set it: string, int64, bool, time.Time, []string, json.RawMessage,
// or nil for null. Cents are int64, Number is a decimal string.
func (r *Record) Value(column string) (any, bool) {
	v, ok := r.values[column]
	return v, ok
}

// Set gives a column a value, for hooks.
func (r *Record) Set(column string, value any) { r.values[column] = value }

// Invalid is the 422 that blames a field of this object, or a place within its value.
func (r *Record) Invalid(field, says string, at ...any) *fault.Error {
	return fault.InvalidAt(says, append([]any{"body", r.Index, field}, at...)...)
}

// Conflict is the 409 that blames a field of this object; unlike 422 it has no other place
// for the index, where there are several.
func (r *Record) Conflict(field, says string) *fault.Error {
	return fault.Conflict("%s %s%s", field, says, r.which()).WithField(field)
}

// NotFound is the 404 for this object.
func (r *Record) NotFound(thing string) *fault.Error {
	f := fault.NotFound(thing).WithField(idField)
	f.Message = thing + " not found" + r.which() + "."
	return f
}

// which tells the object from the others of the body.
func (r *Record) which() string {
	if r.alone {
		return ""
	}
	return fmt.Sprintf(" (index %d of the body)", r.Index)
}

// violated is the error for a violated constraint, naming the object.
func (r *Record) violated(v Violation) error {
	if v.Kind == fault.KindInvalid {
		return r.Invalid(v.Field, v.Message)
	}
	f := v.fault()
	if v.Field != "" {
		f.Message += r.which()
	}
	return f
}

// fault renders a violation that is no matter of validation.
func (v Violation) fault() *fault.Error {
	f := &fault.Error{Kind: fault.KindConflict, Code: fault.CodeConflict, Message: v.Message, Field: v.Field}
	if v.Kind != fault.KindInternal {
		f.Kind = v.Kind
	}
	if v.Code != "" {
		f.Code = v.Code
	}
	if v.Field != "" {
		f.Message = v.Field + " " + v.Message
	}
	return f
}
