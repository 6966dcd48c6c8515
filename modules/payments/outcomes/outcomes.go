// Package outcomes is what a call of a gateway, or the check of what it made, means for the row of whoever ordered it,
// and how the error of a call is read. It knows no database; package intent has its names for those above.
package outcomes

import (
	"errors"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/state"
)

// Outcome is what a call, or the check of what it made, means for its user's row: one of the types below.
type Outcome[A any] interface {
	outcome(A)
	Stepped
}

// Stepped says what an intent's history tells of an outcome, and whether that ends it.
type Stepped interface{ Step() state.IntentStep }

// Succeeded says that what the call was for is there. Whether its money counts, or its payer has still to pay or to
// authenticate, is the answer's to say.
type Succeeded[A any] struct{ Result A }

// Pending says that it is there, and the gateway decides later.
type Pending[A any] struct{ Result A }

// Declined by the payer's bank or the gateway: no money moves.
type Declined[A any] struct {
	Result A // what was made nevertheless, if anything was
	Cause  error
}

// Refused for its shape, or never asked: the gateway certainly made nothing.
type Refused[A any] struct{ Cause error }

// Missing was looked for and proved not to be there.
type Missing[A any] struct{}

// Void says that nothing is left to be asked, or to be paid.
type Void[A any] struct{ Result A }

// NotKnown is everything else. It changes no row: the checks find out.
type NotKnown[A any] struct {
	Result A // what the steps before have made
	Cause  error
}

func (Succeeded[A]) outcome(A) {}
func (Pending[A]) outcome(A)   {}
func (Declined[A]) outcome(A)  {}
func (Refused[A]) outcome(A)   {}
func (Missing[A]) outcome(A)   {}
func (Void[A]) outcome(A)      {}
func (NotKnown[A]) outcome(A)  {}

// Step implements Stepped.
func (Succeeded[A]) Step() state.IntentStep { return state.StepDone }

// Step implements Stepped.
func (Pending[A]) Step() state.IntentStep { return state.StepWaiting }

// Step implements Stepped.
func (Declined[A]) Step() state.IntentStep { return state.StepDeclined }

// Step implements Stepped.
func (Refused[A]) Step() state.IntentStep { return state.StepRefused }

// Step implements Stepped.
func (Missing[A]) Step() state.IntentStep { return state.StepMissing }

// Step implements Stepped.
func (Void[A]) Step() state.IntentStep { return state.StepVoid }

// Step implements Stepped.
func (NotKnown[A]) Step() state.IntentStep { return state.StepNotKnown }

// Of reads the error of a call, for all users in one place. An unexpected error is not known. A refusal counts
// where no other call may have made something. That the gateway was not reached, or lacks what the call refers to,
// counts where somebody waits for the answer; otherwise the checks ask again.
func Of[A any](err error, made A, counts, waited bool) Outcome[A] {
	switch {
	case errors.Is(err, gateway.ErrOutcomeUnknown):
	case gateway.IsDeclined(err):
		return Declined[A]{Cause: err}
	case counts && gateway.Certain(err) && (waited || gateway.IsRejected(err)):
		return Refused[A]{Cause: err}
	}
	return NotKnown[A]{Result: made, Cause: err}
}
