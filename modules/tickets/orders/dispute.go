package orders

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/state"
	"marquee/platform/postgres"
)

// Why a ticket opens no door although it is neither used nor expired, as the SQL function
// tickets.blocked says; the first is also the reason in the history when a dispute is lost.
const (
	blockedPayment = "payment_disputed"
)

// DisputedTx has a locked order follow what the ledger knows of disputes of its own
// payment. While one is open its tickets are blocked, and keep status and place. When one
// is lost the unused tickets expire and their places are free; the consumed ones stay. A
// dispute of what was paid beside it is about no ticket.
func (s *Store) DisputedTx(ctx context.Context, tx pgx.Tx, o *Order) error {
	open, lost, err := s.disputesTx(ctx, tx, *o)
	if err != nil {
		return err
	}
	if open != (o.DisputedAt != nil) {
		err := s.SaveTx(ctx, tx, o, func(o *Order) {
			o.DisputedAt = nil
			if open {
				o.DisputedAt = new(s.deps.Clock.Now())
			}
		})
		if err != nil {
			return err
		}
	}
	if _, loses := state.Next(o.State, state.DisputeLost); !lost || !loses {
		return nil
	}
	if _, err := s.deps.Events.LockTx(ctx, tx, o.EventID); err != nil {
		return fmt.Errorf("lock event: %w", err)
	}
	err = s.db.TicketExpireUnused(ctx, tx, ticketsdb.TicketExpireUnusedParams{OrderID: &o.ID, Reason: blockedPayment, Now: s.deps.Clock.Now()})
	if err != nil {
		return fmt.Errorf("void tickets: %w", err)
	}
	return s.MoveTx(ctx, tx, o, state.DisputeLost, func(o *Order) { o.PaymentStatus = statusChargebackLost })
}

func (s *Store) disputesTx(ctx context.Context, tx pgx.Tx, o Order) (open, lost bool, err error) {
	disputes, err := s.deps.Payments.DisputesOf(ctx, tx, gateway.ForOrder, o.ID)
	if err != nil || len(disputes) == 0 {
		return false, false, err
	}
	paid, err := s.deps.Payments.PaymentsOf(ctx, tx, gateway.ForOrder, o.ID)
	if err != nil {
		return false, false, fmt.Errorf("read payments: %w", err)
	}
	for _, p := range paid {
		if p.Payment.ID != postgres.Text(o.GatewayPaymentID) {
			continue
		}
		for _, d := range disputes {
			if isNamed(p.Payment, d.PaymentID) {
				open = open || d.State == gateway.DisputeOpen
				lost = lost || d.State == gateway.DisputeLost
			}
		}
	}
	return open, lost, nil
}
