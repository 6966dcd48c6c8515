package refunds

import (
	"context"
	"strings"
	"time"

	"marquee/modules/tickets/events"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

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
	NotAsked int64        `json:"not_asked" doc:"Of on_request: nobody has asked for their money"`
	Amount   events.Reais `json:"amount" doc:"Given back, reais"`
}

// CancelEventNow answers POST /admin/events/{id}/cancel.
func (s *Refunds) CancelEventNow(ctx context.Context, in *cancelEventInput) (*httpapi.Output[cancellationBody], error) {
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
			return nil, fault.InvalidAt("is of refund on_request alone", "body", "refund_until")
		case !time.Time(*until).After(s.clock.Now()):
			return nil, fault.InvalidAt("has to lie ahead", "body", "refund_until")
		}
		q.until = new(time.Time(*until))
	}
	if err := s.cancelEvent(ctx, q); err != nil {
		return nil, err
	}
	return s.CancellationAnswer(ctx, id)
}

// GetCancellation answers GET /admin/events/{id}/cancellation.
func (s *Refunds) GetCancellation(ctx context.Context, in *cancellationInput) (*httpapi.Output[cancellationBody], error) {
	id, err := objectid.Parse(in.ID)
	if err != nil {
		return nil, fault.InvalidAt(err.Error(), "path", "id")
	}
	return s.CancellationAnswer(ctx, id)
}

// CancellationAnswer tells how far the money of a called off event has come.
func (s *Refunds) CancellationAnswer(ctx context.Context, id objectid.ID) (*httpapi.Output[cancellationBody], error) {
	c, err := s.cancellationOf(ctx, id)
	if err != nil {
		return nil, err
	}
	p := c.progress
	return httpapi.OK(cancellationBody{
		EventID: id, CancelledAt: httpapi.Time(*c.event.CancelledAt), Reason: postgres.Text(c.event.CancelReason), Refund: postgres.Text(c.event.CancelRefund),
		RefundUntil: httpapi.TimePtr(c.event.RefundUntil),
		Progress: refundProgress{
			Orders: p.Orders, Refunded: p.Refunded, Failed: p.Failed, Disputed: p.Disputed, NotAsked: p.NotAsked, Amount: events.Reais(c.amount),
		},
	})
}
