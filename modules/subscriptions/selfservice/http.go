package selfservice

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/checkout"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/httpapi"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
)

// Handlers are the room's operations.
type Handlers struct{ service *SelfService }

// Handlers returns the room's operations, for the module's list of routes.
func (s *SelfService) Handlers() Handlers { return Handlers{service: s} }

type subscriptionCancelledBody struct {
	Message        string       `json:"message"`
	SubscriptionID objectid.ID  `json:"subscription_id"`
	Status         state.Status `json:"status"`
}

type cancelInput struct {
	At string `query:"at" required:"false" enum:"period_end" doc:"period_end: access goes on until the end of what is paid, and nothing is charged any more. Without it the subscription ends at once."`
}

// Resolve refuses an empty value, which would otherwise end at once what somebody
// wanted to keep until the end.
func (*cancelInput) Resolve(ctx huma.Context) []error {
	u := ctx.URL()
	if q := u.Query(); q.Has("at") && q.Get("at") == "" {
		return []error{&huma.ErrorDetail{Location: "query.at", Message: "has to be period_end", Value: ""}}
	}
	return nil
}

// CancelCustomerSubscription is DELETE /customers/me/subscription.
func (h Handlers) CancelCustomerSubscription(ctx context.Context,
	in *cancelInput,
) (*httpapi.Output[subscriptionCancelledBody], error) {
	sub, message, err := h.cancel(ctx, in, "")
	if err != nil {
		return nil, err
	}
	return httpapi.OK(subscriptionCancelledBody{Message: message, SubscriptionID: sub.ID, Status: sub.Status})
}

// cancel ends the caller's subscription now, or with its paid time; the text tells
// which, and what paid time was thrown away.
func (h Handlers) cancel(ctx context.Context, in *cancelInput,
	only gateway.Name,
) (lifecycle.Subscription, string, error) {
	customer := httpapi.CallerOf(ctx).ID
	if in.At != "" {
		sub, err := h.service.cancelAtPeriodEnd(ctx, customer, only, false)
		return sub, h.service.endMessage(sub), err
	}
	sub, givenUp, err := h.service.cancel(ctx, customer, only)
	return sub, lifecycle.StatusMessages[sub.Status] + givenUp, err
}

// endMessage says how a subscription that was cancelled ends.
func (s *SelfService) endMessage(sub lifecycle.Subscription) string {
	if sub.CancelAtPeriodEnd && sub.ExpiresAt != nil && sub.Status == state.Active {
		return "The subscription ends with the paid period, on " + s.deps.Calendar.Day(*sub.ExpiresAt) + "."
	}
	return lifecycle.StatusMessages[sub.Status]
}

type renewInput struct {
	Body struct {
		CreditCard      gateway.CardBody          `json:"credit_card" required:"false"`
		Holder          gateway.CardHolderBody    `json:"credit_card_holder_info" required:"false"`
		PaymentMethodID gateway.PaymentMethodBody `json:"payment_method_id" required:"false"`
	}
}

type renewedBody struct {
	Subscription renewedDoc `json:"subscription"`
	Message      string     `json:"message"`
	// Info is there while nobody knows whether the gateway took the card.
	Info *renewedInfo `json:"info,omitempty"`
}

type renewedInfo struct {
	PaymentStatus string `json:"payment_status" enum:"unknown"`
}

type renewedDoc struct {
	ID            objectid.ID    `json:"id"`
	PlanID        string         `json:"plan_id"`
	Gateway       gateway.Name   `json:"gateway" enum:"gwa,gwb"`
	Status        state.Status   `json:"status" enum:"active,pending,suspended,cancelled,expired"`
	PaymentMethod gateway.Method `json:"payment_method" enum:"credit_card,pix,boleto"`
	StartedAt     *httpapi.Time  `json:"started_at" nullable:"true"`
}

// Renew is PUT /customers/me/subscription/renew.
func (h Handlers) Renew(ctx context.Context, in *renewInput) (*httpapi.Output[renewedBody], error) {
	out, err := h.service.renew(ctx, httpapi.CallerOf(ctx).ID, renewal{
		card: in.Body.CreditCard, holder: in.Body.Holder, token: in.Body.PaymentMethodID,
		remoteIP: httpapi.ClientIP(ctx),
	})
	if err != nil {
		return nil, err
	}
	return renewedOutput(out)
}

func renewedOutput(out checkout.CardOutcome) (*httpapi.Output[renewedBody], error) {
	sub, message := out.Sub, out.Message
	if message == "" {
		message = lifecycle.StatusMessages[sub.Status]
	}
	body := renewedBody{Message: message, Subscription: renewedDoc{
		ID: sub.ID, PlanID: sub.PlanID, Gateway: sub.Gateway, Status: sub.Status, PaymentMethod: sub.PaymentMethod,
		StartedAt: httpapi.TimePtr(sub.StartedAt),
	}}
	if unknown := string(gateway.OutcomeUnknown); out.PaymentStatus == unknown {
		body.Info = &renewedInfo{PaymentStatus: unknown}
	}
	return httpapi.OK(body)
}

// ReadGWA is GET /gwa/subscription.
func (h Handlers) ReadGWA(ctx context.Context, _ *struct{}) (*lifecycle.Envelope, error) {
	sub, err := h.service.currentAt(ctx, httpapi.CallerOf(ctx).ID, gateway.GWA)
	if err != nil {
		return nil, err
	}
	doc, err := h.customerDoc(ctx, sub)
	if err != nil {
		return nil, err
	}
	return httpapi.One(ctx, doc, lifecycle.MessageInfo{Message: lifecycle.StatusMessages[sub.Status]}), nil
}

// CancelGWA is DELETE /gwa/subscription.
func (h Handlers) CancelGWA(ctx context.Context, in *cancelInput) (*lifecycle.Envelope, error) {
	sub, message, err := h.cancel(ctx, in, gateway.GWA)
	return lifecycle.EnvelopeOf(ctx, sub, lifecycle.MessageInfo{Message: message}, err)
}

// CancelGWB ends the subscription with its paid time, as the contract says of this route
// (docs/contract/subscriptions.md, Cancelling), and at once what gives no access.
func (h Handlers) CancelGWB(ctx context.Context, in *cancelInput) (*lifecycle.Envelope, error) {
	customer := httpapi.CallerOf(ctx).ID
	sub, err := h.service.currentAt(ctx, customer, gateway.GWB)
	if err != nil {
		return nil, err
	}
	var message string
	if in.At == "" && sub.Status == state.Active {
		sub, err = h.service.cancelAtPeriodEnd(ctx, customer, gateway.GWB, true)
		message = h.service.endMessage(sub)
	} else {
		sub, message, err = h.cancel(ctx, in, gateway.GWB)
	}
	return lifecycle.EnvelopeOf(ctx, sub, lifecycle.MessageInfo{Message: message}, err)
}

type cardGWAInput struct {
	Body struct {
		CreditCard gateway.CardBody       `json:"credit_card" required:"false"`
		Holder     gateway.CardHolderBody `json:"credit_card_holder_info" required:"false"`
	}
}

// ChangeCardGWA is PUT /gwa/subscription/credit-card.
func (h Handlers) ChangeCardGWA(ctx context.Context, in *cardGWAInput) (*lifecycle.Envelope, error) {
	r := renewal{card: in.Body.CreditCard, holder: in.Body.Holder, remoteIP: httpapi.ClientIP(ctx)}
	return h.changeCard(ctx, gateway.GWA, r)
}

type cardGWBInput struct {
	Body struct {
		PaymentMethodID gateway.PaymentMethodBody `json:"payment_method_id" required:"false"`
	}
}

// ChangeCardGWB is PUT /gwb/subscription/payment-method.
func (h Handlers) ChangeCardGWB(ctx context.Context, in *cardGWBInput) (*lifecycle.Envelope, error) {
	return h.changeCard(ctx, gateway.GWB, renewal{token: in.Body.PaymentMethodID, remoteIP: httpapi.ClientIP(ctx)})
}

func (h Handlers) changeCard(ctx context.Context, name gateway.Name, r renewal) (*lifecycle.Envelope, error) {
	card, err := r.instrument(name)
	if err != nil {
		return nil, err
	}
	sub, message, err := h.service.changeCard(ctx, httpapi.CallerOf(ctx).ID, name, card)
	return lifecycle.EnvelopeOf(ctx, sub, lifecycle.MessageInfo{Message: message}, err)
}

// customerDoc is a subscription as its customer sees it: with the end of the right to withdraw.
func (h Handlers) customerDoc(ctx context.Context, sub lifecycle.Subscription) (lifecycle.SubscriptionDoc, error) {
	doc := sub.Doc()
	until, err := h.service.deps.Withdrawals.WithdrawalUntil(ctx, sub)
	doc.WithdrawalUntil = httpapi.TimePtr(until)
	return doc, err
}

// GetCustomerSubscription is GET /customers/me/subscription.
func (h Handlers) GetCustomerSubscription(ctx context.Context, _ *struct{}) (*lifecycle.Envelope, error) {
	sub, err := h.service.deps.Reads.Current(ctx, httpapi.CallerOf(ctx).ID)
	if err != nil {
		return nil, err
	}
	doc, err := h.customerDoc(ctx, sub)
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
	doc, err := h.customerDoc(ctx, sub)
	if err != nil {
		return nil, err
	}
	return httpapi.One(ctx, doc, checkout.CardGWBInfo{
		Message: lifecycle.StatusMessages[sub.Status], ClientSecret: nullable.Ptr(clientSecret),
	}), nil
}

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
		SubscriptionID: sub.ID, Status: sub.Status, Gateway: sub.Gateway, Message: out.message,
		Clarifying: calls.NotKnownOf(out.clarifying).Clarifying,
		Pix: pixQR{
			Gateway: sub.Gateway, PaymentID: firstOf(sub.PixPaymentID, sub.GwaPixAuthID), QRCode: sub.PixPayload,
			QRCodeImage:    sub.PixImage,
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
