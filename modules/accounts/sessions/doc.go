// Package sessions owns how users prove who they are by what they know or were given:
// passwords, tokens, devices, the throttles and quotas that bound guesses (accounts.throttles),
// and who calls.
//
// It does not own the codes that are mailed, nor the users themselves, which are those of
// package identity.
package sessions
