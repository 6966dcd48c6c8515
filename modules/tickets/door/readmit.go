package door

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/tickets/events"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/state"
	"marquee/platform/audit"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/resource"
)

type readmitInput struct {
	ID   string `path:"id"`
	Body struct {
		Reason string `json:"reason" minLength:"3" maxLength:"500" doc:"For the audit trail"`
	}
}

// Readmit answers POST /tickets/{id}/readmit: a scan is undone, and the ticket good again. 404 for a ticket that does
// not exist; 409 for one that is not consumed, whose event is over, that a refund, a dispute or its called off event
// blocks, or that was consumed longer ago than READMIT_WITHIN (docs/contract/tickets.md, Check-in).
func (h Handlers) Readmit(ctx context.Context, in *readmitInput) (*resource.Response, error) {
	t, err := h.s.deps.Events.TicketByPath(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if err := h.s.readmit(ctx, t.ID, httpapi.CallerOf(ctx).ID, in.Body.Reason); err != nil {
		return nil, err
	}
	return h.s.deps.Events.TicketEnvelope(ctx, t.ID)
}

// readmit undoes a ticket's scan once: of two at once, one is told that it was not used.
func (s *Door) readmit(ctx context.Context, id, actor objectid.ID, words string) error {
	now := s.deps.Clock.Now()
	from, to := state.Tickets.Of(state.TicketReadmitted)
	err := postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		consumedAt, err := s.db.TicketUndoConsume(ctx, tx, ticketsdb.TicketUndoConsumeParams{
			ID: id, FromStates: from, ToStates: to, Since: now.Add(-s.deps.Config.ReadmitWithin), Now: now,
			Reason: state.Tickets.ReasonOf(state.TicketReadmitted), Words: words, ActorID: &actor,
		})
		if err != nil {
			return err
		}
		return audit.RecordTx(ctx, tx, audit.Change{
			Resource: "tickets", RecordID: id,
			Before: map[string]any{"status": state.Consumed, "consumed_at": httpapi.Time(consumedAt)},
			After:  map[string]any{"status": state.Available, "consumed_at": nil, "reason": words},
		})
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return s.notReadmitted(ctx, id, now)
	}
	if err != nil {
		return fmt.Errorf("readmit ticket: %w", err)
	}
	return nil
}

// notReadmitted says what holds against undoing a ticket's scan.
func (s *Door) notReadmitted(ctx context.Context, id objectid.ID, now time.Time) error {
	row, err := s.db.TicketGetForReadmission(ctx, s.deps.Pool, ticketsdb.TicketGetForReadmissionParams{
		ID: id, Now: now, ToStatus: string(state.Available),
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return events.ErrNoTicket()
	case err != nil:
		return fmt.Errorf("read ticket: %w", err)
	case row.Status != state.Consumed:
		return fault.Conflict("This ticket was not used: it is %s.", row.Status).WithField("status")
	case row.Over:
		return fault.Conflict("The event is over.").WithField("event_id")
	case row.Blocked != "":
		return fault.Conflict("This ticket is blocked: %s.", row.Blocked).WithField("blocked")
	default:
		return fault.Conflict("This ticket was consumed at %s: that can be undone for %.0f minutes.",
			httpapi.Time(*row.ConsumedAt), s.deps.Config.ReadmitWithin.Minutes()).WithField("consumed_at")
	}
}
