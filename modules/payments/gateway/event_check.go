package gateway

import (
	"math"
	"strings"

	"marquee/platform/money"
	"marquee/platform/objectid"
)

const (
	// maxAmount is what the ledgers hold.
	maxAmount   = money.MaxCharge
	maxAttempts = math.MaxInt16
	firstYear   = 2000
	lastYear    = 2200
)

// Impossible says why the event can never be applied, whatever job tries it again: a
// value that no ledger holds. It is "" for all others.
func (e Event) Impossible() string {
	var t told
	if e.Payload != nil {
		t = e.Payload.told()
	}
	for _, amount := range t.amounts {
		switch {
		case amount < 0:
			return "a negative amount"
		case amount > maxAmount:
			return "an amount beyond all bounds"
		}
	}
	for _, id := range append(append(e.Subjects(), e.CustomerID), t.ids...) {
		if len(id) > MaxID || strings.ContainsRune(id, 0) {
			return "an id that cannot be one"
		}
	}
	for _, at := range append(t.instants, &e.CreatedAt) {
		if at == nil || at.IsZero() {
			continue
		}
		if year := at.Year(); year < firstYear || year > lastYear {
			return "a date beyond all bounds"
		}
	}
	if t.attempt < 0 || t.attempt > maxAttempts {
		return "a number of attempts beyond all bounds"
	}
	return ""
}

// IsStrayMoney reports whether an event that nobody claims tells of money that may be a
// customer's of ours.
func (e Event) IsStrayMoney() bool {
	p, settled := e.Payload.(SettledPayment)
	return settled && p.Payment.Amount > 0 && e.CustomerID != "" && !IsCharge(p.Payment.ID)
}

// NamesOurs reports whether an event carries an id of the form of ours: gateway B tells it
// in our own metadata, gateway A in the externalReference.
func (e Event) NamesOurs() bool { return objectid.Valid(e.Reference.String()) }

// IsCharge reports whether a payment is a charge of gateway B without an intent, which no
// call of ours reads.
func IsCharge(paymentID string) bool { return strings.HasPrefix(paymentID, "ch_") }

// MaxID bounds event ids and types, in bytes; gateway A's have about 50.
const MaxID = 255
