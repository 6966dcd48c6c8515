// Package state has the words of the module subscriptions: the states of a subscription and of
// the orders beside it, what may move them and who, why the history says so, and one table
// each of what leads from where to where.
//
// It owns no table and asks no database, so that the rows carry its types. What else a move
// changes, and what follows from it, is of room lifecycle.
package state
