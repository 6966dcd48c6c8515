package lifecycle

import (
	"context"
	"fmt"
	"time"

	"marquee/modules/payments/gateway"
	"marquee/platform/postgres"
)

// debitedUntil is until when an automatic PIX is paid. Its next_billing_date is no measure:
// it is the debit that is ordered next, also after one that failed, as it may days before
// its period begins. Then what is paid ends where that period begins. Nil while it is not
// known what has failed.
func (s *Reads) debitedUntil(ctx context.Context, db postgres.DB, sub Row) (*time.Time, error) {
	all, err := s.db.ListUnpaidDebits(ctx, db, sub.ID)
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
	paid, err := s.payments.PaymentsOf(ctx, db, gateway.ForSubscription, sub.ID)
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

// afterLastPayment is where the period ends that the last payment has paid.
func (s *Reads) afterLastPayment(ctx context.Context, db postgres.DB, sub Row) (time.Time, error) {
	first := s.calendar.FirstDue(sub).UTC()
	paid, err := s.payments.PaymentsOf(ctx, db, gateway.ForSubscription, sub.ID)
	if err != nil {
		return time.Time{}, fmt.Errorf("read payments: %w", err)
	}
	if len(paid) == 0 {
		return first, nil
	}
	last := StartOfDay(*paid[0].Payment.SettledAt, s.cfg.Zone)
	if first.After(last) {
		return first, nil
	}
	return s.calendar.MonthsOn(s.calendar.CycleStart(last, sub), 1, sub), nil
}
