package orders

import (
	"context"

	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Queries are the module's statements (sql/tickets), and where a row becomes an Order. Their errors are those of the
// database; pgx.ErrNoRows of one order that is not there. The zero value is ready.
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

func all(rows []ticketsdb.Order, err error) ([]Order, error) {
	orders := make([]Order, len(rows))
	for i, r := range rows {
		orders[i] = Order(r)
	}
	return orders, err
}
