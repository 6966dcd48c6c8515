package query

import (
	"encoding/json"
	"slices"
	"strings"
)

// document is a value in jsonb: x, and from there a path that steps through arrays
// as MongoDB does (docs/contract/filters.md, Paths).
type document struct {
	x    fragment
	path []string
	// alone marks an element that $elemMatch looks at: a list there does not offer
	// its own elements. Only with an empty path.
	alone bool
	// isNull holds where x is SQL NULL, there where the document has x.
	isNull, there condition
	// ids are the dotted paths of the field that hold ids, name is this one's.
	ids  []string
	name []string
}

func jsonField(f Field, rest []string) target {
	d := document{x: f.sql(), isNull: constant(false), there: constant(true), ids: f.OIDPaths}
	if f.mayBeNull() {
		d.isNull = atom(fill("? IS NULL", d.x))
	}
	if f.Presence == WhenSet {
		d.there = atom(fill("? IS NOT NULL", d.x))
	}
	return d.below(rest)
}

// below is the value that a path leads to. The part up to the last number is taken
// literally, as a key or a position.
func (d document) below(path []string) target {
	literalPart := 0
	for i, segment := range path {
		if isPosition(segment) {
			literalPart = i + 1
		} else {
			d.name = append(slices.Clip(d.name), segment)
		}
	}
	if literalPart > 0 {
		if slices.ContainsFunc(path[:literalPart], isIndexLike) {
			return missing{matchesNull: true}
		}
		d.x = fill("(? #> ?)", d.x, arg(slices.Clone(path[:literalPart]), "text[]"))
		d.isNull, d.there = atom(fill("? IS NULL", d.x)), atom(fill("? IS NOT NULL", d.x))
	}
	d.path = path[literalPart:]
	return d
}

// isIndexLike reports a key that #> would take for a position although MongoDB
// does not, such as -1 or 01.
func isIndexLike(segment string) bool {
	return !isPosition(segment) && allDigits(strings.TrimLeft(strings.TrimSpace(segment), "+-"))
}

func (d document) isID() bool { return slices.Contains(d.ids, strings.Join(d.name, ".")) }

// holds asks a jsonpath predicate of x.
func (d document) holds(p jsonPath) condition { return atom(fill("? @@ ?", d.x, p.arg())) }

// reached is the path to the value and, unless alone, to its elements.
func (d document) reached() jsonPath {
	if d.alone {
		return "strict $"
	}
	return lax(d.path)
}

// offers holds where the value or one of its elements meets the predicate.
func (d document) offers(predicate string) condition {
	if d.alone {
		return d.holds("strict " + jsonPath("$").where(predicate).exists())
	}
	return d.holds(lax(d.path).where(predicate).exists())
}

func (d document) null() condition {
	if len(d.path) == 0 {
		return some(d.isNull, d.offers(is("null")))
	}
	return some(d.isNull, d.holds(nullAt(d.path)))
}

func (d document) exists() condition {
	if len(d.path) == 0 {
		return d.there
	}
	return d.holds(lax(d.path).exists())
}

// member adapts an operand to ids inside the document, which accept any case and
// nothing but ids.
func (d document) member(v value) (value, bool) {
	if !d.isID() || v.kind == valueArray || v.kind == valueObject {
		return v, true
	}
	id, ok := idOf(v)
	return value{kind: valueString, text: id, at: v.at}, ok
}

func (d document) equal(v value) (condition, error) { return d.among([]value{v}) }

// among puts all scalars of the list into one jsonpath, grouped by type.
func (d document) among(list []value) (condition, error) {
	byType := map[string][]string{}
	var whole []condition
	for _, v := range list {
		if v.kind == valueArray || v.kind == valueObject {
			whole = append(whole, d.equalWhole(v))
			continue
		}
		v, ok := d.member(v)
		if !ok {
			continue
		}
		if name, text, ok := jsonScalar(v); ok {
			byType[name] = append(byType[name], "@ == "+text)
		}
	}
	var predicates []string
	for _, name := range []string{"string", "number", "boolean"} {
		switch equalities := byType[name]; len(equalities) {
		case 0:
		case 1:
			predicates = append(predicates, is(name)+" && "+equalities[0])
		default:
			predicates = append(predicates, is(name)+" && ("+strings.Join(equalities, " || ")+")")
		}
	}
	if len(predicates) == 0 {
		return some(whole...), nil
	}
	predicate := predicates[0]
	if len(predicates) > 1 {
		predicate = "(" + strings.Join(predicates, ") || (") + ")"
	}
	return some(append([]condition{d.offers(predicate)}, whole...)...), nil
}

// equalWhole compares the value, or one of its elements, with a list or sub-document.
func (d document) equalWhole(v value) condition {
	text, ok := jsonText(v)
	if !ok {
		return constant(false)
	}
	operand := arg(text, "jsonb")
	if d.alone {
		return atom(fill("? = ?", d.x, operand))
	}
	path := lax(d.path)
	values := fill("(SELECT jsonb_path_query(?, ?) UNION ALL SELECT jsonb_path_query(?, ?)) x(v)",
		d.x, path.arg(), d.x, (path + "[*]").arg())
	return exists(values, atom(fill("x.v = ?", operand)))
}

// jsonText prints a list or sub-document as JSON. ok is false when it holds what no
// JSON document can equal.
func jsonText(v value) (string, bool) {
	if v.kind != valueArray && v.kind != valueObject {
		_, text, ok := jsonScalar(v)
		if ok && (v.kind == valueString || v.kind == valueOID) {
			return marshal(v.text), true
		}
		return text, ok
	}
	parts := make([]string, len(v.items))
	for i, item := range v.items {
		text, ok := jsonText(item)
		if !ok {
			return "", false
		}
		if v.kind == valueObject {
			text = marshal(v.keys[i]) + ":" + text
		}
		parts[i] = text
	}
	if v.kind == valueObject {
		return "{" + strings.Join(parts, ",") + "}", true
	}
	return "[" + strings.Join(parts, ",") + "]", true
}

func marshal(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(text)
}

var jsonComparisons = map[string]string{"$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}

func (d document) compare(op string, v value) (condition, error) {
	v, ok := d.member(v)
	if !ok {
		return constant(false), nil
	}
	if v.kind == valueNumber {
		op, v.number = roundTiny(op, v.number)
	}
	name, text, ok := jsonScalar(v)
	if !ok {
		return constant(false), nil
	}
	return d.offers(is(name) + " && @ " + jsonComparisons[op] + " " + text), nil
}

// each is the set of values of a type that are reached, as rows x(v).
func (d document) each(typeName string) fragment {
	return fill("jsonb_path_query(?, ?) x(v)", d.x, d.reached().where(is(typeName)).arg())
}

func (d document) match(pattern string) condition {
	if d.isID() {
		return constant(false)
	}
	return exists(d.each("string"), atom(fill(`(x.v #>> '{}') COLLATE "C" ~ ?`, arg(pattern, "text"))))
}

func (d document) modulo(mod [2]int64) condition {
	return exists(d.each("number"), atom(fill("mod(trunc((x.v #>> '{}')::numeric), ?) = ?",
		arg(mod[0], "bigint::numeric"), arg(mod[1], "bigint::numeric"))))
}

func (d document) size(n decimal) condition {
	if len(d.path) == 0 {
		return d.holds(jsonPath(`$.type() == "array" && $.size() == ` + n.String()))
	}
	return d.holds(arrayAt(d.path, ".size() == "+n.String()).exists())
}
