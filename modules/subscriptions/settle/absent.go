package settle

import "marquee/modules/payments"

// Absent is what was looked for before a payment is settled, and is not there: of what makes a payment something other
// than a renewal most have nothing, and so it is looked for at once. What is there is read where it is needed. The zero
// value says nothing.
type Absent struct {
	Ledger      payments.Absent // of the subscription
	Charge      bool            // the event is about no renewal charge
	Pauses      bool            // the subscription's collection was never paused
	ChargeMoves bool            // no extension has moved its charges
	Deletion    bool            // the customer, who is locked, has not deleted the account
}
