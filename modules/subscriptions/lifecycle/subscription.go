package lifecycle

import (
	"context"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/state"
	"marquee/platform/httpapi"
	"marquee/platform/money"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
)

// Subscription is one customer's subscription. Its rules are its own; the statements that read and write it are those
// of Queries and Store.
type Subscription subscriptionsdb.Subscription

// Owner is the subscription as that of its money.
func (sub Subscription) Owner() gateway.Owner {
	return gateway.Owner{
		Gateway: sub.Gateway, Purpose: gateway.ForSubscription, LocalID: sub.ID, CustomerID: sub.CustomerID,
	}
}

// Recurs reports whether a recurrence at the gateway charges the card by
// itself, and goes on to.
func (sub Subscription) Recurs() bool {
	return sub.PaymentMethod == gateway.MethodCard && sub.RemoteID() != "" && sub.GatewayDeletedAt == nil &&
		!sub.Stopped()
}

// PaysOnce reports whether each period is paid by a code of its own.
func (sub Subscription) PaysOnce() bool {
	return sub.PaymentMethod == gateway.MethodPix && !sub.PixAutomatic
}

// Collects reports whether something at a gateway charges a subscription by itself.
func (sub Subscription) Collects() bool {
	return sub.RemoteID() != "" || sub.PixAutomatic && sub.GwaPixAuthID != nil
}

// HasNoRecurrence reports whether no recurrence charges the card, now or when it
// is made.
func (sub Subscription) HasNoRecurrence() bool {
	return sub.PaymentMethod == gateway.MethodCard &&
		(sub.RemoteID() == "" && !sub.IntentOpen || sub.GatewayDeletedAt != nil)
}

// HasNoAuthorization reports whether an automatic PIX has no authorization at the
// gateway, and none may still turn up there.
func (sub Subscription) HasNoAuthorization() bool {
	return sub.PixAutomatic && (sub.GwaPixAuthID == nil && !sub.IntentOpen || sub.GatewayDeletedAt != nil)
}

// AuthorizationRef names the automatic PIX at gateway A.
func (sub Subscription) AuthorizationRef() gateway.AuthorizationRef {
	return gateway.AuthorizationRef{
		ID: nullable.Value(sub.GwaPixAuthID), SubscriptionID: sub.ID,
		CustomerGatewayID: nullable.Value(sub.GwaCustomerID),
	}
}

// SetAuthorization keeps what the gateway tells of an authorization.
func (sub *Subscription) SetAuthorization(a *gateway.PixAuthorization) {
	if a == nil {
		return
	}
	SetOnce(&sub.GwaPixAuthID, a.ID)
	SetOnce(&sub.GwaCustomerID, a.CustomerID)
	SetOnce(&sub.PixConciliationID, a.ConciliationID)
	SetOnce(&sub.PixPayload, a.Payload)
	SetOnce(&sub.PixImage, a.EncodedImage)
	if a.ExpiresAt != nil {
		sub.PixExpiresAt = a.ExpiresAt
	}
}

// StandIn is the subscription as if it were in the state: what a customer is shown while
// the gateway is being asked.
func (sub Subscription) StandIn(as state.Status) Subscription {
	sub.Status = as
	return sub
}

// RunsThere reports whether a subscription that has ended here is not known to have ended
// at its gateway.
func (sub Subscription) RunsThere() bool {
	return sub.Status.Ended() && sub.KnownAtGateway() && sub.GatewayEndedAt == nil
}

// Stopped reports whether we had the recurrence deleted, or will, so that nothing
// reported of its charges moves a date or counts.
func (sub Subscription) Stopped() bool {
	return sub.CancelAtPeriodEnd && !sub.Traits().EndsWithPeriod || sub.EndsThere()
}

// Stops reports whether something at gateway A, or at either when the subscription was
// opened again, would go on charging a subscription that ends with its paid time.
func (sub Subscription) Stops() bool {
	if sub.Status.Ended() || sub.GatewayDeletedAt != nil {
		return false
	}
	runs := sub.GwaSubscriptionID != nil || sub.GwaPixAuthID != nil
	return sub.GatewayEndOpenSince != nil || runs && sub.CancelAtPeriodEnd && sub.ExpiresAt != nil
}

// IsPendingRenewal reports whether it is a renewal that stands beside the subscription that
// it will replace.
func (sub Subscription) IsPendingRenewal() bool {
	return sub.Status == state.Pending && sub.RenewsID != nil
}

// EndsThere reports whether what charged a living subscription has ended at the gateway,
// or was opened again while its end was not confirmed: nothing that it charges, or fails
// to charge, is owed.
func (sub Subscription) EndsThere() bool {
	return !sub.Status.Ended() &&
		(sub.GatewayEndOpenSince != nil || sub.GatewayDeletedAt != nil && sub.ExpiresAt != nil)
}

// Resumable reports whether a subscription that was to end with its paid time can
// simply go on: gateway B takes the end back, and a period that was paid once has
// nothing that would have to be taken back. Gateway A cannot undo a deletion.
func (sub Subscription) Resumable() bool {
	once := sub.PaymentMethod == gateway.MethodPix && !sub.PixAutomatic
	return sub.Status == state.Active && sub.CancelAtPeriodEnd &&
		(once || sub.Traits().EndsWithPeriod && !sub.EndsThere())
}

// StartsFree reports whether the first charge lies ahead: a trial, or a promo code
// that gives the first month away.
func (sub Subscription) StartsFree() bool {
	return sub.TrialDays > 0 || sub.FirstAmountCents != nil && *sub.FirstAmountCents == 0
}

// SetPix keeps what the gateway tells of a PIX code.
func (sub *Subscription) SetPix(pix *gateway.PixCharge) {
	if pix == nil {
		return
	}
	SetOnce(&sub.PixPaymentID, pix.Payment.ID)
	SetOnce(&sub.PixPayload, pix.Payload)
	SetOnce(&sub.PixImage, pix.EncodedImage)
	if pix.ExpiresAt != nil {
		sub.PixExpiresAt = pix.ExpiresAt
	}
}

// Traits are what the subscription's gateway does in a way of its own.
func (sub Subscription) Traits() gateway.Traits { return sub.Gateway.Traits() }

// idColumns are the columns that keep its ids at its gateway: each has its own, so
// that a subscription which moves to the other keeps both.
func (sub *Subscription) idColumns() (subscription, customer **string) {
	return gateway.Each[**string]{GWA: &sub.GwaSubscriptionID, GWB: &sub.GwbSubscriptionID}.Of(sub.Gateway),
		gateway.Each[**string]{GWA: &sub.GwaCustomerID, GWB: &sub.GwbCustomerID}.Of(sub.Gateway)
}

// CustomerColumns puts a payer's id in the column of their gateway; the other is nil.
func CustomerColumns(gw gateway.Name, id string) (atA, atB *string) {
	r := Subscription{Gateway: gw}
	_, customer := r.idColumns()
	*customer = nullable.Ptr(id)
	return r.GwaCustomerID, r.GwbCustomerID
}

// RemoteCustomer is the payer's id at the subscription's gateway, "" while it is not known.
func (sub Subscription) RemoteCustomer() string {
	_, customer := sub.idColumns()
	return nullable.Value(*customer)
}

// SetRecurrence keeps the gateway's id of the subscription.
func (sub *Subscription) SetRecurrence(id string) {
	subscription, _ := sub.idColumns()
	SetOnce(subscription, id)
}

// RemoteID is the subscription's id at its gateway, "" while it is not known.
func (sub Subscription) RemoteID() string {
	subscription, _ := sub.idColumns()
	return nullable.Value(*subscription)
}

// RunningID is what runs, or ran, of the subscription at its gateway: recurrence,
// authorization or a code that could be paid. "" for a period that is paid.
func (sub Subscription) RunningID() string {
	switch {
	case sub.RemoteID() != "":
		return sub.RemoteID()
	case sub.GwaPixAuthID != nil:
		return *sub.GwaPixAuthID
	case sub.LastPaymentAt == nil:
		return nullable.Value(sub.PixPaymentID)
	}
	return ""
}

// KnownAtGateway reports whether the gateway has something of the subscription.
func (sub Subscription) KnownAtGateway() bool {
	return sub.RemoteID() != "" || sub.PixPaymentID != nil || sub.GwaPixAuthID != nil
}

// ChargesFirstMonth reports whether the first month is a payment of its own: a
// card at gateway A with a promo code.
func (sub Subscription) ChargesFirstMonth() bool {
	return sub.FirstAmountCents != nil && sub.Traits().FirstMonthApart && sub.PaymentMethod == gateway.MethodCard
}

// PixAmount is what the first PIX payment of the subscription costs.
func (sub Subscription) PixAmount() money.Cents {
	if sub.FirstAmountCents != nil {
		return money.Cents(*sub.FirstAmountCents)
	}
	return money.Cents(sub.PriceCents * int64(sub.PeriodMonths))
}

// AccessBegun reports whether the subscription runs, or is only held up.
func (sub Subscription) AccessBegun() bool {
	return sub.Status == state.Active || sub.Status == state.Suspended
}

// NeedsStatusCheck reports whether a live read shows the outcome of a pending one.
func (sub Subscription) NeedsStatusCheck() bool {
	return sub.Traits().PayerConfirms && !sub.IntentOpen
}

// Collection names what the gateway is to collect, or not.
func (sub Subscription) Collection() gateway.Collection {
	return gateway.Collection{SubscriptionID: sub.ID, GatewayID: sub.RemoteID()}
}

// GoOn clears the end that a resumed subscription had. A period that was paid once
// keeps its own.
func (sub *Subscription) GoOn() {
	sub.CancelAtPeriodEnd = false
	if sub.GwbSubscriptionID != nil {
		sub.ExpiresAt = nil
	}
}

// CloseIntent notes that the gateway's answer is in the row.
func (sub *Subscription) CloseIntent() { sub.IntentOpen = false }

// known is what of a subscription decides on the reason of its next move.
func (sub Subscription) known() state.Known {
	return state.Known{
		Status: sub.Status, CancelAtPeriodEnd: sub.CancelAtPeriodEnd, HasChargeback: sub.HasChargeback,
		PaymentFailures: sub.PaymentFailures,
	}
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
