package own

import (
	"context"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/checkout"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/httpapi"
)

// Mine is GET /customers/me/subscription.
func (h Handlers) Mine(ctx context.Context, _ *struct{}) (*lifecycle.Envelope, error) {
	sub, err := h.service.reads.Current(ctx, httpapi.CallerOf(ctx).ID)
	if err != nil {
		return nil, err
	}
	doc, err := h.own(ctx, sub)
	if err != nil {
		return nil, err
	}
	return httpapi.One(ctx, doc, nil), nil
}

// ReadGWB is GET /gwb/subscription.
func (h Handlers) ReadGWB(ctx context.Context, _ *struct{}) (*lifecycle.Envelope, error) {
	sub, clientSecret, err := h.service.readPending(ctx, httpapi.CallerOf(ctx).ID, gateway.GWB)
	if err != nil {
		return nil, err
	}
	doc, err := h.own(ctx, sub)
	if err != nil {
		return nil, err
	}
	return httpapi.One(ctx, doc, checkout.GwbInfo{Message: lifecycle.StatusMessages[sub.Status], ClientSecret: lifecycle.Filled(clientSecret)}), nil
}
