// Package codes owns what is proved by mail: the six digits that prove an address
// (accounts.codes, accounts.code_requests), for its verification, the reset of a password and
// the change of an e-mail, and the links that undo such a change (accounts.email_changes).
//
// It does not own passwords and throttles, which are those of package sessions, nor who signs
// up: rooms above have codes mailed through it.
package codes
