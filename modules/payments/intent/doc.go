// Package intent holds the orders to the gateways whose outcome is open, and the
// one schedule by which the gateways are asked what became of them.
//
// An intent is one order to a gateway (table payments.intents). Its user (a
// subscription, a ticket order, a refund) opens it in the transaction that commits
// its own row, before the gateway is called, and ends it in the one that settles
// the answer. A call that ends not known leaves it open: then looks ask the gateway
// what the call made. A look is a Looker of the user: it asks, settles what it
// finds, and answers Settled, Waiting, Missing or, with an error, not known.
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
//     apart, and none while the gateway is suspect: more than 5 and more than 1 % of
//     what was looked at within an hour was missing. The mark is lifted by an operator
//     (marquee gateway trust), by a look that finds again what was missing, and by
//     looks of the same hour that bring the share below 1 %.
//   - All looks at gateway A share a fifth of its quota, oldest first.
//   - What is not known for a day is told to the operators once.
//
// It knows no gateway and no user: it imports health and the platform alone, so that
// payments, tickets and subscriptions may all use it. Lock order: the user's rows
// first, then the intent; nothing here holds a lock across a call.
package intent
