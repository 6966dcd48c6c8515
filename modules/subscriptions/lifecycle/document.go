package lifecycle

import (
	"context"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/state"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

// CallerID is the admin who asks, nil for everybody else.
func CallerID(ctx context.Context) *objectid.ID {
	id := httpapi.CallerOf(ctx).ID
	if id == "" {
		return nil
	}
	return &id
}

// SubscriptionDoc is a subscription as the API shows it (docs/contract/subscriptions.md, The record): the gateways' ids
// and gateway_deleted_at only when set, dates otherwise
// null.
type SubscriptionDoc struct {
	ID                objectid.ID    `json:"_id"`
	CustomerID        objectid.ID    `json:"customer_id"`
	PlanID            string         `json:"plan_id"`
	Gateway           gateway.Name   `json:"gateway" enum:"gwa,gwb"`
	Status            state.Status   `json:"status" enum:"active,pending,suspended,cancelled,expired"`
	PaymentMethod     gateway.Method `json:"payment_method" enum:"credit_card,pix,boleto"`
	GWASubscriptionID *string        `json:"gwa_subscription_id,omitempty"`
	GWACustomerID     *string        `json:"gwa_customer_id,omitempty"`
	GWAPixAuthID      *string        `json:"gwa_pix_auth_id,omitempty"`
	GWBSubscriptionID *string        `json:"gwb_subscription_id,omitempty"`
	GWBPriceID        *string        `json:"gwb_price_id,omitempty"`
	StartedAt         *httpapi.Time  `json:"started_at" nullable:"true"`
	NextBillingDate   *httpapi.Time  `json:"next_billing_date" nullable:"true"`
	LastPaymentAt     *httpapi.Time  `json:"last_payment_at" nullable:"true"`
	ExpiresAt         *httpapi.Time  `json:"expires_at" nullable:"true"`
	CreatedAt         httpapi.Time   `json:"created_at"`
	GatewayDeletedAt  *httpapi.Time  `json:"gateway_deleted_at,omitempty"`
	WithdrawalUntil   *httpapi.Time  `json:"withdrawal_until,omitempty" doc:"In the customer's own reads: when the right to get all money back (POST /customers/me/subscription/withdraw) ends or ended; counted from the first payment, that of the renewed subscription included; absent where nothing was paid"`
	PaymentFailures   int32          `json:"payment_failures" doc:"Failures in a row"`
	TotalRefunded     int64          `json:"total_refunded" doc:"Cents"`
	HasChargeback     bool           `json:"has_chargeback"`
	CancelAtPeriodEnd bool           `json:"cancel_at_period_end"`
	CreatedByID       *objectid.ID   `json:"document_created_by_id" nullable:"true"`
	RegisterDate      httpapi.Time   `json:"register_date"`
	UpdateDate        httpapi.Time   `json:"register_update_date"`
}

// Doc is the subscription as the API shows it.
func (sub Subscription) Doc() SubscriptionDoc {
	return SubscriptionDoc{
		ID: sub.ID, CustomerID: sub.CustomerID, PlanID: sub.PlanID, Gateway: sub.Gateway, Status: sub.Status,
		PaymentMethod:     sub.PaymentMethod,
		GWASubscriptionID: sub.GwaSubscriptionID, GWACustomerID: sub.GwaCustomerID, GWAPixAuthID: sub.GwaPixAuthID,
		GWBSubscriptionID: sub.GwbSubscriptionID, GWBPriceID: sub.GwbPriceID,
		StartedAt: httpapi.TimePtr(sub.StartedAt), NextBillingDate: httpapi.TimePtr(sub.NextBillingDate),
		LastPaymentAt: httpapi.TimePtr(sub.LastPaymentAt), ExpiresAt: httpapi.TimePtr(sub.ExpiresAt),
		CreatedAt: httpapi.Time(sub.RegisterDate), GatewayDeletedAt: httpapi.TimePtr(sub.GatewayDeletedAt),
		PaymentFailures: sub.PaymentFailures, TotalRefunded: sub.TotalRefundedCents, HasChargeback: sub.HasChargeback,
		CancelAtPeriodEnd: sub.CancelAtPeriodEnd,
		CreatedByID:       sub.DocumentCreatedByID, RegisterDate: httpapi.Time(sub.RegisterDate),
		UpdateDate: httpapi.Time(sub.RegisterUpdateDate),
	}
}

// Envelope is the answer about one subscription.
type Envelope = httpapi.EnvelopeOutput[SubscriptionDoc]

// EnvelopeOf answers with a subscription and what is said beside it, or with the error.
func EnvelopeOf(ctx context.Context, sub Subscription, info any, err error) (*Envelope, error) {
	if err != nil {
		return nil, err
	}
	return httpapi.One(ctx, sub.Doc(), info), nil
}

// StatusMessages are what the answers say of a state.
var StatusMessages = map[state.Status]string{
	state.Active:    "The subscription is active.",
	state.Pending:   "The payment is being confirmed.",
	state.Suspended: "The subscription is suspended.",
	state.Cancelled: "The subscription is cancelled.",
	state.Expired:   "The subscription has expired.",
}

// MessageInfo is the sentence beside a subscription.
type MessageInfo struct {
	Message string `json:"message"`
}
