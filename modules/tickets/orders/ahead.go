package orders

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/tickets/events"
	"marquee/platform/fault"
	"marquee/platform/postgres"
)

// ahead is what an order's own payment needs to know, read in the round trip that locks the order: most have nothing of
// what would be looked for one by one. Whoever changes any of it holds the order, the customer or the event, which are
// locked in this order, as anywhere else. Nil: all is read where it is needed.
type ahead struct {
	customer bool // there is such a one, who has not deleted the account
	event    events.Event
	tickets  []events.Ticket
	unbooked bool // the ledger has no payment with the id
	quiet    bool // no refund and no dispute of the order was told
}

// readAhead asks for it, behind the lock of the order, where the outcome is money that seats its buyer. What it returns
// reads it.
func (s *Store) readAhead(ctx context.Context, tx pgx.Tx, o Order, outcome Outcome) (read func() (*ahead, error)) {
	succeeded, ok := outcome.(Succeeded)
	if p := succeeded.Result.Payment; !ok || o.EventID == "" || p == nil || p.Status != gateway.PaymentStatusSettled {
		return func() (*ahead, error) { return nil, nil } //nolint:nilnil // nil is the answer
	}
	customer := postgres.Queue(tx, func(db postgres.DB) (struct{}, error) {
		return struct{}{}, s.deps.Accounts.LockCustomerTx(ctx, db, o.CustomerID)
	})
	event := postgres.Queue(tx, func(db postgres.DB) (events.Event, error) {
		e, err := s.db.EventLock(ctx, db, o.EventID)
		return events.Event(e), err
	})
	tickets := postgres.Queue(tx, func(db postgres.DB) ([]events.Ticket, error) {
		return s.db.TicketListOfOrder(ctx, db, &o.ID)
	})
	known := postgres.Queue(tx, func(db postgres.DB) (*gateway.LedgerPayment, error) {
		return s.deps.Payments.FindPayment(ctx, db, *o.Gateway, succeeded.Result.Payment.ID)
	})
	refunds := postgres.Queue(tx, func(db postgres.DB) ([]payments.Refund, error) {
		return s.deps.Payments.RefundsOf(ctx, db, gateway.ForOrder, o.ID)
	})
	disputes := postgres.Queue(tx, func(db postgres.DB) ([]payments.Dispute, error) {
		return s.deps.Payments.DisputesOf(ctx, db, gateway.ForOrder, o.ID)
	})
	return func() (*ahead, error) {
		a := &ahead{customer: true}
		if _, err := customer.Get(ctx); fault.Is(err, fault.KindNotFound) {
			a.customer = false
		} else if err != nil {
			return nil, err
		}
		var err error
		if a.event, err = event.Get(ctx); err != nil {
			return nil, fmt.Errorf("lock event: %w", err)
		}
		if a.tickets, err = tickets.Get(ctx); err != nil {
			return nil, fmt.Errorf("read tickets: %w", err)
		}
		booked, err := known.Get(ctx)
		if err != nil {
			return nil, fmt.Errorf("read payment: %w", err)
		}
		returned, err := refunds.Get(ctx)
		if err != nil {
			return nil, fmt.Errorf("read refunds: %w", err)
		}
		disputed, err := disputes.Get(ctx)
		a.unbooked, a.quiet = booked == nil, len(returned)+len(disputed) == 0
		return a, err
	}
}

// holdCustomerTx locks the customer: false where there is none, or the account is deleted.
func (s settling) holdCustomerTx(ctx context.Context, tx pgx.Tx, o Order) (bool, error) {
	if s.ahead != nil {
		return s.ahead.customer, nil
	}
	err := s.deps.Accounts.LockCustomerTx(ctx, tx, o.CustomerID)
	if fault.Is(err, fault.KindNotFound) {
		return false, nil
	}
	return err == nil, err
}

// lockPlacesTx locks the event and reads the tickets of the order.
func (s settling) lockPlacesTx(ctx context.Context, tx pgx.Tx, o Order) (events.Event, []events.Ticket, error) {
	if s.ahead != nil {
		return s.ahead.event, s.ahead.tickets, nil
	}
	e, err := s.deps.Events.LockTx(ctx, tx, o.EventID)
	if err != nil {
		return e, nil, fmt.Errorf("lock event: %w", err)
	}
	tickets, err := s.db.TicketListOfOrder(ctx, tx, &o.ID)
	if err != nil {
		return e, nil, fmt.Errorf("read tickets: %w", err)
	}
	return e, tickets, nil
}

// bookTx takes the order's payment into the ledger. First: it was not there.
func (s settling) bookTx(ctx context.Context, tx pgx.Tx, o Order, p gateway.Payment) (first bool, err error) {
	r := recordOf(o, p)
	r.Unbooked = s.ahead != nil && s.ahead.unbooked && s.replayed
	return s.deps.Payments.RecordPaymentTx(ctx, tx, r)
}

// syncEarlierTx has the order follow what was told of its payment's disputes and refunds before the payment itself.
func (s settling) syncEarlierTx(ctx context.Context, tx pgx.Tx, o *Order) error {
	if s.ahead != nil && s.ahead.quiet && o.DisputedAt == nil {
		return nil
	}
	if err := s.DisputedTx(ctx, tx, o); err != nil {
		return err
	}
	return s.ReturnedTx(ctx, tx, o, "")
}

// recordOf is an order's payment for the ledger.
func recordOf(o Order, p gateway.Payment) payments.Record {
	return payments.Record{Owner: o.Owner(), Payment: p}
}
