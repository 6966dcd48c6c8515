// Package state has the words of the ledger's rows that are the platform's own: why money bought
// nothing and where the decision about it stands, with the table of moves, kinds of refunds, and who
// asked. What the gateways say of refunds and disputes are words of package gateway.
//
// It owns no table and does not import anything of the house, so that the rows of the database
// carry its types.
package state
