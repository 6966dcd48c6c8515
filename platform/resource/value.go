package resource

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/query"
)

// absent is the value of a field that a POST leaves out.
func (f *Field) absent() any {
	if f.Array && f.Rule.Default == nil {
		return []string{}
	}
	if n, ok := f.Rule.Default.(int); ok {
		return int64(n)
	}
	return f.Rule.Default
}

// value checks and converts one value of a body. problem says what is wrong, as
// in "has to be a string"; "" when nothing is. It is wrong at a place within the value, or
// with all of it.
func (f *Field) value(raw json.RawMessage) (value any, problem string, at []any) {
	if bytes.Equal(raw, []byte("null")) {
		if f.mayBeNull() {
			return nil, "", nil
		}
		return nil, "may not be null", nil
	}
	if f.Array {
		value, problem, at = f.list(raw)
	} else {
		value, problem = f.scalar(raw)
	}
	if problem == "" && f.Rule.Check != nil {
		problem = f.Rule.Check(value)
	}
	return value, problem, at
}

func (f *Field) list(raw json.RawMessage) (value any, problem string, at []any) {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, "has to be a list", nil
	}
	if len(items) > f.Rule.MaxItems {
		return nil, "may hold at most " + fault.Count(f.Rule.MaxItems, "value"), nil
	}
	out := make([]string, len(items))
	for i, item := range items {
		value, problem := f.scalar(item)
		text, ok := value.(string)
		if problem != "" || !ok {
			return nil, problem, []any{i}
		}
		out[i] = text
	}
	return out, "", nil
}

func (f *Field) scalar(raw json.RawMessage) (any, string) {
	switch f.Kind {
	case query.Bool:
		var b *bool
		if json.Unmarshal(raw, &b) != nil || b == nil {
			return nil, "has to be true or false"
		}
		return *b, ""
	case query.Int:
		n, ok := wholeNumber(raw)
		if !ok {
			return nil, "has to be a whole number"
		}
		return n, f.Rule.bounds(n, strconv.FormatInt)
	case query.Cents:
		cents, err := money.Parse(string(raw))
		if err != nil {
			return nil, err.Error()
		}
		return int64(cents), f.Rule.bounds(int64(cents), func(n int64, _ int) string { return money.Cents(n).String() })
	case query.Number:
		var n *float64
		if json.Unmarshal(raw, &n) != nil || n == nil {
			return nil, "has to be a number"
		}
		return string(raw), f.Rule.bounds(int64(math.Floor(*n)), strconv.FormatInt)
	case query.JSON:
		return raw, ""
	}
	var text *string
	if json.Unmarshal(raw, &text) != nil || text == nil {
		return nil, "has to be a string"
	}
	return f.text(*text)
}

func (f *Field) text(s string) (any, string) {
	switch f.Kind {
	case query.OID:
		id, err := objectid.Parse(s)
		if err != nil {
			return nil, err.Error()
		}
		return string(id), ""
	case query.Date:
		at, err := httpapi.ParseTime(s)
		if err != nil || at.Year() > 9999 || at.Year() < 1 {
			return nil, httpapi.ErrTime.Error()
		}
		return at, ""
	}
	if strings.TrimSpace(s) == "" && f.Rule.MinLength == 0 {
		s = ""
	}
	return s, f.Rule.text(s)
}

// wholeNumber reads 90, 90.0 and 9e1 alike, by their text: a float64 would take
// 1.00000000000000000001 for 1.
func wholeNumber(raw json.RawMessage) (int64, bool) {
	mantissa, exponent, scaled := strings.Cut(strings.ToLower(string(raw)), "e")
	zeros := 0 // to append; fewer than none are decimals
	if scaled {
		n, err := strconv.Atoi(exponent)
		if err != nil {
			return 0, false
		}
		zeros = n
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimRight(whole+fraction, "0")
	if digits == "" || digits == "-" {
		return 0, true
	}
	zeros += len(whole) - len(digits)
	if zeros < 0 || zeros > maxZeros {
		return 0, false
	}
	n, err := strconv.ParseInt(digits+strings.Repeat("0", zeros), 10, 64)
	return n, err == nil
}

// maxZeros is how many may stand at the end of an int64.
const maxZeros = 18

func (r Rule) bounds(n int64, show func(int64, int) string) string {
	switch {
	case r.Min != nil && n < *r.Min:
		return "has to be at least " + show(*r.Min, 10)
	case r.Max != nil && n > *r.Max:
		return "has to be at most " + show(*r.Max, 10)
	}
	return ""
}

func (r Rule) text(s string) string {
	length := utf8.RuneCountInString(s)
	switch {
	case !utf8.ValidString(s):
		return "has to be valid UTF-8"
	case strings.ContainsRune(s, 0):
		return "may not hold the character U+0000"
	case r.MinLength > 0 && s != "" && strings.TrimSpace(s) == "":
		return "has to be more than spaces"
	case length < r.MinLength:
		return "has to have at least " + fault.Count(r.MinLength, "character")
	case r.MaxLength > 0 && length > r.MaxLength:
		return "may have at most " + fault.Count(r.MaxLength, "character")
	case len(r.Enum) > 0 && !slices.Contains(r.Enum, s):
		return fault.OneOf(r.Enum)
	case r.pattern != nil && !r.pattern.MatchString(s):
		if r.Means != "" {
			return "has to be " + r.Means
		}
		return "has to match " + r.Pattern
	}
	return ""
}

// instant cuts an instant to what the database and the API hold.
func instant(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
