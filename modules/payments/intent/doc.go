// Package intent is the life of an order to a gateway: row committed, gateway called,
// answer settled, and found again where it was lost.
//
// An intent is one such order (table payments.intents). An Operation says of a kind what
// its user writes, calls, finds and settles; the phases and their order are the package's:
//
//	Begin    one transaction: the user's row, and its intent with one call counted
//	Run      the calls, one step after the other, each within its time, deaf to a client
//	         that goes away; an error is read in one place (outcomeOf)
//	         then one transaction: what the outcome means for the row, and the intent's end
//	(look)   by the schedule, after a lost answer: each step is looked for; the first that
//	         has not succeeded is where the order stands. Proved to have made nothing, its
//	         call is made again where the step allows that (Again). Settled as by Run.
//
// What a call or look says is an Outcome, one of seven types: Succeeded, Pending, Declined,
// Refused, Missing and Void are settled; NotKnown, what everything else is, changes no row.
//
// A Repeated is an order whose repetition is harmless: to move, to pause, to end. It stands
// in a row of its user's own from the beginning, has an intent from its first failure on,
// and is then repeated by the looks alone.
//
// Events settle by themselves, in the webhook's transaction, and end the intent with EndTx.
// Users that have no operation yet open with OpenTx, note NotKnown, and answer looks by a
// Looker: Settled, Waiting, NotThere or, with an error, not known.
//
// The package decides when to look and what an empty look proves:
//
//   - After a call or look that ended not known: 5, 15, 45 s, 2, 5, 15 min, then
//     hourly, after a week daily. While a gateway fails as a whole (package health), one
//     look every half minute probes it, or where no intent can stand for it, a question
//     without one. The first right answer after a failed one, whoever asked, brings all
//     looks forward; what fails again waits twice as long each time.
//   - An empty look counts as a miss only after the call's own time limit: the nth no
//     sooner than 2^n - 1 RECOVERY_DELAY after it, nor than 5, 15, 35 s after the one
//     before. Gateway A, whose search may lag, needs four, B two. Only then is
//     Look.Proved true, and only then may a Looker end the row as nothing made, or make
//     the call again.
//   - What was found once (Kind registered with WasFound) needs two misses an hour
//     apart, and none while the gateway is suspect (package health).
//   - All looks at gateway A share a fifth of its quota, oldest first.
//   - What is not known for a day is told to the operators once.
//
// It knows no user, and of the gateways their words and errors alone, so that payments,
// tickets and subscriptions may all use it. Lock order: the user's rows first, then the
// intent; nothing here holds a lock across a call.
package intent
