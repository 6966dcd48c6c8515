// Package intent is the life of an order to a gateway: row committed, gateway called, answer settled, and found again
// where it was lost. An intent is one such order (table payments.intents). An Operation says of a kind what its user,
// a module that orders something, writes, calls, finds and settles; the phases, their order, and when a lost answer is
// checked are the package's:
//
//	Begin    one transaction: the user's row, its intent with one call counted   ← Committed
//	Run      the steps, one call after the other, each within its time and deaf  ← FaultPoint
//	         to a client that goes away
//	         one transaction: what the outcome means for the row, the intent's   ← Settling
//	         end (or that it waits)
//	(check)  after a lost answer: each step is looked for; the first that has not succeeded
//	         is the recovery point. Proved to have made nothing its call is made again
//	         where the step allows that (Again). Settled as by Run.
//
// On the right stand the places at which the crash tests kill. What a call or check says is an Outcome. Succeeded goes
// on to the next step, or ends; Pending waits for the gateway; Declined, Refused, Missing and Void end; NotKnown, which
// is everything else, a panic too, changes no row, and the checks find out. outcomes.Of alone makes one of an error;
// what it means that a thing is missing is for its user to say.
//
// An order that may be repeated without harm (Repeat: to pause, to end) stands in a row of its user's own. RequestTx
// opens its intent in the transaction that writes the row, and the checks alone carry it out and repeat it.
//
// Each gateway has a turn of checks every 5 s: what is due, oldest first, within a fifth of its quota. Pauses, and what
// an empty answer proves, are package backoff's; while a gateway fails or is suspect (package health) checks are few,
// or end nothing. The first right answer after a failed one, whoever asked, brings all checks forward. What is not
// known for a day is mailed to the operators once. Stored names call a check a look: columns, the job's kind, ByCheck.
//
// To add a user: a Kind here and in the table's CHECK; a function that returns its Operation (Opening, Row, Steps,
// SettleTx), in its module, with the kind in the module's payments.Hooks.Intents; Begin and Run where it is asked for.
// What events tell settles in their transaction, which ends the intent by EndTx. Lock order: the user's rows, then the
// intent; nothing here holds a lock across a call, and it knows no user.
package intent
