// Package transition has the form of a lifecycle's one table: what happens to a row, why, and
// where that leads from each state. The machine asks it, and the pages for people are drawn
// from it.
package transition

import "fmt"

// Table is a lifecycle, its actions in the order in which people read them.
type Table[S, A ~string] []Row[S, A]

// Row is an action.
type Row[S, A ~string] struct {
	By     A
	Reason string  // that is written with the move; "" of one that says nothing, or that the caller words
	Moves  map[S]S // by the state that it finds, "" before the row is there; what stays leads to itself
}

// Next answers where an action leads from a state; ok is false when the state holds against it.
func (t Table[S, A]) Next(from S, by A) (to S, ok bool) {
	to, ok = t.row(by).Moves[from]
	return to, ok
}

// Move is Next for who knows that the state does not hold: an error then is a mistake of ours.
func (t Table[S, A]) Move(from S, by A) (to S, err error) {
	to, ok := t.Next(from, by)
	if !ok {
		return from, fmt.Errorf("state %q holds against %q", from, by)
	}
	return to, nil
}

// ReasonOf is what is written with an action's moves.
func (t Table[S, A]) ReasonOf(by A) string { return t.row(by).Reason }

func (t Table[S, A]) row(by A) Row[S, A] {
	for _, r := range t {
		if r.By == by {
			return r
		}
	}
	return Row[S, A]{}
}

// Of are an action's moves as two lists of one length, for a statement that finds the state
// itself.
func (t Table[S, A]) Of(by A) (from, to []string) {
	for f, s := range t.row(by).Moves {
		from, to = append(from, string(f)), append(to, string(s))
	}
	return from, to
}
