package subscriptions

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// applyRefundTx: charge.refunded, refund.*; PAYMENT_REFUNDED,
// PAYMENT_PARTIALLY_REFUNDED, PAYMENT_REFUND_*. The ledger sorts out repetitions
// and cumulative totals; the row's total follows from it.
func (s *Service) applyRefundTx(ctx context.Context, tx pgx.Tx, sub *row, e payments.Event) (string, error) {
	if e.Refund == nil {
		return "no refund in the event", nil
	}
	_, err := s.payments.RecordRefundTx(ctx, tx, payments.RefundRecord{
		Gateway: e.Gateway, Purpose: payments.ForSubscription, LocalID: sub.ID, CustomerID: sub.CustomerID, Report: *e.Refund,
	})
	if err != nil {
		return "", err
	}
	return "", s.totalRefundsTx(ctx, tx, sub)
}

// totalRefundsTx writes what the ledger adds up to.
func (s *Service) totalRefundsTx(ctx context.Context, tx pgx.Tx, sub *row) error {
	total, err := s.payments.RefundedTotal(ctx, tx, payments.ForSubscription, sub.ID)
	if err != nil || int64(total) == sub.TotalRefundedCents {
		return err
	}
	return s.editTx(ctx, tx, sub, func(r *row) { r.TotalRefundedCents = int64(total) })
}

// applyDisputeTx: charge.dispute.*, PAYMENT_CHARGEBACK_*. Money that is held
// closes the subscription; a dispute that is won opens it again, when no other
// one is open and it was the dispute that closed it.
func (s *Service) applyDisputeTx(ctx context.Context, tx pgx.Tx, sub *row, e payments.Event) (string, error) {
	if e.Dispute == nil {
		return "no dispute in the event", nil
	}
	changed, err := s.payments.RecordDisputeTx(ctx, tx, payments.DisputeRecord{
		Gateway: e.Gateway, Purpose: payments.ForSubscription, LocalID: sub.ID, CustomerID: sub.CustomerID, Report: *e.Dispute,
	})
	if err != nil {
		return "", err
	}
	c := change{source: sourceOf(e), event: eventOf(e)}
	switch {
	case changed.Opened: // also when all that came of it is that it was lost
		c.action, c.edit = DisputeOpens, func(r *row) { r.HasChargeback = true }
	case changed.Closed && changed.State == payments.DisputeLost: // what an admin opened meanwhile stays open
		return "", s.editTx(ctx, tx, sub, func(r *row) { r.HasChargeback = true })
	case changed.Closed && changed.State == payments.DisputeWon && changed.StillOpen == 0:
		c.action, c.edit = DisputeWon, func(r *row) { r.HasChargeback = false }
		closed, err := s.closedByDisputeTx(ctx, tx, *sub)
		if err != nil {
			return "", err
		}
		if Status(sub.Status) == Suspended && !closed {
			return "", s.editTx(ctx, tx, sub, c.edit)
		}
	default:
		return "no consequence", nil
	}
	_, err = s.moveTx(ctx, tx, sub, c)
	return "", err
}

// closedByDisputeTx reports whether a suspended subscription would be open but
// for its dispute: payments that failed keep it closed, and so does an admin.
func (s *Service) closedByDisputeTx(ctx context.Context, tx pgx.Tx, sub row) (bool, error) {
	if int(sub.PaymentFailures) >= s.cfg.MaxPaymentFailures {
		return false, nil
	}
	reason, err := s.db.GetLastReason(ctx, tx, sub.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return true, nil
	}
	return reason != string(ReasonPaymentFailure) && reason != string(reasons[AdminSuspends]), err
}

// totalRefunds rewrites the total after a refund that was settled elsewhere, in a
// transaction of its own: the ledger locks its rows after the subscription's.
func (s *Service) totalRefunds(ctx context.Context, customerID, id objectid.ID) (sub row, err error) {
	err = postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		if sub, err = s.lockTx(ctx, tx, customerID, id); err != nil {
			return err
		}
		return s.totalRefundsTx(ctx, tx, &sub)
	})
	return sub, err
}

// FollowRefund keeps the total of a subscription when the recovery of a refund has
// settled it, of which no event may ever tell (payments.RefundFollower).
func (s *Service) FollowRefund(ctx context.Context, r payments.Refund) error {
	if r.Purpose != payments.ForSubscription {
		return nil
	}
	_, err := s.totalRefunds(ctx, r.CustomerID, r.LocalID)
	return err
}
