package checkout

import (
	"context"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/httpapi"
	"marquee/platform/nullable"
)

type subscribePixGWBInput struct {
	Body struct {
		PlanID string `json:"plan_id" minLength:"1" maxLength:"50"`
	}
}

// PixGWBInfo is how a PIX at gateway B is paid.
type PixGWBInfo struct {
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
	out, err := h.service.subscribePix(ctx, gateway.GWB,
		pixOrder{customerID: httpapi.CallerOf(ctx).ID, planID: in.Body.PlanID})
	return pixGWBEnvelope(ctx, out, err)
}

func pixGWBEnvelope(ctx context.Context, out pixOutcome, err error) (*lifecycle.Envelope, error) {
	sub := out.sub
	return lifecycle.EnvelopeOf(ctx, sub, PixGWBInfo{
		Message: out.message(), Amount: int64(sub.PixAmount()), Months: sub.PeriodMonths,
		PaymentIntentID: sub.PixPaymentID,
		ClientSecret:    nullable.Ptr(out.clientSecret.Reveal()), Pix: codeOf(sub),
		PixNotKnown: calls.NotKnownOf(out.clarifying),
	}, err)
}
