package reply

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"marquee/modules/payments/gateway"
)

// maxTries of a call whose repetition is harmless.
const maxTries = 3

// Repeat makes a call while that may help and time is left, with a pause of about wait
// before the second try and of twice that before the third.
func Repeat(ctx context.Context, wait time.Duration, call func() (again bool, err error)) error {
	for try := 1; ; try++ {
		again, err := call()
		if err == nil || !again || try == maxTries || !pause(ctx, wait<<(try-1)) {
			return err
		}
	}
}

// pause waits for about d; false when the context leaves no time for it.
func pause(ctx context.Context, d time.Duration) bool {
	d = d/2 + rand.N(d/2+1) //nolint:gosec // a pause is no secret
	if deadline, set := ctx.Deadline(); set && time.Until(deadline) < d {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// Failure is what a failed call means that nobody has explained: not known when it may have
// acted, else that the gateway is not available.
func Failure(acted bool) error {
	if acted {
		return gateway.ErrOutcomeUnknown
	}
	return gateway.ErrUnavailable
}

// Made is the look at what a call says that it made: its answer alone may carry the id of
// something else. Whatever it does not confirm may have been made.
func Made[T any](read func() (T, error)) (T, error) {
	got, err := read()
	if err != nil {
		return got, fmt.Errorf("%w: what was made could not be read: %w", gateway.ErrOutcomeUnknown, Unnamed(err))
	}
	return got, nil
}

// Unproven is the error of reading what a list has just shown: whatever it says, the
// two answers do not agree, and nothing is known.
func Unproven(err error) error {
	if errors.Is(err, gateway.ErrMissing) {
		return fmt.Errorf("%w: a list shows it: %w", gateway.ErrUnavailable, Unnamed(err))
	}
	return err
}

// Found reads what a list has shown as row, as it stands under its id; a list that shows nothing
// finds nothing.
func Found[T, N any](row *T, err error, read func(*T) (N, error)) (n N, found bool, _ error) {
	if err != nil || row == nil {
		return n, false, err
	}
	n, err = read(row)
	return n, err == nil, Unproven(err)
}

// Gone is the outcome of ending something: what is proved to be missing is ended.
func Gone(err error) error {
	if errors.Is(err, gateway.ErrMissing) {
		return nil
	}
	return err
}

// Unnamed keeps the text of an error and hides which it is.
func Unnamed(err error) error { return errors.New(err.Error()) }
