package refunds

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/tickets/events"
	"marquee/modules/tickets/orders"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/idempotency"
	"marquee/platform/objectid"
)

type refundOrderInput struct {
	ID   string `path:"id" doc:"24 hexadecimal digits"`
	Body struct {
		TicketIDs       []objectid.ID `json:"ticket_ids" required:"false" minItems:"1" maxItems:"1000" doc:"Tickets of the order; without it all whose share is not given back"`
		Reason          string        `json:"reason" minLength:"5" maxLength:"500"`
		IncludeConsumed bool          `json:"include_consumed" required:"false" doc:"Used tickets, too; they stay used"`
	}
}

type cancelOrderInput struct {
	ID   string `path:"id" doc:"24 hexadecimal digits"`
	Body struct {
		Reason          string `json:"reason" minLength:"5" maxLength:"500"`
		IncludeConsumed bool   `json:"include_consumed" required:"false" doc:"Also when tickets were used; they stay used"`
	}
}

// orderRefundBody answers both routes.
type orderRefundBody struct {
	Message         string           `json:"message"`
	Order           orders.OrderBody `json:"order"`
	RefundID        *objectid.ID     `json:"refund_id" nullable:"true" doc:"Null when no money had to be given back"`
	RefundAmount    events.Reais     `json:"refund_amount" doc:"Reais"`
	TicketIDs       []objectid.ID    `json:"ticket_ids" doc:"The tickets whose share it gives back"`
	GatewayResponse json.RawMessage  `json:"gateway_response"`
}

// RefundOrder answers POST /admin/ticket-orders/{id}/refund.
func (s *Refunds) RefundOrder(ctx context.Context, in *refundOrderInput) (*httpapi.Output[orderRefundBody], error) {
	q, err := ticketRefund(ctx, in.ID, in.Body.Reason, in.Body.IncludeConsumed)
	if err != nil {
		return nil, err
	}
	for i, named := range in.Body.TicketIDs {
		id, err := objectid.Parse(named.String())
		if err != nil {
			return nil, fault.InvalidAt(err.Error(), "body", "ticket_ids", i)
		}
		q.TicketIDs = append(q.TicketIDs, id)
	}
	out, err := s.RefundTickets(ctx, q)
	if err != nil {
		return nil, err
	}
	return s.orderRefundAnswer(ctx, q.OrderID, &out)
}

// CancelOrderNow answers POST /admin/ticket-orders/{id}/cancel.
func (s *Refunds) CancelOrderNow(ctx context.Context, in *cancelOrderInput) (*httpapi.Output[orderRefundBody], error) {
	q, err := ticketRefund(ctx, in.ID, in.Body.Reason, in.Body.IncludeConsumed)
	if err != nil {
		return nil, err
	}
	out, err := s.CancelOrder(ctx, q)
	if err != nil {
		return nil, err
	}
	return s.orderRefundAnswer(ctx, q.OrderID, out)
}

func ticketRefund(ctx context.Context, path, reason string, consumed bool) (TicketRefund, error) {
	id, err := objectid.Parse(path)
	if err != nil {
		return TicketRefund{}, fault.InvalidAt(err.Error(), "path", "id")
	}
	if reason = strings.TrimSpace(reason); len([]rune(reason)) < 5 {
		return TicketRefund{}, fault.InvalidAt("has to have at least 5 characters", "body", "reason")
	}
	caller := httpapi.CallerOf(ctx)
	return TicketRefund{OrderID: id, Consumed: consumed, Reason: reason, Admin: caller.Username, AdminID: &caller.ID}, nil
}

// RecallOrderRefund tells what became of the refund of a request that was cut off
// (httpapi.Idempotent).
func (s *Refunds) RecallOrderRefund(ctx context.Context, id objectid.ID) (*httpapi.Output[orderRefundBody], error) {
	out, err := s.deps.Payments.RefundByID(ctx, id)
	if err != nil {
		return nil, err
	}
	switch out.Refund.Status {
	case gateway.RefundRequested:
		return nil, idempotency.InProgress()
	case gateway.RefundFailed:
		return nil, httpapi.ErrCameToNothing
	}
	return s.orderRefundAnswer(ctx, out.Refund.LocalID, &out)
}

func (s *Refunds) orderRefundAnswer(ctx context.Context, id objectid.ID, out *payments.RefundOutcome) (*httpapi.Output[orderRefundBody], error) {
	ctx = context.WithoutCancel(ctx)
	o, err := s.db.OrderGet(ctx, s.deps.Pool, id)
	if err != nil {
		return nil, fmt.Errorf("read order: %w", err)
	}
	tickets, err := s.db.TicketListOfOrder(ctx, s.deps.Pool, &o.ID)
	if err != nil {
		return nil, fmt.Errorf("read tickets: %w", err)
	}
	refunded, err := s.deps.Orders.RefundedOf(ctx, s.deps.Pool, o)
	if err != nil {
		return nil, err
	}
	body := orderRefundBody{Message: "The order is void; there was nothing to give back.", TicketIDs: []objectid.ID{}, GatewayResponse: json.RawMessage("null")}
	var all []objectid.ID
	for _, t := range tickets {
		all = append(all, t.ID)
		if out != nil && t.RefundID != nil && *t.RefundID == out.Refund.ID {
			body.TicketIDs = append(body.TicketIDs, t.ID)
		}
	}
	body.Order = orders.OrderBodyOf(o, all, refunded[o.ID])
	if out == nil {
		return httpapi.OK(body)
	}
	body.Message = "The refund was made."
	if out.Refund.Status != gateway.RefundDone {
		body.Message = "The refund is under way at the gateway."
	}
	body.RefundID, body.RefundAmount = &out.Refund.ID, events.Reais(out.Refund.Amount)
	if len(out.Response) > 0 {
		body.GatewayResponse = out.Response
	}
	return httpapi.OK(body)
}
