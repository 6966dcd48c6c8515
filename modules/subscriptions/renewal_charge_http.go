package subscriptions

import (
	"context"
	"fmt"

	"marquee/platform/httpapi"
	"marquee/platform/idempotency"
	"marquee/platform/objectid"
)

type renewPixBody struct {
	Subscription subscriptionDoc `json:"subscription"`
	Payment      renewPixPayment `json:"payment"`
	Pix          pixCodeInfo     `json:"pix"`
}

type renewPixPayment struct {
	ID          *string `json:"id" nullable:"true" doc:"The payment at the gateway"`
	Status      string  `json:"status" enum:"PENDING,CONFIRMED"`
	BillingType string  `json:"billing_type" enum:"PIX"`
}

func (h handlers) renewPix(ctx context.Context, _ *struct{}) (*httpapi.Output[renewPixBody], error) {
	sub, charge, err := h.service.renewPix(ctx, httpapi.CallerOf(ctx).ID)
	if err != nil {
		return nil, err
	}
	return renewPixOutput(sub, charge)
}

func renewPixOutput(sub row, c renewalCharge) (*httpapi.Output[renewPixBody], error) {
	status := "PENDING"
	if c.State == chargePaid || c.State == chargeUnapplied {
		status = "CONFIRMED"
	}
	return httpapi.OK(renewPixBody{
		Subscription: shown(sub), Payment: renewPixPayment{ID: c.GatewayPaymentID, Status: status, BillingType: "PIX"},
		Pix: pixCodeInfo{Payload: c.PixPayload, EncodedImage: c.PixImage, ExpirationDate: httpapi.TimePtr(c.PixExpiresAt)},
	})
}

// recallRenewPix tells what became of the order of a request that was cut off.
func (h handlers) recallRenewPix(ctx context.Context, id objectid.ID) (*httpapi.Output[renewPixBody], error) {
	c, err := h.service.db.GetRenewalCharge(ctx, h.service.pool, id)
	if err != nil {
		return nil, fmt.Errorf("read renewal charge: %w", err)
	}
	switch {
	case c.IntentOpen:
		return nil, idempotency.InProgress()
	case c.State == chargeGone:
		return nil, httpapi.ErrCameToNothing
	}
	sub, err := h.service.db.GetSubscription(ctx, h.service.pool, c.SubscriptionID)
	if err != nil {
		return nil, fmt.Errorf("read subscription: %w", err)
	}
	return renewPixOutput(sub, c)
}
