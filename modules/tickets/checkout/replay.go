package checkout

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"marquee/modules/payments/gateway"
	"marquee/modules/tickets/state"
	"marquee/platform/httpapi"
	"marquee/platform/idempotency"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
)

// replay tells what became of the order of a purchase that was cut off
// (httpapi.Idempotent). While the gateway's answer is open nobody knows; places
// that were given back cost nothing, so that the purchase may run anew.
func (s *Checkout) replay(ctx context.Context, orderID objectid.ID) (receipt, error) {
	o, err := s.db.OrderGet(ctx, s.deps.Pool, orderID)
	if err != nil {
		return receipt{}, fmt.Errorf("read order: %w", err)
	}
	switch {
	case o.State == state.Released:
		return receipt{}, httpapi.ErrWithoutEffect
	case o.IntentOpen:
		return receipt{}, idempotency.InProgress()
	}
	tickets, err := s.deps.Orders.TicketIDsOf(ctx, s.deps.Pool, o.ID)
	r := receipt{order: o, tickets: tickets[o.ID]}
	if o.PixPayload != nil {
		r.pix = &gateway.PixCharge{Payload: *o.PixPayload, EncodedImage: nullable.Value(o.PixImage)}
	}
	return r, err
}

// ReplayPurchase tells what became of a purchase whose request was cut off (httpapi.Idempotent).
func (h Handlers) ReplayPurchase(ctx context.Context, orderID objectid.ID) (*httpapi.Output[purchaseBody], error) {
	r, err := h.s.replay(ctx, orderID)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(purchaseBodyOf(r))
}

// ReplayCheckout does so for a guest's.
func (h Handlers) ReplayCheckout(ctx context.Context, orderID objectid.ID) (*httpapi.Output[checkoutBody], error) {
	return h.s.checkoutOutput(h.s.replay(ctx, orderID))
}

// GuestOf is whom an Idempotency-Key of a checkout belongs to: the buyer's e-mail,
// since the IP address changes between Wi-Fi and mobile network.
func GuestOf(body []byte) string {
	var b struct {
		Buyer struct {
			Email string `json:"email"`
		} `json:"buyer"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return "" // refused as malformed
	}
	return strings.ToLower(strings.TrimSpace(b.Buyer.Email))
}
