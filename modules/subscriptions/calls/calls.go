package calls

import (
	"errors"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/lifecycle"
)

// Calls ends and repeats what is asked of the gateways.
type Calls struct {
	deps lifecycle.Base
	db   lifecycle.Queries
}

// New makes the room.
func New(b lifecycle.Base) *Calls {
	return &Calls{deps: b}
}

// ErrStillOpen says that a gateway has not told yet what became of a call.
var ErrStillOpen = errors.New("subscriptions: what the gateway made of the last call is not known yet")

// Why an order is not carried out now; the schedule of checks knows each as one of its own.
var (
	// ErrPauseUnderWay has the job look again when the other worker must have ended.
	ErrPauseUnderWay error = &word{"collection is being paused or resumed", intent.ErrUnderWay}
	// ErrDebitUnderWay has the job look again when the order must have ended.
	ErrDebitUnderWay error = &word{"the debit is being ordered", intent.ErrUnderWay}
	// ErrRetryMissing has the job look again: the gateway shows no order of a debit that
	// it has refused.
	ErrRetryMissing error = &word{"the gateway shows no instruction of the debit", gateway.ErrUnavailable}
)

type word struct {
	text string
	is   error
}

func (w *word) Error() string { return w.text }

func (w *word) Unwrap() error { return w.is }
