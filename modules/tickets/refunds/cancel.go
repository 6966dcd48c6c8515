package refunds

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/tickets/events"
	"marquee/modules/tickets/orders"
	"marquee/modules/tickets/state"
	"marquee/platform/audit"
	"marquee/platform/fault"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// CancelOrder calls an order off: what waits for money is void, at the gateway first, so
// that nobody pays it any more; what is paid is given back as by RefundTickets; the places
// are free. Out is the refund, nil when there was none to be made: of an order that is
// called off, lost or given back already nothing is left to do. Errors: 404; 409 with used
// tickets, unless q.Consumed, and while nobody knows whether the order is paid, or whether a
// refund of it was made; those of RefundTickets.
func (s *Refunds) CancelOrder(ctx context.Context, q TicketRefund) (out *payments.RefundOutcome, err error) {
	o, err := s.db.OrderGet(ctx, s.deps.Pool, q.OrderID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fault.NotFound("Order")
	}
	if err != nil {
		return nil, fmt.Errorf("read order: %w", err)
	}
	if o.OfBoxOffice() {
		return nil, errSoldAtBoxOffice(o)
	}
	if o.State == state.Reserved {
		if o, err = s.cancelReserved(ctx, o, q, state.AdminCancels); err != nil {
			return nil, err
		}
	}
	if o.State != state.Paid {
		return nil, nil //nolint:nilnil // nothing is left to do
	}
	tickets, err := s.db.TicketListOfOrder(ctx, s.deps.Pool, &o.ID)
	if err != nil {
		return nil, fmt.Errorf("read tickets: %w", err)
	}
	used := slices.ContainsFunc(tickets, func(t events.Ticket) bool { return t.Status == state.Consumed })
	if used && !q.Consumed {
		return nil, fault.Conflict("Tickets of the order were used: include_consumed cancels it anyway.").
			WithField("include_consumed")
	}
	if o.TotalCents == 0 {
		return nil, s.cancelFree(ctx, o.ID, q, state.AdminCancels)
	}
	if !slices.ContainsFunc(tickets, func(t events.Ticket) bool { return t.RefundID == nil }) {
		return s.onItsWay(ctx, o, tickets)
	}
	refund, err := s.RefundTickets(ctx, q)
	return &refund, err
}

// onItsWay is the last refund of an order all of whose shares were asked for: nil when all
// of them are back, 409 while the gateway has not answered.
func (s *Refunds) onItsWay(ctx context.Context, o orders.Order,
	tickets []events.Ticket,
) (*payments.RefundOutcome, error) {
	if err := s.noneUnanswered(ctx, o); err != nil {
		return nil, s.deps.Payments.RefundFault(ctx, err)
	}
	i := slices.IndexFunc(tickets, func(t events.Ticket) bool { return t.RefundedAt == nil })
	if i < 0 {
		return nil, nil //nolint:nilnil // nothing is left to do
	}
	out, err := s.deps.Payments.RefundByID(ctx, *tickets[i].RefundID)
	return &out, err
}

// cancelReserved voids an order that waits for its money by the action; paid meanwhile, it is settled.
func (s *Refunds) cancelReserved(ctx context.Context, o orders.Order, q TicketRefund,
	by state.Action,
) (orders.Order, error) {
	if o.IntentOpen {
		return o,
			fault.Conflict("It is not known yet whether the order is paid: its gateway is being asked. Ask again in a minute.")
	}
	err := postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error { return auditCancelTx(ctx, tx, o.ID, q.Reason) })
	if err != nil {
		return o, err
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.intents.CallTime())
	defer cancel()
	if err := s.deps.Reconcile.Release(call, o.ID, by); err != nil {
		return o, s.deps.Payments.Refused(ctx, "cancel order", err)
	}
	return s.db.OrderGet(ctx, s.deps.Pool, o.ID)
}

// cancelFree voids an order of which nothing is to be given back, by the action.
func (s *Refunds) cancelFree(ctx context.Context, id objectid.ID, q TicketRefund, by state.Action) error {
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		o, err := s.db.OrderLock(ctx, tx, id)
		if err != nil || o.State != state.Paid {
			return err
		}
		if err := auditCancelTx(ctx, tx, id, q.Reason); err != nil {
			return err
		}
		if _, err := s.deps.Events.LockTx(ctx, tx, o.EventID); err != nil {
			return fmt.Errorf("lock event: %w", err)
		}
		err = s.db.TicketExpireUnused(ctx, tx, o.ID, state.TicketOrderCancelled, s.deps.Clock.Now())
		if err != nil {
			return fmt.Errorf("void tickets: %w", err)
		}
		return s.deps.Orders.MoveTx(ctx, tx, &o, by,
			func(o *orders.Order) { o.PaymentStatus = orders.StatusRefunded })
	})
}

// auditCancelTx tells the audit trail; of what is paid the refund does.
func auditCancelTx(ctx context.Context, tx pgx.Tx, id objectid.ID, reason string) error {
	return audit.RecordTx(ctx, tx, audit.Change{
		Resource: "ticket-orders", RecordID: id, Before: map[string]any{"cancel": nil},
		After: map[string]any{"cancel": map[string]any{"reason": reason}},
	})
}
