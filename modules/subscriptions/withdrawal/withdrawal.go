package withdrawal

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/modules/subscriptions/webhooks"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

// Deps is what New needs.
type Deps struct {
	lifecycle.Base
	Calls   *calls.Calls
	Applier *webhooks.Applier
}

// Withdrawals ends subscriptions within the days of regret and gives all money back.
type Withdrawals struct {
	deps Deps
	db   lifecycle.Queries
}

// New makes the room.
func New(d Deps) *Withdrawals {
	return &Withdrawals{deps: d}
}

// Handlers are the room's operations.
type Handlers struct{ service *Withdrawals }

// Handlers returns the room's operations, for the module's list of routes.
func (s *Withdrawals) Handlers() Handlers { return Handlers{service: s} }

type withdrawnBody struct {
	RefundAmount amountAt      `json:"refund_amount"`
	RefundedAt   *httpapi.Time `json:"refunded_at" nullable:"true" doc:"null until the gateway has given all of it back"`
	Status       state.Status  `json:"status" enum:"cancelled,expired" doc:"expired: it had ended so before the withdrawal"`
}

// Schema documents the amount.
func (amountAt) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type:        huma.TypeNumber,
		Description: "In the unit of the purchase's own amounts: reais at gateway A, cents at gateway B",
	}
}

func withdrawnOutput(w withdrawal, err error) (*httpapi.Output[withdrawnBody], error) {
	if err != nil {
		return nil, err
	}
	return httpapi.OK(withdrawnBody{
		RefundAmount: amountAt{gateway: w.sub.Gateway, amount: w.amount}, RefundedAt: httpapi.TimePtr(w.refundedAt),
		Status: w.sub.Status,
	})
}

// Withdraw is POST /customers/me/subscription/withdraw.
func (h Handlers) Withdraw(ctx context.Context, _ *struct{}) (*httpapi.Output[withdrawnBody], error) {
	return withdrawnOutput(h.service.withdraw(ctx, httpapi.CallerOf(ctx).ID))
}

// ReplayWithdrawal answers a repeated one.
func (h Handlers) ReplayWithdrawal(ctx context.Context, id objectid.ID) (*httpapi.Output[withdrawnBody], error) {
	return withdrawnOutput(h.service.withdrawalOf(ctx, id))
}
