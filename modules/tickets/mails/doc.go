// Package mails is the room of what people are written: the buyer of an order, and the holders of
// tickets of an event that is moved or called off.
//
// It owns no table. The jobs name a row, and are queued by the rooms orders and events in the
// transaction that the mail tells of; what it says is read when it is written.
package mails
