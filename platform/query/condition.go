package query

// condition is what a filter becomes once its paths are bound: a constant, an atom,
// a rows test, a group or a negation. An atom may yield NULL, which means no match.
type condition interface {
	write(w *writer)
}

type (
	// constant is a condition decided without data.
	constant bool
	// atom is one of the SQL shapes.
	atom fragment
	// rows asks whether a row of from meets where.
	rows struct {
		from  fragment
		where condition
	}
	// group joins at least two conditions with AND or OR.
	group struct {
		or bool
		of []condition
	}
	// negation is true where its condition is false or NULL.
	negation struct{ of condition }
)

// all is the conjunction, folded.
func all(conditions ...condition) condition { return join(false, conditions) }

// some is the disjunction, folded.
func some(conditions ...condition) condition { return join(true, conditions) }

func join(or bool, conditions []condition) condition {
	var remaining []condition
	for _, c := range conditions {
		switch c := c.(type) {
		case constant:
			if bool(c) == or {
				return c
			}
		case group:
			if c.or == or {
				remaining = append(remaining, c.of...)
				continue
			}
			remaining = append(remaining, c)
		default:
			remaining = append(remaining, c)
		}
	}
	switch len(remaining) {
	case 0:
		return constant(!or)
	case 1:
		return remaining[0]
	}
	return group{or: or, of: remaining}
}

// not is the negation, folded. A double negation is its condition again: where that
// is NULL both mean no match.
func not(c condition) condition {
	switch c := c.(type) {
	case constant:
		return !c
	case negation:
		return c.of
	}
	return negation{of: c}
}

// exists is true when from has a row that meets where, folded.
func exists(from fragment, where condition) condition {
	if where == constant(false) {
		return where
	}
	return rows{from: from, where: where}
}
