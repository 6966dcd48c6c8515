package orders

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/state"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// followTicketsTx has the tickets of a locked order follow what became of the refunds of
// their shares. Shares whose refund failed after it was believed done are given back again,
// since their tickets are void; of an order that is given back as a whole its job does that.
func (s *Store) followTicketsTx(ctx context.Context, tx pgx.Tx, o Order, refunds []payments.Refund, givenBack bool) error {
	tickets, err := s.db.TicketListOfOrder(ctx, tx, &o.ID)
	if err != nil {
		return fmt.Errorf("read tickets: %w", err)
	}
	var done, failed []string
	var owed []objectid.ID
	for _, t := range tickets {
		if t.RefundID == nil {
			continue
		}
		i := slices.IndexFunc(refunds, func(r payments.Refund) bool { return r.ID == *t.RefundID })
		switch {
		case i < 0:
		case refunds[i].Status == payments.RefundDone && t.RefundedAt == nil:
			done = append(done, t.RefundID.String())
		case refunds[i].Status == payments.RefundFailed:
			failed = append(failed, t.RefundID.String())
			if t.RefundedAt != nil {
				owed = append(owed, t.ID)
			}
		}
	}
	if len(done)+len(failed) == 0 {
		return nil
	}
	if _, err := s.events.LockTx(ctx, tx, o.EventID); err != nil {
		return fmt.Errorf("lock event: %w", err)
	}
	now := s.clock.Now()
	if _, err := s.db.TicketReturn(ctx, tx, ticketsdb.TicketReturnParams{Now: now, OrderID: &o.ID, RefundIds: done}); err != nil {
		return fmt.Errorf("void tickets: %w", err)
	}
	if err := s.db.TicketReturnFailed(ctx, tx, ticketsdb.TicketReturnFailedParams{Now: now, OrderID: &o.ID, RefundIds: failed}); err != nil {
		return fmt.Errorf("take refund from tickets: %w", err)
	}
	if len(owed) == 0 || o.State != state.Paid || givenBack {
		return nil
	}
	_, err = s.jobs.InsertTx(ctx, tx, SharesArgs{OrderID: o.ID, TicketIDs: owed}, &river.InsertOpts{Queue: jobs.QueueGateway})
	if err != nil {
		return fmt.Errorf("queue refund: %w", err)
	}
	return nil
}

// SharesArgs gives back again the shares of tickets whose refund failed after it was
// believed done.
type SharesArgs struct {
	OrderID   objectid.ID   `json:"order_id"`
	TicketIDs []objectid.ID `json:"ticket_ids"`
}

// Kind names the job.
func (SharesArgs) Kind() string { return "tickets_refund_shares" }

// FollowRefund has order and tickets follow a refund that the recovery has settled, of
// which no event may ever tell (payments.RefundFollower).
func (s *Store) FollowRefund(ctx context.Context, r payments.Refund) error {
	if r.Purpose != payments.ForOrder {
		return nil
	}
	return s.FollowOrder(ctx, r.LocalID)
}

// FollowOrder has an order follow the ledger of refunds.
func (s *Store) FollowOrder(ctx context.Context, id objectid.ID) error {
	return postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		o, err := s.db.OrderLock(ctx, tx, id)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil // deleted with its event
		}
		if err != nil {
			return fmt.Errorf("lock order: %w", err)
		}
		return s.ReturnedTx(ctx, tx, &o)
	})
}
