package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/state"
	"marquee/platform/postgres"
)

// PaidUntil is the one answer to until when an active subscription is paid, or free; nil
// when no paid time lies ahead. A card whose last charge failed has none: the failed
// charge is that of the present period. The debit of an automatic PIX may fail before its
// period begins (debitedUntil). An error is the database's.
func (s *Reads) PaidUntil(ctx context.Context, db postgres.DB, sub Subscription) (*time.Time, error) {
	end := sub.ExpiresAt
	switch {
	case end != nil:
	case sub.PixAutomatic:
		var err error
		if end, err = s.debitedUntil(ctx, db, sub); err != nil {
			return nil, err
		}
	case sub.PaymentFailures == 0:
		end = sub.NextBillingDate
		if sub.Traits().ChargesByDay && sub.PaymentMethod == gateway.MethodCard && end != nil {
			due, err := s.FirstUnpaid(ctx, db, sub)
			if err != nil {
				return nil, err
			}
			end = new(earlierOf(due, *end))
		}
	}
	if sub.Status != state.Active || end == nil || !end.After(s.deps.Clock.Now()) {
		return nil, nil //nolint:nilnil // nil is the answer: nothing is paid
	}
	return end, nil
}

// FirstUnpaid is the due date after that of the newest payment of a card at gateway
// A, or the one to which an extension has moved it. Its next_billing_date is no measure: the gateway makes charges up
// to 40 days ahead, and tells the date after the one that it has made. An error is the database's.
func (s *Reads) FirstUnpaid(ctx context.Context, db postgres.DB, sub Subscription) (time.Time, error) {
	due, err := s.afterLastPayment(ctx, db, sub)
	if err != nil {
		return due, err
	}
	extended, err := s.db.ChargeMoveGetLast(ctx, db, sub.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return due, nil
	}
	return LatestOf(due, &extended.ToAt), err
}

// GivenUp says what time a customer throws away who cancels at once, and whether they had
// paid for it; "" for none. The days are those from today to the date that it names,
// whatever the time of day.
func (s *Reads) GivenUp(sub Subscription, end *time.Time, wasPaid bool) string {
	now := s.deps.Clock.Now()
	if end == nil || !end.After(now) {
		return ""
	}
	kind := "paid"
	if !wasPaid {
		kind = "free"
		if sub.TrialDays > 0 || sub.StartsAt != nil { // a trial that was renewed has gone on
			kind = "trial"
		}
	}
	days := max(1, daysBetween(now.In(s.deps.Config.Zone), end.In(s.deps.Config.Zone)))
	if days == 1 {
		return fmt.Sprintf(" One %s day, until %s, was given up.", kind, s.calendar.Day(*end))
	}
	return fmt.Sprintf(" %d %s days, until %s, were given up.", days, kind, s.calendar.Day(*end))
}

// debitedUntil is until when an automatic PIX is paid. Its next_billing_date is no measure:
// it is the debit that is ordered next, also after one that failed, as it may days before
// its period begins. Then what is paid ends where that period begins. Nil while it is not
// known what has failed. An error is the database's.
func (s *Reads) debitedUntil(ctx context.Context, db postgres.DB, sub Subscription) (*time.Time, error) {
	all, err := s.db.DebitListUnpaid(ctx, db, sub.ID)
	if err != nil {
		return nil, fmt.Errorf("read unpaid debits: %w", err)
	}
	unpaid := s.calendar.firstUnpaidOf(sub, all)
	switch {
	case len(all) == 0 && sub.PaymentFailures > 0:
		return nil, nil //nolint:nilnil // nil is the answer: nothing is paid
	case unpaid == nil:
		return sub.NextBillingDate, nil
	}
	paid, err := s.deps.Payments.PaymentsOf(ctx, db, gateway.ForSubscription, sub.ID)
	if err != nil {
		return nil, fmt.Errorf("read payments: %w", err)
	}
	end := s.calendar.DayOf(unpaid.Cycle).UTC()
	if len(paid) > 0 { // the first period ends at the time of day of its payment
		begun := s.calendar.MonthsOn(*paid[0].Payment.SettledAt, int(sub.PeriodMonths), sub)
		if s.calendar.DateOf(begun) == unpaid.Cycle {
			end = LatestOf(end, &begun)
		}
	}
	return &end, nil
}

// afterLastPayment is where the period ends that the last payment has paid. An error is the database's.
func (s *Reads) afterLastPayment(ctx context.Context, db postgres.DB, sub Subscription) (time.Time, error) {
	first := s.calendar.FirstDue(sub).UTC()
	paid, err := s.deps.Payments.PaymentsOf(ctx, db, gateway.ForSubscription, sub.ID)
	if err != nil {
		return time.Time{}, fmt.Errorf("read payments: %w", err)
	}
	if len(paid) == 0 {
		return first, nil
	}
	last := StartOfDay(*paid[0].Payment.SettledAt, s.deps.Config.Zone)
	if first.After(last) {
		return first, nil
	}
	return s.calendar.MonthsOn(s.calendar.CycleStart(last, sub), 1, sub), nil
}
