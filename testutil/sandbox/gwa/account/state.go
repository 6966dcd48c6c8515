package account

import (
	"encoding/json"
	"errors"

	"marquee/testutil/sandbox/stage"
)

// Billing types (docs/gateway-facts.md, A4).
const (
	billingCard      = "CREDIT_CARD"
	billingPIX       = "PIX"
	billingBoleto    = "BOLETO"
	billingUndefined = "UNDEFINED"
)

// Statuses of payments (docs/gateway-facts.md, A5).
const (
	statusPending             = "PENDING"
	statusConfirmed           = "CONFIRMED"
	statusReceived            = "RECEIVED"
	statusOverdue             = "OVERDUE"
	statusRefunded            = "REFUNDED"
	statusRefundInProgress    = "REFUND_IN_PROGRESS"
	statusChargebackRequested = "CHARGEBACK_REQUESTED"
	statusChargebackDispute   = "CHARGEBACK_DISPUTE"
	statusChargebackReversal  = "AWAITING_CHARGEBACK_REVERSAL"
	statusRiskAnalysis        = "AWAITING_RISK_ANALYSIS"
)

// Statuses of subscriptions and authorizations (docs/gateway-facts.md, A4 and A8).
const (
	StatusActive    = "ACTIVE"
	StatusInactive  = "INACTIVE"
	StatusExpired   = "EXPIRED"
	StatusCreated   = "CREATED"
	StatusCancelled = "CANCELLED"
	StatusRefused   = "REFUSED"
)

// state is all that the gateway remembers.
type state struct {
	account
	Customers      stage.Table[Customer]
	Cards          stage.Table[Card]
	Subscriptions  stage.Table[Subscription]
	Payments       stage.Table[Payment]
	Authorizations stage.Table[Authorization]
	Instructions   stage.Table[Instruction]
	Webhooks       stage.Table[Webhook]
}

// account is what there is one of.
type account struct {
	Sequences  map[string]int64 `json:"sequences"`
	Settings   Settings         `json:"settings"`
	RateWindow RateWindow       `json:"rateWindow"`
	// Balance is the account's money: what arrived, less fees and refunds.
	Balance  Cents `json:"balance"`
	Approved bool  `json:"approved"`
	// Account is the id in the envelope of events.
	Account string `json:"account"`
}

func newState() *state { return &state{account: account{Sequences: map[string]int64{}}} }

// registerWith has the state file keep all of it.
func (s *state) registerWith(at *stage.Stage) error {
	return errors.Join(
		at.KeepValue("account", &s.account),
		at.Keep("customers", &s.Customers),
		at.Keep("cards", &s.Cards),
		at.Keep("subscriptions", &s.Subscriptions),
		at.Keep("payments", &s.Payments),
		at.Keep("authorizations", &s.Authorizations),
		at.Keep("instructions", &s.Instructions),
		at.Keep("webhooks", &s.Webhooks),
	)
}

// next counts a sequence up, from first on.
func (s *state) next(sequence string, first int64) int64 {
	v, ok := s.Sequences[sequence]
	if !ok {
		v = first - 1
	}
	s.Sequences[sequence] = v + 1
	return v + 1
}

// order numbers objects as they come into being; lists are sorted by it.
func (s *state) order() int64 { return s.next("order", 1) }

// text reads a JSON string or number as text: the gateway takes both for codes, years and house numbers.
type text string

// UnmarshalJSON accepts a string, a number or null.
func (t *text) UnmarshalJSON(data []byte) error {
	var n json.Number
	if err := json.Unmarshal(data, &n); err == nil {
		*t = text(n)
		return nil
	}
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	*t = text(s)
	return nil
}

// null is a key that is always there and never filled.
type null struct{}

// MarshalJSON prints null.
func (null) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// orNull is nil for the zero value, so that an empty text or date prints as null.
func orNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
