package refunds

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/tickets/events"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/platform/fault"
	"marquee/platform/faultpoint"
	"marquee/platform/idempotency"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// onRequestFor is how long the holders of a called off event may ask, unless the admin says.
const onRequestFor = 30 * 24 * time.Hour

// eventCancel is what an admin wants.
type eventCancel struct {
	eventID objectid.ID
	reason  string
	refund  string     // RefundAll or RefundOnRequest
	until   *time.Time // of RefundOnRequest; nil: onRequestFor from now
}

// cancelEvent calls an event off, at any time, also when it is over: the sale is closed in
// the same transaction, its tickets are blocked whoever issued them, holders are written,
// and the paid orders are given back by job, whole, also used tickets: an event that does
// not take place has given nobody anything. What is paid from then on is given back, not
// seated. Asking again changes nothing, but that of an event called off on request all may
// be given back after all. Errors: 404; 409 for on request after all.
func (s *Refunds) cancelEvent(ctx context.Context, q eventCancel) error {
	now := s.clock.Now()
	if q.refund == events.RefundOnRequest && q.until == nil {
		q.until = new(now.Add(onRequestFor))
	}
	err := postgres.InTx(context.WithoutCancel(ctx), s.pool, func(tx pgx.Tx) error {
		e, err := s.events.LockTx(ctx, tx, q.eventID)
		if postgres.IsNoRows(err) {
			return fault.NotFound("Event")
		}
		if err != nil {
			return fmt.Errorf("lock event: %w", err)
		}
		if err := idempotency.AttemptOf(ctx).BindTx(ctx, tx, e.ID); err != nil {
			return err
		}
		switch {
		case e.CancelledAt == nil:
			return events.Events.AuditTx(ctx, tx, []objectid.ID{e.ID}, func() error { return s.cancelEventTx(ctx, tx, e, q, now) })
		case postgres.Text(e.CancelRefund) == q.refund:
			return nil
		case q.refund == events.RefundOnRequest:
			return fault.Conflict("The event is called off, and all its money is given back already.").WithField("refund")
		}
		return events.Events.AuditTx(ctx, tx, []objectid.ID{e.ID}, func() error { return s.refundAllTx(ctx, tx, e, now) })
	})
	faultpoint.Hit("event_cancel.committed")
	return err
}

func (s *Refunds) cancelEventTx(ctx context.Context, tx pgx.Tx, e events.Event, q eventCancel, now time.Time) error {
	if err := s.events.CancelTx(ctx, tx, e, q.reason, q.refund, q.until, now); err != nil {
		return err
	}
	open := ticketsdb.GiveBackOpenParams{EventID: e.ID, Now: now}
	if q.refund == events.RefundAll {
		open.AskedAt = &now
	}
	if err := s.db.GiveBackOpen(ctx, tx, open); err != nil {
		return fmt.Errorf("list orders to give back: %w", err)
	}
	if q.refund != events.RefundAll {
		return nil
	}
	return s.giveBackLaterTx(ctx, tx)
}

// refundAllTx has everybody's money go back, not only theirs who ask.
func (s *Refunds) refundAllTx(ctx context.Context, tx pgx.Tx, e events.Event, now time.Time) error {
	if err := s.events.RefundAllTx(ctx, tx, e, now); err != nil {
		return err
	}
	if _, err := s.db.GiveBackAskOfEvent(ctx, tx, ticketsdb.GiveBackAskOfEventParams{EventID: e.ID, Now: &now}); err != nil {
		return fmt.Errorf("ask for all orders: %w", err)
	}
	return s.giveBackLaterTx(ctx, tx)
}

// cancellation is how far the money of a called off event has come.
type cancellation struct {
	event    events.Event
	progress ticketsdb.GiveBackProgressRow
	amount   money.Cents // given back since
}

// cancellationOf reads it: 404 for an unknown event and for one that is not called off.
func (s *Refunds) cancellationOf(ctx context.Context, id objectid.ID) (c cancellation, err error) {
	ctx = context.WithoutCancel(ctx)
	if c.event, err = s.db.EventGet(ctx, s.pool, id); postgres.IsNoRows(err) {
		return c, fault.NotFound("Event")
	}
	if err != nil {
		return c, fmt.Errorf("read event: %w", err)
	}
	if c.event.CancelledAt == nil {
		return c, fault.NotFound("Cancellation")
	}
	if c.progress, err = s.db.GiveBackProgress(ctx, s.pool, id); err != nil {
		return c, fmt.Errorf("count orders: %w", err)
	}
	orders, err := s.db.GiveBackListOfEvent(ctx, s.pool, id)
	if err != nil {
		return c, fmt.Errorf("list orders: %w", err)
	}
	c.amount, err = s.payments.RefundedSince(ctx, s.pool, gateway.ForOrder, orders, *c.event.CancelledAt)
	return c, err
}
