// Package factors lets users set up, and take away, a second factor (package totp), and takes it and passkeys
// away where an account is given back, reset by an operator, or deleted.
//
// It does not own passwords, throttles and sessions, which are those of package sessions; that asks for a
// second factor at a sign-in. Passkeys are the matter of package passkeys.
package factors
