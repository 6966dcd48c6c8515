package webhook

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"marquee/modules/payments/gateway"
	"marquee/platform/httpapi"
)

// maxNumber bounds the text of a JSON number that is stored as it stands:
// Postgres keeps numbers exactly and refuses absurd ones.
const maxNumber = 64

// storable turns a body into JSON that jsonb takes: the value itself, at most
// limit bytes, else its text as a JSON string of at most limit bytes.
func storable(body []byte, limit int) json.RawMessage {
	if len(body) <= limit && plain(body) {
		return bytes.TrimSpace(body)
	}
	if len(body) <= limit && len(body) > 0 && httpapi.CheckJSON(body) == nil {
		if raw, ok := normalised(body); ok {
			return raw
		}
	}
	text := strings.ToValidUTF8(string(body[:min(len(body), limit)]), "\uFFFD")
	raw, _ := json.Marshal(strings.ReplaceAll(text, "\x00", "\uFFFD")) // a valid string always marshals
	return raw
}

// shallow is how deep a body may be nested to be stored as it stands.
const shallow = 16

// plain reports whether jsonb takes the body as it stands and nothing in it has to
// be hidden: one JSON value, without escapes of characters that Postgres may
// refuse, without exponents. Most events are; reading the others again costs ten
// times as much.
func plain(body []byte) bool {
	if !json.Valid(body) || !utf8.Valid(body) || bytes.Contains(body, []byte(`\u`)) {
		return false
	}
	for key := range hiddenKeys {
		if bytes.Contains(body, []byte(key)) {
			return false
		}
	}
	depth, number, inString, escaped := 0, 0, false, false
	for _, c := range body {
		switch {
		case inString:
			inString = escaped || c != '"'
			escaped = !escaped && c == '\\'
		case c == '"':
			inString, number = true, 0
		case c == '{', c == '[':
			depth++
		case c == '}', c == ']':
			depth, number = depth-1, 0
		case '0' <= c && c <= '9', c == '.', c == '-', c == '+':
			number++
		case number > 0 && (c == 'e' || c == 'E'):
			return false
		default:
			number = 0
		}
		if depth > shallow || number > maxNumber {
			return false
		}
	}
	return true
}

// normalised writes the value again, which mends lone surrogates; it refuses
// numbers that Postgres may not hold, and more than one value.
func normalised(body []byte) (json.RawMessage, bool) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil || dec.More() || !numbersFit(v) {
		return nil, false
	}
	hide(v)
	raw, err := json.Marshal(v)
	return raw, err == nil
}

// hiddenKeys name values with which somebody could pay or confirm a payment.
// Nothing here needs them, and the log is shown to admins.
var hiddenKeys = map[string]bool{"creditCardToken": true, "client_secret": true}

// hide puts a mark in the place of such values, however deep.
func hide(v any) {
	switch t := v.(type) {
	case []any:
		for _, each := range t {
			hide(each)
		}
	case map[string]any:
		for key, each := range t {
			if text, isText := each.(string); isText && text != "" && hiddenKeys[key] {
				t[key] = "[hidden]"
				continue
			}
			hide(each)
		}
	}
}

func numbersFit(v any) bool {
	switch t := v.(type) {
	case json.Number:
		_, exponent, _ := strings.Cut(strings.ToLower(t.String()), "e")
		return len(t) <= maxNumber && len(exponent) <= 3
	case []any:
		for _, each := range t {
			if !numbersFit(each) {
				return false
			}
		}
	case map[string]any:
		for _, each := range t {
			if !numbersFit(each) {
				return false
			}
		}
	}
	return true
}

// claimedIdentity reads what a body that could not be authenticated calls
// itself, so that an operator finds it after a secret was mixed up. Both are
// empty when they are no short texts.
func claimedIdentity(raw json.RawMessage) (id, kind string) {
	var claim struct {
		ID    any `json:"id"`
		Type  any `json:"type"`
		Event any `json:"event"`
	}
	if json.Unmarshal(raw, &claim) != nil {
		return "", ""
	}
	id, kind = shortText(claim.ID), shortText(claim.Type)
	if kind == "" {
		kind = shortText(claim.Event)
	}
	return id, kind
}

// shortText is v when it is a text that Postgres can store and that is no longer
// than ids and types are, else "".
func shortText(v any) string {
	s, _ := v.(string)
	if len(s) > gateway.MaxID || !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
		return ""
	}
	return s
}
