package checkout

import (
	"context"
	"fmt"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/httpapi"
	"marquee/platform/idempotency"
	"marquee/platform/objectid"
)

// Replay tells what became of the subscription of a request that was cut off
// (httpapi.Idempotent). While the gateway's answer is open nobody knows; one that
// ended unpaid cost nothing, so that the request may run again.
func (s *Checkout) Replay(ctx context.Context, id objectid.ID) (lifecycle.Subscription, error) {
	sub, err := s.db.SubscriptionGet(ctx, s.deps.Pool, id)
	switch {
	case err != nil:
		return lifecycle.Subscription{}, fmt.Errorf("read subscription: %w", err)
	case sub.Status.Ended() && sub.StartedAt == nil:
		return lifecycle.Subscription{}, httpapi.ErrWithoutEffect
	case sub.IntentOpen:
		return lifecycle.Subscription{}, idempotency.InProgress()
	}
	return sub, nil
}

// ReplayCardGWB reads a pending subscription live, since a client secret is kept
// nowhere.
func (h Handlers) ReplayCardGWB(ctx context.Context, id objectid.ID) (*lifecycle.Envelope, error) {
	sub, err := h.service.Replay(ctx, id)
	if err != nil {
		return nil, err
	}
	out := CardOutcome{Sub: sub, PaymentStatus: string(gateway.Succeeded)}
	if sub.Status == state.Pending {
		out.PaymentStatus = string(gateway.OutcomeUnknown)
		if out.Sub, out.clientSecret, err = h.service.deps.Recovery.Resolve(ctx, sub); err != nil {
			return nil, gateway.FaultOf(err)
		}
		switch {
		case out.clientSecret != "":
			out.PaymentStatus = string(gateway.RequiresAction)
		case out.Sub.Status == state.Active:
			out.PaymentStatus = string(gateway.Succeeded)
		case out.Sub.Status.Ended():
			return nil, httpapi.ErrWithoutEffect
		}
	}
	return cardGWBEnvelope(ctx, out, nil)
}

// ReplayCardGWA answers a repeated POST /gwa/subscribe.
func (h Handlers) ReplayCardGWA(ctx context.Context, id objectid.ID) (*lifecycle.Envelope, error) {
	sub, err := h.service.Replay(ctx, id)
	if err != nil {
		return nil, err
	}
	out := CardOutcome{Sub: sub, PaymentStatus: "PENDING"}
	if sub.Status == state.Active {
		out.PaymentStatus = "CONFIRMED"
	}
	return cardGWAEnvelope(ctx, out, nil)
}

// ReplayPixGWA answers a repeated POST /gwa/subscribe/pix or …/pix-automatico.
func (h Handlers) ReplayPixGWA(ctx context.Context, id objectid.ID) (*lifecycle.Envelope, error) {
	sub, err := h.service.Replay(ctx, id)
	return pixGWAEnvelope(ctx, pixOutcome{sub: sub}, err)
}

// ReplayPixGWB reads the client secret at the gateway, since it is kept nowhere.
func (h Handlers) ReplayPixGWB(ctx context.Context, id objectid.ID) (*lifecycle.Envelope, error) {
	sub, err := h.service.Replay(ctx, id)
	if err != nil {
		return nil, err
	}
	var charge gateway.PixCharge
	if sub.Status == state.Pending && sub.PixPaymentID != nil {
		gw, err := h.service.deps.Payments.Gateway(sub.Gateway)
		if err != nil {
			return nil, gateway.FaultOf(err)
		}
		if charge, err = gw.ReadPix(ctx, *sub.PixPaymentID, sub.ID); err != nil {
			return nil, h.service.deps.Payments.Refused(ctx, "read PIX", err)
		}
	}
	return pixGWBEnvelope(ctx, pixOutcome{sub: sub, clientSecret: charge.ClientSecret}, nil)
}

// clarifying is what the PIX routes answer while it is not known whether there is a code.
func (s *Checkout) clarifying(ctx context.Context, sub lifecycle.Subscription) (pixOutcome, error) {
	ctx = context.WithoutCancel(ctx)
	i, open, err := s.deps.Intents.OpenOf(ctx, s.deps.Pool, sub.ID)
	if err != nil || open {
		return pixOutcome{sub: sub, clarifying: &i}, err
	}
	sub, err = s.db.SubscriptionGet(ctx, s.deps.Pool, sub.ID) // somebody has looked meanwhile
	return pixOutcome{sub: sub}, err
}
