package tickets

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts"
	"marquee/modules/tickets/events"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/state"
	"marquee/platform/idempotency"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// PersonalDataName names this module's part of a customer's data.
func (s *Service) PersonalDataName() string { return "tickets" }

// PersonalData returns a customer's tickets and orders as the customer sees them.
func (s *Service) PersonalData(ctx context.Context, db postgres.DB, customerID objectid.ID,
	verified bool,
) (any, error) {
	ids, err := s.db.TicketListIDsOfCustomer(ctx, db, customerID)
	if err != nil {
		return nil, fmt.Errorf("list tickets: %w", err)
	}
	docs, _, err := events.CallerTickets[verified].DocsTx(ctx, db, ids)
	if err != nil {
		return nil, err
	}
	tickets := json.RawMessage(append(append([]byte{'['}, docs...), ']'))
	orders, err := s.callerOrders.OrdersOf(ctx, db, customerID, verified)
	if err != nil {
		return nil, err
	}
	return map[string]any{"tickets": tickets, "orders": orders}, nil
}

// ErasePersonalDataTx takes a deleted customer out of what is kept here: tickets
// not yet used go, orders and used tickets stay without the name (docs/contract/accounts.md, Customers).
func (s *Service) ErasePersonalDataTx(ctx context.Context, tx pgx.Tx, customerID objectid.ID) error {
	if err := s.db.CustomerForget(ctx, tx, customerID); err != nil {
		return fmt.Errorf("forget name: %w", err)
	}
	if _, err := s.db.TicketLockEventsOf(ctx, tx, customerID); err != nil {
		return fmt.Errorf("lock events: %w", err)
	}
	if err := s.db.TicketDeleteUnusedOf(ctx, tx, customerID); err != nil {
		return fmt.Errorf("delete unused tickets: %w", err)
	}
	if err := s.db.ReadmissionForgetWordsOf(ctx, tx, customerID); err != nil {
		return fmt.Errorf("forget why scans were undone: %w", err)
	}
	names, err := s.db.OrderListNamesOf(ctx, tx, customerID)
	if err != nil {
		return fmt.Errorf("list orders: %w", err)
	}
	if err := s.db.OrderForget(ctx, tx, ticketsdb.OrderForgetParams{
		CustomerID: customerID, Now: s.deps.Clock.Now(),
	}); err != nil {
		return fmt.Errorf("forget payer: %w", err)
	}
	if err := idempotency.ForgetTx(ctx, tx, names); err != nil {
		return err
	}
	return s.deps.Payments.ForgetPersonTx(ctx, tx, names)
}

// StopBilling makes a customer's open PIX payments unpayable and frees their
// places.
func (s *Service) StopBilling(ctx context.Context, customerID objectid.ID) error {
	open, err := s.db.OrderListReservedOf(ctx, s.deps.Pool, customerID)
	if err != nil {
		return fmt.Errorf("list open orders: %w", err)
	}
	return s.each(ctx, open, func(ctx context.Context, id objectid.ID) error {
		return s.reconcile.ReleaseUnpaid(ctx, id, state.BuyerDeleted)
	})
}

// CustomersWithPurchases returns those of the customers who have tickets or
// orders.
func (s *Service) CustomersWithPurchases(ctx context.Context, ids []objectid.ID) ([]objectid.ID, error) {
	return s.db.CustomerListWithPurchases(ctx, s.deps.Pool, objectid.Strings(ids))
}

// HasGuestPurchases reports whether something was bought for the customer without a login.
func (s *Service) HasGuestPurchases(ctx context.Context, db postgres.DB, customerID objectid.ID) (bool, error) {
	return s.db.CustomerHasGuestOrders(ctx, db, customerID)
}

var (
	_ accounts.PersonalData    = (*Service)(nil)
	_ accounts.GuestPurchases  = (*Service)(nil)
	_ accounts.Billing         = (*Service)(nil)
	_ accounts.Purchases       = (*Service)(nil)
	_ accounts.CustomerChanges = (*Service)(nil)
)
