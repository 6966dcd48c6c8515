package subscriptions

import (
	"context"
	"strings"

	"marquee/modules/payments"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

// SubscriptionDoc is a subscription as the API shows it (query-contract, section
// 3): the gateways' ids and gateway_deleted_at only when set, dates otherwise
// null.
type SubscriptionDoc struct {
	ID                objectid.ID   `json:"_id"`
	CustomerID        objectid.ID   `json:"customer_id"`
	PlanID            string        `json:"plan_id"`
	Gateway           string        `json:"gateway" enum:"gwa,gwb"`
	Status            string        `json:"status" enum:"active,pending,suspended,cancelled,expired"`
	PaymentMethod     string        `json:"payment_method" enum:"credit_card,pix,boleto"`
	GWASubscriptionID *string       `json:"gwa_subscription_id,omitempty"`
	GWACustomerID     *string       `json:"gwa_customer_id,omitempty"`
	GWAPixAuthID      *string       `json:"gwa_pix_auth_id,omitempty"`
	GWBSubscriptionID *string       `json:"gwb_subscription_id,omitempty"`
	GWBPriceID        *string       `json:"gwb_price_id,omitempty"`
	StartedAt         *httpapi.Time `json:"started_at" nullable:"true"`
	NextBillingDate   *httpapi.Time `json:"next_billing_date" nullable:"true"`
	LastPaymentAt     *httpapi.Time `json:"last_payment_at" nullable:"true"`
	ExpiresAt         *httpapi.Time `json:"expires_at" nullable:"true"`
	CreatedAt         httpapi.Time  `json:"created_at"`
	GatewayDeletedAt  *httpapi.Time `json:"gateway_deleted_at,omitempty"`
	WithdrawalUntil   *httpapi.Time `json:"withdrawal_until,omitempty" doc:"In the customer's own reads: until when, or when it ended, that all money is given back on POST /customers/me/subscription/withdraw; counted from the first payment, also of what it renews; absent where nothing was paid"`
	PaymentFailures   int32         `json:"payment_failures" doc:"Failures in a row"`
	TotalRefunded     int64         `json:"total_refunded" doc:"Cents"`
	HasChargeback     bool          `json:"has_chargeback"`
	CancelAtPeriodEnd bool          `json:"cancel_at_period_end"`
	CreatedByID       *objectid.ID  `json:"document_created_by_id" nullable:"true"`
	RegisterDate      httpapi.Time  `json:"register_date"`
	UpdateDate        httpapi.Time  `json:"register_update_date"`
}

func Shown(r Row) SubscriptionDoc {
	return SubscriptionDoc{
		ID: r.ID, CustomerID: r.CustomerID, PlanID: r.PlanID, Gateway: r.Gateway, Status: r.Status, PaymentMethod: r.PaymentMethod,
		GWASubscriptionID: r.GwaSubscriptionID, GWACustomerID: r.GwaCustomerID, GWAPixAuthID: r.GwaPixAuthID,
		GWBSubscriptionID: r.GwbSubscriptionID, GWBPriceID: r.GwbPriceID,
		StartedAt: httpapi.TimePtr(r.StartedAt), NextBillingDate: httpapi.TimePtr(r.NextBillingDate),
		LastPaymentAt: httpapi.TimePtr(r.LastPaymentAt), ExpiresAt: httpapi.TimePtr(r.ExpiresAt),
		CreatedAt: httpapi.Time(r.RegisterDate), GatewayDeletedAt: httpapi.TimePtr(r.GatewayDeletedAt),
		PaymentFailures: r.PaymentFailures, TotalRefunded: r.TotalRefundedCents, HasChargeback: r.HasChargeback,
		CancelAtPeriodEnd: r.CancelAtPeriodEnd,
		CreatedByID:       r.DocumentCreatedByID, RegisterDate: httpapi.Time(r.RegisterDate), UpdateDate: httpapi.Time(r.RegisterUpdateDate),
	}
}

type Envelope = httpapi.EnvelopeOutput[SubscriptionDoc]

type checkoutHandlers struct{ service *Checkout }

func (s *Checkout) Handlers() checkoutHandlers { return checkoutHandlers{service: s} }

func (h ownHandlers) Mine(ctx context.Context, _ *struct{}) (*Envelope, error) {
	sub, err := h.service.reads.Current(ctx, httpapi.CallerOf(ctx).ID)
	if err != nil {
		return nil, err
	}
	doc, err := h.own(ctx, sub)
	if err != nil {
		return nil, err
	}
	return httpapi.One(ctx, doc, nil), nil
}

type GwbInfo struct {
	Message       string  `json:"message"`
	ClientSecret  *string `json:"client_secret" nullable:"true" doc:"Only while the card's owner has to authenticate"`
	PaymentStatus string  `json:"payment_status,omitempty" enum:"succeeded,requires_action,requires_payment_method,unknown"`
	PaymentFailed bool    `json:"payment_failed,omitempty"`
}

func (h ownHandlers) ReadGWB(ctx context.Context, _ *struct{}) (*Envelope, error) {
	sub, clientSecret, err := h.service.readGWB(ctx, httpapi.CallerOf(ctx).ID)
	if err != nil {
		return nil, err
	}
	doc, err := h.own(ctx, sub)
	if err != nil {
		return nil, err
	}
	return httpapi.One(ctx, doc, GwbInfo{Message: StatusMessages[Status(sub.Status)], ClientSecret: Filled(clientSecret)}), nil
}

var StatusMessages = map[Status]string{
	Active:    "The subscription is active.",
	Pending:   "The payment is being confirmed.",
	Suspended: "The subscription is suspended.",
	Cancelled: "The subscription is cancelled.",
	Expired:   "The subscription has expired.",
}

type subscribeGWBInput struct {
	Body struct {
		PlanID          string                     `json:"plan_id" minLength:"1" maxLength:"50"`
		PaymentMethodID payments.PaymentMethodBody `json:"payment_method_id" required:"false"`
	}
}

func (h checkoutHandlers) SubscribeGWB(ctx context.Context, in *subscribeGWBInput) (*Envelope, error) {
	token, err := in.Body.PaymentMethodID.Read()
	if err != nil {
		return nil, err
	}
	out, err := h.service.SubscribeGWB(ctx, CardOrder{
		CustomerID: httpapi.CallerOf(ctx).ID, PlanID: in.Body.PlanID,
		Instrument: payments.Instrument{PaymentMethodID: token, RemoteIP: httpapi.ClientIP(ctx)},
	})
	if err != nil {
		return nil, err
	}
	return cardGWBEnvelope(ctx, out), nil
}

func cardGWBEnvelope(ctx context.Context, out CardOutcome) *Envelope {
	message := out.Message
	if message == "" {
		message = outcomeMessages[out.PaymentStatus]
	}
	return httpapi.One(ctx, Shown(out.Sub), GwbInfo{
		Message: message, ClientSecret: Filled(out.clientSecret),
		PaymentStatus: out.PaymentStatus, PaymentFailed: out.declined,
	})
}

var outcomeMessages = map[string]string{
	string(payments.Succeeded):             "The payment was approved.",
	string(payments.RequiresAction):        "The bank asks for authentication: complete it with the client secret.",
	string(payments.RequiresPaymentMethod): "The card was declined. Try another one.",
	string(payments.OutcomeUnknown):        "The payment is being confirmed.",
}

type subscribeGWAInput struct {
	Body struct {
		PlanID     string                  `json:"plan_id" minLength:"1" maxLength:"50"`
		PromoCode  string                  `json:"promo_code" required:"false" maxLength:"50"`
		CreditCard payments.CardBody       `json:"credit_card" required:"false"`
		Holder     payments.CardHolderBody `json:"credit_card_holder_info" required:"false"`
	}
}

type gwaInfo struct {
	Message        string  `json:"message"`
	SubscriptionID *string `json:"gwa_subscription_id" nullable:"true"`
	PaymentStatus  string  `json:"payment_status" doc:"The gateway's own word, such as PENDING; unknown when it did not answer in time"`
}

func (h checkoutHandlers) SubscribeGWA(ctx context.Context, in *subscribeGWAInput) (*Envelope, error) {
	card, err := in.Body.CreditCard.Read()
	if err != nil {
		return nil, err
	}
	holder, err := in.Body.Holder.Read()
	if err != nil {
		return nil, err
	}
	out, err := h.service.SubscribeGWA(ctx, CardOrder{
		CustomerID: httpapi.CallerOf(ctx).ID, PlanID: in.Body.PlanID, promoCode: strings.TrimSpace(in.Body.PromoCode),
		Instrument: payments.Instrument{Card: card, Holder: holder, RemoteIP: httpapi.ClientIP(ctx)},
	})
	if err != nil {
		return nil, err
	}
	return cardGWAEnvelope(ctx, out), nil
}

func cardGWAEnvelope(ctx context.Context, out CardOutcome) *Envelope {
	return httpapi.One(ctx, Shown(out.Sub), gwaInfo{
		Message: StatusMessages[Status(out.Sub.Status)], SubscriptionID: out.Sub.GwaSubscriptionID, PaymentStatus: out.PaymentStatus,
	})
}

// Subscribe always refuses: the gateways have routes of their own
// (specification, Versioning 4).
func (checkoutHandlers) Subscribe(context.Context, *struct{}) (*httpapi.Output[struct{}], error) {
	return nil, &fault.Error{Kind: fault.Unimplemented, Message: "Subscribe with POST /gwa/subscribe, POST /gwa/subscribe/pix or POST /gwb/subscribe."}
}
