package refunds

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"golang.org/x/sync/errgroup"

	"marquee/modules/payments/gateway"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/platform/faultpoint"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// GiveBackArgs gives back the money of orders that are given back as a whole, until none is due.
type GiveBackArgs struct{}

// Kind names the job.
func (GiveBackArgs) Kind() string { return "tickets_give_back" }

const (
	// giveBackFor is how long one job goes on before it leaves its worker to others.
	giveBackFor = time.Minute
	// giveBackWidth is how many refunds are under way at once.
	giveBackWidth = 8
	// giveBackPause is how soon is looked whether refunds are still held after a restore.
	giveBackPause = time.Minute
)

// giveBackLaterTx has the job run, of which there is one at a time: the limit of refunds a
// second holds for all events together.
func (s *Refunds) giveBackLaterTx(ctx context.Context, tx pgx.Tx) error {
	return jobs.InsertTx(ctx, s.deps.Jobs, tx, GiveBackArgs{},
		&river.InsertOpts{Queue: jobs.QueueGateway, UniqueOpts: river.UniqueOpts{ByState: jobs.WaitingStates}})
}

// QueueGiveBacks sees to it that the job is there while an order is due.
func (s *Refunds) QueueGiveBacks(ctx context.Context) error {
	due, err := s.db.GiveBackListDue(ctx, s.deps.Pool,
		ticketsdb.GiveBackListDueParams{Now: new(s.deps.Clock.Now()), Most: 1})
	if err != nil || len(due) == 0 {
		return err
	}
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error { return s.giveBackLaterTx(ctx, tx) })
}

// GiveBackDue refunds the orders that are due, RefundsPerSecond of them begun a second: gateways
// limit how often they may be called, and the sale of other events goes on. An order whose
// refund was asked for is due no more, so that another process goes on where one died.
func (s *Refunds) GiveBackDue(ctx context.Context) error {
	if stopped, err := s.deps.Payments.Comparison().RefundsStopped(ctx, s.deps.Pool); err != nil || stopped {
		return errors.Join(err, river.JobSnooze(giveBackPause))
	}
	tick := time.NewTicker(time.Second / time.Duration(s.deps.Config.RefundsPerSecond))
	defer tick.Stop()
	for until := time.Now().Add(giveBackFor); time.Now().Before(until); {
		due, err := s.db.GiveBackListDue(ctx, s.deps.Pool,
			ticketsdb.GiveBackListDueParams{Now: new(s.deps.Clock.Now()), Most: 50})
		if err != nil {
			return fmt.Errorf("list orders to give back: %w", err)
		}
		if len(due) == 0 {
			return nil
		}
		if err := s.giveBackEach(ctx, due, tick.C); err != nil {
			return err
		}
	}
	return river.JobSnooze(0)
}

// giveBackEach begins one refund at each tick.
func (s *Refunds) giveBackEach(ctx context.Context, ids []objectid.ID, tick <-chan time.Time) error {
	var group errgroup.Group
	group.SetLimit(giveBackWidth)
	for _, id := range ids {
		select {
		case <-ctx.Done():
			_ = group.Wait()
			return ctx.Err()
		case <-tick:
		}
		group.Go(func() error { return s.giveBackDue(ctx, id) })
	}
	return group.Wait()
}

// giveBackDue asks for the refund of one order. What keeps it from being made for now is
// looked at again later; what its gateway refuses is listed (orders.Store.syncGiveBackTx).
func (s *Refunds) giveBackDue(ctx context.Context, id objectid.ID) error {
	g, err := s.db.GiveBackGet(ctx, s.deps.Pool, id)
	if err != nil {
		return fmt.Errorf("read how the order is given back: %w", err)
	}
	why := g.Why
	_, err = s.RefundTickets(ctx, TicketRefund{OrderID: id, Consumed: true, Reason: why.Reason(), why: why})
	faultpoint.Hit("give_back.one_done")
	if err == nil || errors.Is(err, gateway.ErrOutcomeUnknown) { // the checks ask what became of it
		return nil
	}
	s.deps.Log.WarnContext(ctx, "an order is not given back yet", slog.String("order_id", id.String()),
		slog.Any("error", err))
	g, err = s.db.GiveBackGet(ctx, s.deps.Pool, id)
	if err != nil || g.RefundID != nil || g.FailedAt != nil || g.NextAt != nil && g.NextAt.After(s.deps.Clock.Now()) {
		return err // seen to already
	}
	return s.deps.Orders.PostponeGiveBack(ctx, s.deps.Pool, g)
}
