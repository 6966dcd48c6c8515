// Package strays ends recurrences at the gateways that no subscription owns, and takes in money
// that nothing here knows.
//
// Owns: stray_recurrences. Those found after a restore wait until a person has confirmed them.
//
// Does not own: payments that a subscription does not take (room settle).
package strays
