package orders

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/state"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// followTicketsTx has the tickets of a locked order follow what became of the refunds of
// their shares. Shares whose refund failed after it was believed done are given back again,
// since their tickets are void; of an order that is given back as a whole its job does that.
// Out are the refunds that failed without having been believed done, and are not made again.
func (s *Store) followTicketsTx(ctx context.Context, tx pgx.Tx, o Order, refunds []payments.Refund, givenBack bool) (out []payments.Refund, err error) {
	tickets, err := s.db.TicketListOfOrder(ctx, tx, &o.ID)
	if err != nil {
		return nil, fmt.Errorf("read tickets: %w", err)
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
		case refunds[i].Status == gateway.RefundDone && t.RefundedAt == nil:
			done = append(done, t.RefundID.String())
		case refunds[i].Status == gateway.RefundFailed:
			if t.RefundedAt != nil {
				owed = append(owed, t.ID)
			} else if !slices.Contains(failed, t.RefundID.String()) {
				out = append(out, refunds[i])
			}
			failed = append(failed, t.RefundID.String())
		}
	}
	if len(done)+len(failed) == 0 {
		return nil, nil
	}
	if _, err := s.events.LockTx(ctx, tx, o.EventID); err != nil {
		return nil, fmt.Errorf("lock event: %w", err)
	}
	now := s.clock.Now()
	if _, err := s.db.TicketReturn(ctx, tx, ticketsdb.TicketReturnParams{Now: now, OrderID: &o.ID, RefundIds: done}); err != nil {
		return nil, fmt.Errorf("void tickets: %w", err)
	}
	if err := s.db.TicketReturnFailed(ctx, tx, ticketsdb.TicketReturnFailedParams{Now: now, OrderID: &o.ID, RefundIds: failed}); err != nil {
		return nil, fmt.Errorf("take refund from tickets: %w", err)
	}
	if len(owed) == 0 || o.State != state.Paid || givenBack {
		return out, nil
	}
	_, err = s.jobs.InsertTx(ctx, tx, SharesArgs{OrderID: o.ID, TicketIDs: owed}, &river.InsertOpts{Queue: jobs.QueueGateway})
	if err != nil {
		return nil, fmt.Errorf("queue refund: %w", err)
	}
	return out, nil
}

// listFailedSharesTx leaves to people the refunds of shares that came to nothing after whoever
// asked for them was told something else, such as that it is not known yet: the gateway
// refused them. What the gateway was not there for is asked again.
func (s *Store) listFailedSharesTx(ctx context.Context, tx pgx.Tx, o Order, m Money, failed []payments.Refund) error {
	for _, p := range m.Paid {
		if p.Payment.ID != postgres.Text(o.GatewayPaymentID) {
			continue
		}
		for _, r := range failed {
			if !IsOf(r, p.Payment) || r.FailedUnasked() {
				continue
			}
			_, err := s.payments.Cases().RecordUnappliedTx(ctx, tx, payments.Unapplied{
				Kind: payments.UnappliedUnrefundable, Gateway: p.Gateway, PaymentID: p.Payment.ID, Amount: &r.Amount, CustomerID: o.CustomerID, OrderID: o.ID,
				PaidAt: p.Payment.SettledAt, Note: "The gateway did not give the money back: " + r.Failure, Bought: true,
			})
			if err != nil {
				return err
			}
		}
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
	if r.Purpose != gateway.ForOrder {
		return nil
	}
	return s.FollowOrder(ctx, r.LocalID, "")
}

// FollowOrder has an order follow the ledger of refunds, as ReturnedTx does.
func (s *Store) FollowOrder(ctx context.Context, id objectid.ID, told string) error {
	return postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		o, err := s.db.OrderLock(ctx, tx, id)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil // deleted with its event
		}
		if err != nil {
			return fmt.Errorf("lock order: %w", err)
		}
		return s.ReturnedTx(ctx, tx, &o, told)
	})
}
