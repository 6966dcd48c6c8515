// Package recovery asks a gateway what it has made of a subscription whose answer is not known,
// reads a pending one live, and drops what nobody paid in time.
//
// Owns: no table.
//
// Does not own: what the answer means (room settle).
package recovery
