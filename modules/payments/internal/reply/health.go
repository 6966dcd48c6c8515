package reply

import (
	"context"
	"sync/atomic"
)

// Health passes on what an answer says of the gateway as a whole: that it is right,
// whoever asked, or that it closes the whole account. The zero value tells nobody.
type Health struct {
	told atomic.Pointer[func(ctx context.Context, right bool)]
}

// On has f told from now on. It is called within the call to the gateway.
func (h *Health) On(f func(ctx context.Context, right bool)) { h.told.Store(&f) }

// Tell tells.
func (h *Health) Tell(ctx context.Context, right bool) {
	if f := h.told.Load(); f != nil {
		(*f)(ctx, right)
	}
}
