package tickets

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"golang.org/x/sync/errgroup"

	"marquee/modules/payments"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/state"
	"marquee/platform/faultpoint"
	"marquee/platform/jobs"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// askGiveBackTx notes the refund that gives a whole order back, in the transaction that
// commits it. Who gives tickets back has them no more, and their places are free at once;
// those of a called off event are blocked already, and expire with the refund.
func (s *Service) askGiveBackTx(ctx context.Context, tx pgx.Tx, o order, why state.GivenBack, r payments.Refund) error {
	if why == "" {
		return nil
	}
	err := s.db.GiveBackAsk(ctx, tx, ticketsdb.GiveBackAskParams{OrderID: o.ID, EventID: o.EventID, Why: why, Now: &r.RequestedAt, RefundID: r.ID.String()})
	if err != nil {
		return fmt.Errorf("note that the order is given back: %w", err)
	}
	if why == state.EventCancelled {
		return nil
	}
	if err := s.db.TicketLeave(ctx, tx, ticketsdb.TicketLeaveParams{OrderID: &o.ID, RefundID: r.ID.String(), Now: r.RequestedAt}); err != nil {
		return fmt.Errorf("void tickets: %w", err)
	}
	return nil
}

// followGiveBackTx has an order that is given back follow a refund that came to nothing:
// what its gateway refused is left to people, on the list of unapplied payments; where the
// gateway was not there, or the money is with the payer's bank, the job asks again.
func (s *Service) followGiveBackTx(ctx context.Context, tx pgx.Tx, o order, m orderMoney) (givenBack bool, err error) {
	g, err := s.db.GiveBackGet(ctx, tx, o.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read how the order is given back: %w", err)
	}
	givenBack = g.AskedAt != nil
	for _, r := range m.refunds {
		if g.RefundID == nil || r.ID != *g.RefundID || r.Status != payments.RefundFailed {
			continue
		}
		if r.FailedUnasked() || r.FailedByDispute() {
			return givenBack, s.postponeGiveBack(ctx, tx, g)
		}
		if err := s.db.GiveBackFail(ctx, tx, ticketsdb.GiveBackFailParams{OrderID: o.ID, Now: new(s.clock.Now())}); err != nil {
			return givenBack, fmt.Errorf("note that the refund failed: %w", err)
		}
		return givenBack, s.listNotGivenBackTx(ctx, tx, o, m, g.Why, r)
	}
	return givenBack, nil
}

func (s *Service) listNotGivenBackTx(ctx context.Context, tx pgx.Tx, o order, m orderMoney, why state.GivenBack, r payments.Refund) error {
	for _, p := range m.paid {
		if p.Payment.ID != postgres.Text(o.GatewayPaymentID) {
			continue
		}
		left, _ := m.left(p.Payment)
		_, err := s.payments.RecordUnappliedTx(ctx, tx, payments.Unapplied{
			Kind: payments.UnappliedUnrefundable, Gateway: p.Gateway, PaymentID: p.Payment.ID, Amount: &left, CustomerID: o.CustomerID, OrderID: o.ID,
			PaidAt: p.Payment.SettledAt, Note: why.Reason() + " The gateway did not give the money back: " + r.Failure, Bought: true,
		})
		return err
	}
	return nil
}

// postponeGiveBack has the job ask again later: each further wait doubles, from a minute to an hour.
func (s *Service) postponeGiveBack(ctx context.Context, db postgres.DB, g ticketsdb.GiveBack) error {
	wait := min(time.Minute<<min(g.Tries, 6), time.Hour)
	refund := ""
	if g.RefundID != nil {
		refund = g.RefundID.String()
	}
	next := s.clock.Now().Add(wait)
	if err := s.db.GiveBackPostpone(ctx, db, ticketsdb.GiveBackPostponeParams{OrderID: g.OrderID, RefundID: refund, NextAt: &next}); err != nil {
		return fmt.Errorf("postpone refund: %w", err)
	}
	return nil
}

// giveBackArgs gives back the money of orders that are given back as a whole, until none is due.
type giveBackArgs struct{}

// Kind names the job.
func (giveBackArgs) Kind() string { return "tickets_give_back" }

const (
	// giveBackFor is how long one job goes on before it leaves its worker to others.
	giveBackFor = time.Minute
	// giveBackHeld is how soon is looked whether refunds are still held after a restore.
	giveBackHeld = time.Minute
)

// giveBackLaterTx has the job run, of which there is one at a time: the limit of refunds a
// second holds for all events together.
func (s *Service) giveBackLaterTx(ctx context.Context, tx pgx.Tx) error {
	_, err := s.jobs.InsertTx(ctx, tx, giveBackArgs{}, &river.InsertOpts{Queue: jobs.QueueGateway, UniqueOpts: river.UniqueOpts{ByState: []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRunning, rivertype.JobStateRetryable, rivertype.JobStateScheduled,
	}}})
	if err != nil {
		return fmt.Errorf("queue refunds: %w", err)
	}
	return nil
}

// queueGiveBacks sees to it that the job is there while an order is due.
func (s *Service) queueGiveBacks(ctx context.Context) error {
	due, err := s.db.GiveBackListDue(ctx, s.pool, ticketsdb.GiveBackListDueParams{Now: new(s.clock.Now()), Most: 1})
	if err != nil || len(due) == 0 {
		return err
	}
	return postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error { return s.giveBackLaterTx(ctx, tx) })
}

// GiveBackDue refunds the orders that are due, RefundsPerSecond of them begun a second: gateways
// limit how often they may be called, and the sale of other events goes on. An order whose
// refund was asked for is due no more, so that another process goes on where one died.
func (s *Service) GiveBackDue(ctx context.Context) error {
	if held, err := s.payments.RefundsHeld(ctx, s.pool); err != nil || held {
		return errors.Join(err, river.JobSnooze(giveBackHeld))
	}
	tick := time.NewTicker(time.Second / time.Duration(s.cfg.RefundsPerSecond))
	defer tick.Stop()
	for until := time.Now().Add(giveBackFor); time.Now().Before(until); {
		due, err := s.db.GiveBackListDue(ctx, s.pool, ticketsdb.GiveBackListDueParams{Now: new(s.clock.Now()), Most: 50})
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
func (s *Service) giveBackEach(ctx context.Context, ids []objectid.ID, tick <-chan time.Time) error {
	var group errgroup.Group
	group.SetLimit(sweepWidth)
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
// looked at again later; what its gateway refuses is listed (followGiveBackTx).
func (s *Service) giveBackDue(ctx context.Context, id objectid.ID) error {
	g, err := s.db.GiveBackGet(ctx, s.pool, id)
	if err != nil {
		return fmt.Errorf("read how the order is given back: %w", err)
	}
	why := g.Why
	_, err = s.RefundTickets(ctx, TicketRefund{OrderID: id, Consumed: true, Reason: why.Reason(), why: why})
	faultpoint.Hit("give_back.one_done")
	if err == nil || errors.Is(err, payments.ErrOutcomeUnknown) { // the ledger's own recovery asks what became of it
		return nil
	}
	s.log.WarnContext(ctx, "an order is not given back yet", slog.String("order_id", id.String()), slog.Any("error", err))
	g, err = s.db.GiveBackGet(ctx, s.pool, id)
	if err != nil || g.RefundID != nil || g.FailedAt != nil || g.NextAt != nil && g.NextAt.After(s.clock.Now()) {
		return err // seen to already
	}
	return s.postponeGiveBack(ctx, s.pool, g)
}

// givenBackOf is what became of the money of an order that was given back: what went back since
// then, or is to, and when all of it was back, nil before.
func (s *Service) givenBackOf(ctx context.Context, tx postgres.DB, o order, since *time.Time) (amount money.Cents, at *time.Time, err error) {
	m, err := s.moneyTx(ctx, tx, o.ID)
	if err != nil {
		return 0, nil, err
	}
	for _, p := range m.paid {
		if p.Payment.ID != postgres.Text(o.GatewayPaymentID) {
			continue
		}
		amount += p.Payment.Amount
		for _, r := range m.refunds {
			switch {
			case !isOf(r, p.Payment) || r.Status == payments.RefundFailed:
			case since != nil && r.RequestedAt.Before(*since):
				amount -= r.Amount
			case r.Status == payments.RefundDone && (at == nil || r.RefundedAt.After(*at)):
				at = r.RefundedAt
			}
		}
	}
	if !m.whole(o) {
		at = nil
	}
	return amount, at, nil
}
