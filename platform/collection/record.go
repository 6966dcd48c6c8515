package collection

import (
	"encoding/json"
	"fmt"

	"marquee/platform/fault"
	"marquee/platform/objectid"
)

// Record is one object of a request's body: checked values by column.
type Record struct {
	Index int         // in the body's array
	ID    objectid.ID // new on POST, the object's own on PUT

	values map[string]any
	once   map[string]any // columns that a PUT may repeat but not change
	// repeated are the Privileged fields of a PUT by name, whose values have to be the record's.
	repeated map[string]json.RawMessage
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

// Invalid is the 422 that blames a field of this object.
func (r *Record) Invalid(field, msg string) *fault.Error {
	return fault.InvalidAt(msg, "body", r.Index, field)
}

// violated is the error for a violated constraint, naming the object.
func (r *Record) violated(v Violation) error {
	if v.Kind == fault.Invalid {
		return r.Invalid(v.Field, v.Message)
	}
	return v.fault(fmt.Sprintf("body[%d]", r.Index))
}

// fault renders a violation that is no matter of validation; at names the object.
func (v Violation) fault(at string) *fault.Error {
	f := &fault.Error{Kind: fault.Conflicting, Code: fault.CodeConflict, Message: v.Message, Field: v.Field}
	if v.Kind != fault.Internal {
		f.Kind = v.Kind
	}
	if v.Code != "" {
		f.Code = v.Code
	}
	if v.Field != "" {
		f.Message = at + "." + v.Field + " " + v.Message
	}
	return f
}
