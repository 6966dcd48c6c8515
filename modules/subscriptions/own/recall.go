package own

import (
	"context"

	"marquee/modules/subscriptions/checkout"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

// RecallRenewal answers a repeated PUT /customers/me/subscription/renew.
func (h Handlers) RecallRenewal(ctx context.Context, id objectid.ID) (*httpapi.Output[renewedBody], error) {
	sub, err := h.service.checkout.Recall(ctx, id)
	if err != nil {
		return nil, err
	}
	return renewedOutput(h.service.asBegun(checkout.CardOutcome{Sub: sub}))
}
