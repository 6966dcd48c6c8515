package payments

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/platform/objectid"
)

// refundGrace is how long an answer may be on its way before the job asks.
const refundGrace = 2 * time.Minute

// recoverRefund finds out what became of a refund whose answer was lost: the
// gateway is asked, and asked again for the refund only when it knows nothing of
// it.
func (s *Service) recoverRefund(ctx context.Context, id objectid.ID) error {
	row, err := s.db.RefundFind(ctx, s.deps.Pool, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	refund := refundOf(row)
	if refund.Status != RefundRequested { // who asked may have died before he followed it
		return s.followRefund(ctx, refund)
	}
	payment, err := s.FindPayment(ctx, s.deps.Pool, refund.Gateway, refund.PaymentID)
	if err != nil {
		return err
	}
	if payment == nil {
		return fmt.Errorf("payments: refund %s is of a payment that the ledger does not have", id)
	}
	gateway, err := s.Gateway(refund.Gateway)
	if err != nil {
		return err
	}
	remote, ok, err := gateway.FindRefund(ctx, payment.refundTerms(refund))
	if err == nil && !ok {
		remote, err = gateway.Refund(ctx, payment.refundTerms(refund))
	}
	if err != nil {
		s.deps.Log.WarnContext(ctx, "refund not recovered", slog.String("refund_id", id.String()), slog.Any("error", err))
		return err // the job comes again: a refused repetition proves nothing about the first call
	}
	if refund, err = s.settleRequest(ctx, refund, remote, nil); err != nil {
		return err
	}
	return s.followRefund(ctx, refund)
}

func (s *Service) followRefund(ctx context.Context, r Refund) error {
	for _, a := range s.appliers {
		if follower, ok := a.(RefundFollower); ok {
			if err := follower.FollowRefund(ctx, r); err != nil {
				return fmt.Errorf("follow refund %s: %w", r.ID, err)
			}
		}
	}
	return nil
}
