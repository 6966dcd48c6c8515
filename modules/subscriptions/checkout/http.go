package checkout

import (
	"context"
	"strings"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/nullable"
)

// Handlers are the room's operations.
type Handlers struct{ service *Checkout }

// Handlers returns the room's operations, for the module's list of routes.
func (s *Checkout) Handlers() Handlers { return Handlers{service: s} }

// CardGWBInfo is what gateway B says of a card besides the subscription.
type CardGWBInfo struct {
	Message       string  `json:"message"`
	ClientSecret  *string `json:"client_secret" nullable:"true" doc:"Only while the card's owner has to authenticate"`
	PaymentStatus string  `json:"payment_status,omitempty" enum:"succeeded,requires_action,requires_payment_method,unknown"`
	PaymentFailed bool    `json:"payment_failed,omitempty"`
}

type subscribeGWBInput struct {
	Body struct {
		PlanID          string                    `json:"plan_id" minLength:"1" maxLength:"50"`
		PaymentMethodID gateway.PaymentMethodBody `json:"payment_method_id" required:"false"`
	}
}

// SubscribeGWB is POST /gwb/subscribe.
func (h Handlers) SubscribeGWB(ctx context.Context, in *subscribeGWBInput) (*lifecycle.Envelope, error) {
	token, err := in.Body.PaymentMethodID.Read()
	if err != nil {
		return nil, err
	}
	out, err := h.service.SubscribeCard(ctx, gateway.GWB, CardOrder{
		CustomerID: httpapi.CallerOf(ctx).ID, PlanID: in.Body.PlanID,
		Instrument: gateway.Instrument{PaymentMethodID: token, RemoteIP: httpapi.ClientIP(ctx)},
	})
	return cardGWBEnvelope(ctx, out, err)
}

func cardGWBEnvelope(ctx context.Context, out CardOutcome, err error) (*lifecycle.Envelope, error) {
	message := out.Message
	if message == "" {
		message = outcomeMessages[out.PaymentStatus]
	}
	return lifecycle.EnvelopeOf(ctx, out.Sub, CardGWBInfo{
		Message: message, ClientSecret: nullable.Ptr(out.clientSecret),
		PaymentStatus: out.PaymentStatus, PaymentFailed: out.declined,
	}, err)
}

var outcomeMessages = map[string]string{
	string(gateway.Succeeded):             "The payment was approved.",
	string(gateway.RequiresAction):        "The bank asks for authentication: complete it with the client secret.",
	string(gateway.RequiresPaymentMethod): "The card was declined. Try another one.",
	string(gateway.OutcomeUnknown):        "The payment is being confirmed.",
}

type subscribeGWAInput struct {
	Body struct {
		PlanID     string                 `json:"plan_id" minLength:"1" maxLength:"50"`
		PromoCode  string                 `json:"promo_code" required:"false" maxLength:"50"`
		CreditCard gateway.CardBody       `json:"credit_card" required:"false"`
		Holder     gateway.CardHolderBody `json:"credit_card_holder_info" required:"false"`
	}
}

// CardGWAInfo is what gateway A says of a card besides the subscription.
type CardGWAInfo struct {
	Message        string  `json:"message"`
	SubscriptionID *string `json:"gwa_subscription_id" nullable:"true"`
	PaymentStatus  string  `json:"payment_status" doc:"The gateway's own word, such as PENDING; unknown when it did not answer in time"`
}

// SubscribeGWA is POST /gwa/subscribe.
func (h Handlers) SubscribeGWA(ctx context.Context, in *subscribeGWAInput) (*lifecycle.Envelope, error) {
	card, err := in.Body.CreditCard.Read()
	if err != nil {
		return nil, err
	}
	holder, err := in.Body.Holder.Read()
	if err != nil {
		return nil, err
	}
	out, err := h.service.SubscribeCard(ctx, gateway.GWA, CardOrder{
		CustomerID: httpapi.CallerOf(ctx).ID, PlanID: in.Body.PlanID, promoCode: strings.TrimSpace(in.Body.PromoCode),
		Instrument: gateway.Instrument{Card: card, Holder: holder, RemoteIP: httpapi.ClientIP(ctx)},
	})
	return cardGWAEnvelope(ctx, out, err)
}

func cardGWAEnvelope(ctx context.Context, out CardOutcome, err error) (*lifecycle.Envelope, error) {
	return lifecycle.EnvelopeOf(ctx, out.Sub, CardGWAInfo{
		Message: lifecycle.StatusMessages[out.Sub.Status], SubscriptionID: out.Sub.GwaSubscriptionID,
		PaymentStatus: out.PaymentStatus,
	}, err)
}

// Subscribe always refuses: the gateways have routes of their own
// (docs/contract/README.md, Versions).
func (Handlers) Subscribe(context.Context, *struct{}) (*httpapi.Output[struct{}], error) {
	return nil, &fault.Error{
		Kind:    fault.KindUnimplemented,
		Message: "Subscribe with POST /gwa/subscribe, POST /gwa/subscribe/pix or POST /gwb/subscribe.",
	}
}
