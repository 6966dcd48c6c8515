package gateway

import (
	"time"

	"marquee/platform/objectid"
)

// Purpose says what a payment is for.
type Purpose string

// The purposes.
const (
	ForSubscription Purpose = "subscription"
	ForOrder        Purpose = "order"
	ForCustomer     Purpose = "customer" // of a customer, and of neither: it stands on the list of unapplied payments
)

// Owner is the row here that money at a gateway is for.
type Owner struct {
	Gateway    Name
	Purpose    Purpose
	LocalID    objectid.ID // the subscription, order or customer
	CustomerID objectid.ID
}

// At is the owner of money at another gateway than its own.
func (o Owner) At(on Name) Owner {
	o.Gateway = on
	return o
}

// OfCustomer is the owner of a customer's money that belongs to no subscription or order.
func OfCustomer(on Name, customer objectid.ID) Owner {
	return Owner{Gateway: on, Purpose: ForCustomer, LocalID: customer, CustomerID: customer}
}

// LedgerPayment is a row of the ledger.
type LedgerPayment struct {
	Owner

	ID      objectid.ID
	Payment Payment
}

// Names are the ids under which a dispute may know the payment.
func (p LedgerPayment) Names() []string {
	return []string{p.Payment.ID, p.Payment.InvoiceID, p.Payment.PaymentIntentID}
}

// RefundKey is the payment's id among refunds: at gateway B the payment intent,
// "" while the ledger does not know it.
func (p LedgerPayment) RefundKey() string {
	if !p.Gateway.Traits().Invoices {
		return p.Payment.ID
	}
	if p.Payment.PaymentIntentID == "" && p.Payment.InvoiceID == "" {
		return p.Payment.ID
	}
	return p.Payment.PaymentIntentID
}

// BookedPayment is what a payment that is booked tells of its gateway: Confirm asks whether it
// is so there.
func BookedPayment(on Name, now time.Time, paymentID string) Event {
	return Event{Gateway: on, Type: Reconciled, CreatedAt: now, Payload: SettledPayment{Payment{ID: paymentID}}}
}
