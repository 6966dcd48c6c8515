package query

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// target is what a path leads to. Its methods build the positive conditions; the
// binder negates them. Operands are neither null nor patterns unless said otherwise.
type target interface {
	// null holds where the value is null or missing.
	null() condition
	exists() condition
	equal(v value) (condition, error)
	// among holds where a listed value equals; the list holds no nulls and no patterns.
	among(list []value) (condition, error)
	compare(op string, v value) (condition, error)
	// match holds where a string matches the translated pattern.
	match(pattern string) condition
	size(n decimal) condition
	modulo(mod [2]int64) condition
	ofType(t bsonType) condition
	// element holds where one element of a list meets the tests of $elemMatch.
	element(b *binder, t test) (condition, error)
}

// missing is a path that leads nowhere in every document. Where an array of scalars
// is on the way there is not even a missing value, and null does not match.
type missing struct{ matchesNull bool }

func (m missing) null() condition                        { return constant(m.matchesNull) }
func (missing) exists() condition                        { return constant(false) }
func (missing) equal(value) (condition, error)           { return constant(false), nil }
func (missing) among([]value) (condition, error)         { return constant(false), nil }
func (missing) compare(string, value) (condition, error) { return constant(false), nil }
func (missing) match(string) condition                   { return constant(false) }
func (missing) size(decimal) condition                   { return constant(false) }
func (missing) modulo([2]int64) condition                { return constant(false) }
func (missing) ofType(bsonType) condition                { return constant(false) }
func (missing) element(*binder, test) (condition, error) { return constant(false), nil }

// scalar is one value of a kind: a column, an element of an array by position, or the
// element that $elemMatch looks at.
type scalar struct {
	x       fragment
	kind    Kind
	isNull  condition // matches null
	there   condition // the key is in the document
	present condition // there and not null
	normal  func(string) string
}

// stored is an operand in the form in which the column has its values.
func (s scalar) stored(v value) value {
	if s.normal != nil && v.kind == valueString {
		v.text = s.normal(v.text)
	}
	return v
}

func (s scalar) null() condition   { return s.isNull }
func (s scalar) exists() condition { return s.there }

func (s scalar) equal(v value) (condition, error) {
	bound, ok, err := s.kind.operand(s.stored(v))
	if err != nil || !ok {
		return constant(false), err
	}
	return atom(fill("? = ?", s.x, arg(bound, casts[s.kind].one))), nil
}

func (s scalar) among(list []value) (condition, error) {
	if s.normal != nil {
		list = slices.Clone(list)
		for i, v := range list {
			list[i] = s.stored(v)
		}
	}
	bound, n, _, err := s.kind.operands(list)
	if err != nil || n == 0 {
		return constant(false), err
	}
	return atom(fill("? = ANY(?)", s.x, arg(bound, casts[s.kind].list))), nil
}

func (s scalar) compare(op string, v value) (condition, error) {
	return s.kind.compare(s.x, op, s.stored(v), s.present)
}

func (s scalar) match(pattern string) condition {
	if s.kind != String {
		return constant(false)
	}
	form := literal(`? COLLATE "C" ~ ?`)
	if eludesTrigrams(pattern) {
		form = `(? || '') COLLATE "C" ~ ?`
	}
	return atom(fill(form, s.x, arg(pattern, "text")))
}

// foldedPair is a bracket that holds a letter beyond ASCII in both cases.
var foldedPair = regexp.MustCompile(`\[([^\x00-\x7f])([^\x00-\x7f])\]`)

// eludesTrigrams reports whether a trigram index could lose rows that the pattern
// matches: pg_trgm (1.6, Postgres 15) reads the pattern under "C" but its letters
// under the database's locale, takes a capital beyond ASCII that stands without
// its small letter for one that cannot occur, and drops that branch of the
// pattern. So AÇÃO|drama finds no AÇÃO. An expression keeps such patterns off the index.
func eludesTrigrams(pattern string) bool {
	rest := foldedPair.ReplaceAllStringFunc(pattern, func(bracket string) string {
		pair := []rune(bracket)
		if unicode.ToLower(pair[1]) == pair[2] && unicode.ToLower(pair[2]) == pair[2] {
			return ""
		}
		return bracket
	})
	return strings.ContainsFunc(rest, func(r rune) bool { return r > unicode.MaxASCII && unicode.ToLower(r) != r })
}

func (s scalar) modulo(mod [2]int64) condition { return s.kind.modulo(s.x, mod) }

func (s scalar) ofType(t bsonType) condition {
	switch {
	case t == typeNull:
		return all(s.isNull, s.there)
	case s.kind.matches(t):
		return s.present
	}
	return constant(false)
}

func (scalar) size(decimal) condition                   { return constant(false) }
func (scalar) element(*binder, test) (condition, error) { return constant(false), nil }

// array is a Postgres array, NOT NULL and without NULL elements.
type array struct {
	x    fragment
	kind Kind
}

func (array) null() condition   { return constant(false) }
func (array) exists() condition { return constant(true) }

func (a array) list(bound any) fragment { return arg(bound, casts[a.kind].list) }

func (a array) equal(v value) (condition, error) {
	if v.kind == valueArray {
		bound, _, strangers, err := a.kind.operands(v.items)
		if err != nil || strangers > 0 {
			return constant(false), err
		}
		return atom(fill("? = ?", a.x, a.list(bound))), nil
	}
	bound, n, _, err := a.kind.operands([]value{v})
	if err != nil || n == 0 {
		return constant(false), err
	}
	return atom(fill("? @> ?", a.x, a.list(bound))), nil
}

func (a array) among(list []value) (condition, error) {
	var scalars []value
	var whole []condition
	for _, v := range list {
		if v.kind != valueArray {
			scalars = append(scalars, v)
			continue
		}
		c, err := a.equal(v)
		if err != nil {
			return nil, err
		}
		whole = append(whole, c)
	}
	bound, n, _, err := a.kind.operands(scalars)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return some(whole...), nil
	}
	return some(append([]condition{atom(fill("? && ?", a.x, a.list(bound)))}, whole...)...), nil
}

// oneOf is the single element that EXISTS looks at.
func (a array) oneOf() scalar {
	return scalar{
		x: fill("e.v"), kind: a.kind,
		isNull: constant(false), there: constant(true), present: constant(true),
	}
}

func (a array) any(where condition) condition {
	return exists(fill("unnest(?) e(v)", a.x), where)
}

func (a array) compare(op string, v value) (condition, error) {
	c, err := a.oneOf().compare(op, v)
	if err != nil {
		return nil, err
	}
	return a.any(c), nil
}

func (a array) match(pattern string) condition { return a.any(a.oneOf().match(pattern)) }
func (a array) modulo(mod [2]int64) condition  { return a.any(a.oneOf().modulo(mod)) }

func (a array) size(n decimal) condition {
	count, ok := n.int64()
	if !ok {
		return constant(false)
	}
	return atom(fill("cardinality(?) = ?", a.x, arg(count, "bigint")))
}

func (a array) ofType(t bsonType) condition {
	switch {
	case t == typeArray:
		return constant(true)
	case a.kind.matches(t):
		return atom(fill("cardinality(?) > 0", a.x))
	}
	return constant(false)
}

func (a array) element(b *binder, t test) (condition, error) {
	if t.inner == nil {
		return constant(false), nil // the elements are scalars and have no members
	}
	where, err := b.tests(a.oneOf(), t.inner)
	if err != nil {
		return nil, err
	}
	return a.any(where), nil
}
