// Package calls ends at the gateways what has ended here, repeats what failed, and knows when a
// thing that was there once is gone.
//
// Owns: no table. A call that a gateway does not take at once is an intent from then on, repeated
// by the checks until it is answered, and what a gateway does not find counts as gone after a
// second check.
//
// Does not own: what follows for the subscription of an answer (rooms settle and recovery).
package calls
