package gwb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"

	"github.com/stripe/stripe-go/v85"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/reply"
	"marquee/platform/objectid"
)

// errBroken is an answer with 5xx. The gateway keeps it for the call's idempotency
// key, and gives it again for a day (docs/gateway-facts.md, B2).
var errBroken = errors.New("the gateway failed")

// errKeyReused is the refusal of a key that another call has used: what that call
// did is not told.
var errKeyReused = errors.New("the idempotency key has been used with other parameters")

// read makes a call that changes nothing.
func read[T any](ctx context.Context, g *client, f func(ctx context.Context) (T, error)) (T, error) {
	out, _, err := attempt(ctx, g, f)
	if err != nil {
		return out, translated(err, false)
	}
	return out, nil
}

// write makes a call that carries an idempotency key, or whose repetition is
// harmless.
func write[T any](ctx context.Context, g *client, f func(ctx context.Context) (T, error)) (T, error) {
	out, uncertain, err := attempt(ctx, g, f)
	if err != nil {
		return out, translated(err, uncertain)
	}
	return out, nil
}

// remake makes something that moves no money and is looked for first, by its own
// key. When the gateway has failed it is looked for once more and made with
// another key, since the first would bring the failure again for a day. In the
// worst case it is there twice, which does no harm.
func remake[T any](key string, find func() (made T, ok bool, err error),
	create func(key string) (T, error),
) (T, error) {
	made, err := create(key)
	if !errors.Is(err, errBroken) {
		return made, err
	}
	if found, ok, again := find(); again != nil || ok {
		return found, again
	}
	return create(key + "-" + objectid.New().String())
}

// attempt repeats a call while that may help and time is left. Uncertain tells
// that one of the tries may have had its effect.
func attempt[T any](ctx context.Context, g *client,
	f func(ctx context.Context) (T, error),
) (out T, uncertain bool, err error) {
	err = reply.Repeat(ctx, g.cfg.RetryWait, func() (again bool, err error) {
		if out, err = f(ctx); err == nil {
			return false, nil
		}
		again, mayHaveActed := judged(err)
		uncertain = uncertain || mayHaveActed
		return again, err
	})
	return out, uncertain, err
}

// judged says whether a failed call is worth repeating and whether it may have
// acted (docs/gateway-facts.md, B2).
func judged(err error) (again, mayHaveActed bool) {
	var se *stripe.Error
	if !errors.As(err, &se) {
		return true, !neverConnected(err)
	}
	switch {
	case se.HTTPStatusCode == http.StatusConflict:
		return true, true // the same call is still running
	case se.HTTPStatusCode == http.StatusTooManyRequests:
		return true, false
	case se.HTTPStatusCode >= http.StatusInternalServerError:
		return true, true
	case se.HTTPStatusCode == http.StatusNotFound && se.Code != stripe.ErrorCodeResourceMissing:
		return false, true // it does not say what is missing: perhaps only the way back
	}
	return false, false
}

// neverConnected reports whether no connection came about, so that the gateway knows
// nothing of the call.
func neverConnected(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// translated puts an error in the words of payments.Gateway, without anything
// secret that the client's errors hold.
func translated(err error, uncertain bool) error {
	var se *stripe.Error
	if !errors.As(err, &se) {
		return fmt.Errorf("%w: %w", reply.Failure(uncertain), withoutURL(err))
	}
	code := string(se.Code)
	if code == "" {
		code = string(se.Type)
	}
	switch {
	case se.Type == stripe.ErrorTypeCard && se.HTTPStatusCode == http.StatusPaymentRequired:
		return &gateway.Declined{Code: declineCode(se), Message: se.Msg}
	case se.HTTPStatusCode == http.StatusNotFound && se.Code == stripe.ErrorCodeResourceMissing:
		return fmt.Errorf("%w: %s (request %s)", gateway.ErrMissing, code, se.RequestID)
	case se.Type == stripe.ErrorTypeIdempotency && se.HTTPStatusCode == http.StatusBadRequest:
		return fmt.Errorf("%w: %w (request %s)", gateway.ErrOutcomeUnknown, errKeyReused, se.RequestID)
	case uncertain && se.HTTPStatusCode >= http.StatusInternalServerError:
		return fmt.Errorf("%w: %w: status %d, %s (request %s)", gateway.ErrOutcomeUnknown, errBroken, se.HTTPStatusCode,
			code, se.RequestID)
	case uncertain:
		return fmt.Errorf("%w: status %d, %s (request %s)", gateway.ErrOutcomeUnknown, se.HTTPStatusCode, code,
			se.RequestID)
	case se.HTTPStatusCode == http.StatusBadRequest:
		return &gateway.Rejected{Code: code, Message: se.Msg}
	}
	return fmt.Errorf("%w: status %d, %s (request %s)", gateway.ErrUnavailable, se.HTTPStatusCode, code, se.RequestID)
}

// withoutURL drops the address of a failed call, whose query may name people.
func withoutURL(err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		return ue.Err
	}
	if errors.Is(err, reply.ErrOdd) {
		return err
	}
	return errors.New("the answer is not JSON")
}

// declineCode is the bank's reason where there is one, else the error's code.
func declineCode(se *stripe.Error) string {
	if se.DeclineCode != "" {
		return string(se.DeclineCode)
	}
	return string(se.Code)
}

// isCode reports whether err is a rejection with the code.
func isCode(err error, code stripe.ErrorCode) bool {
	var r *gateway.Rejected
	return errors.As(err, &r) && r.Code == string(code)
}
