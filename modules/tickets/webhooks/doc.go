// Package webhooks is the room of events: which order one is about, and what each kind does to it.
//
// It owns the table of deleted orders, for money that arrives after its order is gone, and no
// other. Events are received and kept by the module payments; what they do to orders is
// done by the room orders. Money that the event alone tells of at gateway A is asked for first.
package webhooks
