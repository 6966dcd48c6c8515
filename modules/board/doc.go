// Package board owns the staff's request board: its columns, its cards, and
// which stored files hang on which card (docs/contract/board.md).
//
// It does not own the bytes of attachments, which are files'; nor users, their
// profiles and the audit trail, which are accounts'. A card's history is what the
// audit trail says about it.
//
// # Words
//
// A requisition is a card. A requisition status is a column; each card is in one.
// An attachment is a stored file with a row here: a file without one belongs to
// no card and is not found.
//
// # Who may do what
//
// Every route demands an admin whose profiles hold its handler name; root passes.
// Whoever may read cards may read their history.
//
// # Changes at the same time
//
// A change of a card locks it, so of two moves one comes first and both stand in
// its history in that order. A change that only waits its turn may be older than
// the one it waits for; the card's register_update_date rises all the same. Cards
// are locked before columns, each in the order of their ids.
//
// # Timestamps
//
// register_update_date of a card is its last change, attachments included; a new
// name of its column leaves it. attachments.attached_at orders a card's files.
package board
