package events

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/state"
	"marquee/platform/fault"
	"marquee/platform/objectid"
	"marquee/platform/resource"
)

// lockOrdersAndEvents locks both before the tickets themselves.
func lockOrdersAndEvents(ctx context.Context, tx pgx.Tx, ids []objectid.ID) error {
	db := ticketsdb.New()
	if _, err := db.TicketLockOrders(ctx, tx, objectid.Strings(ids)); err != nil {
		return fmt.Errorf("lock orders: %w", err)
	}
	if _, err := db.TicketLockEvents(ctx, tx, objectid.Strings(ids)); err != nil {
		return fmt.Errorf("lock events: %w", err)
	}
	return nil
}

// guardEdits keeps an edit from making good what its order's money does not stand for: 409
// for a ticket whose share is given back, lost, disputed, or whose event is called off, and
// for one whose order is not paid. Giving a ticket away is POST /tickets. Nor does it have a
// ticket wait that is paid.
func guardEdits(ctx context.Context, tx pgx.Tx, records []*resource.Record) error {
	wanted, ids := map[objectid.ID]state.Ticket{}, []string{}
	for _, rec := range records {
		if status, ok := rec.Value("status"); ok {
			to, _ := status.(string)
			wanted[rec.ID] = state.Ticket(to)
			ids = append(ids, rec.ID.String())
		}
	}
	if len(ids) == 0 {
		return nil
	}
	rows, err := ticketsdb.New().TicketListStanding(ctx, tx, ids)
	if err != nil {
		return fmt.Errorf("read orders of tickets: %w", err)
	}
	for _, t := range rows {
		to := wanted[t.ID]
		if to == t.Status || to == state.Expired {
			continue
		}
		if err := guardOf(t, to); err != nil {
			return err
		}
	}
	return nil
}

func guardOf(t ticketsdb.TicketListStandingRow, to state.Ticket) error {
	order := t.OrderState
	switch {
	case t.RefundAsked || order == state.Refunded || order == state.RefundDue:
		return errNotGood(t.ID, "its share of the order's money is given back, or on its way")
	case order == state.Lost:
		return errNotGood(t.ID, "a dispute took the order's money")
	case t.Disputed:
		return errNotGood(t.ID, "the order's payment is disputed")
	case t.Cancelled:
		return errNotGood(t.ID, "its event is called off")
	case (order == state.Reserved || order == state.Released) && to != state.Pending:
		return fault.Conflict("Ticket %s cannot be %s: its order is not paid. POST /tickets gives a ticket away.", t.ID,
			to).WithField("status")
	case order == state.Released:
		return errNotGood(t.ID, "its order was not paid")
	case order == state.Paid && to == state.Pending:
		return errNotGood(t.ID, "its order is paid, so that it waits for nothing")
	}
	return nil
}

func errNotGood(id objectid.ID, why string) error {
	return fault.Conflict("Ticket %s stays as it is: %s.", id, why).WithField("status")
}

// guardDeletes keeps paid tickets whose share is not given back from being deleted: 409 that
// names the way to give it back. Nothing is deleted then.
func guardDeletes(ctx context.Context, tx pgx.Tx, ids []objectid.ID) error {
	if err := lockOrdersAndEvents(ctx, tx, ids); err != nil {
		return err
	}
	rows, err := ticketsdb.New().TicketListStanding(ctx, tx, objectid.Strings(ids))
	if err != nil {
		return fmt.Errorf("read orders of tickets: %w", err)
	}
	for _, t := range rows {
		owed := t.OrderState == state.Paid || t.OrderState == state.RefundDue
		if owed && t.TotalCents > 0 && !t.Refunded {
			return fault.Conflict("Ticket %s is paid: give its money back first, by POST /admin/ticket-orders/%s/refund.", t.ID, *t.OrderID)
		}
	}
	return nil
}
