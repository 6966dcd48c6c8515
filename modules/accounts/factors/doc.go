// Package factors owns what users prove who they are with beside a password: it lets them set up,
// and take away, a second factor (package totp), and takes all of it away where an account is given back,
// reset by an operator, or deleted.
//
// It does not own passwords, throttles and sessions, which are those of package sessions; that asks for a
// second factor at a sign-in.
package factors
