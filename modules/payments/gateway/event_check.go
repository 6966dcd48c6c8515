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
	for _, amount := range e.amounts() {
		switch {
		case amount < 0:
			return "a negative amount"
		case amount > maxAmount:
			return "an amount beyond all bounds"
		}
	}
	for _, id := range e.ids() {
		if len(id) > MaxID || strings.ContainsRune(id, 0) {
			return "an id that cannot be one"
		}
	}
	for _, at := range e.instants() {
		if year := at.Year(); !at.IsZero() && (year < firstYear || year > lastYear) {
			return "a date beyond all bounds"
		}
	}
	if e.Attempt < 0 || e.Attempt > maxAttempts {
		return "a number of attempts beyond all bounds"
	}
	return ""
}

// IsStrayMoney reports whether an event that nobody claims tells of money that may be a
// customer's of ours.
func (e Event) IsStrayMoney() bool {
	return e.Kind == PaymentWasSettled && e.Payment != nil && e.Payment.Amount > 0 && e.CustomerID != "" && !IsCharge(e.Payment.ID)
}

// NamesOurs reports whether an event carries an id of the form of ours: gateway B tells it
// in our own metadata, gateway A in the externalReference.
func (e Event) NamesOurs() bool { return objectid.Valid(e.Reference.String()) }

func (e Event) amounts() []money.Cents {
	var all []money.Cents
	if e.Payment != nil {
		all = append(all, e.Payment.Amount)
	}
	if e.Subscription != nil && e.Subscription.LatestPayment != nil {
		all = append(all, e.Subscription.LatestPayment.Amount)
	}
	if e.Refund != nil {
		all = append(all, e.Refund.Total)
		for _, single := range e.Refund.Singles {
			all = append(all, single.Amount)
		}
	}
	if e.Dispute != nil {
		all = append(all, e.Dispute.Amount)
	}
	if e.Authorization != nil {
		all = append(all, e.Authorization.Amount)
	}
	return all
}

func (e Event) ids() []string {
	all := append(e.Subjects(), e.CustomerID)
	if e.Payment != nil {
		all = append(all, e.Payment.InvoiceID, e.Payment.PaymentIntentID)
	}
	if e.Refund != nil {
		all = append(all, e.Refund.ChargeID)
		for _, single := range e.Refund.Singles {
			all = append(all, single.ID)
		}
	}
	if e.Dispute != nil {
		all = append(all, e.Dispute.ID)
	}
	if e.Subscription != nil {
		all = append(all, e.Subscription.CustomerGatewayID, e.Subscription.PriceID)
	}
	if e.Authorization != nil {
		all = append(all, e.Authorization.CustomerID)
	}
	return all
}

func (e Event) instants() []time.Time {
	all := []time.Time{e.CreatedAt}
	add := func(times ...*time.Time) {
		for _, at := range times {
			if at != nil {
				all = append(all, *at)
			}
		}
	}
	if e.Payment != nil {
		add(e.Payment.SettledAt, e.Payment.DueDate)
	}
	if e.Subscription != nil {
		add(e.Subscription.NextBilling)
	}
	if e.Refund != nil {
		add(&e.Refund.At)
		for _, single := range e.Refund.Singles {
			add(&single.At)
		}
	}
	if e.Dispute != nil {
		add(&e.Dispute.OpenedAt, &e.Dispute.At)
	}
	if e.Authorization != nil {
		add(e.Authorization.ExpiresAt)
	}
	return all
}

// IsCharge reports whether a payment is a charge of gateway B without an intent, which no
// call of ours reads.
func IsCharge(paymentID string) bool { return strings.HasPrefix(paymentID, "ch_") }

// MaxID bounds event ids and types, in bytes; gateway A's have about 50.
const MaxID = 255
