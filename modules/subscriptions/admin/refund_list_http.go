package admin

import (
	"context"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

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
}

func (h handlers) refunds(ctx context.Context, in *idInput) (*httpapi.Output[subscriptionRefundsBody], error) {
	sub, err := h.service.findAt(ctx, in.ID, h.only)
	if err != nil {
		return nil, err
	}
	if err := httpapi.HeadEnds(ctx); err != nil {
		return nil, err
	}
	given, err := h.service.payments.RefundsOf(ctx, h.service.pool, gateway.ForSubscription, sub.ID)
	if err != nil {
		return nil, err
	}
	disputes, err := h.service.disputes.DisputesOf(ctx, h.service.pool, sub)
	if err != nil {
		return nil, err
	}
	body := subscriptionRefundsBody{
		SubscriptionID: sub.ID, Gateway: sub.Gateway, TotalRefunded: sub.TotalRefundedCents, HasChargeback: sub.HasChargeback,
		Refunds: []subscriptionRefundDoc{}, Chargebacks: []subscriptionChargebackDoc{},
	}
	for _, r := range given {
		doc := subscriptionRefundDoc{
			RefundID: r.ID, EventID: r.EventID, Type: r.EventType, Amount: int64(r.Amount), Status: r.Status, Reason: lifecycle.Filled(r.Reason),
			Admin: lifecycle.Filled(r.Admin), ProcessedAt: httpapi.TimePtr(r.RefundedAt),
		}
		doc.PaymentID, doc.PaymentIntentID = idsAt(sub, r.PaymentID)
		body.Refunds = append(body.Refunds, doc)
	}
	for _, d := range disputes {
		doc := subscriptionChargebackDoc{
			ChargebackID: d.ID, DisputeID: d.GatewayDisputeID, Amount: int64(d.Amount), Reason: lifecycle.Filled(d.Reason), Status: d.State,
			OpenedAt: httpapi.Time(d.OpenedAt), ClosedAt: httpapi.TimePtr(d.ClosedAt),
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
func idsAt(sub lifecycle.Row, id string) (payment, intent *string) {
	if !lifecycle.TraitsOf(sub).Invoices {
		return lifecycle.Filled(id), nil
	}
	return nil, lifecycle.Filled(id)
}
