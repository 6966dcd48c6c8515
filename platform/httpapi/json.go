package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"marquee/platform/fault"
)

const (
	maxDepth = 32 // JSON containers inside one another
	// maxObjects and maxValues bound what a client's body holds: each may be wrong, and what is
	// found wrong takes a thousand times the room.
	maxObjects, maxValues = 1000, 50_000

	tooManyObjects, tooManyValues = "The body holds more than 1,000 objects.", "holds more than 50,000 values"
	notUnicode, outOfRange        = "is not valid UTF-8", "is a number out of range"
	// namesInOrder is how many names of an object are compared one by one, which is
	// faster than a map for the few that bodies have.
	namesInOrder = 24
)

var jsonFormat = huma.Format{
	Marshal: func(w io.Writer, v any) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		return enc.Encode(v)
	},
	// Unmarshal reads a body that withBody has checked.
	Unmarshal: func(data []byte, v any) error {
		err := json.Unmarshal(data, v)
		if err == nil {
			return nil
		}
		return errors.New(misread(data, reflect.TypeOf(v).Elem(), err))
	},
}

// misreadAt stands between the member that a type does not take, though its schema does,
// and what is wrong with it: huma takes no more than a text.
const misreadAt = "\x00"

// misread tells what is wrong with a body that could not be read into the type, and of
// which value in it: the first that cannot be read alone.
func misread(data []byte, into reflect.Type, err error) string {
	msg := err.Error()
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) {
		msg = "has the wrong type" // the error's own text names Go types
	}
	at := unreadable(data, into)
	if at == "" {
		return msg
	}
	return strings.TrimPrefix(at, ".") + misreadAt + msg
}

// unreadable leads to the innermost value that the type does not take, such as
// ".scans[3].scanned_at".
func unreadable(data []byte, into reflect.Type) string {
	for into.Kind() == reflect.Pointer {
		into = into.Elem()
	}
	if reflect.PointerTo(into).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return ""
	}
	switch into.Kind() { //nolint:exhaustive // the others hold no further values
	case reflect.Struct:
		var members map[string]json.RawMessage
		if json.Unmarshal(data, &members) != nil {
			return ""
		}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			alone, _ := json.Marshal(map[string]json.RawMessage{name: members[name]}) // it was read from JSON
			if json.Unmarshal(alone, reflect.New(into).Interface()) != nil {
				return "." + name + unreadable(members[name], memberType(into, name))
			}
		}
	case reflect.Slice:
		var items []json.RawMessage
		if json.Unmarshal(data, &items) != nil {
			return ""
		}
		for i, item := range items {
			if json.Unmarshal(item, reflect.New(into.Elem()).Interface()) != nil {
				return "[" + strconv.Itoa(i) + "]" + unreadable(item, into.Elem())
			}
		}
	}
	return ""
}

// memberType is the type of a struct's member in JSON.
func memberType(into reflect.Type, name string) reflect.Type {
	for _, f := range reflect.VisibleFields(into) {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name {
			return f.Type
		}
	}
	return reflect.TypeFor[any]()
}

// CheckJSON refuses what Postgres and readers cannot hold: containers nested deeper
// than 32, and the character U+0000. A member may be there twice: gateways' events
// are stored as they come.
func CheckJSON(data []byte) error {
	if msg, _ := scanJSON(data, false); msg != "" {
		return errors.New(msg)
	}
	return nil
}

// checkBody is CheckJSON for bodies of clients: a member that is there twice is
// refused as well, because two readers could each take another one, and so is what no
// reader takes as it was sent. Other spellings of a member are unknown fields, which
// schemas and collections refuse.
func checkBody(data []byte) error {
	msg, loc := scanJSON(data, true)
	switch msg {
	case "":
		return nil
	case tooManyObjects:
		return &fault.Error{Kind: fault.KindTooLarge, Message: msg}
	}
	return fault.InvalidAt(msg, loc...)
}

// container is an open object or list.
type container struct {
	object bool
	inName bool   // the next text of an object is a name
	name   string // of the member that is read
	index  int    // of the item that is read
	names  []string
	more   map[string]bool // names beyond the first
}

// seen reports whether the object has the name already, and remembers it.
func (c *container) seen(name string) bool {
	if slices.Contains(c.names, name) || c.more[name] {
		return true
	}
	if len(c.names) < namesInOrder {
		c.names = append(c.names, name)
		return false
	}
	if c.more == nil {
		c.more = map[string]bool{}
	}
	c.more[name] = true
	return false
}

// scanJSON tells what is wrong with a text, and where: "" when nothing is. Of a client's, no
// member may be there twice, nor more than can be worked on.
func scanJSON(data []byte, clients bool) (msg string, loc []any) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var open []container
	for tokens := 0; ; tokens++ {
		if clients && tokens > 2*maxValues {
			return tooManyValues, []any{"body"}
		}
		if clients && len(open) > 0 && !open[0].object && open[0].index >= maxObjects {
			return tooManyObjects, nil
		}
		begins := dec.InputOffset()
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return "", nil
		}
		if err != nil {
			return errBodyMalformed, []any{"body"}
		}
		var in *container // what the token stands in
		if len(open) > 0 {
			in = &open[len(open)-1]
		}
		switch t := token.(type) {
		case json.Delim:
			if t == '}' || t == ']' {
				open = open[:len(open)-1]
				continue
			}
			if len(open) == maxDepth {
				return "is nested too deeply", []any{"body"}
			}
			in.value(false)
			open = append(open, container{object: t == '{', inName: t == '{', index: -1})
			continue
		case string:
			isName := in != nil && in.inName
			if isName {
				in.name, in.inName = t, false
			}
			if strings.ContainsRune(t, 0) {
				in.value(isName)
				return "holds the character U+0000", placeOf(open)
			}
			if clients && strings.ContainsRune(t, utf8.RuneError) && !isUnicode(data[begins:dec.InputOffset()]) {
				in.value(isName)
				return notUnicode, placeOf(open)
			}
			if isName {
				if clients && in.seen(t) {
					return "is in the object twice", placeOf(open)
				}
				continue
			}
		case json.Number:
			if n, err := t.Float64(); clients && (err != nil || n == 0 && !isZero(t.String())) {
				in.value(false)
				return outOfRange, placeOf(open)
			}
		}
		in.value(false)
	}
}

// isZero reports whether a number is written as zero; 1e-400 is not, though no float64
// is nearer to it.
func isZero(number string) bool {
	mantissa, _, _ := strings.Cut(strings.ToLower(number), "e")
	return !strings.ContainsAny(mantissa, "123456789")
}

// isUnicode reports whether a text of JSON is UTF-8 whose escapes name characters alone:
// half a pair of surrogates would be read as U+FFFD.
func isUnicode(text []byte) bool {
	if !utf8.Valid(text) {
		return false
	}
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		if i++; i >= len(text) || text[i] != 'u' {
			continue
		}
		first := escaped(text[i-1:])
		if i += 4; !utf16.IsSurrogate(first) {
			continue
		}
		if utf16.DecodeRune(first, escaped(text[min(i+1, len(text)):])) == utf8.RuneError {
			return false
		}
		i += 6
	}
	return true
}

// escaped is the unit that \uXXXX at the text's beginning names, or U+FFFD.
func escaped(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return utf8.RuneError
	}
	unit, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(unit)
}

// value notes that a value begins in the container; a name is none.
func (c *container) value(isName bool) {
	if c == nil || isName {
		return
	}
	c.index++
	c.inName = c.object
}

// placeOf is where the innermost of the open containers is read, such as body, 0, title.
func placeOf(open []container) []any {
	loc := []any{"body"}
	for _, c := range open {
		if c.object {
			loc = append(loc, strings.ToValidUTF8(c.name[:min(len(c.name), maxNameLength)], ""))
		} else {
			loc = append(loc, c.index)
		}
	}
	return loc
}

// maxNameLength bounds the client text that an error repeats, in bytes.
const maxNameLength = 64
