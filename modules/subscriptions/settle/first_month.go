package settle

import (
	"context"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
)

// NoAddress is told where no payer is on the line: the recovery has none.
const NoAddress = "127.0.0.1"

// settleFirstMonthTx writes what a look found: the first month is paid, with a recurrence
// behind it or not, or it is open whether there is one.
func (s *Settler) settleFirstMonthTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, source state.Source, m FirstMonth, open bool) error {
	paid := m.Charge.Payment.Status == gateway.PaymentSettled
	if open && !paid {
		return nil
	}
	recurs := m.Recurrence != nil || open
	if paid {
		err := s.SettlePaymentTx(ctx, tx, sub, Payment{Payment: m.Charge.Payment, Source: source, Recurs: recurs, First: recurs})
		if err != nil {
			return err
		}
	}
	if recurs {
		return nil
	}
	return s.endAfterFirstMonthTx(ctx, tx, sub)
}

// AccessBegun reports whether the subscription runs, or is only held up.
func AccessBegun(sub lifecycle.Row) bool {
	return sub.Status == state.Active || sub.Status == state.Suspended
}

// endAfterFirstMonthTx: without a recurrence the month that was paid is the last, or
// nothing would end it.
func (s *Settler) endAfterFirstMonthTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row) error {
	if !AccessBegun(*sub) || sub.ExpiresAt != nil {
		return nil
	}
	began := s.clock.Now()
	if sub.StartedAt != nil {
		began = *sub.StartedAt
	}
	return s.store.EditTx(ctx, tx, sub, state.FirstMonthAlone, func(r *lifecycle.Row) { r.ExpiresAt, r.NextBillingDate = s.calendar.PeriodFrom(began, r), nil })
}
