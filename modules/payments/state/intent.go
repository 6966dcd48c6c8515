package state

import "marquee/platform/transition"

// Intent is where an order to a gateway stands.
type Intent string

// The states.
const (
	IntentOpen     Intent = "open"
	IntentDone     Intent = "done"     // what it was for is there
	IntentDeclined Intent = "declined" // by the payer's bank or the gateway: no money moves
	IntentRefused  Intent = "refused"  // for its shape, or never asked: nothing was made
	IntentMissing  Intent = "missing"  // proved not to be there
	IntentVoid     Intent = "void"     // nothing is left to be asked, or to be paid
)

// IntentStep is what happens to an intent, in its history.
type IntentStep string

// The steps.
const (
	StepCalled      IntentStep = "called"        // the call is made, or made again
	StepSeen        IntentStep = "seen"          // no call: what was made before is looked for
	StepNotKnown    IntentStep = "not_known"     // nothing that can be used was told
	StepWaiting     IntentStep = "waiting"       // it is there, and the gateway decides later
	StepNotThereYet IntentStep = "not_there_yet" // an empty answer that proves nothing
	StepNotThere    IntentStep = "not_there"     // an empty answer that counts
	StepDone        IntentStep = "done"
	StepDeclined    IntentStep = "declined"
	StepRefused     IntentStep = "refused"
	StepMissing     IntentStep = "missing"
	StepVoid        IntentStep = "void"
)

// Intents is the one table of what becomes of an intent. What has ended stays. The history, payments.intent_steps, says
// each step, also of what stays open; why one is not known it has from the gateway, as its cause.
var Intents = transition.Table[Intent, IntentStep]{
	{By: StepCalled, Moves: map[Intent]Intent{"": IntentOpen, IntentOpen: IntentOpen}},
	{By: StepSeen, Moves: map[Intent]Intent{"": IntentOpen}},
	{By: StepNotKnown, Moves: map[Intent]Intent{IntentOpen: IntentOpen}},
	{By: StepWaiting, Moves: map[Intent]Intent{IntentOpen: IntentOpen}},
	{By: StepNotThereYet, Moves: map[Intent]Intent{IntentOpen: IntentOpen}},
	{By: StepNotThere, Moves: map[Intent]Intent{IntentOpen: IntentOpen}},
	{By: StepDone, Moves: map[Intent]Intent{IntentOpen: IntentDone}},
	{By: StepDeclined, Moves: map[Intent]Intent{IntentOpen: IntentDeclined}},
	{By: StepRefused, Moves: map[Intent]Intent{IntentOpen: IntentRefused}},
	{By: StepMissing, Moves: map[Intent]Intent{IntentOpen: IntentMissing}},
	{By: StepVoid, Moves: map[Intent]Intent{IntentOpen: IntentVoid}},
}

// Ends reports whether the step is an intent's last.
func (s IntentStep) Ends() bool {
	to, ok := Intents.Next(IntentOpen, s)
	return ok && to != IntentOpen
}

// IntentKind says what an intent is for: the kinds are package intent's.
type IntentKind string

// IntentBy says who brought a step: a word of package intent, or the source of its user's own
// move.
type IntentBy string
