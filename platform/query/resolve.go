package query

import (
	"math"
	"strconv"
	"strings"
)

// find looks a path up in the whitelist: the longest registered prefix and what is
// left of the path below it.
func (c *Collection) find(path []string) (f Field, rest []string, known bool) {
	for n := len(path); n > 0; n-- {
		if f, ok := c.Fields[strings.Join(path[:n], ".")]; ok {
			return f, path[n:], true
		}
	}
	return Field{}, nil, false
}

// resolve finds what a path of the document leads to (docs/contract/filters.md, Paths).
func (b *binder) resolve(path []string) target {
	f, rest, known := b.collection.find(path)
	if !known {
		b.unknown++
		return missing{matchesNull: true}
	}
	x := f.sql()
	switch {
	case f.Array:
		return elementOf(array{x: x, kind: f.Kind}, rest)
	case f.Kind == JSON:
		return jsonField(f, rest)
	case len(rest) > 0:
		return missing{matchesNull: true}
	}
	s := scalar{
		x: x, kind: f.Kind, normal: f.Normal, isNull: constant(false), there: constant(true), present: constant(true),
	}
	if f.mayBeNull() {
		s.isNull, s.present = atom(fill("? IS NULL", x)), atom(fill("? IS NOT NULL", x))
	}
	if f.Presence == WhenSet {
		s.there = s.present
	}
	return s
}

func (f Field) sql() fragment { return fragment{{text: literal(f.Expr)}} }

// elementOf is what a path below an array of scalars leads to: an element by its
// position, or nothing.
func elementOf(a array, rest []string) target {
	if len(rest) == 0 {
		return a
	}
	index, ok := position(rest)
	if !ok {
		return missing{}
	}
	there := atom(fill("cardinality(?) >= ?", a.x, index))
	return scalar{x: fill("(?)[?]", a.x, index), kind: a.kind, isNull: constant(false), there: there, present: there}
}

// position is the element that a path of one number names; Postgres counts from 1.
func position(rest []string) (fragment, bool) {
	if len(rest) != 1 || !isPosition(rest[0]) {
		return nil, false
	}
	n, err := strconv.ParseInt(rest[0], 10, 32)
	if err != nil || n == math.MaxInt32 {
		return nil, false // past the end of every array
	}
	return arg(int32(n+1), "int"), true //nolint:gosec // an index is short
}
