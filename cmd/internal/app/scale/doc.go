// Package scale fills a database with as many subscriptions as wanted and all that
// hangs on them, so that speed and plans can be looked at in the size of a large
// platform: customers with their logins, three settled payments a subscription,
// failed attempts, refunds, disputes, the whole history of states over some three
// years, events with orders and tickets, and webhook calls.
//
// The rows are such as the modules would have written: every invariant of
// sql/invariants holds on them, and the rollups of schema finance equal
// the ledgers. The same number and instant give the same rows. Nothing of it is
// known to a gateway, so no row carries a gateway's id of a recurrence, and no job
// asks for one. Nobody can log in as one of the customers: they have no password.
package scale
