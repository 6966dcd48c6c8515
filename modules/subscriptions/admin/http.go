package admin

import (
	"context"
	"net/http"
	"strings"
	"time"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/resource"
)

type handlers struct {
	service *Admin
	all     *resource.Resource
	only    gateway.Name // the gateway of the routes of one, else ""
}

// AdminRoutes registers what admins do with subscriptions: for both gateways, and
// the same for each alone.
func (s *Admin) AdminRoutes(api *httpapi.API) {
	all := s.newResource()
	h := handlers{service: s, all: all}
	list := resource.Routes{Pool: s.deps.Pool, Clock: s.deps.Clock, Log: s.deps.Log}

	httpapi.Route(api, http.MethodGet, "/subscriptions", "subscription_list", httpapi.Admin, list.List(all.View),
		all.ListDoc()...)
	httpapi.Route(api, http.MethodPut, "/subscriptions", "subscription_update", httpapi.Admin, h.update,
		all.UpdateDoc()...)
	httpapi.Route(api, http.MethodGet, "/subscriptions/stats", "subscription_stats", httpapi.Admin, h.stats)
	httpapi.Route(api, http.MethodGet, "/subscriptions/{id}/payments", "subscription_payments", httpapi.Admin,
		h.payments)
	httpapi.Route(api, http.MethodGet, "/subscriptions/{id}/refunds", "subscription_refunds", httpapi.Admin, h.refunds)
	httpapi.Route(api, http.MethodPost, "/subscriptions/{id}/refund", "subscription_refund", httpapi.Admin, h.refund,
		httpapi.Info[subscriptionRefundedBody](), httpapi.Idempotent(h.replayRefund, nil))
	httpapi.Route(api, http.MethodPost, "/subscriptions/{id}/cancel", "subscription_cancel", httpapi.Admin, h.cancel)
	httpapi.Route(api, http.MethodPost, "/subscriptions/{id}/chargeback", "subscription_chargeback", httpapi.Admin,
		h.chargeback)
	httpapi.Route(api, http.MethodDelete, "/subscriptions/{id}/chargebacks/{chargeback_id}",
		"subscription_chargeback_withdraw", httpapi.Admin, h.withdrawChargeback,
		httpapi.Summary("Take back a chargeback that was entered by hand"))
	httpapi.Route(api, http.MethodPost, "/admin/subscriptions/{id}/extend", "subscription_extend", httpapi.Admin,
		h.extend)
	httpapi.Route(api, http.MethodPost, "/admin/subscriptions/{id}/activate", "subscription_activate", httpapi.Admin,
		h.activate, httpapi.Info[lifecycle.MessageInfo]())

	httpapi.Route(api, http.MethodGet, "/admin/customers/{id}/access", "customer_access", httpapi.Admin, h.access,
		httpapi.Summary("Why a customer may watch, or may not"))

	for _, name := range gateway.Names() {
		at := handlers{service: s, all: all, only: name}
		path, prefix := "/admin/"+string(name)+"/subscriptions", "admin_"+string(name)+"_subscription_"
		view := all.Restrict("t.gateway = '" + string(name) + "'")
		httpapi.Route(api, http.MethodGet, path, prefix+"list", httpapi.Admin, list.List(view), view.ListDoc()...)
		httpapi.Route(api, http.MethodGet, path+"/stats", prefix+"stats", httpapi.Admin, at.statsOfGateway)
		httpapi.Route(api, http.MethodPost, path+"/{id}/cancel", prefix+"cancel", httpapi.Admin, at.cancel)
		httpapi.Route(api, http.MethodGet, path+"/{id}/payments", prefix+"payments", httpapi.Admin, at.payments)
		httpapi.Route(api, http.MethodGet, path+"/{id}/refunds", prefix+"refunds", httpapi.Admin, at.refunds)
	}
	gwa, gwb := handlers{service: s, only: gateway.GWA}, handlers{service: s, only: gateway.GWB}
	httpapi.Route(api, http.MethodPost, "/admin/gwa/subscriptions/{id}/refund", "admin_gwa_subscription_refund",
		httpapi.Admin, gwa.refundGWA, httpapi.Idempotent(gwa.replayRefundAt, nil))
	httpapi.Route(api, http.MethodPost, "/admin/gwb/subscriptions/{id}/refund", "admin_gwb_subscription_refund",
		httpapi.Admin, gwb.refundGWB, httpapi.Idempotent(gwb.replayRefundAt, nil))
}

type idInput struct {
	ID string `path:"id" doc:"24 hexadecimal digits"`
}

type reasonInput struct {
	ID   string `path:"id" doc:"24 hexadecimal digits"`
	Body *struct {
		Reason string `json:"reason" required:"false" maxLength:"500"`
	}
}

func (in *reasonInput) reason() string {
	if in.Body == nil {
		return ""
	}
	return strings.TrimSpace(in.Body.Reason)
}

type adminCancelBody struct {
	Message           string        `json:"message"`
	SubscriptionID    objectid.ID   `json:"subscription_id"`
	CustomerID        objectid.ID   `json:"customer_id"`
	Gateway           gateway.Name  `json:"gateway" enum:"gwa,gwb"`
	GWASubscriptionID *string       `json:"gwa_subscription_id,omitempty"`
	GWBSubscriptionID *string       `json:"gwb_subscription_id,omitempty"`
	CancelledAt       *httpapi.Time `json:"cancelled_at" nullable:"true"`
	GatewayResponse   any           `json:"gateway_response" doc:"null where nothing runs at the gateway, and while it has not confirmed: a job asks it until it does"`
}

func (h handlers) cancel(ctx context.Context, in *reasonInput) (*httpapi.Output[adminCancelBody], error) {
	sub, err := h.service.findAt(ctx, in.ID, h.only)
	if err == nil {
		sub, err = h.service.adminCancel(ctx, sub, in.reason())
	}
	if err != nil {
		return nil, err
	}
	body := adminCancelBody{
		Message: "The subscription was cancelled.", SubscriptionID: sub.ID, CustomerID: sub.CustomerID,
		Gateway:           sub.Gateway,
		GWASubscriptionID: sub.GwaSubscriptionID, GWBSubscriptionID: sub.GwbSubscriptionID,
		CancelledAt: httpapi.TimePtr(sub.EndedAt),
	}
	switch running := sub.RunningID(); {
	case running == "":
	case sub.GatewayEndedAt != nil:
		body.GatewayResponse = map[string]any{"id": running, "status": "canceled"}
	default:
		body.Message = "The subscription was cancelled here; the gateway has not confirmed yet and is asked again."
	}
	return httpapi.OK(body)
}

func (h handlers) activate(ctx context.Context, in *reasonInput) (*lifecycle.Envelope, error) {
	sub, err := h.service.deps.Reads.Find(ctx, h.service.deps.Pool, in.ID)
	if err == nil {
		sub, err = h.service.activate(ctx, sub, in.reason())
	}
	return lifecycle.EnvelopeOf(ctx, sub, lifecycle.MessageInfo{Message: lifecycle.StatusMessages[sub.Status]}, err)
}

type extendInput struct {
	ID   string `path:"id" doc:"24 hexadecimal digits"`
	Body struct {
		Days      *int              `json:"days" required:"false" nullable:"false" minimum:"1" maximum:"3650"`
		ExpiresAt *httpapi.SentTime `json:"expires_at" required:"false" nullable:"false"`
	}
}

func (h handlers) extend(ctx context.Context, in *extendInput) (*lifecycle.Envelope, error) {
	if (in.Body.Days == nil) == (in.Body.ExpiresAt == nil) {
		return nil, fault.InvalidAt("has to be given, or expires_at, and not both", "body", "days")
	}
	sub, err := h.service.deps.Reads.Find(ctx, h.service.deps.Pool, in.ID)
	if err != nil {
		return nil, err
	}
	if in.Body.Days != nil {
		sub, err = h.service.extend(ctx, sub, *in.Body.Days, nil)
	} else {
		sub, err = h.service.extend(ctx, sub, 0, (*time.Time)(&in.Body.ExpiresAt.Time))
	}
	return lifecycle.EnvelopeOf(ctx, sub, nil, err)
}

type chargebackInput struct {
	ID   string `path:"id" doc:"24 hexadecimal digits"`
	Body struct {
		Reason string `json:"reason" minLength:"5" maxLength:"500"`
		Amount *int64 `json:"amount" required:"false" nullable:"false" minimum:"1" maximum:"100000000" doc:"Cents, at most what is left of the latest payment, which is the default"`
	}
}

func (h handlers) chargeback(ctx context.Context, in *chargebackInput) (*lifecycle.Envelope, error) {
	reason := strings.TrimSpace(in.Body.Reason)
	if len([]rune(reason)) < 5 {
		return nil, fault.InvalidAt("has to have at least 5 characters", "body", "reason")
	}
	sub, err := h.service.deps.Reads.Find(ctx, h.service.deps.Pool, in.ID)
	if err == nil {
		sub, err = h.service.chargeback(ctx, sub, reason, in.Body.Amount)
	}
	return lifecycle.EnvelopeOf(ctx, sub, nil, err)
}

type withdrawChargebackInput struct {
	ID           string `path:"id" doc:"24 hexadecimal digits"`
	ChargebackID string `path:"chargeback_id" maxLength:"255" pattern:"^[A-Za-z0-9_-]+$" patternDescription:"an id" doc:"chargeback_id, or dispute_id, of GET /subscriptions/{id}/refunds"`
	Body         struct {
		Reason string `json:"reason" minLength:"5" maxLength:"500"`
	}
}

func (h handlers) withdrawChargeback(ctx context.Context, in *withdrawChargebackInput) (*lifecycle.Envelope, error) {
	reason := strings.TrimSpace(in.Body.Reason)
	if len([]rune(reason)) < 5 {
		return nil, fault.InvalidAt("has to have at least 5 characters", "body", "reason")
	}
	sub, err := h.service.deps.Reads.Find(ctx, h.service.deps.Pool, in.ID)
	if err == nil {
		sub, err = h.service.withdrawChargeback(ctx, sub, in.ChargebackID, reason)
	}
	return lifecycle.EnvelopeOf(ctx, sub, nil, err)
}

type subscriptionPaymentsBody struct {
	SubscriptionID    objectid.ID              `json:"subscription_id"`
	Gateway           gateway.Name             `json:"gateway" enum:"gwa,gwb"`
	GWASubscriptionID *string                  `json:"gwa_subscription_id,omitempty"`
	GWACustomerID     *string                  `json:"gwa_customer_id,omitempty"`
	GWBSubscriptionID *string                  `json:"gwb_subscription_id,omitempty"`
	GWBCustomerID     *string                  `json:"gwb_customer_id,omitempty"`
	Payments          []subscriptionPaymentDoc `json:"payments"`
}

type subscriptionPaymentDoc struct {
	ID             string        `json:"id"`
	PaymentIntent  *string       `json:"payment_intent" nullable:"true"`
	Status         string        `json:"status"`
	Amount         int64         `json:"amount" doc:"Cents"`
	AmountRefunded int64         `json:"amount_refunded" doc:"Cents"`
	Refunded       bool          `json:"refunded"`
	Currency       string        `json:"currency"`
	Created        int64         `json:"created" doc:"Unix seconds"`
	Description    *string       `json:"description" nullable:"true"`
	GWAPaymentID   *string       `json:"gwa_payment_id,omitempty"`
	BillingType    *string       `json:"billing_type,omitempty"`
	DueDate        *httpapi.Time `json:"due_date,omitempty"`
	PaidAt         *httpapi.Time `json:"paid_at,omitempty"`
}

func (h handlers) payments(ctx context.Context, in *idInput) (*httpapi.Output[subscriptionPaymentsBody], error) {
	sub, err := h.service.findAt(ctx, in.ID, h.only)
	if err != nil {
		return nil, err
	}
	if err := httpapi.HeadEnds(ctx); err != nil {
		return nil, err
	}
	remote, err := h.service.listRemote(ctx, sub)
	if err != nil {
		return nil, err
	}
	body := subscriptionPaymentsBody{
		SubscriptionID: sub.ID, Gateway: sub.Gateway, GWASubscriptionID: sub.GwaSubscriptionID,
		GWACustomerID:     sub.GwaCustomerID,
		GWBSubscriptionID: sub.GwbSubscriptionID, GWBCustomerID: sub.GwbCustomerID,
		Payments: []subscriptionPaymentDoc{},
	}
	for _, p := range remote {
		doc := subscriptionPaymentDoc{
			ID: p.ID, PaymentIntent: nullable.Ptr(p.PaymentIntentID), Status: p.Status, Amount: int64(p.Amount),
			AmountRefunded: int64(p.AmountRefunded),
			Refunded:       p.Refunded, Currency: p.Currency, Created: p.CreatedAt.Unix(),
			Description: nullable.Ptr(p.Description),
		}
		if sub.Traits().ChargesByDay {
			doc.GWAPaymentID, doc.BillingType = nullable.Ptr(p.ID), nullable.Ptr(p.BillingType)
			doc.DueDate, doc.PaidAt = httpapi.TimePtr(p.DueDate), httpapi.TimePtr(p.PaidAt)
		}
		body.Payments = append(body.Payments, doc)
	}
	return httpapi.OK(body)
}
