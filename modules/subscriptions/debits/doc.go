// Package debits orders the debits of automatic PIX and keeps what became of them, and has the
// gateways collect nothing while money is disputed.
//
// Owns: debits and debit_retries; Pauses carries out what the table pauses says.
//
// Does not own: ordering a failed debit again (room retries), when a pause begins (room disputes).
package debits
