package refund

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/ledger"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/postgres"
)

// OpenError says that a refund of the payment is requested and not answered:
// until it is, nobody knows what is left.
type OpenError struct {
	Refund    ledger.Refund
	NextCheck *time.Time // when its gateway is asked next
}

// Error implements error.
func (e *OpenError) Error() string {
	return "payments: refund " + e.Refund.ID.String() + " of the payment is not answered yet"
}

// Fault words it for people, with the name of the open one.
func (e *OpenError) Fault() error {
	next := "soon"
	if e.NextCheck != nil {
		next = "at " + e.NextCheck.UTC().Format(time.RFC3339)
	}
	return fault.Conflict("The gateway has not answered refund %s of R$ %s of this payment yet, and is asked again %s. Wait until the list of refunds shows its outcome.",
		e.Refund.ID, e.Refund.Amount, next).WithCause(e)
}

// RefundOpen says that the refund, which is not answered, keeps another one waiting:
// *OpenError with the time of the next check.
func (s *Refunds) RefundOpen(ctx context.Context, db postgres.DB, r ledger.Refund) error {
	open, ok, err := s.deps.Intents.OpenOf(ctx, db, r.ID)
	if err != nil {
		return err
	}
	e := &OpenError{Refund: r}
	if ok {
		e.NextCheck = &open.NextCheck
	}
	return e
}

// RefundFault words why a refund that an admin or customer asked for was not made, or
// may not have been (RefundPayment): 409 while another one of the payment is not
// answered, and once when the gateway turns out to have made it before; 422 REFUND_NOT_ALLOWED under a dispute, and
// when nothing is left; 500 REFUND_FAILED when the gateway refuses; 503 while it does not answer.
func (s *Refunds) RefundFault(ctx context.Context, err error) error {
	var rejected *gateway.Rejected
	var open *OpenError
	var found *FoundError
	var disputed *ledger.RefundDisputedError
	var worded *fault.Error
	switch {
	case errors.As(err, &open):
		return open.Fault()
	case errors.As(err, &found):
		return found.Fault()
	case errors.As(err, &disputed):
		return disputed.Fault()
	case errors.Is(err, ErrTooMuch):
		return (&fault.Error{
			Kind: fault.KindInvalid, Code: fault.CodeRefundNotAllowed, Message: "Nothing is left to refund.",
		}).WithCause(err)
	case errors.Is(err, gateway.ErrOutcomeUnknown):
		return (&fault.Error{
			Kind: fault.KindUnavailable, RetryAfter: time.Minute,
			Message: "It is not known yet whether the payment gateway made the refund. It is asked until that is known: see the list of refunds before you ask again.",
		}).WithCause(err)
	case errors.As(err, &rejected), gateway.IsDeclined(err):
		return (&fault.Error{
			Kind: fault.KindInternal, Code: fault.CodeRefundFailed, Message: "The payment gateway rejected the refund.",
		}).WithCause(err)
	case errors.As(err, &worded):
		return err
	}
	return s.Refused(ctx, "refund", err)
}

// Refused logs why a gateway did not do what was asked, and words it for people
// as FaultOf does. The gateway's text names internals, so it stays in the log.
func (s *Refunds) Refused(ctx context.Context, what string, err error) error {
	s.deps.Log.WarnContext(ctx, "gateway call failed", slog.String("call", what),
		slog.String("request_id", httpapi.RequestID(ctx)), slog.Any("error", err))
	return gateway.FaultOf(fmt.Errorf("%s: %w", what, err))
}
