// Package users owns the admins of the platform: who makes, changes and deletes them and with
// what rights, what they change about themselves, and the profiles that say which handlers an
// admin may call (accounts.users_type).
//
// It does not own the rows and the rules of their fields, which are those of package identity,
// nor users that the command line makes, which are those of package signup.
package users
