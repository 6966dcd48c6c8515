// Package extensions gives time without a charge and has the next charge moved by as much.
//
// Owns: charge_moves. One that the gateway refuses for good is taken back.
//
// Does not own: who gives the time: admins (room admin), and decisions about payments (ExtendTx).
package extensions
