package query

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
)

// jsonPath is the text of a jsonpath expression. It is always bound as a parameter;
// keys and strings of the client stand in it as quoted literals only.
type jsonPath string

func (p jsonPath) arg() fragment { return arg(string(p), "jsonpath") }

// lax is the path that steps through objects, and through the objects of arrays.
func lax(path []string) jsonPath {
	var b strings.Builder
	b.WriteString("$")
	for _, k := range path {
		b.WriteString("." + quote(k))
	}
	return jsonPath(b.String())
}

// where filters what the path reaches; @ is each value.
func (p jsonPath) where(predicate string) jsonPath {
	return p + " ? (" + jsonPath(predicate) + ")"
}

func (p jsonPath) exists() jsonPath { return "exists(" + p + ")" }

// quote writes a key or string as a jsonpath literal: printable ASCII as it is, all
// else, quotes and backslashes as \uXXXX, so that nothing can end the literal early.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r >= ' ' && r <= '~' && r != '"' && r != '\\':
			b.WriteRune(r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04X\u%04X`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// jsonScalar is the type of an operand in jsonpath and its literal. ok is false for
// what is no scalar of JSON, dates included, and for numbers that jsonb cannot hold.
func jsonScalar(v value) (name, text string, ok bool) {
	switch v.kind {
	case valueString, valueOID:
		return "string", quote(v.text), true
	case valueNumber:
		return "number", v.number.String(), !v.number.tiny()
	case valueBool:
		return "boolean", strconv.FormatBool(v.truth), true
	case valueNull:
		return "null", "null", true
	}
	return "", "", false
}

// is tests the type of @.
func is(typeName string) string { return `@.type() == "` + typeName + `"` }

// nullAt is the jsonpath for null or missing at the end of a path of at least one
// step (docs/contract/filters.md, Paths): something on the way lacks the next key or has no members, or
// there is a null at the end.
func nullAt(path []string) jsonPath {
	ways := []string{`($.type() != "array" && $.type() != "object")`}
	for k, key := range path {
		reached, member := lax(path[:k]), "@."+quote(key)
		ways = append(ways, string(reached.where(is("object")+" && !exists("+member+")").exists()))
		if k < len(path)-1 {
			ways = append(ways, string(reached.where(is("object")+
				" && "+member+`.type() != "array" && `+member+`.type() != "object"`).exists()))
		}
	}
	ways = append(ways, string(lax(path).where(is("null")).exists()))
	return jsonPath(strings.Join(ways, " || "))
}

// arrayAt is a predicate on the array itself at the end of the path, asked on its
// parent object, where nothing is unwrapped.
func arrayAt(path []string, also string) jsonPath {
	last := len(path) - 1
	member := "@." + quote(path[last])
	predicate := is("object") + " && " + member + `.type() == "array"`
	if also != "" {
		predicate += " && " + member + also
	}
	return lax(path[:last]).where(predicate)
}
