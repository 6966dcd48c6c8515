package orders

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/state"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Money is what the ledgers know of an order: its payments and their
// refunds, newest first.
type Money struct {
	Paid    []gateway.LedgerPayment
	Refunds []payments.Refund
}

func (s *Store) MoneyTx(ctx context.Context, tx postgres.DB, id objectid.ID) (m Money, err error) {
	if m.Paid, err = s.payments.PaymentsOf(ctx, tx, gateway.ForOrder, id); err != nil {
		return m, fmt.Errorf("read payments: %w", err)
	}
	if m.Refunds, err = s.payments.RefundsOf(ctx, tx, gateway.ForOrder, id); err != nil {
		return m, fmt.Errorf("read refunds: %w", err)
	}
	return m, nil
}

// whole tells whether the order's own payment came and all of it is back. What was paid
// beside it bought nothing, and may be kept.
func (m Money) whole(o Order) bool {
	for _, p := range m.Paid {
		if p.Payment.ID != postgres.Text(o.GatewayPaymentID) {
			continue
		}
		left := p.Payment.Amount
		for _, r := range m.Refunds {
			if r.Status == gateway.RefundDone && IsOf(r, p.Payment) {
				left -= r.Amount
			}
		}
		return left <= 0
	}
	return false
}

func IsOf(r payments.Refund, p gateway.Payment) bool { return isNamed(p, r.PaymentID) }

// isNamed tells whether a refund or dispute speaks of the payment by that id.
func isNamed(p gateway.Payment, id string) bool { return id == p.ID || id == p.PaymentIntentID }

// Left is what of a payment is neither back nor on its way, and bounced the last of
// its refunds that failed, nil when none has.
func (m Money) Left(p gateway.Payment) (left money.Cents, bounced *payments.Refund) {
	left = p.Amount
	for i, r := range m.Refunds {
		switch {
		case !IsOf(r, p):
		case r.Status != gateway.RefundFailed:
			left -= r.Amount
		case bounced == nil:
			bounced = &m.Refunds[i]
		}
	}
	return left, bounced
}

// ReturnedTx has tickets follow the refunds of their shares, and looks whether all money of
// the order is back, and stays there. Told is the admin who is being told that a refund
// failed, "" when nobody is: then it is listed.
func (s *Store) ReturnedTx(ctx context.Context, tx pgx.Tx, o *Order, told string) error {
	m, err := s.MoneyTx(ctx, tx, o.ID)
	if err != nil {
		return err
	}
	givenBack, err := s.followGiveBackTx(ctx, tx, *o, m)
	if err != nil {
		return err
	}
	failed, err := s.followTicketsTx(ctx, tx, *o, m.Refunds, givenBack)
	if err != nil {
		return err
	}
	if told == "" && !givenBack {
		if err := s.listFailedSharesTx(ctx, tx, *o, m, failed); err != nil {
			return err
		}
	}
	if err := s.refundSecondsAgainTx(ctx, tx, *o, m); err != nil {
		return err
	}
	if err := s.listPartTx(ctx, tx, *o, m); err != nil {
		return err
	}
	if _, bounces := state.Next(o.State, state.RefundBounced); bounces && len(m.Paid) > 0 && !m.whole(*o) {
		return s.refundAgainTx(ctx, tx, o)
	}
	if _, returns := state.Next(o.State, state.MoneyReturned); !returns || !m.whole(*o) {
		return nil
	}
	if _, err := s.events.LockTx(ctx, tx, o.EventID); err != nil {
		return fmt.Errorf("lock event: %w", err)
	}
	if err := s.db.TicketExpireUnused(ctx, tx, ticketsdb.TicketExpireUnusedParams{OrderID: &o.ID, Reason: "refunded", Now: s.clock.Now()}); err != nil {
		return fmt.Errorf("void tickets: %w", err)
	}
	due := o.State == state.RefundDue
	err = s.MoveTx(ctx, tx, o, state.MoneyReturned, func(o *Order) {
		o.PaymentStatus = wordsOf(*o).Refunded
	})
	if err != nil || !due {
		return err
	}
	return s.MailLaterTx(ctx, tx, o.ID, MailRefund)
}

// refundAgainTx: the tickets are void, so that the money has to go back all the
// same. As long as it does not, the order stays among those whose refund is due.
func (s *Store) refundAgainTx(ctx context.Context, tx pgx.Tx, o *Order) error {
	err := s.MoveTx(ctx, tx, o, state.RefundBounced, func(o *Order) {
		o.PaymentStatus = wordsOf(*o).Settled
	})
	if err != nil || o.GatewayPaymentID == nil {
		return err
	}
	return s.insertRefundTx(ctx, tx, RefundArgs{OrderID: o.ID, PaymentID: *o.GatewayPaymentID}, river.UniqueOpts{}) // the first one's job is still remembered
}

// refundSecondsAgainTx: what was paid beside the order's own payment is never kept,
// whatever became of the order, so that a refund of it which failed is made again,
// by one job a failure.
func (s *Store) refundSecondsAgainTx(ctx context.Context, tx pgx.Tx, o Order, m Money) error {
	for _, p := range m.Paid {
		if p.Payment.ID == postgres.Text(o.GatewayPaymentID) {
			continue
		}
		left, bounced := m.Left(p.Payment)
		if left <= 0 || bounced == nil {
			continue
		}
		args := RefundArgs{OrderID: o.ID, PaymentID: p.Payment.ID, After: bounced.ID}
		if err := s.insertRefundTx(ctx, tx, args, river.UniqueOpts{ByArgs: true}); err != nil {
			return err
		}
	}
	return nil
}
