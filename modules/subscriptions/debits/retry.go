package debits

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Why a debit failed, where the bank has not said it.
const (
	FailedUnpaid = "PAYMENT_OVERDUE" // nobody told why
	FailedGone   = "PAYMENT_DELETED" // at the gateway, and asked for no more
)

// PlanRetriesTx writes down each configured day after the due date; those that the
// gateway would not take any more are dropped at once, so that each day is accounted for.
func (s *Debits) PlanRetriesTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, d lifecycle.Debit) error {
	now := s.deps.Clock.Now()
	next := s.deps.Calendar.DateOf(s.deps.Calendar.MonthsOn(s.deps.Calendar.DayOf(d.Cycle), int(sub.PeriodMonths), sub))
	for _, after := range s.deps.Config.PixRetryDays {
		p := subscriptionsdb.DebitRetryInsertParams{
			SubscriptionID: sub.ID, Cycle: d.Cycle, RetryDate: lifecycle.DateAfter(d.DueDate, after), Now: now,
		}
		by := state.RetryAfterFailure
		switch {
		case !p.RetryDate.Time.Before(next.Time):
			by = state.RetryPastCycle
		case !s.InTime(p.RetryDate):
			by = state.RetryTooLate
		}
		var err error
		if p.State, err = state.Retries.Move("", by); err != nil {
			return err
		}
		p.Action, p.Why = string(by), new(state.Retries.ReasonOf(by))
		if p.State != state.RetryPlanned {
			p.Reason, p.EndedAt = p.Why, &now
		}
		if err := s.db.DebitRetryInsert(ctx, tx, p); err != nil {
			return fmt.Errorf("plan retry: %w", err)
		}
	}
	return nil
}

// InTime reports whether a retry for the day can still be ordered: the day before.
func (s *Debits) InTime(day pgtype.Date) bool {
	return day.Time.After(s.deps.Calendar.DateOf(s.deps.Clock.Now()).Time)
}

// EndRetriesTx ends what of a cycle's retries the action finds; only that of a day, unless
// it is the zero date. Why it ended is the action's reason, else what was told.
func (s *Debits) EndRetriesTx(ctx context.Context, tx pgx.Tx, d lifecycle.Debit, day pgtype.Date, by state.RetryAction,
	reason string,
) error {
	from, to := state.Retries.Of(by)
	err := s.db.DebitRetryEnd(ctx, tx, subscriptionsdb.DebitRetryEndParams{
		SubscriptionID: d.SubscriptionID, Cycle: d.Cycle, RetryDate: day, FromStates: from, ToStates: to,
		Reason: new(cmp.Or(state.Retries.ReasonOf(by), reason)), Now: s.deps.Clock.Now(), Action: string(by),
	})
	if err != nil {
		return fmt.Errorf("end retries: %w", err)
	}
	return nil
}

// PayDebitTx notes with a debit that its money came, be it by the bank, by a retry or
// by its PIX code. Older is true when a later cycle failed and is not paid: then the
// money is booked, and says nothing of that cycle.
func (s *Debits) PayDebitTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription,
	p gateway.Payment,
) (cycle *time.Time, older bool, err error) {
	d, found, err := s.deps.Reads.DebitOfTx(ctx, tx, sub, p.ID)
	if err != nil || !found {
		return nil, false, err
	}
	now := s.deps.Clock.Now()
	if err := s.db.DebitSetPaid(ctx, tx, subscriptionsdb.DebitSetPaidParams{
		SubscriptionID: sub.ID, Cycle: d.Cycle, Now: &now,
	}); err != nil {
		return nil, false, fmt.Errorf("note paid debit: %w", err)
	}
	if err := s.EndRetriesTx(ctx, tx, d, pgtype.Date{}, state.RetryDebitPaid, ""); err != nil {
		return nil, false, err
	}
	older, err = s.db.DebitHasLaterFailed(ctx, tx,
		subscriptionsdb.DebitHasLaterFailedParams{SubscriptionID: sub.ID, Cycle: d.Cycle, PassedOver: new(FailedGone)})
	if err != nil {
		return nil, false, fmt.Errorf("read later debits: %w", err)
	}
	return new(s.deps.Calendar.DayOf(d.Cycle)), older, nil
}

// FailTx notes with a debit that its money did not come, and why. Retryable: the bank may be asked again. One that was
// ordered since it was read is left alone: who read it as not made has stood still meanwhile.
func (s *Debits) FailTx(ctx context.Context, tx pgx.Tx, d lifecycle.Debit, why string, retryable bool) error {
	return s.db.DebitSetFailed(ctx, tx, subscriptionsdb.DebitSetFailedParams{
		SubscriptionID: d.SubscriptionID, Cycle: d.Cycle, Now: new(s.deps.Clock.Now()), Failure: &why,
		Retryable: retryable, GatewayPaymentID: d.GatewayPaymentID,
	})
}

// DropDebitTx notes that a debit was deleted at the gateway.
func (s *Debits) DropDebitTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, paymentID string) error {
	d, found, err := s.deps.Reads.DebitOfTx(ctx, tx, sub, paymentID)
	if err != nil || !found || d.PaidAt != nil {
		return err
	}
	if err := s.FailTx(ctx, tx, d, FailedGone, false); err != nil {
		return fmt.Errorf("note deleted debit: %w", err)
	}
	return s.EndRetriesTx(ctx, tx, d, pgtype.Date{}, state.RetryDebitDeleted, FailedGone)
}

// DebitRetryArgs orders the next retry of a debit.
type DebitRetryArgs struct {
	SubscriptionID objectid.ID `json:"subscription_id"`
	Cycle          string      `json:"cycle"` // such as 2026-12-10
	At             time.Time   `json:"at"`
}

// Kind names the job.
func (DebitRetryArgs) Kind() string { return "subscriptions_debit_retry" }

// ScheduleRetryTx has the next planned retry ordered, from the day before on.
func (s *Debits) ScheduleRetryTx(ctx context.Context, tx pgx.Tx, d lifecycle.Debit) error {
	next, _, err := s.RetriesOf(ctx, tx, d)
	if err != nil || next == nil {
		return err
	}
	at := lifecycle.LatestOf(s.deps.Calendar.DayOf(lifecycle.DateAfter(next.RetryDate, -1)), new(s.deps.Clock.Now())).
		UTC()
	args := DebitRetryArgs{SubscriptionID: d.SubscriptionID, Cycle: d.Cycle.Time.Format(time.DateOnly), At: at}
	return s.deps.Store.InsertAtTx(ctx, tx, at, args)
}

// RetriesOf are the next planned retry of a debit, and the one that is with the bank.
func (s *Debits) RetriesOf(ctx context.Context, db postgres.DB,
	d lifecycle.Debit,
) (next, open *subscriptionsdb.DebitRetry, err error) {
	all, err := s.db.DebitRetryList(ctx, db, d.SubscriptionID, d.Cycle)
	if err != nil {
		return nil, nil, fmt.Errorf("list retries: %w", err)
	}
	for i := range all {
		switch {
		case all[i].State == state.RetryOrdered:
			open = &all[i]
		case all[i].State == state.RetryPlanned && next == nil:
			next = &all[i]
		}
	}
	return next, open, nil
}

// EndRetry ends one retry and has the next one ordered.
func (s *Debits) EndRetry(ctx context.Context, sub lifecycle.Subscription, d lifecycle.Debit, day pgtype.Date,
	by state.RetryAction, reason string,
) error {
	return s.WithDebit(ctx, sub, func(tx pgx.Tx) error {
		if err := s.EndRetriesTx(ctx, tx, d, day, by, reason); err != nil {
			return err
		}
		return s.ScheduleRetryTx(ctx, tx, d)
	})
}

// DropRetries drops all retries of a debit that are still to come.
func (s *Debits) DropRetries(ctx context.Context, sub lifecycle.Subscription, d lifecycle.Debit, by state.RetryAction,
	reason string,
) error {
	return s.WithDebit(ctx, sub, func(tx pgx.Tx) error { return s.EndRetriesTx(ctx, tx, d, pgtype.Date{}, by, reason) })
}

// WithDebit runs f with the subscription locked, as everybody does who writes its debits.
func (s *Debits) WithDebit(ctx context.Context, sub lifecycle.Subscription, f func(tx pgx.Tx) error) error {
	err := s.deps.Store.Locked(context.WithoutCancel(ctx), sub,
		func(tx pgx.Tx, _ lifecycle.Subscription) error { return f(tx) })
	if err != nil {
		return fmt.Errorf("note retry of %s: %w", sub.ID, err)
	}
	return nil
}

// HowToPayDebit says how a failed debit is paid after all: the bank is asked again, or
// the payer pays the code of the same payment, which pays its period, and the
// authorization stays. No code is shown while the bank may still take the money.
func (s *Debits) HowToPayDebit(ctx context.Context, sub lifecycle.Subscription,
	paymentID string,
) (again bool, code gateway.PixCharge, paid bool, err error) {
	if !sub.PixAutomatic {
		return false, code, false, nil
	}
	d, err := s.db.DebitGetByPayment(ctx, s.deps.Pool, &paymentID)
	if errors.Is(err, pgx.ErrNoRows) {
		return true, code, false, nil
	}
	if err != nil {
		return false, code, false, fmt.Errorf("read debit: %w", err)
	}
	next, open, err := s.RetriesOf(ctx, s.deps.Pool, d)
	if err != nil || next != nil || open != nil {
		return true, code, false, err
	}
	gw, err := s.deps.Payments.Gateway(sub.Gateway)
	if err != nil {
		return false, code, false, err
	}
	charge, err := gw.ReadPix(ctx, paymentID, sub.ID)
	switch {
	case errors.Is(err, gateway.ErrMissing):
		return false, code, false, nil
	case err != nil:
		return false, code, false, fmt.Errorf("read code of debit: %w", err)
	case charge.Payment.Status == gateway.PaymentStatusSettled:
		return false, code, true, nil // its event is under way
	case charge.Expired:
		return false, code, false, nil
	}
	return false, charge, false, nil
}
