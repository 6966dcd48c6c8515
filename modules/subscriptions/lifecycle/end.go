package lifecycle

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

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
		r.CancelAtPeriodEnd = !TraitsOf(*r).EndsWithPeriod && !PaysOnce(*r)
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

// EndAtGatewayTx has a job end at the gateway what is known there.
func (s *Store) EndAtGatewayTx(ctx context.Context, tx pgx.Tx, sub Row) error {
	if !KnownAtGateway(sub) {
		return nil
	}
	return s.EndTx(ctx, tx, EndArgs{SubscriptionID: sub.ID})
}

// EndTx inserts the job that ends a subscription at its gateway.
func (s *Store) EndTx(ctx context.Context, tx pgx.Tx, a EndArgs) error {
	if _, err := s.jobs.InsertTx(ctx, tx, a, &river.InsertOpts{Queue: jobs.QueueGateway}); err != nil {
		return fmt.Errorf("queue the end at the gateway: %w", err)
	}
	return nil
}
