package tickets

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/platform/collection"
	"marquee/platform/fault"
	"marquee/platform/faultpoint"
	"marquee/platform/idempotency"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// What becomes of the money of a called off event.
const (
	refundAll       = "all"
	refundOnRequest = "on_request"
)

// onRequestFor is how long the holders of a called off event may ask, unless the admin says.
const onRequestFor = 30 * 24 * time.Hour

// eventCancel is what an admin wants.
type eventCancel struct {
	eventID objectid.ID
	reason  string
	refund  string     // refundAll or refundOnRequest
	until   *time.Time // of refundOnRequest; nil: onRequestFor from now
}

// cancelEvent calls an event off, at any time, also when it is over: the sale is closed in
// the same transaction, its tickets are blocked whoever issued them, holders are written,
// and the paid orders are given back by job, whole, also used tickets: an event that does
// not take place has given nobody anything. What is paid from then on is given back, not
// seated. Asking again changes nothing, but that of an event called off on request all may
// be given back after all. Errors: 404; 409 for on request after all.
func (s *Service) cancelEvent(ctx context.Context, q eventCancel) error {
	now := s.clock.Now()
	if q.refund == refundOnRequest && q.until == nil {
		q.until = new(now.Add(onRequestFor))
	}
	err := postgres.InTx(context.WithoutCancel(ctx), s.pool, func(tx pgx.Tx) error {
		e, err := s.lockEvent(ctx, tx, event{ID: q.eventID})
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
			return Events.AuditTx(ctx, tx, []objectid.ID{e.ID}, func() error { return s.cancelEventTx(ctx, tx, e, q, now) })
		case text(e.CancelRefund) == q.refund:
			return nil
		case q.refund == refundOnRequest:
			return fault.Conflict("The event is called off, and all its money is given back already.").WithField("refund")
		}
		return Events.AuditTx(ctx, tx, []objectid.ID{e.ID}, func() error { return s.refundAllTx(ctx, tx, e, now) })
	})
	faultpoint.Hit("event_cancel.committed")
	return err
}

func (s *Service) cancelEventTx(ctx context.Context, tx pgx.Tx, e event, q eventCancel, now time.Time) error {
	err := s.db.EventCancel(ctx, tx, ticketsdb.EventCancelParams{ID: e.ID, Now: &now, Reason: &q.reason, Refund: &q.refund, RefundUntil: q.until})
	if err != nil {
		return fmt.Errorf("call event off: %w", err)
	}
	open := ticketsdb.GiveBackOpenParams{EventID: e.ID, Now: now}
	if q.refund == refundAll {
		open.AskedAt = &now
	}
	if err := s.db.GiveBackOpen(ctx, tx, open); err != nil {
		return fmt.Errorf("list orders to give back: %w", err)
	}
	if err := s.mailHoldersTx(ctx, tx, e, mailCancelled, nil); err != nil || q.refund != refundAll {
		return err
	}
	return s.giveBackLaterTx(ctx, tx)
}

// refundAllTx has everybody's money go back, not only theirs who ask.
func (s *Service) refundAllTx(ctx context.Context, tx pgx.Tx, e event, now time.Time) error {
	if err := s.db.EventRefundAll(ctx, tx, ticketsdb.EventRefundAllParams{ID: e.ID, Now: now}); err != nil {
		return fmt.Errorf("give all of the event back: %w", err)
	}
	if _, err := s.db.GiveBackAskOfEvent(ctx, tx, ticketsdb.GiveBackAskOfEventParams{EventID: e.ID, Now: &now}); err != nil {
		return fmt.Errorf("ask for all orders: %w", err)
	}
	if err := s.mailHoldersTx(ctx, tx, e, mailCancelled, nil); err != nil {
		return err
	}
	return s.giveBackLaterTx(ctx, tx)
}

// cancellation is how far the money of a called off event has come.
type cancellation struct {
	event    event
	progress ticketsdb.GiveBackProgressRow
	amount   money.Cents // given back since
}

// cancellationOf reads it: 404 for an unknown event and for one that is not called off.
func (s *Service) cancellationOf(ctx context.Context, id objectid.ID) (c cancellation, err error) {
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
	c.amount, err = s.payments.RefundedSince(ctx, s.pool, payments.ForOrder, orders, *c.event.CancelledAt)
	return c, err
}

// guardCancelled keeps a called off event closed and where it is: 409 for an edit of its
// time, place or sale.
func guardCancelled(ctx context.Context, tx pgx.Tx, records []*collection.Record) error {
	ids := make([]string, len(records))
	for i, rec := range records {
		ids[i] = rec.ID.String()
	}
	rows, err := ticketsdb.New().EventListOf(ctx, tx, ids)
	if err != nil {
		return fmt.Errorf("read events: %w", err)
	}
	for _, e := range rows {
		if e.CancelledAt == nil {
			continue
		}
		for _, rec := range records {
			if rec.ID != e.ID {
				continue
			}
			for field, now := range map[string]any{
				"event_date": e.EventDate, "event_end_date": e.EventEndDate, "location": e.Location, "is_active": e.IsActive, "refund_until": e.RefundUntil,
			} {
				if value, ok := rec.Value(field); ok && !sameJSON(value, now) {
					return fault.Conflict("%s stays as it is: the event is called off.", field).WithField(field)
				}
			}
		}
	}
	return nil
}

// sameJSON compares a value of a body with that of a row, whose instants may be pointers.
func sameJSON(a, b any) bool {
	x, errX := json.Marshal(inUTC(a))
	y, errY := json.Marshal(inUTC(b))
	return errX == nil && errY == nil && string(x) == string(y)
}

func inUTC(v any) any {
	switch t := v.(type) {
	case time.Time:
		return t.UTC().Truncate(time.Millisecond)
	case *time.Time:
		if t != nil {
			return t.UTC().Truncate(time.Millisecond)
		}
		return nil
	}
	return v
}
