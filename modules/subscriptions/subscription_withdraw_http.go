package subscriptions

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

type withdrawalHandlers struct{ service *Withdrawals }

func (s *Withdrawals) Handlers() withdrawalHandlers { return withdrawalHandlers{service: s} }

type withdrawnBody struct {
	RefundAmount amountAt      `json:"refund_amount"`
	RefundedAt   *httpapi.Time `json:"refunded_at" nullable:"true" doc:"null until the gateway has given all of it back"`
	Status       string        `json:"status" enum:"cancelled,expired" doc:"expired: it had ended so before the withdrawal"`
}

// Schema documents the amount.
func (amountAt) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeNumber, Description: "In the unit of the purchase's own amounts: reais at gateway A, cents at gateway B"}
}

func withdrawnOutput(w withdrawal, err error) (*httpapi.Output[withdrawnBody], error) {
	if err != nil {
		return nil, err
	}
	return httpapi.OK(withdrawnBody{
		RefundAmount: amountAt{gateway: w.sub.Gateway, amount: w.amount}, RefundedAt: httpapi.TimePtr(w.refundedAt), Status: w.sub.Status,
	})
}

func (h withdrawalHandlers) Withdraw(ctx context.Context, _ *struct{}) (*httpapi.Output[withdrawnBody], error) {
	return withdrawnOutput(h.service.withdraw(ctx, httpapi.CallerOf(ctx).ID))
}

func (h withdrawalHandlers) RecallWithdrawal(ctx context.Context, id objectid.ID) (*httpapi.Output[withdrawnBody], error) {
	return withdrawnOutput(h.service.withdrawalOf(ctx, id))
}

// own is a subscription as its customer sees it: with the end of the right to withdraw.
func (h ownHandlers) own(ctx context.Context, sub lifecycle.Row) (lifecycle.SubscriptionDoc, error) {
	doc := lifecycle.Shown(sub)
	until, err := h.service.withdrawals.WithdrawalUntil(ctx, sub)
	doc.WithdrawalUntil = httpapi.TimePtr(until)
	return doc, err
}
