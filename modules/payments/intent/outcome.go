package intent

import (
	"errors"

	"marquee/modules/payments/gateway"
)

// Outcome is what a call, or the look for what it made, means for its user's row. The
// types of this file are all there are.
type Outcome[A any] interface {
	outcome(A)
	// state is how an intent with this outcome stands: open, or how it ended.
	state() string
}

// Succeeded: what the call was for is there. Whether its money counts, or its payer has
// still to pay or to authenticate, is the answer's to say.
type Succeeded[A any] struct{ Answer A }

// Pending: it is there, and the gateway decides later.
type Pending[A any] struct{ Answer A }

// Declined by the payer's bank or the gateway: no money moves.
type Declined[A any] struct {
	Answer A // what was made all the same, where anything was
	Cause  error
}

// Refused for its shape, or never asked: the gateway certainly made nothing.
type Refused[A any] struct{ Cause error }

// Missing: looked for, and proved not to be there.
type Missing[A any] struct{}

// Void: nothing is left to be asked, or to be paid.
type Void[A any] struct{ Answer A }

// NotKnown is everything else. It changes no row: the looks find out.
type NotKnown[A any] struct {
	Answer A // what the steps before have made
	Cause  error
}

func (Succeeded[A]) outcome(A) {}
func (Pending[A]) outcome(A)   {}
func (Declined[A]) outcome(A)  {}
func (Refused[A]) outcome(A)   {}
func (Missing[A]) outcome(A)   {}
func (Void[A]) outcome(A)      {}
func (NotKnown[A]) outcome(A)  {}

func (Succeeded[A]) state() string { return "done" }
func (Pending[A]) state() string   { return open }
func (Declined[A]) state() string  { return "declined" }
func (Refused[A]) state() string   { return "refused" }
func (Missing[A]) state() string   { return "missing" }
func (Void[A]) state() string      { return "void" }
func (NotKnown[A]) state() string  { return open }

// open is the state of an intent that has not ended.
const open = "open"

// outcomeOf reads the error of a call, for all users in one place. What nobody foresaw is
// not known. A refusal counts where it is of the only call that may have made something;
// that the gateway was not reached, or lacks what the call stands on, where somebody waits
// for the answer: else the looks ask again.
func outcomeOf[A any](err error, made A, counts, waits bool) Outcome[A] {
	var declined *gateway.Declined
	var rejected *gateway.Rejected
	switch {
	case errors.Is(err, gateway.ErrOutcomeUnknown):
	case errors.As(err, &declined):
		return Declined[A]{Cause: err}
	case counts && gateway.Certain(err) && (waits || errors.As(err, &rejected)):
		return Refused[A]{Cause: err}
	}
	return NotKnown[A]{Answer: made, Cause: err}
}
