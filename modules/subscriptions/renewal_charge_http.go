package subscriptions

import (
	"context"
	"fmt"

	"marquee/modules/payments/intent"
	"marquee/platform/httpapi"
	"marquee/platform/idempotency"
	"marquee/platform/objectid"
)

type renewPixBody struct {
	Subscription subscriptionDoc `json:"subscription"`
	Payment      renewPixPayment `json:"payment"`
	Pix          pixCodeInfo     `json:"pix"`
	// Info is there while nobody knows whether the gateway made the payment.
	Info *renewPixInfo `json:"info,omitempty"`
}

type renewPixInfo struct {
	Message string `json:"message"`
	PixNotKnown
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
	body := renewPixBody{
		Subscription: shown(sub), Payment: renewPixPayment{ID: c.GatewayPaymentID, Status: status, BillingType: "PIX"},
		Pix: pixCodeInfo{Payload: c.PixPayload, EncodedImage: c.PixImage, ExpirationDate: httpapi.TimePtr(c.PixExpiresAt)},
	}
	if i, open := openIntentOf(c); open {
		body.Info = &renewPixInfo{Message: chargeClarified(i), PixNotKnown: notKnownOf(&i)}
	}
	return httpapi.OK(body)
}

// openIntentOf tells since when it is not known what became of a charge, and when the
// gateway is asked next.
func openIntentOf(c renewalCharge) (i intent.Intent, open bool) {
	if !c.IntentOpen {
		return i, false
	}
	i.CreatedAt = c.RegisterDate
	if c.LookAt != nil {
		i.NextLook = *c.LookAt
	}
	return i, true
}

// chargeClarified tells a customer that the code of their renewal is being found out.
func chargeClarified(i intent.Intent) string {
	return "Your PIX is being clarified. " + askedAgain(i) + " Ask again, or see GET /customers/me/pix-qr, which shows its code then. Your subscription goes on."
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
