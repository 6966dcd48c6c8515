package retries

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/faultpoint"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// RetryDebit orders the next planned retry of a debit, from the day before its day on.
// When that fails the checks repeat it.
func (s *Retries) RetryDebit(ctx context.Context, id objectid.ID, cycle pgtype.Date) error {
	sub, err := s.db.SubscriptionGet(ctx, s.deps.Pool, id)
	if err != nil {
		return err
	}
	ref := intent.Ref{Kind: intent.DebitRetry, Subject: id, Item: cycle.Time.Format(time.DateOnly)}
	return s.deps.Intents.Request(ctx, intent.Opening{Ref: ref, Customer: sub.CustomerID, Gateway: sub.Gateway})
}

// Checker takes a debit again; the item of its intent is the cycle.
func (s *Retries) Checker() intent.Checker {
	return intent.Repeat(func(ctx context.Context, r intent.Ref) error {
		cycle, err := time.Parse(time.DateOnly, r.Item)
		if err != nil {
			return fmt.Errorf("cycle of a debit: %w", err)
		}
		return s.requestRetry(ctx, r.Subject, pgtype.Date{Time: cycle, Valid: true})
	})
}

// requestRetry orders the next planned retry of a debit, from the day before its day on.
// It first reads what the bank was last told: an order that an earlier try made is
// found by its day, and while one is with the bank no other is made. The row is claimed,
// and that committed, before the gateway is asked. To ask twice for one day is harmless:
// the gateway takes each day of a debit once.
func (s *Retries) requestRetry(ctx context.Context, id objectid.ID, cycle pgtype.Date) error {
	sub, err := s.db.SubscriptionGet(ctx, s.deps.Pool, id)
	if err != nil {
		return err
	}
	d, err := s.db.DebitGet(ctx, s.deps.Pool, id, cycle)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil // it was dropped, and forgotten
	}
	if err != nil {
		return fmt.Errorf("read debit of %s: %w", id, err)
	}
	next, open, err := s.deps.Debits.RetriesOf(ctx, s.deps.Pool, d)
	if err != nil || next == nil || d.GatewayPaymentID == nil {
		return err
	}
	switch {
	case sub.Status.Ended() || sub.CancelAtPeriodEnd:
		return s.deps.Debits.DropRetries(ctx, sub, d, state.RetryOvertaken, "")
	case !s.deps.Debits.InTime(next.RetryDate):
		return s.afterRetry(ctx, sub, d, next.RetryDate, state.RetryTooLate, "")
	case !s.collects(sub) || s.deps.Clock.Now().Before(s.deps.Calendar.DayOf(lifecycle.DateAfter(next.RetryDate, -1))):
		return nil // the sweep comes again
	}
	gw, err := s.deps.Payments.Gateway(sub.Gateway)
	if err != nil {
		return err
	}
	order, found, err := gw.FindPixOrder(ctx, *d.GatewayPaymentID)
	if err == nil && !found {
		err = calls.ErrRetryMissing
	}
	if err != nil {
		return fmt.Errorf("read order of debit of %s: %w", id, err)
	}
	ordered := order.DueDate != nil && s.deps.Calendar.DateOf(*order.DueDate) == next.RetryDate
	switch {
	case order.Status == gateway.PixOrderOpen && ordered:
		return s.keepRetry(ctx, sub, d, next.RetryDate, order)
	case order.Status == gateway.PixOrderOpen:
		return nil // the bank has another day of it
	case order.Status == gateway.PixOrderDone:
		return s.heardOfDebit(ctx, sub, d)
	case order.Status == gateway.PixOrderCancelled || order.Final:
		return s.deps.Debits.DropRetries(ctx, sub, d, state.RetryOrderOver, order.Reason)
	case order.Status != gateway.PixOrderRefused:
		return fmt.Errorf("debit of %s: an order of unknown state", id)
	case ordered, open != nil && order.DueDate != nil && s.deps.Calendar.DateOf(*order.DueDate) == open.RetryDate:
		// The bank refused it, and its event was lost.
		return s.afterRetry(ctx, sub, d, s.deps.Calendar.DateOf(*order.DueDate), state.RetryFails, order.Reason)
	case open != nil:
		return nil // its order is not shown yet
	}
	return s.orderRetry(ctx, gw, sub, d, *next, order)
}

// collects reports whether a failed debit of the subscription may be taken again: while
// it is active, or suspended for want of payment, and its money is not disputed.
func (s *Retries) collects(sub lifecycle.Subscription) bool {
	unpaid := sub.Status == state.Suspended && int(sub.PaymentFailures) >= s.deps.Config.MaxPaymentFailures
	return !sub.HasChargeback && (sub.Status == state.Active || unpaid)
}

func (s *Retries) orderRetry(ctx context.Context, gw gateway.Gateway, sub lifecycle.Subscription, d lifecycle.Debit,
	r subscriptionsdb.DebitRetry, refused gateway.PixOrder,
) error {
	claimed, err := s.claimRetry(ctx, sub, d, r)
	if err != nil {
		return err
	}
	if !claimed {
		return calls.ErrDebitUnderWay
	}
	order, err := gw.RetryPixOrder(ctx, gateway.RetryTerms{
		OrderID: refused.ID, PaymentID: *d.GatewayPaymentID, DueDate: s.deps.Calendar.DayOf(r.RetryDate),
	})
	faultpoint.Hit("debit_retry.after_call")
	var rejected *gateway.Rejected
	switch {
	case err == nil:
		return s.keepRetry(ctx, sub, d, r.RetryDate, order)
	case errors.As(err, &rejected) && r.TriedAt == nil:
		s.deps.Log.WarnContext(ctx, "retry of a debit rejected", slog.String("subscription_id", sub.ID.String()),
			slog.Any("error", err))
		return s.deps.Debits.EndRetry(ctx, sub, d, r.RetryDate, state.RetryRejected, rejected.Code)
	}
	// A refused repetition proves nothing about the call before: its order is looked for.
	return fmt.Errorf("retry debit of %s: %w", sub.ID, err)
}

// claimRetry commits that the retry is being ordered; claimed is false when somebody
// else has it, or the subscription has moved on.
func (s *Retries) claimRetry(ctx context.Context, sub lifecycle.Subscription, d lifecycle.Debit,
	r subscriptionsdb.DebitRetry,
) (claimed bool, err error) {
	err = s.deps.Store.Locked(ctx, sub, func(tx pgx.Tx, locked lifecycle.Subscription) error {
		if !s.collects(locked) || locked.CancelAtPeriodEnd || !s.deps.Debits.InTime(r.RetryDate) {
			return nil
		}
		if paused, err := s.deps.Reads.IsPausedTx(ctx, tx, sub.ID); err != nil || paused {
			return err
		}
		now := s.deps.Clock.Now()
		n, err := s.db.DebitRetryClaim(ctx, tx, subscriptionsdb.DebitRetryClaimParams{
			SubscriptionID: sub.ID, Cycle: d.Cycle, RetryDate: r.RetryDate, Now: &now,
			Before: new(now.Add(-lifecycle.DebitGrace)),
		})
		claimed = n == 1
		return err
	})
	if err != nil {
		return false, fmt.Errorf("claim retry of %s: %w", sub.ID, err)
	}
	return claimed, nil
}

func (s *Retries) keepRetry(ctx context.Context, sub lifecycle.Subscription, d lifecycle.Debit, day pgtype.Date,
	order gateway.PixOrder,
) error {
	return s.deps.Debits.WithDebit(ctx, sub, func(tx pgx.Tx) error {
		to, err := state.Retries.Move(state.RetryPlanned, state.RetryTaken)
		if err != nil {
			return err
		}
		return s.db.DebitRetrySetOrdered(ctx, tx, subscriptionsdb.DebitRetrySetOrderedParams{
			SubscriptionID: sub.ID, Cycle: d.Cycle, RetryDate: day, FromState: state.RetryPlanned, State: to,
			OrderID: &order.ID, Now: s.deps.Clock.Now(),
			Action: string(state.RetryTaken), Why: new(state.Retries.ReasonOf(state.RetryTaken)),
		})
	})
}

// afterRetry ends one retry and goes on with the next.
func (s *Retries) afterRetry(ctx context.Context, sub lifecycle.Subscription, d lifecycle.Debit, day pgtype.Date,
	by state.RetryAction, reason string,
) error {
	if err := s.deps.Debits.EndRetry(ctx, sub, d, day, by, reason); err != nil {
		return err
	}
	return s.requestRetry(ctx, sub.ID, d.Cycle)
}

// heardOfDebit applies what the gateway says of a debit, as its event would have been.
func (s *Retries) heardOfDebit(ctx context.Context, sub lifecycle.Subscription, d lifecycle.Debit) error {
	e, waiting, err := s.debitAsEvent(ctx, sub, d)
	if err != nil || waiting {
		return err
	}
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		_, err := s.deps.Applier.ApplyEventTx(ctx, tx, e)
		return err
	})
}

// RetryDue orders the retries whose own jobs are silent.
func (s *Retries) RetryDue(ctx context.Context, now time.Time) error {
	due, err := s.db.DebitRetryListDue(ctx, s.deps.Pool, lifecycle.DateAfter(s.deps.Calendar.DateOf(now), 1),
		new(now.Add(-lifecycle.DebitSilence)))
	failed := err
	for _, r := range due {
		failed = errors.Join(failed, s.RetryDebit(ctx, r.SubscriptionID, r.Cycle))
	}
	return failed
}
