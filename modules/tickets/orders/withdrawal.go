package orders

import (
	"time"

	"marquee/modules/tickets/events"
	"marquee/modules/tickets/state"
	"marquee/platform/postgres"
)

// WithdrawalUntil is until when a paid order may be given back, and by which right: of a
// distance purchase until the end of the day, in REPORT_TZ, that lies WithdrawalDays after
// that of its payment, and WithdrawalBefore the event at the latest; whatever these limits,
// until refund_until of an event that was moved or called off; a free order until its event
// begins. Nil where there is no such right.
func (s *Store) WithdrawalUntil(e events.Event, o Order) (*time.Time, state.GivenBack) {
	now := s.clock.Now()
	switch {
	case e.CancelledAt != nil && postgres.Text(e.CancelRefund) == events.RefundAll:
		return new(now.Add(time.Hour)), state.EventCancelled // without an end
	case e.CancelledAt != nil:
		return e.RefundUntil, state.EventCancelled
	case o.TotalCents == 0:
		return &e.EventDate, state.Withdrawn
	}
	var until *time.Time
	if s.cfg.WithdrawalDays > 0 && o.PaidAt != nil {
		day := o.PaidAt.In(s.cfg.Zone)
		end := time.Date(day.Year(), day.Month(), day.Day()+s.cfg.WithdrawalDays+1, 0, 0, 0, 0, s.cfg.Zone)
		if before := e.EventDate.Add(-s.cfg.WithdrawalBefore); before.Before(end) {
			end = before
		}
		until = &end
	}
	if e.RefundUntil != nil && (until == nil || e.RefundUntil.After(*until)) {
		return e.RefundUntil, state.EventMoved
	}
	return until, state.Withdrawn
}
