package gateway

import (
	"context"
	"encoding/json"
	"time"

	"marquee/platform/money"
	"marquee/platform/objectid"
)

// Reconciled is the type of an event that CreatedSince told; it has no id.
const Reconciled = "reconcile.payment"

// ReadLive is the type of an event that stands for a payment which was read by its id.
const ReadLive = "read.payment"

// Lister lists payments as the gateway has them.
type Lister interface {
	// ListPayments lists the payments of a subscription, newest first, at most 100
	// (docs/contract/subscriptions.md, Admins).
	ListPayments(ctx context.Context, q PaymentsQuery) ([]RemotePayment, error)
	// CreatedSince reads, page by page, what the gateway has of payments, refunds and
	// disputes made since an instant, as events of the type Reconciled with the
	// meaning that their present state has: a settled payment is PaymentSettled, a
	// refunded one comes with a second event PaymentRefunded, one without
	// consequence is left out. Page is "" first and then the answer's next, which is
	// "" at the end. It may tell more than was asked for, and a thing twice.
	CreatedSince(ctx context.Context, since time.Time, page string) (events []Event, next string, err error)
	// EventsSince reads, page by page, the bodies of the events that the gateway has
	// sent or tried to send since an instant, newest first; gateway A lists none:
	// ErrUnsupported.
	EventsSince(ctx context.Context, since time.Time, page string) (bodies []json.RawMessage, next string, err error)
	// InvoiceOf finds the invoice behind a payment intent of gateway B, "" when
	// there is none; gateway A: ErrUnsupported.
	InvoiceOf(ctx context.Context, paymentIntentID string) (invoiceID string, err error)
}

// PaymentsQuery names a subscription's payments at its gateway.
type PaymentsQuery struct {
	SubscriptionID        objectid.ID // the local row: reference of PIX and first months
	SubscriptionGatewayID string
	CustomerGatewayID     string
	// PaymentIDs are payments known to be the subscription's that the gateway may list
	// nowhere: the first of gateway A's automatic PIX has another customer and no
	// reference.
	PaymentIDs []string
}

// RemotePayment is a payment as GET …/payments shows it.
type RemotePayment struct {
	ID              string // pay_…; ch_…
	PaymentIntentID string // gateway B
	Payment         Payment
	Status          string // gateway B: succeeded, pending, failed; gateway A: its own word
	Amount          money.Cents
	AmountRefunded  money.Cents
	Refunded        bool // in full
	Disputed        bool
	Currency        string // brl
	CreatedAt       time.Time
	Description     string
	BillingType     string     // gateway A
	DueDate         *time.Time // gateway A
	PaidAt          *time.Time // gateway A
}
