// Package identity owns users, admins and customers alike (accounts.users, accounts.logins
// and what their usernames look like): the row, the rules of its fields, the customer as the
// API and the modules above see them, their pictures and their one trial.
//
// It does not own how a user proves who they are: passwords, tokens and codes are those of the
// rooms above. Whoever changes a name, an address or a verification through it has the modules
// above told of it, in the same transaction.
package identity
