package refunds

import (
	"context"
	"net/http"

	"marquee/modules/tickets/events"
	"marquee/modules/tickets/orders"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

// withdrawalBody is the answer of open-shapes, section 5, number 9.
type withdrawalBody struct {
	RefundAmount events.Reais  `json:"refund_amount" doc:"Reais, as the order's own amounts"`
	RefundedAt   *httpapi.Time `json:"refunded_at" nullable:"true" doc:"Null until the gateway has given all of it back, and where nothing was paid"`
	Status       string        `json:"status" enum:"cancelled,refunding,refunded" doc:"cancelled: nothing was paid, and the places are free"`
}

// WithdrawOrder answers POST /me/ticket-orders/{order_id}/withdraw; another customer's order
// is 404.
func (s *Refunds) WithdrawOrder(ctx context.Context, in *orders.OrderInput) (*httpapi.Output[withdrawalBody], error) {
	o, err := s.own.OwnOrder(ctx, in.OrderID)
	if err != nil {
		return nil, err
	}
	return withdrawalOutput(s.withdraw(ctx, o.ID))
}

func withdrawalOutput(w withdrawal, err error) (*httpapi.Output[withdrawalBody], error) {
	if err != nil {
		return nil, err
	}
	return httpapi.OK(withdrawalBody{RefundAmount: events.Reais(w.amount), RefundedAt: httpapi.TimePtr(w.refundedAt), Status: w.status})
}

// RecallWithdrawal tells what became of a request that was cut off (httpapi.Idempotent).
func (s *Refunds) RecallWithdrawal(ctx context.Context, refund objectid.ID) (*httpapi.Output[withdrawalBody], error) {
	id, err := s.orderOfRefund(ctx, refund)
	if err != nil {
		return nil, err
	}
	return withdrawalOutput(s.withdrawalOf(ctx, id, nil))
}

type withdrawalLinkInput struct {
	Body struct {
		Token secret.Text `json:"token" minLength:"1" maxLength:"200" doc:"What stands behind # in the mailed link"`
	}
}

// WithdrawByLink answers POST /store/ticket-orders/withdraw: who got the mail of an order
// gives it back, without an account.
func (s *Refunds) WithdrawByLink(ctx context.Context, in *withdrawalLinkInput) (*httpapi.Output[withdrawalBody], error) {
	id, err := s.links.OrderOf(in.Body.Token)
	if err != nil {
		return nil, err
	}
	o, err := s.db.OrderGet(ctx, s.pool, id)
	if postgres.IsNoRows(err) {
		return nil, fault.NotFound("Order")
	}
	if err != nil {
		return nil, err
	}
	if _, err := s.accounts.CustomerByID(ctx, s.pool, o.CustomerID); err != nil {
		return nil, err // deleted since: 404
	}
	return withdrawalOutput(s.withdraw(ctx, id))
}

// WithdrawalPage is what the mailed link opens: a page with one button, since programs that
// look at mails follow links, too. It performs nothing.
func (s *Refunds) WithdrawalPage(w http.ResponseWriter, _ *http.Request) {
	httpapi.ScriptedPage(w, s.cfg.WithdrawalPage)
}

// LinksPerMinute bounds tries by client address.
const LinksPerMinute = 20
