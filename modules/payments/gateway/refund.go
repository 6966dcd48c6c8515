package gateway

import (
	"context"
	"encoding/json"
	"time"

	"marquee/platform/money"
	"marquee/platform/objectid"
)

// Refunder gives money back and reads what became of it.
type Refunder interface {
	// Refund gives back a part of a payment, by one call. Gateway B knows the refund
	// id as idempotency key for a day and as metadata; at gateway A, which has no
	// keys, it stands in the description alone: look with FindRefund before the call
	// is made again. *Rejected when the gateway refused; ErrOutcomeUnknown when its
	// answer is not that of this very refund.
	Refund(ctx context.Context, t RefundTerms) (RemoteRefund, error)
	// FindRefund looks for what Refund may have made; ok is false when there is
	// nothing.
	FindRefund(ctx context.Context, t RefundTerms) (r RemoteRefund, ok bool, err error)
	// ListRefunds lists the refunds of a payment, newest first.
	ListRefunds(ctx context.Context, p PaymentRef) ([]RemoteRefund, error)
	// ListDisputes lists the disputes of a payment, newest first.
	ListDisputes(ctx context.Context, p PaymentRef) ([]DisputeReport, error)
}

// PaymentRef names a payment at its gateway.
type PaymentRef struct {
	PaymentID       string // as Payment.ID
	PaymentIntentID string // gateway B, when known: saves a call
	ChargeID        string // gateway B, alone enough
}

// RefundTerms is a refund to be made.
type RefundTerms struct {
	RefundID    objectid.ID // our row, committed before
	Payment     PaymentRef
	Amount      money.Cents // above 0
	Reason      string      // free text for people
	Admin       string      // who asked, "" for the platform itself
	RequestedAt time.Time   // when our row was made
}

// RefundStatus is a refund's state in neutral words.
type RefundStatus string

// The states of a refund. Requested is ours alone: the gateway has not answered.
const (
	RefundStatusRequested RefundStatus = "requested"
	RefundStatusPending   RefundStatus = "pending"
	RefundStatusDone      RefundStatus = "done"
	RefundStatusFailed    RefundStatus = "failed"
)

// RemoteRefund is one refund as its gateway tells it.
type RemoteRefund struct {
	ID           string      // gateway B re_…; gateway A gives none
	RefundID     objectid.ID // our row, when it is ours
	Amount       money.Cents
	Status       RefundStatus
	NativeStatus string
	Reason       string
	CreatedAt    time.Time
	// Report says what this makes of the payment; it goes into RecordRefundTx.
	Report RefundReport
	// Response is gateway_response of the routes: the gateway's own fields without
	// anything that could be used to pay.
	Response json.RawMessage
}

// RefundReport is what a gateway says of the refunds of one payment. Reports may
// come in any order and any number of times.
type RefundReport struct {
	// PaymentID is the key of refunds: pay_… at gateway A, the payment intent pi_…
	// at gateway B (else the charge): its events name no invoice.
	PaymentID string
	ChargeID  string // gateway B
	// Total is what has been refunded of the payment until At; HasTotal is false
	// when the report has only single refunds.
	Total    money.Cents
	HasTotal bool
	At       time.Time // by the gateway's clock
	Singles  []SingleRefund
	// Listed: Singles are all refunds of the payment that the gateway knows, also
	// those under way (gateway A, which repeats them all each time).
	Listed  bool
	EventID string // of the event, "" of an answer
	Type    string // of the event
}

// SingleRefund is one refund inside a report.
type SingleRefund struct {
	ID       string      // gateway B; "" at gateway A
	RefundID objectid.ID // our row, when it is ours
	Amount   money.Cents
	Status   RefundStatus
	Reason   string
	At       time.Time
}

// DisputeState is a dispute's state in neutral words.
type DisputeState string

// The states of a dispute. An inquiry asks and takes no money yet; Dismissed is
// an inquiry that came to nothing.
const (
	DisputeInquiry   DisputeState = "inquiry"
	DisputeOpen      DisputeState = "open"
	DisputeWon       DisputeState = "won"
	DisputeLost      DisputeState = "lost"
	DisputeDismissed DisputeState = "dismissed"
	DisputeWithdrawn DisputeState = "withdrawn" // entered by hand by mistake: it counts nowhere
)

// Closed reports whether the dispute is decided.
func (s DisputeState) Closed() bool {
	return s == DisputeWon || s == DisputeLost || s == DisputeDismissed
}

// TakesMoney reports whether the payer has the money back, for now or for good.
func (s DisputeState) TakesMoney() bool { return s == DisputeOpen || s == DisputeLost }

// DisputeKind says who takes the money back.
type DisputeKind string

// The kinds of disputes.
const (
	Chargeback DisputeKind = "chargeback" // a card holder
	TakenBack  DisputeKind = "med"        // the payer's bank takes a PIX back (Mecanismo Especial de Devolução)
)

// DisputeReport is what a gateway says of one dispute.
type DisputeReport struct {
	// ID is the gateway's; gateway A gives none, so it is the payment's.
	ID           string
	PaymentID    string // as RefundReport.PaymentID
	ChargeID     string // gateway B
	Amount       money.Cents
	Reason       string
	Kind         DisputeKind // "" is Chargeback
	State        DisputeState
	NativeStatus string
	OpenedAt     time.Time // gateway A: of the report
	At           time.Time // of the report, by the gateway's clock
	// EvidenceDueAt is until when the gateway takes an answer, nil where it tells none (gateway A) or takes none.
	EvidenceDueAt *time.Time
	EvidenceSent  bool // the gateway says that it was answered
	EventID       string
	// OfRefunds: the state follows from all reports of the payment's refunds, whichever
	// came last.
	OfRefunds bool
}
