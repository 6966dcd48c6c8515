package tickets

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/state"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// orderMoney is what the ledgers know of an order: its payments and their
// refunds, newest first.
type orderMoney struct {
	paid    []payments.LedgerPayment
	refunds []payments.Refund
}

func (s *Service) moneyTx(ctx context.Context, tx postgres.DB, id objectid.ID) (m orderMoney, err error) {
	if m.paid, err = s.payments.PaymentsOf(ctx, tx, payments.ForOrder, id); err != nil {
		return m, fmt.Errorf("read payments: %w", err)
	}
	if m.refunds, err = s.payments.RefundsOf(ctx, tx, payments.ForOrder, id); err != nil {
		return m, fmt.Errorf("read refunds: %w", err)
	}
	return m, nil
}

// whole tells whether the order's own payment came and all of it is back. What was paid
// beside it bought nothing, and may be kept.
func (m orderMoney) whole(o order) bool {
	for _, p := range m.paid {
		if p.Payment.ID != postgres.Text(o.GatewayPaymentID) {
			continue
		}
		left := p.Payment.Amount
		for _, r := range m.refunds {
			if r.Status == payments.RefundDone && isOf(r, p.Payment) {
				left -= r.Amount
			}
		}
		return left <= 0
	}
	return false
}

func isOf(r payments.Refund, p payments.Payment) bool { return isNamed(p, r.PaymentID) }

// isNamed tells whether a refund or dispute speaks of the payment by that id.
func isNamed(p payments.Payment, id string) bool { return id == p.ID || id == p.PaymentIntentID }

// left is what of a payment is neither back nor on its way, and bounced the last of
// its refunds that failed, nil when none has.
func (m orderMoney) left(p payments.Payment) (left money.Cents, bounced *payments.Refund) {
	left = p.Amount
	for i, r := range m.refunds {
		switch {
		case !isOf(r, p):
		case r.Status != payments.RefundFailed:
			left -= r.Amount
		case bounced == nil:
			bounced = &m.refunds[i]
		}
	}
	return left, bounced
}

// returnedTx has tickets follow the refunds of their shares, and looks whether all money of
// the order is back, and stays there.
func (s *Service) returnedTx(ctx context.Context, tx pgx.Tx, o *order) error {
	m, err := s.moneyTx(ctx, tx, o.ID)
	if err != nil {
		return err
	}
	givenBack, err := s.followGiveBackTx(ctx, tx, *o, m)
	if err != nil {
		return err
	}
	if err := s.followTicketsTx(ctx, tx, *o, m.refunds, givenBack); err != nil {
		return err
	}
	if err := s.refundSecondsAgainTx(ctx, tx, *o, m); err != nil {
		return err
	}
	if _, bounces := state.Next(o.State, state.RefundBounced); bounces && len(m.paid) > 0 && !m.whole(*o) {
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
	err = s.moveTx(ctx, tx, o, state.MoneyReturned, func(o *order) {
		o.PaymentStatus = refundedStatus(payments.GatewayName(postgres.Text(o.Gateway)))
	})
	if err != nil || !due {
		return err
	}
	return s.mailLaterTx(ctx, tx, o.ID, mailRefund)
}

// refundAgainTx: the tickets are void, so that the money has to go back all the
// same. As long as it does not, the order stays among those whose refund is due.
func (s *Service) refundAgainTx(ctx context.Context, tx pgx.Tx, o *order) error {
	err := s.moveTx(ctx, tx, o, state.RefundBounced, func(o *order) {
		o.PaymentStatus = settledStatus(payments.GatewayName(postgres.Text(o.Gateway)))
	})
	if err != nil || o.GatewayPaymentID == nil {
		return err
	}
	return s.insertRefundTx(ctx, tx, refundArgs{OrderID: o.ID, PaymentID: *o.GatewayPaymentID}, river.UniqueOpts{}) // the first one's job is still remembered
}

// refundSecondsAgainTx: what was paid beside the order's own payment is never kept,
// whatever became of the order, so that a refund of it which failed is made again,
// by one job a failure.
func (s *Service) refundSecondsAgainTx(ctx context.Context, tx pgx.Tx, o order, m orderMoney) error {
	for _, p := range m.paid {
		if p.Payment.ID == postgres.Text(o.GatewayPaymentID) {
			continue
		}
		left, bounced := m.left(p.Payment)
		if left <= 0 || bounced == nil {
			continue
		}
		args := refundArgs{OrderID: o.ID, PaymentID: p.Payment.ID, After: bounced.ID}
		if err := s.insertRefundTx(ctx, tx, args, river.UniqueOpts{ByArgs: true}); err != nil {
			return err
		}
	}
	return nil
}
