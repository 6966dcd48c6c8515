// Package state has the words of the ledger's rows that are the platform's own, and the tables of
// moves: of refunds and disputes, whose states are words of package gateway, of intents, and of
// money that bought nothing, with why it did and where the decision about it stands.
//
// It owns no table of the database and asks none, so that the rows carry its types.
package state
