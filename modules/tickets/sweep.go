package tickets

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"marquee/modules/tickets/state"
	"marquee/platform/objectid"
)

// sweepArgs is the periodic job that follows up what is due: places
// held too long, refunds that are due, tickets of ended events.
type sweepArgs struct{}

// Kind names the job.
func (sweepArgs) Kind() string { return "tickets_sweep" }

const (
	// sweepWidth is how many gateway calls a sweep makes at once.
	sweepWidth = 8
	// keepDeclines is how long declines are kept beyond the window in which they count.
	keepDeclines = 24 * time.Hour
	// keepWalkIns is how long after its event the box office knows who bought.
	keepWalkIns = 30 * 24 * time.Hour
)

// Sweep does what is due.
func (s *Service) Sweep(ctx context.Context) error {
	now := s.deps.Clock.Now()
	var failed error
	each := func(ids []objectid.ID, err error, step func(context.Context, objectid.ID) error) {
		failed = errors.Join(failed, err, s.each(ctx, ids, step))
	}
	overdue, err := s.db.OrderListReservedTooLong(ctx, s.deps.Pool, &now)
	each(overdue, err, s.ReleaseUnpaid)
	refunds, err := s.db.OrderListRefundsDue(ctx, s.deps.Pool)
	each(refunds, err, s.refunds.QueueDue)
	_, err = s.db.DeclineDeleteOld(ctx, s.deps.Pool, now.Add(-s.deps.Config.DeclineWindow-keepDeclines))
	_, forgot := s.db.OrderForgetHolders(ctx, s.deps.Pool, now)
	forgot = errors.Join(forgot, s.db.OrderForgetWalkIns(ctx, s.deps.Pool, now.Add(-keepWalkIns)))
	return errors.Join(failed, err, forgot, s.events.ExpireEnded(ctx), s.refunds.QueueGiveBacks(ctx))
}

// ReleaseUnpaid is the sweep's step for one order whose time to pay is over: its places are free.
func (s *Service) ReleaseUnpaid(ctx context.Context, id objectid.ID) error {
	return s.reconcile.ReleaseUnpaid(ctx, id, state.HoldRunsOut)
}

// each runs a step for all ids, some at a time. One that fails is tried again by
// the next sweep and keeps no other waiting.
func (s *Service) each(ctx context.Context, ids []objectid.ID, step func(context.Context, objectid.ID) error) error {
	var group errgroup.Group
	group.SetLimit(sweepWidth)
	failures := make([]error, len(ids))
	for i, id := range ids {
		group.Go(func() error {
			failures[i] = step(ctx, id)
			return nil
		})
	}
	_ = group.Wait() // never fails
	return errors.Join(failures...)
}
