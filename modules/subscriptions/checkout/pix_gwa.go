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
		customerID: httpapi.CallerOf(ctx).ID, planID: in.Body.PlanID, promoCode: strings.TrimSpace(in.Body.PromoCode),
		automatic: automatic,
	})
	return pixGWAEnvelope(ctx, out, err)
}

// PixGWAInfo is how a PIX at gateway A is paid.
type PixGWAInfo struct {
	Message   string            `json:"message"`
	Amount    money.Reais       `json:"amount" doc:"Reais"`
	Months    int32             `json:"months"`
	PaymentID *string           `json:"payment_id" nullable:"true"`
	Pix       calls.PixCodeInfo `json:"pix"`
	// AuthorizationID is set only for automatic PIX.
	AuthorizationID *string `json:"gwa_pix_auth_id,omitempty"`
	calls.PixNotKnown
}

func pixGWAEnvelope(ctx context.Context, out pixOutcome, err error) (*lifecycle.Envelope, error) {
	sub := out.sub
	return lifecycle.EnvelopeOf(ctx, sub, PixGWAInfo{
		Message: out.message(), Amount: sub.PixAmount().Reais(), Months: sub.PeriodMonths,
		PaymentID: sub.PixPaymentID,
		Pix:       codeOf(sub), AuthorizationID: sub.GwaPixAuthID, PixNotKnown: calls.NotKnownOf(out.clarifying),
	}, err)
}
