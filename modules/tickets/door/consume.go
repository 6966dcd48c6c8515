package door

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"

	"marquee/modules/tickets/events"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/state"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/resource"
)

// ConsumeTicket answers PUT /tickets/{ticket_id}/consume: 404 for somebody
// else's ticket, 409 for one that is not available (docs/contract/tickets.md, Check-in).
func (h Handlers) ConsumeTicket(ctx context.Context, in *events.TicketInput) (*resource.Response, error) {
	caller := httpapi.CallerOf(ctx)
	var t events.Ticket
	var err error
	if caller.IsAdmin() {
		t, err = h.s.deps.Events.TicketByPath(ctx, in.TicketID)
	} else {
		t, err = h.s.deps.Events.CallerTicket(ctx, caller.ID, in.TicketID)
	}
	if err != nil {
		return nil, err
	}
	if _, err := h.s.consume(ctx, t.ID, caller.ID, "", state.TicketConsumedByHand); err != nil {
		return nil, err
	}
	return h.s.deps.Events.TicketEnvelope(ctx, t.ID)
}

type consumeCodeInput struct {
	Body struct {
		Payload string      `json:"qr_payload" minLength:"1" maxLength:"500"`
		EventID objectid.ID `json:"event_id" required:"false" pattern:"^[0-9a-fA-F]{24}$" doc:"The event at this door: codes of other events are refused"`
		Nonce   string      `json:"nonce" required:"false" maxLength:"100" doc:"Chosen by the device for this scan: sent again with it, the answer is again 200"`
	}
}

// codeResponse is an envelope, or the refusal of a ticket that was used before,
// which tells when beside the error.
type codeResponse struct {
	Status      int
	ContentType string `header:"Content-Type"`
	Body        []byte
}

// consumedBody is that refusal.
type consumedBody struct {
	Detail     string             `json:"detail"`
	Coded      httpapi.ErrorCoded `json:"error"`
	ConsumedAt httpapi.Time       `json:"consumed_at"`
}

// ConsumeCode answers POST /tickets/consume-qr: 400 for a forged code; 409 for one
// of another event, or of a ticket that is pending, expired, consumed or blocked.
func (h Handlers) ConsumeCode(ctx context.Context, in *consumeCodeInput) (*codeResponse, error) {
	content, err := h.s.codes.verify(in.Body.Payload)
	if err != nil {
		return nil, fault.BadRequest("This code is forged or cannot be read.").WithField("qr_payload")
	}
	eventID, _ := objectid.Parse(in.Body.EventID.String())
	if eventID != "" && eventID != content.EventID {
		return nil, errOtherEvent()
	}
	_, err = h.s.consume(ctx, content.TicketID, httpapi.CallerOf(ctx).ID, in.Body.Nonce, state.TicketScanned)
	var before *AlreadyConsumed
	if errors.As(err, &before) {
		return h.s.refuseConsumed(err, before.At)
	}
	if err != nil {
		return nil, err
	}
	response, err := h.s.deps.Events.TicketEnvelope(ctx, content.TicketID)
	if err != nil {
		return nil, err
	}
	return &codeResponse{Status: http.StatusOK, ContentType: response.ContentType, Body: response.Body}, nil
}

func (s *Door) refuseConsumed(err error, at httpapi.Time) (*codeResponse, error) {
	var f *fault.Error
	if !errors.As(err, &f) {
		return nil, err
	}
	raw, err := json.Marshal(consumedBody{
		Detail: f.Message, ConsumedAt: at,
		Coded: httpapi.ErrorCoded{
			Code: f.Code, Message: f.Message, Timestamp: httpapi.Time(s.deps.Clock.Now()).String(), Field: f.Field,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("write answer: %w", err)
	}
	return &codeResponse{Status: http.StatusConflict, ContentType: "application/json", Body: raw}, nil
}

func errOtherEvent() *fault.Error {
	return fault.Conflict("This ticket is for another event.").WithField("event_id")
}

// consume uses a ticket once: of many at once, one is told that it was them. The
// same nonce again is the same scan.
func (s *Door) consume(ctx context.Context, id, actor objectid.ID, nonce string, by state.TicketAction,
) (events.Ticket, error) {
	now := s.deps.Clock.Now()
	from, to := state.Tickets.Of(by)
	t, err := s.useTicket(ctx, id, func(tx pgx.Tx) (events.Ticket, error) {
		return s.db.TicketConsume(ctx, tx, ticketsdb.TicketConsumeParams{
			ID: id, Now: &now, Nonce: nullable.Ptr(nonce), Reason: state.Tickets.ReasonOf(by), ActorID: &actor,
			FromStates: from, ToStates: to,
		})
	})
	if err == nil {
		return t, nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return t, fmt.Errorf("consume ticket: %w", err)
	}
	if t, err = s.db.TicketGet(ctx, s.deps.Pool, id); errors.Is(err, pgx.ErrNoRows) {
		return t, events.ErrNoTicket()
	}
	if err != nil {
		return t, fmt.Errorf("read ticket: %w", err)
	}
	if t.Status == state.Consumed && nonce != "" && nullable.Value(t.ConsumeNonce) == nonce {
		return t, nil
	}
	if t.Status == state.Available && nonce != "" {
		undone, err := s.db.ReadmissionGet(ctx, s.deps.Pool, ticketsdb.ReadmissionGetParams{
			TicketID: id, Scan: nonce, Nonce: &nonce,
		})
		if err == nil {
			return t, fault.Conflict("This scan was undone at %s.", httpapi.Time(undone)).WithField("nonce")
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return t, fmt.Errorf("read readmission: %w", err)
		}
	}
	block, err := s.db.TicketBlock(ctx, s.deps.Pool, id)
	if err != nil {
		return t, fmt.Errorf("read ticket's order: %w", err)
	}
	return t, notAvailable(t, block.Reason)
}

// useTicket runs the compare-and-set that uses a ticket, for the audit trail to
// tell of.
func (s *Door) useTicket(ctx context.Context, id objectid.ID,
	use func(tx pgx.Tx) (events.Ticket, error),
) (t events.Ticket, err error) {
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		return events.Tickets.AuditTx(ctx, tx, []objectid.ID{id}, func() error {
			t, err = use(tx)
			return err
		})
	})
	return t, err
}

// AlreadyConsumed is the 409 of a ticket that was used before; the answer tells
// when.
type AlreadyConsumed struct{ At httpapi.Time }

func (e *AlreadyConsumed) Error() string { return "ticket consumed at " + e.At.String() }

// notAvailable says why a ticket does not open the door: blocked is what tickets.blocked
// says of it, "" for nothing. The event may be over although the ticket has not expired
// yet.
func notAvailable(t events.Ticket, blocked string) error {
	switch t.Status {
	case state.Available:
		if blocked != "" {
			return fault.Conflict("This ticket is blocked: %s.", blocked).WithField("blocked")
		}
		return fault.Conflict("This ticket has expired.").WithField("status")
	case state.Consumed:
		at := httpapi.Time(*t.ConsumedAt)
		return fault.Conflict("This ticket was consumed at %s already.", at).WithField("consumed_at").
			WithCause(&AlreadyConsumed{At: at})
	case state.Pending:
		return fault.Conflict("This ticket is not paid yet: it is pending.").WithField("status")
	default:
		return fault.Conflict("This ticket has expired.").WithField("status")
	}
}
