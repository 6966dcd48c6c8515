package events

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/platform/fault"
	"marquee/platform/resource"
)

// What becomes of the money of a called off event.
const (
	RefundAll       = "all"
	RefundOnRequest = "on_request"
)

// CancelTx calls a locked event off: its sale is closed, and its holders are written why.
// Refund is RefundAll or RefundOnRequest, until bounds the asking of the second.
func (s *Store) CancelTx(ctx context.Context, tx pgx.Tx, e Event, reason, refund string, until *time.Time,
	now time.Time,
) error {
	err := s.db.EventCancel(ctx, tx, ticketsdb.EventCancelParams{
		ID: e.ID, Now: &now, Reason: &reason, Refund: &refund, RefundUntil: until,
	})
	if err != nil {
		return fmt.Errorf("call event off: %w", err)
	}
	return s.mailHoldersTx(ctx, tx, e, MailCancelled, nil)
}

// RefundAllTx has all of a called off event go back, not only what is asked for, and its holders written so.
func (s *Store) RefundAllTx(ctx context.Context, tx pgx.Tx, e Event, now time.Time) error {
	if err := s.db.EventRefundAll(ctx, tx, ticketsdb.EventRefundAllParams{ID: e.ID, Now: now}); err != nil {
		return fmt.Errorf("give all of the event back: %w", err)
	}
	return s.mailHoldersTx(ctx, tx, e, MailCancelled, nil)
}

// guardCancelled keeps a called off event closed and where it is: 409 for an edit of its
// time, place or sale.
func guardCancelled(ctx context.Context, tx pgx.Tx, records []*resource.Record) error {
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
				"event_date": e.EventDate, "event_end_date": e.EventEndDate, "location": e.Location,
				"is_active": e.IsActive, "refund_until": e.RefundUntil,
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
