package gateway

import (
	"context"
	"errors"
	"time"

	"marquee/platform/fault"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/secret"
	"marquee/platform/taxid"
)

// Name tells the two gateways apart wherever a gateway is named: paths,
// fields, enumerated values.
type Name string

// The two gateways.
const (
	GWA Name = "gwa" // speaks the Asaas API v3
	GWB Name = "gwb" // speaks the Stripe API
)

// Gateway is what the modules above need of a payment gateway, without any type
// of a provider. Every call that makes something carries the id of a local row
// that is already committed; calling again with the same id makes nothing twice.
// No call may be made inside a database transaction.
//
// Errors: *Declined when the payer's bank or the gateway refused the payment;
// *Rejected when the gateway found the request wrong (nothing was made);
// ErrUnavailable when the gateway certainly did nothing; ErrOutcomeUnknown when
// it may or may not have acted (time-out, 5xx, an odd answer): ask again with Find;
// ErrMissing when this one check proved that it is not there.
//
// An answer counts when its kind, its id and our own id in it are right. An odd one
// (another object, a list, no JSON, a proxy's page, far too long) means nothing: a
// read ends with ErrUnavailable, a call that may act with ErrOutcomeUnknown. That
// is why calls about one object take, beside its id at the gateway, the id of our
// row that was sent along; where it is empty it is not compared, and gateway A's
// 404 then proves nothing.
type Gateway interface {
	Name() Name

	// EnsureCustomer returns the payer's id at the gateway, made when the payer
	// has none yet.
	EnsureCustomer(ctx context.Context, p Payer) (string, error)

	// SyncPlan makes or finds the plan's product and price. Gateway A keeps no
	// plans and returns the zero value.
	SyncPlan(ctx context.Context, p PlanTerms) (PlanIDs, error)

	// Subscribe starts a card subscription and charges it at once (after the
	// trial when there is one).
	Subscribe(ctx context.Context, t SubscriptionTerms) (RemoteSubscription, error)
	// FindSubscription looks for what Subscribe may have made for the local id;
	// ok is false when there is nothing.
	FindSubscription(ctx context.Context, t SubscriptionTerms) (s RemoteSubscription, ok bool, err error)
	// ReadSubscription reads a subscription live by its gateway id.
	ReadSubscription(ctx context.Context, gatewayID string, local objectid.ID) (RemoteSubscription, error)
	// CancelSubscription ends it now. Ending what is ended or missing is no error.
	CancelSubscription(ctx context.Context, gatewayID string, local objectid.ID) error

	// CreatePix makes one PIX payment and its QR code. When only the code could not
	// be read the error is ErrOutcomeUnknown, and FindPix gives both later.
	CreatePix(ctx context.Context, t PixTerms) (PixCharge, error)
	// FindPix looks for what CreatePix may have made for the reference; ok is
	// false when there is nothing.
	FindPix(ctx context.Context, t PixTerms) (c PixCharge, ok bool, err error)
	// ReadPix reads the payment and, while it can be paid, its QR code.
	ReadPix(ctx context.Context, paymentID string, local objectid.ID) (PixCharge, error)
	// CancelPix makes an open PIX payment unpayable. Cancelling what is gone is
	// no error; when it has been paid meanwhile the error is ErrAlreadyPaid.
	CancelPix(ctx context.Context, paymentID string, local objectid.ID) error

	CardUpdater
	CollectionPauser
	CardCharger
	PixDebiter
	Refunder
	Lister
}

// Payer is the customer as a gateway needs to know them.
type Payer struct {
	CustomerID objectid.ID
	GatewayID  string // id at this gateway; empty when not made yet
	Name       string
	Email      string
	Phone      string
	TaxID      string // CPF or CNPJ without punctuation; gateway A refuses without
}

// CheckTaxID refuses a payer without a tax id that gateways take. Alphanumeric: the CNPJ with letters is one.
func CheckTaxID(id string, alphanumeric bool) error {
	if taxid.Valid(id, alphanumeric) {
		return nil
	}
	return fault.BadRequest("A payment needs your tax id (CPF or CNPJ) with valid check digits. Add it with PUT /customers/me.").WithField("tax_id")
}

// Card is a card in the clear on its way to gateway A. It cannot be printed,
// logged, marshalled or queued.
type Card struct {
	HolderName, Number, ExpiryMonth, ExpiryYear, CCV secret.Text
}

// CardHolder is the address data that gateway A wants with a card.
type CardHolder struct {
	Name, Email, TaxID, PostalCode, AddressNumber, Phone string
}

// Instrument is how a payer pays by card: a token made by gateway B's client
// library, or a card for gateway A.
type Instrument struct {
	PaymentMethodID string      // gateway B
	Card            *Card       // gateway A
	Holder          *CardHolder // gateway A
	RemoteIP        string      // the payer's address, which gateway A demands
	// CardToken stands for Card and Holder at gateway A: what ChargeCard returned
	// for the same payer.
	CardToken secret.Text
}

// PlanTerms is a plan to be known at a gateway.
type PlanTerms struct {
	PlanID       string // the text id, such as "plus"
	Name         string
	Amount       money.Cents // a month
	IntervalUnit string      // MONTH
	ProductID    string      // known ids; empty before the first synchronisation
	PriceID      string
	PriceAmount  money.Cents // the amount that PriceID stands for
}

// PlanIDs are a plan's ids at a gateway.
type PlanIDs struct{ ProductID, PriceID string }

// SubscriptionTerms is a card subscription to be started.
type SubscriptionTerms struct {
	SubscriptionID objectid.ID // the local row: idempotency key and reference
	Payer          Payer       // with GatewayID
	PlanID         string
	PlanName       string
	PriceID        string      // gateway B
	Amount         money.Cents // a month
	// First is what the first month costs with a promo code; nil: Amount. Gateway B
	// lowers its first invoice; gateway A charges it apart, by ChargeCard.
	First     *money.Cents
	TrialDays int
	// StartsAt is when the first charge falls due, in place of the trial; nil: at once.
	// It lies ahead; gateway A takes its day, FirstDue.
	StartsAt   *time.Time
	FirstDue   time.Time // the day of the first charge, in REPORT_TZ at gateway A
	Instrument Instrument
}

// FirstOff is how much less than the others the first month costs.
func (t SubscriptionTerms) FirstOff() money.Cents {
	if t.First == nil {
		return 0
	}
	return max(t.Amount-*t.First, 0)
}

// Outcome is info.payment_status of the subscribe routes.
type Outcome string

// The outcomes of the contract (docs/contract/subscriptions.md, Subscribing); gateway A adds its own words, such as
// PENDING, in RemoteSubscription.PaymentStatus.
const (
	Succeeded             Outcome = "succeeded"
	RequiresAction        Outcome = "requires_action"
	RequiresPaymentMethod Outcome = "requires_payment_method"
	OutcomeUnknown        Outcome = "unknown"
)

// RemoteStatus is a subscription's status at a gateway, in gateway B's words,
// which gateway A's are mapped to.
type RemoteStatus string

// The statuses of the contract's table (docs/contract/payments.md, Statuses of gateway B).
const (
	RemoteActive            RemoteStatus = "active"
	RemoteTrialing          RemoteStatus = "trialing"
	RemotePastDue           RemoteStatus = "past_due"
	RemoteUnpaid            RemoteStatus = "unpaid"
	RemotePaused            RemoteStatus = "paused"
	RemoteCanceled          RemoteStatus = "canceled"
	RemoteIncomplete        RemoteStatus = "incomplete"
	RemoteIncompleteExpired RemoteStatus = "incomplete_expired"
)

// Ended reports whether the gateway will never charge for it again by itself.
func (s RemoteStatus) Ended() bool { return s == RemoteCanceled || s == RemoteIncompleteExpired }

// RemoteSubscription is a subscription as its gateway tells it.
type RemoteSubscription struct {
	GatewayID         string
	CustomerGatewayID string
	PriceID           string
	Status            RemoteStatus
	NativeStatus      string // gateway A: ACTIVE, INACTIVE, EXPIRED, or DELETED; gateway B: as Status
	Outcome           Outcome
	PaymentStatus     string      // as info.payment_status shows it
	ClientSecret      secret.Text // only while the client has to authenticate
	NextBilling       *time.Time  // end of the paid period, next due date
	CreatedAt         time.Time
	CancelAtPeriodEnd bool
	LatestPayment     *Payment // the newest payment of the subscription, when known
	// Inactive: gateway A only collects nothing, as after our pause. Status is
	// RemoteCanceled then, too.
	Inactive bool
}

// PaymentStatus is a payment's state in neutral words.
type PaymentStatus string

// The states of a payment.
const (
	PaymentStatusPending PaymentStatus = "pending"
	PaymentStatusSettled PaymentStatus = "settled" // approved or received: the money counts
	PaymentStatusFailed  PaymentStatus = "failed"
	PaymentStatusGone    PaymentStatus = "gone" // deleted, cancelled or run out
)

// Method is payment_method of a subscription (docs/contract/subscriptions.md, The record).
type Method string

// The methods.
const (
	MethodCard   Method = "credit_card"
	MethodPix    Method = "pix"
	MethodBoleto Method = "boleto"
)

// Payment is one gateway payment: a row of the ledger once it is settled.
type Payment struct {
	// ID is the key of the ledger. Gateway A: pay_…. Gateway B: the invoice in_…
	// when there is one (its newer events don't tell the payment intent), else the
	// payment intent pi_….
	ID              string
	InvoiceID       string // gateway B
	PaymentIntentID string // gateway B, when known
	Status          PaymentStatus
	NativeStatus    string // CONFIRMED, RECEIVED, succeeded, paid, …
	Method          Method
	Amount          money.Cents
	SettledAt       *time.Time // when the money counted, by the gateway's word
	DueDate         *time.Time // gateway A: the day it is due, 00:00 in São Paulo
	// MadeFor is the due date with which gateway A made the charge, and which stays when
	// DueDate is moved: a recurrence makes one charge for it.
	MadeFor *time.Time
	// Whose it is and what charged it, as only ReadPayment tells.
	CustomerGatewayID     string
	SubscriptionGatewayID string // "" for a payment without a recurrence
	// LocalCustomerID is our customer that it names; only gateway B tells it.
	LocalCustomerID objectid.ID
	// AuthorizationGatewayID is the automatic PIX that debited it; "" also where the
	// gateway does not tell.
	AuthorizationGatewayID string
}

// PixTerms is a PIX payment to be made.
type PixTerms struct {
	Reference   objectid.ID // the local row: subscription or order
	Kind        string      // "subscription_pix" or "ticket_order", told to gateway B as metadata
	Payer       Payer
	Amount      money.Cents
	Description string
	DueDate     time.Time     // the day it is to be paid, in REPORT_TZ
	ExpiresIn   time.Duration // of the QR code; gateway A ignores it
}

// PixCharge is a PIX payment with its QR code.
type PixCharge struct {
	Payment      Payment
	Payload      string      // copy-and-paste text
	EncodedImage string      // PNG of the QR code in base64, without a data: prefix
	ExpiresAt    *time.Time  // of the code
	ClientSecret secret.Text // gateway B
	Expired      bool        // the code can no longer be paid
}

// Declined says that the payment was refused. Message is fit for the card
// holder.
type Declined struct {
	Code    string
	Message string
	// Remote is what the gateway made all the same, else nil. It has been ended
	// there when its status is RemoteCanceled or RemoteIncompleteExpired;
	// otherwise ending it failed and CancelSubscription has to be called again.
	Remote *RemoteSubscription
}

func (e *Declined) Error() string { return "payment declined: " + e.Code }

// Rejected says that the gateway found the request wrong and made nothing.
// Message is the gateway's own and only for the log.
type Rejected struct{ Code, Message string }

func (e *Rejected) Error() string {
	return "gateway rejected the request: " + e.Code + ": " + e.Message
}

// IsDeclined reports whether err is *Declined, IsRejected whether it is *Rejected.
func IsDeclined(err error) bool {
	_, ok := errors.AsType[*Declined](err)
	return ok
}

// IsRejected is as IsDeclined.
func IsRejected(err error) bool {
	_, ok := errors.AsType[*Rejected](err)
	return ok
}

// Errors without details.
var (
	ErrUnavailable    = errors.New("payments: the gateway is not available")
	ErrOutcomeUnknown = errors.New("payments: the gateway may have acted")
	ErrAlreadyPaid    = errors.New("payments: the payment has been made meanwhile")
	// ErrDisputed: a refund was refused since the payer disputes the payment.
	ErrDisputed = errors.New("payments: the payment is disputed")
	// ErrMissing: one read proves it. What was there once is not ended by one such
	// read.
	ErrMissing = errors.New("payments: the object is not known at the gateway")
	// ErrUnsupported: this gateway has nothing of the kind, such as automatic PIX
	// at gateway B. Nothing was sent.
	ErrUnsupported = errors.New("payments: the gateway does not offer this")
)

// FaultOf words an error of a gateway for people: 400 when it found the data
// wrong, 503 when it cannot be reached or does not find what the call refers to.
// Other errors pass unchanged.
func FaultOf(err error) error {
	switch {
	case IsRejected(err):
		return fault.BadRequest("The payment gateway did not accept these data. Check the card, name, tax id, phone and address.").WithCause(err)
	case errors.Is(err, ErrUnavailable), errors.Is(err, ErrOutcomeUnknown):
		return (&fault.Error{
			Kind: fault.KindUnavailable, Message: "The payment gateway does not answer. Try again in a moment.",
			RetryAfter: 30 * time.Second,
		}).WithCause(err)
	case errors.Is(err, ErrMissing):
		return (&fault.Error{
			Kind:    fault.KindUnavailable,
			Message: "The payment gateway cannot find what this refers to. Please write to us.",
		}).WithCause(err)
	}
	return err
}

// Certain reports whether an error of a call means that the gateway certainly made nothing
// of it: refused for its shape, not asked, not listening, or without what the call refers to.
func Certain(err error) bool { return IsError(err) && !errors.Is(err, ErrOutcomeUnknown) }

// IsError reports whether an error is a gateway's, but for a declined payer. Those of our
// own, such as the database's, are left to the job.
func IsError(err error) bool {
	return IsRejected(err) || errors.Is(err, ErrUnavailable) || errors.Is(err, ErrOutcomeUnknown) ||
		errors.Is(err, ErrMissing) || errors.Is(err, ErrUnsupported)
}
