package payments

import (
	"context"
	"time"

	"marquee/platform/money"
	"marquee/platform/objectid"
)

// Lister lists payments as the gateway has them.
type Lister interface {
	// ListPayments lists the payments of a subscription, newest first, at most 100
	// (specification, Admin subscription management; gateway pages, Payments list).
	ListPayments(ctx context.Context, q PaymentsQuery) ([]RemotePayment, error)
	// CreatedSince reads, page by page, the payments made at the gateway since an
	// instant, as events with the meaning their present state has: a settled one
	// is PaymentWasSettled, a refunded one comes with a second event
	// PaymentWasRefunded, one without consequence is left out. Page is "" first and
	// then the answer's next, which is "" at the end. For reconciliation:
	// Service.ApplyReported applies each like a webhook's.
	CreatedSince(ctx context.Context, since time.Time, page string) (events []Event, next string, err error)
	// InvoiceOf finds the invoice behind a payment intent of gateway B, "" when
	// there is none; gateway A: ErrUnsupported.
	InvoiceOf(ctx context.Context, paymentIntentID string) (invoiceID string, err error)
}

// PaymentsQuery names a subscription's payments at its gateway.
type PaymentsQuery struct {
	SubscriptionID        objectid.ID // the local row: reference of PIX and first months
	SubscriptionGatewayID string
	CustomerGatewayID     string
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
