package orders

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/state"
	"marquee/platform/fault"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// isGoneTx reports whether the customer has deleted the account. It holds their row, so
// that who deletes it meanwhile loses the tickets that were paid before, and no others.
func (s *Store) isGoneTx(ctx context.Context, tx pgx.Tx, customerID objectid.ID) (bool, error) {
	err := s.accounts.LockCustomerTx(ctx, tx, customerID)
	if !fault.Is(err, fault.Missing) {
		return false, err
	}
	deleted, err := s.accounts.CustomerDeletedAt(ctx, tx, customerID)
	return deleted != nil, err
}

// refundDeletedTx lists money of an order whose customer was deleted before it was known
// to be paid: the gateway could not drop its code in time. It gives no tickets, which
// would go with the rest of what the customer had, and is given back by itself.
func (s *Store) refundDeletedTx(ctx context.Context, tx pgx.Tx, o *Order, p gateway.Payment) error {
	now := s.clock.Now()
	if err := s.db.TicketExpireOfOrder(ctx, tx, ticketsdb.TicketExpireOfOrderParams{OrderID: &o.ID, Reason: "customer_deleted", Now: now}); err != nil {
		return fmt.Errorf("give places back: %w", err)
	}
	if err := s.MoveTx(ctx, tx, o, state.PaymentTooLate, func(o *Order) { o.PaidAt = &now }); err != nil {
		return err
	}
	_, err := s.payments.Cases().RecordUnappliedTx(ctx, tx, payments.Unapplied{
		Kind: payments.UnappliedLate, Gateway: postgres.Text(o.Gateway), PaymentID: p.ID, Amount: &p.Amount, CustomerID: o.CustomerID, OrderID: o.ID,
		PaidAt: p.SettledAt, Note: "Paid after the customer had deleted the account.", Automatic: true,
	})
	if err != nil {
		return err
	}
	return s.DisputedTx(ctx, tx, o) // it may have been told before the payment
}
