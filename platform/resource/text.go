package resource

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"marquee/platform/query"
)

// ListSeparator stands between the values of a list in one text.
const ListSeparator = "|"

var number = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// truths are the words that spreadsheets write for truth values.
var truths = map[string]string{
	"true": "true", "verdadeiro": "true", "1": "true", "false": "false", "falso": "false", "0": "false",
}

// Written are the names of the fields that clients write, in their order.
func Written(r *Resource) (names []string) {
	for _, f := range r.all {
		if f.writable() && !f.Secret {
			names = append(names, f.Name)
		}
	}
	return names
}

// FromText is the JSON of a field as a text says it, such as a cell of a table; what fits no JSON of its kind is a
// string, so that CheckNew and CheckChanges say what is wrong. Nothing is null, an empty list or an empty text,
// whichever the field may be.
func FromText(r *Resource, name, text string) json.RawMessage {
	f := r.named[name]
	trimmed := strings.TrimSpace(text)
	switch {
	case f.Array:
		items := []string{}
		for item := range strings.SplitSeq(trimmed, ListSeparator) {
			if item = strings.TrimSpace(item); item != "" {
				items = append(items, item)
			}
		}
		return marshalled(items)
	case trimmed == "" && (f.mayBeNull() || f.Kind != query.String):
		return json.RawMessage("null")
	case f.Kind == query.Bool && truths[strings.ToLower(trimmed)] != "":
		return json.RawMessage(truths[strings.ToLower(trimmed)])
	case slices.Contains([]query.Kind{query.Int, query.Cents, query.Number}, f.Kind) && number.MatchString(trimmed):
		return json.RawMessage(trimmed)
	case f.Kind == query.String:
		return marshalled(text)
	}
	return marshalled(trimmed)
}

// marshalled is the JSON of texts, which there always is.
func marshalled(texts any) json.RawMessage {
	raw, err := json.Marshal(texts)
	if err != nil {
		panic(err)
	}
	return raw
}

// CheckNew says what is wrong with the body of a POST as far as the body alone tells, as Resource.CheckChanges does of
// a PUT.
func CheckNew(r *Resource, body RawJSON) error {
	_, err := r.readNew(body)
	return err
}

// Refusal is what clients are told of a violated constraint of the definition, by its name: the field and the sentence.
func Refusal(r *Resource, constraint string) (field, says string) {
	v := r.def.Constraints[constraint]
	return v.Field, v.Message
}
