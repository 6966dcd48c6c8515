package query

import (
	"strconv"
	"strings"
)

// literal is text that may stand in SQL: a constant of this package or a
// Field.Expr. Nothing converts client text to it.
type literal string

// fragment is a piece of SQL before its parameters are numbered.
type fragment []piece

// piece is either a literal or a parameter.
type piece struct {
	text  literal
	param *param
}

// param is a bound value with the cast that tells Postgres its type. A param that
// stands in several places is numbered once.
type param struct {
	value any
	cast  literal
}

// arg binds a value: $n::cast.
func arg(value any, cast literal) fragment {
	return fragment{{param: &param{value: value, cast: cast}}}
}

// fill fills the marks ‹?› of a form with fragments, in order.
func fill(form literal, slots ...fragment) fragment {
	var out fragment
	for {
		before, after, found := strings.Cut(string(form), "?")
		if before != "" {
			out = append(out, piece{text: literal(before)})
		}
		if !found {
			return out
		}
		out = append(out, slots[0]...)
		slots, form = slots[1:], literal(after)
	}
}

// writer prints conditions and numbers the parameters in the order of their first
// use. Only what survived folding is numbered, so no argument is ever an orphan.
type writer struct {
	sql     strings.Builder
	args    []any
	first   int
	numbers map[*param]int
}

func newWriter(first int) *writer {
	return &writer{first: first, numbers: map[*param]int{}}
}

func (w *writer) fragment(f fragment) {
	for _, p := range f {
		if p.param == nil {
			w.sql.WriteString(string(p.text))
			continue
		}
		n, seen := w.numbers[p.param]
		if !seen {
			n = w.first + len(w.args)
			w.numbers[p.param] = n
			w.args = append(w.args, p.param.value)
		}
		w.sql.WriteString("$" + strconv.Itoa(n) + "::" + string(p.param.cast))
	}
}

func (c constant) write(w *writer) {
	if c {
		w.sql.WriteString("TRUE")
	} else {
		w.sql.WriteString("FALSE")
	}
}

func (a atom) write(w *writer) { w.fragment(fragment(a)) }

func (r rows) write(w *writer) {
	w.sql.WriteString("EXISTS (SELECT 1 FROM ")
	w.fragment(r.from)
	if r.where != constant(true) {
		w.sql.WriteString(" WHERE ")
		r.where.write(w)
	}
	w.sql.WriteString(")")
}

func (g group) write(w *writer) {
	separator := " AND "
	if g.or {
		separator = " OR "
	}
	w.sql.WriteString("(")
	for i, c := range g.of {
		if i > 0 {
			w.sql.WriteString(separator)
		}
		c.write(w)
	}
	w.sql.WriteString(")")
}

func (n negation) write(w *writer) {
	if _, parenthesised := n.of.(group); parenthesised {
		n.of.write(w)
	} else {
		w.sql.WriteString("(")
		n.of.write(w)
		w.sql.WriteString(")")
	}
	w.sql.WriteString(" IS NOT TRUE")
}
