package payments

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"marquee/platform/fault"
	"marquee/platform/httpapi"
)

// FaultOf words an error of a gateway for people: 400 when it found the data
// wrong, 503 when it cannot be reached or does not find what the call stands on.
// What is no gateway's error passes as it is.
func FaultOf(err error) error {
	var rejected *Rejected
	switch {
	case errors.As(err, &rejected):
		return fault.Bad("The payment gateway did not accept these data. Check the card, name, tax id, phone and address.").WithCause(err)
	case errors.Is(err, ErrUnavailable), errors.Is(err, ErrOutcomeUnknown):
		return (&fault.Error{Kind: fault.Unavailable, Message: "The payment gateway does not answer. Try again in a moment.", RetryAfter: 30 * time.Second}).WithCause(err)
	case errors.Is(err, ErrGatewayMissing):
		return (&fault.Error{Kind: fault.Unavailable, Message: "The payment gateway does not find what this stands on. Please write to us."}).WithCause(err)
	}
	return err
}

// Refused logs why a gateway did not do what was asked, and words it for people
// as FaultOf does. The gateway's text names internals, so it stays in the log.
func (s *Service) Refused(ctx context.Context, what string, err error) error {
	s.deps.Log.WarnContext(ctx, "gateway call failed", slog.String("call", what), slog.String("request_id", httpapi.RequestID(ctx)), slog.Any("error", err))
	return FaultOf(fmt.Errorf("%s: %w", what, err))
}

// refusedByGateway reports whether an error is a gateway's own well-formed refusal: it was
// asked, has answered, and made nothing of this call.
func refusedByGateway(err error) bool {
	var rejected *Rejected
	var declined *Declined
	var disputed *RefundDisputedError // nobody was asked
	return (errors.As(err, &rejected) || errors.As(err, &declined)) &&
		!errors.As(err, &disputed) && !errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrOutcomeUnknown)
}
