package own

import (
	"context"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/state"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

type pixQRBody struct {
	SubscriptionID objectid.ID  `json:"subscription_id"`
	Status         state.Status `json:"status"`
	Gateway        gateway.Name `json:"gateway"`
	Pix            pixQR        `json:"pix"`
	Message        string       `json:"message"`
	// Clarifying is there while nobody knows whether the gateway made the payment.
	Clarifying *calls.ClarifyingInfo `json:"clarifying,omitempty"`
}

type pixQR struct {
	Gateway        gateway.Name  `json:"gateway"`
	PaymentID      *string       `json:"payment_id" nullable:"true"`
	QRCode         *string       `json:"qr_code" nullable:"true" doc:"Copy-and-paste text"`
	QRCodeImage    *string       `json:"qr_code_image" nullable:"true" doc:"PNG in base64"`
	ExpirationDate *httpapi.Time `json:"expiration_date" nullable:"true"`
}

// PixQR shows the code of the customer's pending PIX at either gateway; an
// automatic one has no payment yet, and shows its authorization.
func (h Handlers) PixQR(ctx context.Context, _ *struct{}) (*httpapi.Output[pixQRBody], error) {
	out, err := h.service.pixCode(ctx, httpapi.CallerOf(ctx).ID)
	if err != nil {
		return nil, err
	}
	sub := out.sub
	return httpapi.OK(pixQRBody{
		SubscriptionID: sub.ID, Status: sub.Status, Gateway: sub.Gateway, Message: out.message, Clarifying: calls.NotKnownOf(out.clarifying).Clarifying,
		Pix: pixQR{
			Gateway: sub.Gateway, PaymentID: firstOf(sub.PixPaymentID, sub.GwaPixAuthID), QRCode: sub.PixPayload, QRCodeImage: sub.PixImage,
			ExpirationDate: httpapi.TimePtr(sub.PixExpiresAt),
		},
	})
}

func firstOf(ids ...*string) *string {
	for _, id := range ids {
		if id != nil {
			return id
		}
	}
	return nil
}
