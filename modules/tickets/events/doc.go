// Package events is the room of what is on sale and of what stands for a place: events and the
// tickets to them, whoever issued these, the store's list, and the names of those who have tickets.
//
// It owns the tables events, tickets and customers, and has the words of the history
// transitions, which a trigger writes. It does not own orders: what money does to tickets
// is of the room orders, which locks the event by LockTx first, as everybody does who
// changes how many places are taken. What holders are written is queued here and written
// by the room mails.
package events
