package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/money"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
)

type subscriptionRefundedBody struct {
	Message         string          `json:"message"`
	SubscriptionID  objectid.ID     `json:"subscription_id"`
	Gateway         gateway.Name    `json:"gateway" enum:"gwa,gwb"`
	PaymentIntentID *string         `json:"payment_intent_id,omitempty"`
	PaymentID       *string         `json:"payment_id,omitempty"`
	RefundType      string          `json:"refund_type,omitempty" enum:"full,partial"`
	RefundAmount    int64           `json:"refund_amount" doc:"Cents"`
	GatewayResponse json.RawMessage `json:"gateway_response"`
	Reason          string          `json:"reason"`
	RefundedAt      httpapi.Time    `json:"refunded_at"`
	Admin           string          `json:"admin"`
}

func refundedOf(r refunded) subscriptionRefundedBody {
	body := subscriptionRefundedBody{
		Message: "The refund was made.", SubscriptionID: r.sub.ID, Gateway: r.sub.Gateway,
		RefundAmount:    int64(r.refund.Amount),
		GatewayResponse: r.response, Reason: r.refund.Reason, RefundedAt: httpapi.Time(r.at), Admin: r.admin,
	}
	if r.refund.Status != gateway.RefundStatusDone {
		body.Message = "The refund is under way at the gateway."
	}
	if len(body.GatewayResponse) == 0 {
		body.GatewayResponse = json.RawMessage("null")
	}
	body.PaymentID, body.PaymentIntentID = idsAt(r.sub, r.refund.PaymentID)
	return body
}

type refundInput struct {
	ID   string `path:"id" doc:"24 hexadecimal digits"`
	Body struct {
		Reason          string `json:"reason" minLength:"5" maxLength:"500"`
		PaymentIntentID string `json:"payment_intent_id" required:"false" maxLength:"255"`
		PaymentID       string `json:"payment_id" required:"false" maxLength:"255"`
		ChargeID        string `json:"charge_id" required:"false" maxLength:"255"`
	}
}

func (h handlers) refund(ctx context.Context, in *refundInput) (*lifecycle.Envelope, error) {
	o := refundOrder{reason: in.Body.Reason}
	for field, id := range map[string]string{
		"payment_intent_id": in.Body.PaymentIntentID, "payment_id": in.Body.PaymentID, "charge_id": in.Body.ChargeID,
	} {
		if id == "" {
			continue
		}
		if o.paymentID != "" && o.paymentID != id {
			return nil, fault.InvalidAt("has to name the one payment that is meant", "body", field)
		}
		o.paymentID, o.field = id, field
	}
	r, err := h.giveBack(ctx, in.ID, o)
	if err != nil {
		return nil, err
	}
	return refundedEnvelope(ctx, r), nil
}

func refundedEnvelope(ctx context.Context, r refunded) *lifecycle.Envelope {
	info := refundedOf(r)
	info.RefundType, info.PaymentID, info.PaymentIntentID = "partial", nil, nil
	if r.full {
		info.RefundType = "full"
	}
	return httpapi.One(ctx, r.sub.Doc(), info)
}

func (h handlers) replayRefund(ctx context.Context, id objectid.ID) (*lifecycle.Envelope, error) {
	r, err := h.service.replayRefund(ctx, id)
	if err != nil {
		return nil, err
	}
	return refundedEnvelope(ctx, r), nil
}

func (h handlers) replayRefundAt(ctx context.Context,
	id objectid.ID,
) (*httpapi.Output[subscriptionRefundedBody], error) {
	return refundedAt(h.service.replayRefund(ctx, id))
}

func refundedAt(r refunded, err error) (*httpapi.Output[subscriptionRefundedBody], error) {
	if err != nil {
		return nil, err
	}
	return httpapi.OK(refundedOf(r))
}

func (h handlers) giveBack(ctx context.Context, id string, o refundOrder) (refunded, error) {
	if o.reason = strings.TrimSpace(o.reason); len([]rune(o.reason)) < 5 {
		return refunded{}, fault.InvalidAt("has to have at least 5 characters", "body", "reason")
	}
	sub, err := h.service.findAt(ctx, id, h.only)
	if err != nil {
		return refunded{}, err
	}
	return h.service.refund(ctx, sub, o)
}

type refundGWBInput struct {
	ID   string `path:"id" doc:"24 hexadecimal digits"`
	Body struct {
		PaymentIntentID string `json:"payment_intent_id" required:"false" maxLength:"255"`
		Amount          *cents `json:"amount" required:"false"`
		Reason          string `json:"reason" minLength:"5" maxLength:"500"`
	}
}

func (h handlers) refundGWB(ctx context.Context,
	in *refundGWBInput,
) (*httpapi.Output[subscriptionRefundedBody], error) {
	o := refundOrder{
		paymentID: in.Body.PaymentIntentID, field: "payment_intent_id", amountAt: "amount", reason: in.Body.Reason,
	}
	if in.Body.Amount != nil {
		amount, err := strconv.ParseInt(string(in.Body.Amount.raw), 10, 64)
		if err != nil || amount <= 0 {
			return nil, fault.InvalidAt("has to be a whole number of cents above 0", "body", "amount")
		}
		o.amount = money.Cents(amount)
	}
	return refundedAt(h.giveBack(ctx, in.ID, o))
}

type refundGWAInput struct {
	ID   string `path:"id" doc:"24 hexadecimal digits"`
	Body struct {
		PaymentID string `json:"payment_id" required:"false" maxLength:"255"`
		Value     *reais `json:"value" required:"false"`
		Reason    string `json:"reason" minLength:"5" maxLength:"500"`
	}
}

func (h handlers) refundGWA(ctx context.Context,
	in *refundGWAInput,
) (*httpapi.Output[subscriptionRefundedBody], error) {
	o := refundOrder{paymentID: in.Body.PaymentID, field: "payment_id", amountAt: "value", reason: in.Body.Reason}
	if in.Body.Value != nil {
		amount, err := money.Parse(string(in.Body.Value.raw))
		if err != nil || amount <= 0 {
			return nil, fault.InvalidAt("has to be an amount in reais above 0 with at most two decimals", "body",
				"value")
		}
		o.amount = amount
	}
	return refundedAt(h.giveBack(ctx, in.ID, o))
}

// rawAmount is an amount of a request, read by the handler so that what is wrong with
// it is told as the contract says (docs/contract/payments.md, Refunds).
type rawAmount struct{ raw json.RawMessage }

// UnmarshalJSON keeps what was sent.
func (a *rawAmount) UnmarshalJSON(b []byte) error {
	a.raw = bytes.Clone(b)
	return nil
}

type (
	reais struct{ rawAmount }
	cents struct{ rawAmount }
)

// Schema documents the amount.
func (reais) Schema(huma.Registry) *huma.Schema {
	most := float64(money.Max) / 100
	return &huma.Schema{
		Type: huma.TypeNumber, Maximum: &most,
		Description: "Reais, above 0, at most two decimals and what was paid; left out: all that is left",
	}
}

// Schema documents the amount.
func (cents) Schema(huma.Registry) *huma.Schema {
	most := float64(money.Max)
	return &huma.Schema{
		Type: huma.TypeInteger, Maximum: &most,
		Description: "Cents, above 0, at most what was paid; left out: all that is left",
	}
}

type subscriptionRefundsBody struct {
	SubscriptionID  objectid.ID                 `json:"subscription_id"`
	Gateway         gateway.Name                `json:"gateway" enum:"gwa,gwb"`
	TotalRefunded   int64                       `json:"total_refunded" doc:"Cents"`
	HasChargeback   bool                        `json:"has_chargeback"`
	ChargebackCount int                         `json:"chargeback_count"`
	Refunds         []subscriptionRefundDoc     `json:"refunds"`
	Chargebacks     []subscriptionChargebackDoc `json:"chargebacks"`
}

type subscriptionRefundDoc struct {
	RefundID        objectid.ID          `json:"refund_id" doc:"By which a 409 names a refund that is not answered yet"`
	EventID         string               `json:"event_id"`
	Type            string               `json:"type"`
	PaymentIntentID *string              `json:"payment_intent_id,omitempty"`
	PaymentID       *string              `json:"payment_id,omitempty"`
	Amount          int64                `json:"amount" doc:"Cents"`
	Status          gateway.RefundStatus `json:"status" enum:"requested,pending,done,failed"`
	Reason          *string              `json:"reason" nullable:"true"`
	Admin           *string              `json:"admin" nullable:"true"`
	ProcessedAt     *httpapi.Time        `json:"processed_at" nullable:"true" doc:"null while the gateway has not given it back"`
}

type subscriptionChargebackDoc struct {
	ChargebackID    objectid.ID          `json:"chargeback_id" doc:"By which one that was entered by hand is withdrawn"`
	DisputeID       string               `json:"dispute_id"`
	PaymentIntentID *string              `json:"payment_intent_id,omitempty"`
	PaymentID       *string              `json:"payment_id,omitempty"`
	Amount          int64                `json:"amount" doc:"Cents"`
	Reason          *string              `json:"reason" nullable:"true"`
	Status          gateway.DisputeState `json:"status" enum:"inquiry,open,won,lost,dismissed,withdrawn"`
	OpenedAt        httpapi.Time         `json:"opened_at"`
	ClosedAt        *httpapi.Time        `json:"closed_at" nullable:"true"`
	EvidenceDueAt   *httpapi.Time        `json:"evidence_due_at" nullable:"true" doc:"Until when the gateway takes an answer; null where it tells none"`
	EvidenceSent    bool                 `json:"evidence_sent" doc:"The gateway says that it was answered"`
}

func (h handlers) refunds(ctx context.Context, in *idInput) (*httpapi.Output[subscriptionRefundsBody], error) {
	sub, err := h.service.findAt(ctx, in.ID, h.only)
	if err != nil {
		return nil, err
	}
	if err := httpapi.HeadEnds(ctx); err != nil {
		return nil, err
	}
	given, err := h.service.deps.Payments.RefundsOf(ctx, h.service.deps.Pool, gateway.ForSubscription, sub.ID)
	if err != nil {
		return nil, err
	}
	disputes, err := h.service.deps.Disputes.DisputesOf(ctx, h.service.deps.Pool, sub)
	if err != nil {
		return nil, err
	}
	body := subscriptionRefundsBody{
		SubscriptionID: sub.ID, Gateway: sub.Gateway, TotalRefunded: sub.TotalRefundedCents,
		HasChargeback: sub.HasChargeback,
		Refunds:       []subscriptionRefundDoc{}, Chargebacks: []subscriptionChargebackDoc{},
	}
	for _, r := range given {
		doc := subscriptionRefundDoc{
			RefundID: r.ID, EventID: r.EventID, Type: r.EventType, Amount: int64(r.Amount), Status: r.Status,
			Reason: nullable.Ptr(r.Reason),
			Admin:  nullable.Ptr(r.Admin), ProcessedAt: httpapi.TimePtr(r.RefundedAt),
		}
		doc.PaymentID, doc.PaymentIntentID = idsAt(sub, r.PaymentID)
		body.Refunds = append(body.Refunds, doc)
	}
	for _, d := range disputes {
		doc := subscriptionChargebackDoc{
			ChargebackID: d.ID, DisputeID: d.GatewayDisputeID, Amount: int64(d.Amount), Reason: nullable.Ptr(d.Reason),
			Status:   d.State,
			OpenedAt: httpapi.Time(d.OpenedAt), ClosedAt: httpapi.TimePtr(d.ClosedAt),
			EvidenceDueAt: httpapi.TimePtr(d.EvidenceDueAt), EvidenceSent: d.EvidenceSent,
		}
		doc.PaymentID, doc.PaymentIntentID = idsAt(sub, d.PaymentID)
		body.Chargebacks = append(body.Chargebacks, doc)
		switch d.State {
		case gateway.DisputeInquiry, gateway.DisputeDismissed, gateway.DisputeWithdrawn: // none that took money
		default:
			body.ChargebackCount++
		}
	}
	return httpapi.OK(body)
}

// idsAt puts a payment's id under the name that its gateway gives it.
func idsAt(sub lifecycle.Subscription, id string) (payment, intent *string) {
	if !sub.Traits().Invoices {
		return nullable.Ptr(id), nil
	}
	return nil, nullable.Ptr(id)
}
