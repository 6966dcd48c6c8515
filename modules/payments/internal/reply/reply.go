// Package reply judges what both gateways answer. An answer counts when its
// shape, kind, id and our own reference are right; all else is an odd answer, of
// which nothing may be concluded (docs/contract/payments.md, Answers of gateways). What follows from one that
// cannot be read, or agrees with no other, and when a call is made again, is said here, too.
package reply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// MaxBytes is the longest answer that is read. A list of a hundred rows is far
// below it.
const MaxBytes = 4 << 20

// ErrOdd is an answer that is none: another kind of object, another id, another
// reference, no JSON, too long.
var ErrOdd = errors.New("the answer is none")

// Odd is ErrOdd with what is wrong. It must not quote the answer, which may hold
// anything.
func Odd(what string) error { return fmt.Errorf("%w: %s", ErrOdd, what) }

// Body reads an answer's body; one that is too long is odd, and not read further.
func Body(r io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err == nil && len(raw) > MaxBytes {
		return nil, Odd("it is too long")
	}
	return raw, err
}

// Identity is what an object says of itself.
type Identity struct {
	Object    string // its kind, in the gateway's word
	ID        string
	Reference string // our own id that was sent along
}

// Check compares with what was asked for. What is not wanted (empty) is not
// compared, but an id has to be there.
func (t Identity) Check(want Identity) error {
	switch {
	case want.Object != "" && t.Object != want.Object:
		return Odd("it is no " + want.Object)
	case t.ID == "":
		return Odd("it has no id")
	case want.ID != "" && t.ID != want.ID:
		return Odd("it has another id than was asked for")
	case want.Reference != "" && t.Reference != want.Reference:
		return Odd("it does not carry our reference")
	}
	return nil
}

// Health passes on what an answer says of the gateway as a whole: that it is right,
// whoever asked, or that it closes the whole account. The zero value reports to nobody.
type Health struct {
	report atomic.Pointer[func(ctx context.Context, right bool)]
}

// On reports to f from now on. It is called within the call to the gateway.
func (h *Health) On(f func(ctx context.Context, right bool)) { h.report.Store(&f) }

// Report passes it on.
func (h *Health) Report(ctx context.Context, right bool) {
	if f := h.report.Load(); f != nil {
		(*f)(ctx, right)
	}
}
