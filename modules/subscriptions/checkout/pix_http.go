package checkout

import (
	"context"
	"strings"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/httpapi"
	"marquee/platform/money"
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

// SubscribePixGWA is POST /gwa/subscribe/pix.
func (h Handlers) SubscribePixGWA(ctx context.Context, in *subscribePixInput) (*lifecycle.Envelope, error) {
	return h.orderPixGWA(ctx, in, false)
}

// SubscribePixAutomatic is POST /gwa/subscribe/pix-automatico.
func (h Handlers) SubscribePixAutomatic(ctx context.Context, in *subscribePixInput) (*lifecycle.Envelope, error) {
	return h.orderPixGWA(ctx, in, true)
}

func (h Handlers) orderPixGWA(ctx context.Context, in *subscribePixInput, automatic bool) (*lifecycle.Envelope, error) {
	out, err := h.service.subscribePix(ctx, gateway.GWA, pixOrder{
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

// PayPix is what a pending PIX says.
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

// SubscribePixGWB is POST /gwb/subscribe/pix.
func (h Handlers) SubscribePixGWB(ctx context.Context, in *subscribePixGWBInput) (*lifecycle.Envelope, error) {
	out, err := h.service.subscribePix(ctx, gateway.GWB, pixOrder{customerID: httpapi.CallerOf(ctx).ID, planID: in.Body.PlanID})
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
