package webhooks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/debits"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/nullable"
)

// applyFailureTx: invoice.payment_failed; PAYMENT_OVERDUE, a card or a debit that was
// refused. A PIX code that nobody paid is no attempt, and stands in no ledger
// (docs/contract/figures.md, Attempts). The first invoice's failure is told by
// the answer to the customer and is none of a row of failures; neither is that of an
// invoice that has been paid since.
func (s *Applier) applyFailureTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, e gateway.Event,
	f gateway.FailedPayment,
) (gateway.Reason, error) {
	if _, err := s.locator.adoptTx(ctx, tx, sub, e); err != nil {
		return "", err
	}
	status := sub.Status
	if sub.PaymentMethod == gateway.MethodPix && (!sub.PixAutomatic || status == state.Pending) {
		return gateway.ReasonCodeUnpaid, nil
	}
	first, err := s.deps.Payments.RecordFailureTx(ctx, tx, payments.Failure{
		Gateway: e.Gateway, Purpose: gateway.ForSubscription, LocalID: sub.ID,
		PaymentID: f.Payment.ID, Attempt: f.Attempt, Amount: f.Payment.Amount, FailedAt: e.CreatedAt,
	})
	if err != nil {
		return "", err
	}
	switch {
	case status.Ended():
		return gateway.ReasonEnded, nil
	case status == state.Pending && sub.ChargesFirstMonth() && e.SubscriptionID == "":
		// The gateway took the card and refused it after a look at the risk: no
		// recurrence follows, and the code that lowered the month is free again.
		_, err := s.deps.Store.MoveTx(ctx, tx, sub,
			lifecycle.Change{Action: state.PaymentDeclined, Source: state.ByWebhook, Event: &e.ID})
		return "", err
	case sub.Stopped():
		return gateway.ReasonRecurrenceStopped, nil
	case sub.IsPendingRenewal() && !e.Gateway.Traits().PayerConfirms:
		_, err := s.deps.Store.MoveTx(ctx, tx, sub,
			lifecycle.Change{Action: state.PaymentDeclined, Source: state.ByWebhook, Event: &e.ID})
		return "", errors.Join(err, s.deps.Store.EndAtGatewayTx(ctx, tx, *sub))
	case f.First || status == state.Pending:
		return gateway.ReasonFirstFailed, nil
	case e.Known != nil, f.Payment.InvoiceID != "" && nullable.Value(sub.LastPaidInvoiceID) == f.Payment.InvoiceID:
		return gateway.ReasonPaidSince, nil
	case !first:
		// Counted already, by another event about the same attempt, which may have come before the debit was known.
		if err := s.recordFailureTx(ctx, tx, *sub, f); err != nil {
			return "", err
		}
		if _, err := s.skipCycleTx(ctx, tx, sub, f.Payment.ID); err != nil {
			return "", err
		}
		return "", s.suspendLateTx(ctx, tx, sub, e, f.Payment.ID)
	}
	at := e.CreatedAt
	if e.Gateway.Traits().ChargesByDay && f.Payment.DueDate != nil {
		at = *f.Payment.DueDate
	}
	if sub.Recurs() {
		moved, err := s.db.ChargeMoveCovers(ctx, tx, sub.ID, at)
		if err != nil || moved {
			return gateway.ReasonExtended, err
		}
	}
	if err := s.recordFailureTx(ctx, tx, *sub, f); err != nil {
		return "", err
	}
	return "", s.failTx(ctx, tx, sub, e, &f.Payment)
}

// suspendLateTx suspends, once its period has begun, for a debit that the payer took
// back before it, and that reached the limit: until then access was paid.
func (s *Applier) suspendLateTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, e gateway.Event,
	paymentID string,
) error {
	d, found, err := s.deps.Reads.DebitOfTx(ctx, tx, *sub, paymentID)
	if err != nil || !found || d.FailedAt == nil || d.PaidAt != nil {
		return err
	}
	begins := s.deps.Calendar.DayOf(d.Cycle)
	early := d.FailedAt.Before(begins) && !s.deps.Clock.Now().Before(begins)
	if !early || sub.Status != state.Active || int(sub.PaymentFailures) < s.deps.Config.MaxPaymentFailures {
		return nil
	}
	_, err = s.deps.Store.MoveTx(ctx, tx, sub,
		lifecycle.Change{Action: state.PaymentFailsTooOften, Source: settle.SourceOf(e), Event: settle.EventOf(e)})
	return err
}

// failTx counts a failed payment, which may not be known; the one that reaches the limit suspends.
func (s *Applier) failTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, e gateway.Event,
	failed *gateway.Payment,
) error {
	paymentID := ""
	if failed != nil {
		paymentID = failed.ID
	}
	next, err := s.cycleAfterTx(ctx, tx, *sub, paymentID)
	if err != nil {
		return err
	}
	d, debited, err := s.deps.Reads.DebitOfTx(ctx, tx, *sub, paymentID)
	if err != nil {
		return err
	}
	action, ahead := state.PaymentFails, debited && s.deps.Clock.Now().Before(s.deps.Calendar.DayOf(d.Cycle))
	if int(sub.PaymentFailures)+1 >= s.deps.Config.MaxPaymentFailures && !ahead {
		action = state.PaymentFailsTooOften
	}
	_, err = s.deps.Store.MoveTx(ctx, tx, sub,
		lifecycle.Change{
			Action: action, Source: settle.SourceOf(e), Event: settle.EventOf(e),
			Edit: func(r *lifecycle.Subscription) {
				r.PaymentFailures++
				if next != nil {
					r.NextBillingDate = next
				}
			},
		})
	if err != nil {
		return err
	}
	return s.deps.Dunning.DunTx(ctx, tx, *sub, failed)
}

// recordFailureTx keeps with a debit that it failed and why, and plans the days on which
// it is taken again. Each further word about it, also about a retry, comes by here.
// What is no debit, or none that is known yet, is left alone.
func (s *Applier) recordFailureTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription,
	f gateway.FailedPayment,
) error {
	d, found, err := s.deps.Reads.DebitOfTx(ctx, tx, sub, f.Payment.ID)
	if err != nil || !found || d.PaidAt != nil {
		return err
	}
	reason := f.Reason
	if reason == "" {
		if d.FailedAt != nil {
			return nil // PAYMENT_OVERDUE of what is known to have failed
		}
		reason = debits.FailedUnpaid
	}
	first := d.FailedAt == nil
	retryable := !f.Final && (first || d.Retryable)
	if err := s.deps.Debits.FailTx(ctx, tx, d, reason, retryable); err != nil {
		return fmt.Errorf("note failed debit: %w", err)
	}
	switch {
	case !retryable:
		if err := s.deps.Debits.EndRetriesTx(ctx, tx, d, pgtype.Date{}, state.RetryFailsForGood,
			reason); err != nil || first || !d.Retryable {
			return err
		}
		return s.deps.Dunning.DunAgainTx(ctx, tx, sub, d, &f.Payment)
	case first:
		err = s.deps.Debits.PlanRetriesTx(ctx, tx, sub, d)
	case f.Payment.DueDate != nil:
		err = s.deps.Debits.EndRetriesTx(ctx, tx, d, s.deps.Calendar.DateOf(*f.Payment.DueDate), state.RetryFails,
			reason)
	}
	if err != nil {
		return err
	}
	return s.deps.Debits.ScheduleRetryTx(ctx, tx, d)
}

// applyLossTx: payment_intent.payment_failed and .canceled of a PIX. Only the row
// that waits for this very payment is given up.
func (s *Applier) applyLossTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, e gateway.Event,
	p gateway.Payment,
) (gateway.Reason, error) {
	switch {
	case sub.Status.Ended():
		return gateway.ReasonEnded, nil
	case sub.Status != state.Pending || sub.PaymentMethod != gateway.MethodPix:
		return gateway.ReasonNotAwaited, nil
	case sub.PixPaymentID != nil && *sub.PixPaymentID != p.ID:
		return gateway.ReasonOtherAwaited, nil
	}
	_, err := s.deps.Store.MoveTx(ctx, tx, sub, lifecycle.Change{
		Action: state.PixRunsOut, Source: state.ByWebhook, Event: &e.ID,
		Edit: func(r *lifecycle.Subscription) { lifecycle.SetOnce(&r.PixPaymentID, p.ID) },
	})
	if err != nil {
		return "", err
	}
	return "", s.deps.Store.EndAtGatewayTx(ctx, tx, *sub)
}

// applyDeletedTx: PAYMENT_DELETED, as a rule the echo of our own deleting. A debit of
// automatic PIX that somebody deleted at the gateway is asked for no more, and the
// next cycle follows: or the debits would stop there, and access would not.
func (s *Applier) applyDeletedTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, e gateway.Event,
	p gateway.Payment,
) (gateway.Reason, error) {
	if sub.Status.Ended() || e.Known != nil || sub.Stopped() {
		return gateway.ReasonNoConsequence, nil
	}
	if paused, err := s.deps.Reads.IsPausedTx(ctx, tx, sub.ID); err != nil || paused {
		return gateway.ReasonPaused, err
	}
	if err := s.deps.Debits.DropDebitTx(ctx, tx, *sub, p.ID); err != nil {
		return "", err
	}
	moved, err := s.skipCycleTx(ctx, tx, sub, p.ID)
	if err != nil || moved {
		return "", err
	}
	return gateway.ReasonNoConsequence, nil
}

// cycleAfterTx is the beginning of the cycle after the one whose debit failed or is
// gone; nil when the payment is no debit. Without it the debits would stop at the first
// that nobody paid.
func (s *Applier) cycleAfterTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription,
	paymentID string,
) (*time.Time, error) {
	if !sub.PixAutomatic || paymentID == "" {
		return nil, nil //nolint:nilnil // nil is the answer: no debit
	}
	cycle, err := s.deps.Reads.CycleOfTx(ctx, tx, sub, paymentID)
	if err != nil || cycle == nil {
		return nil, err
	}
	next := lifecycle.LatestOf(s.deps.Calendar.MonthsOn(*cycle, int(sub.PeriodMonths), sub), sub.NextBillingDate)
	return &next, nil
}

// skipCycleTx has the debits go on with the cycle after the one of the payment's
// debit, which nobody will pay. Moved is false when they have gone on already, and
// when the payment is no debit.
func (s *Applier) skipCycleTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription,
	paymentID string,
) (moved bool, err error) {
	next, err := s.cycleAfterTx(ctx, tx, *sub, paymentID)
	if err != nil || next == nil || sub.NextBillingDate != nil && !next.After(*sub.NextBillingDate) {
		return false, err
	}
	return true, s.deps.Store.EditTx(ctx, tx, sub, state.CycleSkipped,
		func(r *lifecycle.Subscription) { r.NextBillingDate = next })
}
