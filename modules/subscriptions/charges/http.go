package charges

import (
	"context"
	"fmt"

	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/httpapi"
	"marquee/platform/idempotency"
	"marquee/platform/objectid"
)

// Handlers are the room's operations.
type Handlers struct{ service *Charges }

// Handlers returns the room's operations, for the module's list of routes.
func (s *Charges) Handlers() Handlers { return Handlers{service: s} }

type renewPixBody struct {
	Subscription lifecycle.SubscriptionDoc `json:"subscription"`
	Payment      renewPixPayment           `json:"payment"`
	Pix          calls.PixCodeInfo         `json:"pix"`
	// Info is there while nobody knows whether the gateway made the payment.
	Info *renewPixInfo `json:"info,omitempty"`
}

type renewPixInfo struct {
	Message string `json:"message"`
	calls.PixNotKnown
}

type renewPixPayment struct {
	ID          *string `json:"id" nullable:"true" doc:"The payment at the gateway"`
	Status      string  `json:"status" enum:"PENDING,CONFIRMED"`
	BillingType string  `json:"billing_type" enum:"PIX"`
}

// RenewPix is POST /customers/me/subscription/renew/pix.
func (h Handlers) RenewPix(ctx context.Context, _ *struct{}) (*httpapi.Output[renewPixBody], error) {
	sub, charge, err := h.service.renewPix(ctx, httpapi.CallerOf(ctx).ID)
	if err != nil {
		return nil, err
	}
	return h.service.renewPixOutput(ctx, sub, charge)
}

func (s *Charges) renewPixOutput(ctx context.Context, sub lifecycle.Subscription,
	c lifecycle.RenewalCharge,
) (*httpapi.Output[renewPixBody], error) {
	status := "PENDING"
	if c.State == state.ChargePaid || c.State == state.ChargeUnapplied {
		status = "CONFIRMED"
	}
	body := renewPixBody{
		Subscription: sub.Doc(),
		Payment:      renewPixPayment{ID: c.GatewayPaymentID, Status: status, BillingType: "PIX"},
		Pix: calls.PixCodeInfo{
			Payload: c.PixPayload, EncodedImage: c.PixImage, ExpirationDate: httpapi.TimePtr(c.PixExpiresAt),
		},
	}
	i, open, err := s.OpenIntentOf(ctx, c)
	if err != nil {
		return nil, err
	}
	if open {
		body.Info = &renewPixInfo{Message: ChargeClarified(i), PixNotKnown: calls.NotKnownOf(&i)}
	}
	return httpapi.OK(body)
}

// OpenIntentOf tells since when it is not known what became of a charge, and when the
// gateway is asked next.
func (s *Charges) OpenIntentOf(ctx context.Context, c lifecycle.RenewalCharge) (i intent.Intent, open bool, err error) {
	if !c.IntentOpen {
		return i, false, nil
	}
	if i, open, err = s.deps.Intents.OpenOf(ctx, s.deps.Pool, c.ID); err != nil {
		return i, false, fmt.Errorf("read intent: %w", err)
	}
	return i, open, nil
}

// ChargeClarified tells a customer that the code of their renewal is being found out.
func ChargeClarified(i intent.Intent) string {
	return "Your PIX is still being confirmed. " + calls.NotKnownSentence(i) +
		" Ask again, or see GET /customers/me/pix-qr, which shows its code then. Your subscription goes on."
}

// ReplayRenewPix tells what became of the order of a request that was cut off.
func (h Handlers) ReplayRenewPix(ctx context.Context, id objectid.ID) (*httpapi.Output[renewPixBody], error) {
	c, err := h.service.db.RenewalChargeGet(ctx, h.service.deps.Pool, id)
	if err != nil {
		return nil, fmt.Errorf("read renewal charge: %w", err)
	}
	switch {
	case c.IntentOpen:
		return nil, idempotency.InProgress()
	case c.State == state.ChargeGone:
		return nil, httpapi.ErrWithoutEffect
	}
	sub, err := h.service.db.SubscriptionGet(ctx, h.service.deps.Pool, c.SubscriptionID)
	if err != nil {
		return nil, fmt.Errorf("read subscription: %w", err)
	}
	return h.service.renewPixOutput(ctx, sub, c)
}
