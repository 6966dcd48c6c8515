package gateway

import (
	"context"
	"time"

	"marquee/platform/money"
	"marquee/platform/objectid"
)

// PixDebiter is automatic PIX, which gateway A alone offers; gateway B answers
// ErrUnsupported.
type PixDebiter interface {
	// AuthorizePix makes an authorization with the QR code of the first payment,
	// which also carries the payer's consent.
	AuthorizePix(ctx context.Context, t AuthorizationTerms) (PixAuthorization, error)
	// FindPixAuthorization looks for what AuthorizePix may have made; ok is false
	// when there is nothing.
	FindPixAuthorization(ctx context.Context, t AuthorizationTerms) (a PixAuthorization, ok bool, err error)
	// ReadPixAuthorization reads it with its code.
	ReadPixAuthorization(ctx context.Context, ref AuthorizationRef) (PixAuthorization, error)
	// CancelPixAuthorization ends it and the debits that were ordered under it.
	// Ending what is over is no error.
	CancelPixAuthorization(ctx context.Context, ref AuthorizationRef) error
	// DebitPix orders the debit of one cycle: nobody else makes it. It is due 2 to
	// 10 business days ahead, and taken on that day.
	DebitPix(ctx context.Context, t DebitTerms) (Payment, error)
	// FindPixDebit looks for the debit of (authorization, cycle); ok is false when
	// there is none.
	FindPixDebit(ctx context.Context, t DebitTerms) (p Payment, ok bool, err error)
	// FindPixOrder reads what the payer's bank was last told to do about a debit; ok
	// is false when the gateway shows nothing.
	FindPixOrder(ctx context.Context, paymentID string) (o PixOrder, ok bool, err error)
	// RetryPixOrder orders a refused debit again, for another day.
	RetryPixOrder(ctx context.Context, t RetryTerms) (PixOrder, error)
}

// AuthorizationRef names an automatic PIX at its gateway.
type AuthorizationRef struct {
	ID                string
	SubscriptionID    objectid.ID // the contract
	CustomerGatewayID string      // whose list shows it; empty: all are looked through
}

// AuthorizationTerms is an automatic PIX to be authorized.
type AuthorizationTerms struct {
	SubscriptionID objectid.ID // the contract
	Payer          Payer       // with GatewayID
	Description    string      // at most 35 characters count
	PeriodMonths   int         // 1, 3, 6 or 12
	FirstAmount    money.Cents // of the QR code
	Amount         money.Cents // of each later debit
	FirstDebit     time.Time   // the day of the first debit, in REPORT_TZ
	ExpiresIn      time.Duration
}

// AuthorizationStatus is the state of an automatic PIX.
type AuthorizationStatus string

// The states of an authorization.
const (
	AuthorizationStatusCreated   AuthorizationStatus = "created"
	AuthorizationStatusActive    AuthorizationStatus = "active"
	AuthorizationStatusCancelled AuthorizationStatus = "cancelled"
	AuthorizationStatusRefused   AuthorizationStatus = "refused" // its code ran out unpaid
	AuthorizationStatusExpired   AuthorizationStatus = "expired" // its last day has passed
)

// Ended reports whether it will never be debited again.
func (s AuthorizationStatus) Ended() bool {
	return s == AuthorizationStatusCancelled || s == AuthorizationStatusRefused || s == AuthorizationStatusExpired
}

// PixAuthorization is an automatic PIX as the gateway tells it.
type PixAuthorization struct {
	ID             string
	SubscriptionID objectid.ID // the contract, when it is ours
	CustomerID     string      // at the gateway
	Status         AuthorizationStatus
	Amount         money.Cents
	// ConciliationID is the only thing by which the first payment is known: keep
	// it with the row (Event.ConciliationID).
	ConciliationID string
	Payload        string // copy-and-paste text of the first payment
	EncodedImage   string // PNG in base64, without a data: prefix
	ExpiresAt      *time.Time
	Expired        bool   // the code can no longer be paid
	Reason         string // of a cancellation, the gateway's own words
}

// PixOrderStatus is the state of an order to the payer's bank.
type PixOrderStatus string

// The states of an order.
const (
	PixOrderOpen      PixOrderStatus = "open" // on its way to the bank, or scheduled there
	PixOrderDone      PixOrderStatus = "done"
	PixOrderRefused   PixOrderStatus = "refused"
	PixOrderCancelled PixOrderStatus = "cancelled"
)

// PixOrder is what the payer's bank was told to do about a debit.
type PixOrder struct {
	ID        string
	PaymentID string
	Status    PixOrderStatus
	DueDate   *time.Time // the day on which the bank takes the money
	Attempt   int        // 0: the first, else the number of the retry
	Reason    string     // of a refusal or cancellation, the gateway's own word
	Final     bool       // it was refused for what no retry changes
}

// RetryTerms is a refused debit to be ordered again.
type RetryTerms struct {
	OrderID   string
	PaymentID string
	DueDate   time.Time // at the earliest tomorrow
}

// DebitTerms is one debit of an automatic PIX.
type DebitTerms struct {
	SubscriptionID  objectid.ID
	AuthorizationID string
	Payer           Payer     // with GatewayID
	Cycle           time.Time // the day on which the period begins that is paid: names the debit
	DueDate         time.Time
	Amount          money.Cents
	Description     string
}
