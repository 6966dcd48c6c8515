// Package state has the words of the module tickets: the states of orders and of tickets,
// and for each the one table of what leads it from where to where.
//
// It owns no table and knows no database, so that the rows of the database carry its
// types. What follows from a move is of orders, and of events for tickets.
package state
