package gateway

import (
	"math"
	"strings"
	"time"

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
	var t facts
	if e.Payload != nil {
		t = e.Payload.facts()
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

// IsStrayMoney reports whether an event that nobody claims reports money that may be
// one of our customers'.
func (e Event) IsStrayMoney() bool {
	p, settled := e.Payload.(SettledPayment)
	return settled && p.Payment.Amount > 0 && e.CustomerID != "" && !IsCharge(p.Payment.ID)
}

// NamesOurs reports whether an event carries an id in our form: gateway B has it in our
// metadata, gateway A in the externalReference.
func (e Event) NamesOurs() bool { return objectid.Valid(e.Reference.String()) }

// IsCharge reports whether a payment is a charge of gateway B without an intent, which
// none of our calls reads.
func IsCharge(paymentID string) bool { return strings.HasPrefix(paymentID, "ch_") }

// MaxID bounds event ids and types, in bytes; gateway A's have about 50.
const MaxID = 255

// livePauses lie between the looks for a payment that was told and is not found, or not
// paid: gateway A's answers may lag, and the last of four decides.
var livePauses = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute}

// LivePause is how long to wait after so many checks that did not find a payment paid; ok
// is false when that was the last.
func LivePause(misses int) (pause time.Duration, ok bool) {
	if misses >= len(livePauses) {
		return 0, false
	}
	return livePauses[misses], true
}

const (
	// settledAhead and dueAhead are how far ahead of our clock a charge may say that it was
	// paid, and due: gateway A makes charges 40 days ahead.
	settledAhead, dueAhead = 3 * 24 * time.Hour, 45 * 24 * time.Hour
)

// IsFarAhead reports whether money says that it came days from now, or that it was due
// longer from now than charges are made ahead.
func (p Payment) IsFarAhead(now time.Time) bool {
	return p.SettledAt != nil && p.SettledAt.After(now.Add(settledAhead)) ||
		p.DueDate != nil && p.DueDate.After(now.Add(dueAhead))
}
