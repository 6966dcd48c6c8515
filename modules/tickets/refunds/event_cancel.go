package refunds

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/tickets/events"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/platform/fault"
	"marquee/platform/faultpoint"
	"marquee/platform/httpapi"
	"marquee/platform/idempotency"
	"marquee/platform/money"
	"marquee/platform/nullable"
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
	now := s.deps.Clock.Now()
	if q.refund == events.RefundOnRequest && q.until == nil {
		q.until = new(now.Add(onRequestFor))
	}
	err := postgres.InTx(context.WithoutCancel(ctx), s.deps.Pool, func(tx pgx.Tx) error {
		e, err := s.deps.Events.LockTx(ctx, tx, q.eventID)
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
			return events.Events.AuditTx(ctx, tx, []objectid.ID{e.ID},
				func() error { return s.cancelEventTx(ctx, tx, e, q, now) })
		case nullable.Value(e.CancelRefund) == q.refund:
			return nil
		case q.refund == events.RefundOnRequest:
			return fault.Conflict("The event is called off, and all its money is given back already.").
				WithField("refund")
		}
		return events.Events.AuditTx(ctx, tx, []objectid.ID{e.ID},
			func() error { return s.refundAllTx(ctx, tx, e, now) })
	})
	faultpoint.Hit("event_cancel.committed")
	return err
}

func (s *Refunds) cancelEventTx(ctx context.Context, tx pgx.Tx, e events.Event, q eventCancel, now time.Time) error {
	if err := s.deps.Events.CancelTx(ctx, tx, e, q.reason, q.refund, q.until, now); err != nil {
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
	if err := s.deps.Events.RefundAllTx(ctx, tx, e, now); err != nil {
		return err
	}
	if _, err := s.db.GiveBackRequestOfEvent(ctx, tx,
		ticketsdb.GiveBackRequestOfEventParams{EventID: e.ID, Now: &now}); err != nil {
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
	if c.event, err = s.db.EventGet(ctx, s.deps.Pool, id); postgres.IsNoRows(err) {
		return c, fault.NotFound("Event")
	}
	if err != nil {
		return c, fmt.Errorf("read event: %w", err)
	}
	if c.event.CancelledAt == nil {
		return c, fault.NotFound("Cancellation")
	}
	if c.progress, err = s.db.GiveBackProgress(ctx, s.deps.Pool, id); err != nil {
		return c, fmt.Errorf("count orders: %w", err)
	}
	orders, err := s.db.GiveBackListOfEvent(ctx, s.deps.Pool, id)
	if err != nil {
		return c, fmt.Errorf("list orders: %w", err)
	}
	c.amount, err = s.deps.Payments.RefundedSince(ctx, s.deps.Pool, gateway.ForOrder, orders, *c.event.CancelledAt)
	return c, err
}

type cancelEventInput struct {
	ID   string `path:"id" doc:"24 hexadecimal digits"`
	Body struct {
		Reason      string        `json:"reason" minLength:"5" maxLength:"500" doc:"Written to the holders"`
		Refund      string        `json:"refund" enum:"all,on_request" doc:"all: every paid order is given back; on_request: those whose holders ask until refund_until"`
		RefundUntil *httpapi.Time `json:"refund_until" required:"false" nullable:"true" doc:"Of on_request; default 30 days from now"`
	}
}

type cancellationInput struct {
	ID string `path:"id"`
}

// cancellationBody tells how far the money of a called off event has come.
type cancellationBody struct {
	EventID     objectid.ID    `json:"event_id"`
	CancelledAt httpapi.Time   `json:"cancelled_at"`
	Reason      string         `json:"reason"`
	Refund      string         `json:"refund" enum:"all,on_request"`
	RefundUntil *httpapi.Time  `json:"refund_until" nullable:"true" doc:"Until when holders may ask; null when all is given back"`
	Progress    refundProgress `json:"progress"`
}

type refundProgress struct {
	Orders   int64        `json:"orders" doc:"Paid orders, also those that were paid after the event was called off"`
	Refunded int64        `json:"refunded" doc:"All of their money is back"`
	Failed   int64        `json:"failed" doc:"Refused by the gateway: on the list of unapplied payments"`
	Disputed int64        `json:"disputed" doc:"The money is with the payer's bank: nothing is refunded while the dispute is open, nor when it is lost"`
	NotAsked int64        `json:"not_asked" doc:"For on_request: the money has not been requested"`
	Amount   events.Reais `json:"amount" doc:"Given back, reais"`
}

// CancelEventNow answers POST /admin/events/{id}/cancel.
func (h Handlers) CancelEventNow(ctx context.Context, in *cancelEventInput) (*httpapi.Output[cancellationBody], error) {
	id, err := objectid.Parse(in.ID)
	if err != nil {
		return nil, fault.InvalidAt(err.Error(), "path", "id")
	}
	q := eventCancel{eventID: id, reason: strings.TrimSpace(in.Body.Reason), refund: in.Body.Refund}
	if len([]rune(q.reason)) < 5 {
		return nil, fault.InvalidAt("has to have at least 5 characters", "body", "reason")
	}
	if until := in.Body.RefundUntil; until != nil {
		switch {
		case q.refund == events.RefundAll:
			return nil, fault.InvalidAt("is for refund on_request only", "body", "refund_until")
		case !time.Time(*until).After(h.s.deps.Clock.Now()):
			return nil, fault.InvalidAt("has to be in the future", "body", "refund_until")
		}
		q.until = new(time.Time(*until))
	}
	if err := h.s.cancelEvent(ctx, q); err != nil {
		return nil, err
	}
	return h.CancellationEnvelope(ctx, id)
}

// GetCancellation answers GET /admin/events/{id}/cancellation.
func (h Handlers) GetCancellation(ctx context.Context,
	in *cancellationInput,
) (*httpapi.Output[cancellationBody], error) {
	id, err := objectid.Parse(in.ID)
	if err != nil {
		return nil, fault.InvalidAt(err.Error(), "path", "id")
	}
	return h.CancellationEnvelope(ctx, id)
}

// CancellationEnvelope tells how far the money of a called off event has come.
func (h Handlers) CancellationEnvelope(ctx context.Context, id objectid.ID) (*httpapi.Output[cancellationBody], error) {
	c, err := h.s.cancellationOf(ctx, id)
	if err != nil {
		return nil, err
	}
	p := c.progress
	return httpapi.OK(cancellationBody{
		EventID: id, CancelledAt: httpapi.Time(*c.event.CancelledAt), Reason: nullable.Value(c.event.CancelReason),
		Refund:      nullable.Value(c.event.CancelRefund),
		RefundUntil: httpapi.TimePtr(c.event.RefundUntil),
		Progress: refundProgress{
			Orders: p.Orders, Refunded: p.Refunded, Failed: p.Failed, Disputed: p.Disputed, NotAsked: p.NotAsked,
			Amount: events.Reais(c.amount),
		},
	})
}
