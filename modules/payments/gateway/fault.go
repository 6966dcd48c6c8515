package gateway

import (
	"errors"
	"time"

	"marquee/platform/fault"
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
	case errors.Is(err, ErrMissing):
		return (&fault.Error{Kind: fault.Unavailable, Message: "The payment gateway does not find what this stands on. Please write to us."}).WithCause(err)
	}
	return err
}

// Certain reports whether an error of a call means that the gateway certainly made nothing
// of it: refused for its shape, not asked, not listening, or without what the call stands on.
func Certain(err error) bool { return IsError(err) && !errors.Is(err, ErrOutcomeUnknown) }

// IsError reports whether an error is a gateway's, but for a declined payer. Those of our
// own, such as the database's, are left to the job.
func IsError(err error) bool {
	var rejected *Rejected
	return errors.As(err, &rejected) || errors.Is(err, ErrUnavailable) || errors.Is(err, ErrOutcomeUnknown) || errors.Is(err, ErrMissing) || errors.Is(err, ErrUnsupported)
}
