// Package disputes follows the disputes about a subscription's payments: what they suspend and
// end, and which payments they leave without use.
//
// Owns: no table; the disputes themselves are the ledger's, the pauses lifecycle's.
//
// Does not own: the events that tell of them (room webhooks), chargebacks entered by hand (room
// admin), the calls that pause a recurrence (room debits).
package disputes
