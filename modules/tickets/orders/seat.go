package orders

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/intent"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/state"
)

// PaidTx does what follows from an order being paid: a guest gets the tickets by
// mail.
func (s *Store) PaidTx(ctx context.Context, tx pgx.Tx, o Order) error {
	if o.State != state.Paid || !o.WithoutLogin {
		return nil
	}
	return s.MailLaterTx(ctx, tx, o.ID, MailConfirmation)
}

// seatTx makes an order's tickets good, and takes places again for those that
// have lost them, as long as there are any. Seated is false, and nothing is
// changed, when there are too few, the event is over or called off.
func (s *Store) seatTx(ctx context.Context, tx pgx.Tx, o Order) (seated bool, err error) {
	e, err := s.deps.Events.LockTx(ctx, tx, o.EventID)
	if err != nil {
		return false, fmt.Errorf("lock event: %w", err)
	}
	now := s.deps.Clock.Now()
	if !e.EndsAt.After(now) || e.CancelledAt != nil {
		return false, nil
	}
	tickets, err := s.db.TicketListOfOrder(ctx, tx, &o.ID)
	if err != nil {
		return false, fmt.Errorf("read tickets: %w", err)
	}
	places := 0
	for _, t := range tickets {
		if t.HoldsPlace {
			places++
		}
	}
	missing := int(o.Quantity) - places
	if e.Capacity != nil && missing > 0 && int(e.TicketsIssued)+missing > int(*e.Capacity) {
		return false, nil
	}
	by := state.TicketPaid
	if o.State == state.Released {
		by = state.TicketPaidLate
	}
	reason := state.Tickets.ReasonOf(by)
	from, to := state.Tickets.Of(by)
	if _, err = s.db.TicketSeatOfOrder(ctx, tx, ticketsdb.TicketSeatOfOrderParams{
		OrderID: &o.ID, Reason: reason, Now: now, FromStates: from, ToStates: to,
	}); err != nil {
		return false, fmt.Errorf("seat tickets: %w", err)
	}
	if more := int(o.Quantity) - len(tickets); more > 0 {
		err = s.db.TicketSeatMore(ctx, tx, ticketsdb.TicketSeatMoreParams{OrderID: o.ID, Reason: reason, Now: now, Quantity: int32(more)}) //nolint:gosec // at most MaxQuantity
		if err != nil {
			return false, fmt.Errorf("seat tickets anew: %w", err)
		}
	}
	return true, nil
}

// whyNotSeatedTx says why money gave no tickets. What is paid for a called off event counts
// among the orders whose money goes back.
func (s *Store) whyNotSeatedTx(ctx context.Context, tx pgx.Tx, o Order) (string, error) {
	e, err := s.db.EventGet(ctx, tx, o.EventID)
	if err != nil {
		return "", fmt.Errorf("read event: %w", err)
	}
	if e.CancelledAt == nil {
		return "Paid when no place was left for the order.", nil
	}
	now := s.deps.Clock.Now()
	err = s.db.GiveBackOpen(ctx, tx, ticketsdb.GiveBackOpenParams{
		EventID: e.ID, OrderID: new(o.ID.String()), AskedAt: &now, Now: now,
	})
	if err != nil {
		return "", fmt.Errorf("list order to give back: %w", err)
	}
	return "Paid when the event was called off.", nil
}

// ReleaseTx frees the places of an unpaid order. A purchase that never came
// about leaves no tickets; of one that nobody paid they expire. A buyer who was
// answered that the outcome is not known, and whose purchase a check ends, is
// mailed that nothing is owed.
func (s *Store) ReleaseTx(ctx context.Context, tx pgx.Tx, o *Order, made Made, end End) error {
	if _, ok := state.Orders.Next(o.State, state.Release); !ok {
		return s.EditTx(ctx, tx, o, state.Closed, (*Order).closeIntent, end)
	}
	if _, err := s.deps.Events.LockTx(ctx, tx, o.EventID); err != nil {
		return fmt.Errorf("lock event: %w", err)
	}
	var err error
	if !made.Expired {
		err = s.db.TicketDropOfOrder(ctx, tx, &o.ID)
	} else {
		err = s.db.TicketExpireOfOrder(ctx, tx, o.ID, state.TicketNotPaid, s.deps.Clock.Now())
	}
	if err != nil {
		return fmt.Errorf("release places: %w", err)
	}
	if end.By == intent.ByCheck {
		if err := s.MailLaterTx(ctx, tx, o.ID, MailNotOwed); err != nil {
			return err
		}
	}
	return s.MoveTx(ctx, tx, o, state.Release, func(o *Order) {
		o.PaymentStatus = o.words().Lost
		o.PixPayload, o.PixImage = nil, nil
		if o.GatewayPaymentID == nil && made.Pix != nil {
			o.GatewayPaymentID = &made.Pix.Payment.ID
		}
		o.closeIntent()
	}, end)
}
