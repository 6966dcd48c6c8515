package webhooks

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/debits"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
)

// noteFailureTx keeps with a debit that it failed and why, and plans the days on which
// it is taken again. Each further word about it, also about a retry, comes by here.
// What is no debit, or none that is known yet, is left alone.
func (s *Applier) noteFailureTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, f gateway.FailedPayment) error {
	d, found, err := s.reads.DebitOfTx(ctx, tx, sub, f.Payment.ID)
	if err != nil || !found || d.PaidAt != nil {
		return err
	}
	told := f.Reason
	if told == "" {
		if d.FailedAt != nil {
			return nil // PAYMENT_OVERDUE of what is known to have failed
		}
		told = debits.FailedUnpaid
	}
	first := d.FailedAt == nil
	retryable := !f.Final && (first || d.Retryable)
	now := s.clock.Now()
	err = s.db.SetDebitFailed(ctx, tx, subscriptionsdb.SetDebitFailedParams{
		SubscriptionID: sub.ID, Cycle: d.Cycle, Now: &now, Failure: &told, Retryable: retryable,
	})
	if err != nil {
		return fmt.Errorf("note failed debit: %w", err)
	}
	switch {
	case !retryable:
		if err := s.debits.EndRetriesTx(ctx, tx, d, state.RetryRefused, told); err != nil || first || !d.Retryable {
			return err
		}
		return s.dunning.DunAgainTx(ctx, tx, sub, d, &f.Payment)
	case first:
		err = s.debits.PlanRetriesTx(ctx, tx, sub, d)
	case f.Payment.DueDate != nil:
		err = s.debits.EndRetryTx(ctx, tx, d, s.calendar.DateOf(*f.Payment.DueDate), state.RetryRefused, told)
	}
	if err != nil {
		return err
	}
	return s.debits.ScheduleRetryTx(ctx, tx, d)
}
