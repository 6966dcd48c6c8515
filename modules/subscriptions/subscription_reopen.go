package subscriptions

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments"
	"marquee/platform/jobs"
)

// Reopen has a subscription that is opened again for one period keep the end of its
// recurrence at the gateway: it was to end with the subscription. Where the gateway has
// not confirmed that, it is pursued on, whatever becomes of the row. What is not known
// there yet ends with the period as soon as it is.
func (s *Store) Reopen(r *Row, ended Row) {
	r.GatewayEndOpenSince = nil
	switch {
	case !Collects(*r):
		r.CancelAtPeriodEnd = r.Gateway == string(payments.GWA) && !PaysOnce(*r)
	case ended.GatewayEndedAt != nil:
		r.GatewayDeletedAt = ended.GatewayEndedAt
	case ended.GatewayDeletedAt == nil:
		r.GatewayEndOpenSince = new(s.clock.Now())
	}
}

// StopTx queues what StopRecurrence does.
func (s *Store) StopTx(ctx context.Context, tx pgx.Tx, sub Row, at time.Time) error {
	if !Stops(sub) {
		return nil
	}
	_, err := s.jobs.InsertTx(ctx, tx, StopArgs{SubscriptionID: sub.ID}, &river.InsertOpts{Queue: jobs.QueueGateway, ScheduledAt: at})
	if err != nil {
		return fmt.Errorf("queue the end of a recurrence: %w", err)
	}
	return nil
}

// EndsThere reports whether what charged a living subscription has ended at the gateway,
// or was opened again while its end was not confirmed: nothing that it charges, or fails
// to charge, is owed.
func EndsThere(sub Row) bool {
	return !Status(sub.Status).Ended() && (sub.GatewayEndOpenSince != nil || sub.GatewayDeletedAt != nil && sub.ExpiresAt != nil)
}

// Outlives reports whether the subscription goes on to the end of its paid time when what
// charged it ends at the gateway: at gateway A any that has such an end, at gateway B one
// whose recurrence is ended on our order.
func (s *Calendar) Outlives(sub Row) bool {
	ahead := sub.ExpiresAt != nil && sub.ExpiresAt.After(s.clock.Now())
	return ahead && (sub.Gateway == string(payments.GWA) || EndsThere(sub))
}

// EndedThere notes that the gateway has confirmed the end.
func (s *Calendar) EndedThere(r *Row) {
	r.GatewayDeletedAt, r.GatewayEndOpenSince = new(s.clock.Now()), nil
}
