package subscriptions

import (
	"context"
	"strings"

	"marquee/modules/payments"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/httpapi"
	"marquee/platform/money"
	"marquee/platform/objectid"
)

type subscribePixInput struct {
	Body struct {
		PlanID    string `json:"plan_id" minLength:"1" maxLength:"50"`
		PromoCode string `json:"promo_code" required:"false" maxLength:"50"`
	}
}

type pixInfo struct {
	Message   string            `json:"message"`
	Amount    money.Reais       `json:"amount" doc:"Reais"`
	Months    int32             `json:"months"`
	PaymentID *string           `json:"payment_id" nullable:"true"`
	Pix       calls.PixCodeInfo `json:"pix"`
	// AuthorizationID is there for automatic PIX alone.
	AuthorizationID *string `json:"gwa_pix_auth_id,omitempty"`
	calls.PixNotKnown
}

// message tells what the payer does next.
func (o pixOutcome) message() string {
	if o.clarifying != nil {
		return calls.Clarified(o.sub, *o.clarifying)
	}
	return PayPix
}

func (h checkoutHandlers) SubscribePixGWA(ctx context.Context, in *subscribePixInput) (*lifecycle.Envelope, error) {
	return h.orderPixGWA(ctx, in, false)
}

func (h checkoutHandlers) SubscribePixAutomatic(ctx context.Context, in *subscribePixInput) (*lifecycle.Envelope, error) {
	return h.orderPixGWA(ctx, in, true)
}

func (h checkoutHandlers) orderPixGWA(ctx context.Context, in *subscribePixInput, automatic bool) (*lifecycle.Envelope, error) {
	out, err := h.service.subscribePix(ctx, payments.GWA, pixOrder{
		customerID: httpapi.CallerOf(ctx).ID, planID: in.Body.PlanID, promoCode: strings.TrimSpace(in.Body.PromoCode), automatic: automatic,
	})
	if err != nil {
		return nil, err
	}
	return pixGWAEnvelope(ctx, out), nil
}

func pixGWAEnvelope(ctx context.Context, out pixOutcome) *lifecycle.Envelope {
	sub := out.sub
	return httpapi.One(ctx, lifecycle.Shown(sub), pixInfo{
		Message: out.message(), Amount: lifecycle.PixAmount(sub).Reais(), Months: sub.PeriodMonths, PaymentID: sub.PixPaymentID,
		Pix: codeOf(sub), AuthorizationID: sub.GwaPixAuthID, PixNotKnown: calls.NotKnownOf(out.clarifying),
	})
}

const PayPix = "Pay the PIX to start your subscription."

func codeOf(sub lifecycle.Row) calls.PixCodeInfo {
	return calls.PixCodeInfo{Payload: sub.PixPayload, EncodedImage: sub.PixImage, ExpirationDate: httpapi.TimePtr(sub.PixExpiresAt)}
}

type subscribePixGWBInput struct {
	Body struct {
		PlanID string `json:"plan_id" minLength:"1" maxLength:"50"`
	}
}

type pixGWBInfo struct {
	Message         string            `json:"message"`
	Amount          int64             `json:"amount" doc:"Cents"`
	Months          int32             `json:"months"`
	PaymentIntentID *string           `json:"payment_intent_id" nullable:"true"`
	ClientSecret    *string           `json:"client_secret" nullable:"true"`
	Pix             calls.PixCodeInfo `json:"pix"`
	calls.PixNotKnown
}

func (h checkoutHandlers) SubscribePixGWB(ctx context.Context, in *subscribePixGWBInput) (*lifecycle.Envelope, error) {
	out, err := h.service.subscribePix(ctx, payments.GWB, pixOrder{customerID: httpapi.CallerOf(ctx).ID, planID: in.Body.PlanID})
	if err != nil {
		return nil, err
	}
	return pixGWBEnvelope(ctx, out), nil
}

func pixGWBEnvelope(ctx context.Context, out pixOutcome) *lifecycle.Envelope {
	sub := out.sub
	return httpapi.One(ctx, lifecycle.Shown(sub), pixGWBInfo{
		Message: out.message(), Amount: int64(lifecycle.PixAmount(sub)), Months: sub.PeriodMonths, PaymentIntentID: sub.PixPaymentID,
		ClientSecret: lifecycle.Filled(out.clientSecret.Reveal()), Pix: codeOf(sub), PixNotKnown: calls.NotKnownOf(out.clarifying),
	})
}

type pixQRBody struct {
	SubscriptionID objectid.ID `json:"subscription_id"`
	Status         string      `json:"status"`
	Gateway        string      `json:"gateway"`
	Pix            pixQR       `json:"pix"`
	Message        string      `json:"message"`
	// Clarifying is there while nobody knows whether the gateway made the payment.
	Clarifying *calls.ClarifyingInfo `json:"clarifying,omitempty"`
}

type pixQR struct {
	Gateway        string        `json:"gateway"`
	PaymentID      *string       `json:"payment_id" nullable:"true"`
	QRCode         *string       `json:"qr_code" nullable:"true" doc:"Copy-and-paste text"`
	QRCodeImage    *string       `json:"qr_code_image" nullable:"true" doc:"PNG in base64"`
	ExpirationDate *httpapi.Time `json:"expiration_date" nullable:"true"`
}

// PixQR shows the code of the customer's pending PIX at either gateway; an
// automatic one has no payment yet, and shows its authorization.
func (h ownHandlers) PixQR(ctx context.Context, _ *struct{}) (*httpapi.Output[pixQRBody], error) {
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
