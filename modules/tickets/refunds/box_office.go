package refunds

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/tickets/events"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/orders"
	"marquee/modules/tickets/state"
	"marquee/platform/audit"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/idempotency"
	"marquee/platform/money"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

type handBackInput struct {
	ID      string `path:"id" doc:"The event's _id"`
	OrderID string `path:"order_id" doc:"The sale's _id"`
	Body    struct {
		TicketIDs       []objectid.ID `json:"ticket_ids" required:"false" minItems:"1" maxItems:"100" doc:"Tickets of the sale; without it all that were not given back"`
		Reason          string        `json:"reason" minLength:"5" maxLength:"500"`
		IncludeConsumed bool          `json:"include_consumed" required:"false" doc:"Used tickets, too; they stay used"`
	}
}

type handBackBody struct {
	RefundID     objectid.ID    `json:"refund_id"`
	RefundAmount events.Reais   `json:"refund_amount" doc:"To be handed back, reais; 0 of a courtesy"`
	Method       gateway.Method `json:"method" enum:"cash,card_machine,courtesy" doc:"How it was paid, and is handed back"`
	TicketIDs    []objectid.ID  `json:"ticket_ids" doc:"The tickets that are void by it; used ones stay used"`
	Status       state.Order    `json:"status" enum:"paid,refunded" doc:"Of the sale: refunded when nothing of it is left"`
}

// HandBack answers POST /events/{id}/box-office-sales/{order_id}/refund.
func (h Handlers) HandBack(ctx context.Context, in *handBackInput) (*httpapi.Output[handBackBody], error) {
	event, err := objectid.Parse(in.ID)
	if err != nil {
		return nil, fault.InvalidAt(err.Error(), "path", "id")
	}
	id, err := objectid.Parse(in.OrderID)
	if err != nil {
		return nil, fault.InvalidAt(err.Error(), "path", "order_id")
	}
	q, err := ticketRefund(ctx, id.String(), in.Body.Reason, in.Body.IncludeConsumed)
	if err != nil {
		return nil, err
	}
	if q.TicketIDs, err = idsOf(in.Body.TicketIDs); err != nil {
		return nil, err
	}
	refund, err := h.s.handBack(ctx, event, q)
	if err != nil {
		return nil, err
	}
	return h.s.handedBack(context.WithoutCancel(ctx), id, refund)
}

// ReplayHandBack tells of a request that was cut off (httpapi.Idempotent).
func (h Handlers) ReplayHandBack(ctx context.Context, refund objectid.ID) (*httpapi.Output[handBackBody], error) {
	id, err := h.s.orderOfRefund(ctx, refund)
	if err != nil {
		return nil, err
	}
	return h.s.handedBack(ctx, id, refund)
}

// handBack takes tickets of a sale of the box office back and writes what is handed back for them, in one
// transaction: nobody is asked. Out is the refund's id. Errors: 404 for another event's, and for what the box office
// did not sell; 422 REFUND_NOT_ALLOWED when nothing of it is left, or it was used.
func (s *Refunds) handBack(ctx context.Context, event objectid.ID, q TicketRefund) (refund objectid.ID, err error) {
	err = postgres.InTx(context.WithoutCancel(ctx), s.deps.Pool, func(tx pgx.Tx) error {
		o, err := s.db.OrderLock(ctx, tx, q.OrderID)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("lock order: %w", err)
		}
		if err != nil || !o.OfBoxOffice() || o.EventID != event {
			return fault.NotFound("Sale")
		}
		if o.State != state.Paid {
			return errFullyRefunded("All of the sale was given back.")
		}
		e, err := s.deps.Events.LockTx(ctx, tx, o.EventID)
		if err != nil {
			return fmt.Errorf("lock event: %w", err)
		}
		q.Consumed = q.Consumed || e.CancelledAt != nil
		tickets, err := s.db.TicketListOfOrder(ctx, tx, &o.ID)
		if err != nil {
			return fmt.Errorf("read tickets: %w", err)
		}
		chosen, err := q.choose(tickets)
		if err != nil {
			return err
		}
		refund, err = s.handBackTx(ctx, tx, &o, q, chosen)
		if err != nil || leftOf(tickets) > len(chosen) {
			return err
		}
		return s.deps.Orders.MoveTx(ctx, tx, &o, state.HandedBack,
			func(o *orders.Order) { o.PaymentStatus = orders.StatusRefunded })
	})
	return refund, err
}

// leftOf counts the tickets that were not given back.
func leftOf(tickets []events.Ticket) (left int) {
	for _, t := range tickets {
		if t.RefundID == nil {
			left++
		}
	}
	return left
}

func (s *Refunds) handBackTx(ctx context.Context, tx pgx.Tx, o *orders.Order, q TicketRefund,
	chosen []objectid.ID,
) (objectid.ID, error) {
	now := s.deps.Clock.Now()
	amount := money.Cents(o.UnitPriceCents) * money.Cents(len(chosen))
	refund, err := s.deps.Payments.RecordHandedBackTx(ctx, tx, payments.HandedBack{
		OrderID: o.ID, CustomerID: o.CustomerID, Amount: amount, Reason: q.Reason, Admin: q.Admin,
		AdminID: nullable.Value(q.AdminID), At: now,
	})
	if err != nil {
		return "", err
	}
	if err := idempotency.AttemptOf(ctx).BindTx(ctx, tx, refund); err != nil {
		return "", err
	}
	if _, err := s.db.TicketRequestRefund(ctx, tx, ticketsdb.TicketRequestRefundParams{
		RefundID: refund.String(), Now: now, Ids: objectid.Strings(chosen), OrderID: &o.ID, WithConsumed: q.Consumed,
	}); err != nil {
		return "", fmt.Errorf("take tickets: %w", err)
	}
	from, to := state.Tickets.Of(state.TicketShareReturned)
	back, err := s.db.TicketReturn(ctx, tx, ticketsdb.TicketReturnParams{
		Now: now, OrderID: &o.ID, RefundIds: []string{refund.String()},
		Reason: state.Tickets.ReasonOf(state.TicketShareReturned), FromStates: from, ToStates: to,
	})
	if err != nil {
		return "", fmt.Errorf("void tickets: %w", err)
	}
	if int(back) != len(chosen) {
		return "", fault.Conflict("A ticket was used or given back meanwhile. Look at the sale and ask again.")
	}
	return refund, audit.RecordTx(ctx, tx, audit.Change{
		Resource: "ticket-orders", RecordID: o.ID, Before: map[string]any{"handed_back": nil},
		After: map[string]any{"handed_back": map[string]any{
			"amount": events.Reais(amount), "tickets": len(chosen), "reason": q.Reason,
		}},
	})
}

// handedBack reads what became of it.
func (s *Refunds) handedBack(ctx context.Context, id, refund objectid.ID) (*httpapi.Output[handBackBody], error) {
	o, err := s.db.OrderGet(ctx, s.deps.Pool, id)
	if err != nil {
		return nil, fmt.Errorf("read order: %w", err)
	}
	tickets, err := s.db.TicketListOfOrder(ctx, s.deps.Pool, &id)
	if err != nil {
		return nil, fmt.Errorf("read tickets: %w", err)
	}
	body := handBackBody{
		RefundID: refund, Method: nullable.Value(o.PaymentMethod), TicketIDs: []objectid.ID{}, Status: o.State,
	}
	for _, t := range tickets {
		if t.RefundID != nil && *t.RefundID == refund {
			body.TicketIDs = append(body.TicketIDs, t.ID)
		}
	}
	body.RefundAmount = events.Reais(o.UnitPriceCents * int64(len(body.TicketIDs)))
	return httpapi.OK(body)
}

func errSoldAtBoxOffice(o orders.Order) error {
	return errFullyRefunded(fmt.Sprintf("The order was sold at the box office, which hands its money back: "+
		"POST /events/%s/box-office-sales/%s/refund.", o.EventID, o.ID))
}

// idsOf reads the tickets that a body names.
func idsOf(named []objectid.ID) (ids []objectid.ID, _ error) {
	for i, n := range named {
		id, err := objectid.Parse(n.String())
		if err != nil {
			return nil, fault.InvalidAt(err.Error(), "body", "ticket_ids", i)
		}
		ids = append(ids, id)
	}
	return ids, nil
}
