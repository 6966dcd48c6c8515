package orders

import (
	"context"
	"time"

	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/state"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Queries are the module's statements (sql/tickets), and where a row becomes an Order and an action the states between
// which it moves tickets. Their errors are those of the database; pgx.ErrNoRows of one order that is not there. The
// zero value is ready.
type Queries struct{ ticketsdb.Queries }

// OrderGet reads an order.
func (q *Queries) OrderGet(ctx context.Context, db postgres.DB, id objectid.ID) (Order, error) {
	o, err := q.Queries.OrderGet(ctx, db, id)
	return Order(o), err
}

// OrderGetByPayment reads the order of a gateway's payment.
func (q *Queries) OrderGetByPayment(ctx context.Context, db postgres.DB,
	p ticketsdb.OrderGetByPaymentParams,
) (Order, error) {
	o, err := q.Queries.OrderGetByPayment(ctx, db, p)
	return Order(o), err
}

// OrderLock reads an order and locks it until the transaction ends.
func (q *Queries) OrderLock(ctx context.Context, db postgres.DB, id objectid.ID) (Order, error) {
	o, err := q.Queries.OrderLock(ctx, db, id)
	return Order(o), err
}

// OrderListOf lists a customer's orders, those from before the address was verified only WithHidden.
func (q *Queries) OrderListOf(ctx context.Context, db postgres.DB, p ticketsdb.OrderListOfParams) ([]Order, error) {
	return all(q.Queries.OrderListOf(ctx, db, p))
}

// OrderListPaidOf lists a customer's paid orders of an event.
func (q *Queries) OrderListPaidOf(ctx context.Context, db postgres.DB,
	p ticketsdb.OrderListPaidOfParams,
) ([]Order, error) {
	return all(q.Queries.OrderListPaidOf(ctx, db, p))
}

// TicketExpireOfOrder frees the places that wait for an order's money.
func (q *Queries) TicketExpireOfOrder(ctx context.Context, db postgres.DB, orderID objectid.ID, by state.TicketAction,
	now time.Time,
) error {
	from, to := state.Tickets.Of(by)
	return q.Queries.TicketExpireOfOrder(ctx, db, ticketsdb.TicketExpireOfOrderParams{
		OrderID: &orderID, Reason: state.Tickets.ReasonOf(by), Now: now, FromStates: from, ToStates: to,
	})
}

// TicketExpireUnused voids an order's tickets that are not used, and frees their places.
func (q *Queries) TicketExpireUnused(ctx context.Context, db postgres.DB, orderID objectid.ID, by state.TicketAction,
	now time.Time,
) error {
	from, to := state.Tickets.Of(by)
	return q.Queries.TicketExpireUnused(ctx, db, ticketsdb.TicketExpireUnusedParams{
		OrderID: &orderID, Reason: state.Tickets.ReasonOf(by), Now: now, FromStates: from, ToStates: to,
	})
}

func all(rows []ticketsdb.Order, err error) ([]Order, error) {
	orders := make([]Order, len(rows))
	for i, r := range rows {
		orders[i] = Order(r)
	}
	return orders, err
}
