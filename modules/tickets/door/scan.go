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
	"marquee/platform/httpapi"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
)

// scan is one code read at a door without network.
type scan struct {
	Payload   string           `json:"qr_payload" minLength:"1" maxLength:"500"`
	ScannedAt httpapi.SentTime `json:"scanned_at"`
	Nonce     string           `json:"nonce" required:"false" maxLength:"100"`
}

type batchInput struct {
	Body struct {
		EventID objectid.ID `json:"event_id" required:"false" pattern:"^[0-9a-fA-F]{24}$"`
		Scans   []scan      `json:"scans" minItems:"1" maxItems:"1000"`
	}
}

// Results of an uploaded scan.
const (
	scanConsumed   = "consumed"
	scanRepeated   = "repeated"         // this very scan was uploaded before
	scanDouble     = "already_consumed" // a conflict: somebody else came in on the ticket
	scanForged     = "forged"
	scanOtherEvent = "other_event"
	scanPending    = "pending"
	scanExpired    = "expired"
	scanUnknown    = "not_found"
	scanRefused    = "refused" // at its instant the ticket was not good any more, or not there yet
)

// Reasons of a refused scan beside those of tickets.blocked and of a ticket's history,
// such as refunded, payment_disputed, edited.
const (
	refusedBefore = "before_issue"
	refusedAhead  = "clock_ahead"
)

type scanResult struct {
	Index      int           `json:"index"`
	TicketID   *objectid.ID  `json:"ticket_id" nullable:"true"`
	Result     string        `json:"result" enum:"consumed,repeated,already_consumed,forged,other_event,pending,expired,not_found,refused"`
	Reason     string        `json:"reason,omitempty" doc:"Of a refused scan: payment_disputed, refund_requested, event_cancelled, refunded, edited (the ticket was void or blocked before it), before_issue, clock_ahead"`
	At         *httpapi.Time `json:"at,omitempty" doc:"Of a refused scan: since when the ticket was void or blocked, when it was issued, or our clock"`
	Conflict   bool          `json:"conflict" doc:"The door let somebody in on a code that was not good any more"`
	ConsumedAt *httpapi.Time `json:"consumed_at" nullable:"true"`
}

type scanBatchBody struct {
	Consumed  int          `json:"consumed"`
	Conflicts int          `json:"conflicts"`
	Results   []scanResult `json:"results"`
}

// ConsumeBatch answers POST /tickets/consume-qr/batch: scans made offline, each
// on its own, so that one conflict keeps no other scan from counting.
func (h Handlers) ConsumeBatch(ctx context.Context, in *batchInput) (*httpapi.Output[scanBatchBody], error) {
	eventID, _ := objectid.Parse(in.Body.EventID.String())
	body := scanBatchBody{Results: make([]scanResult, len(in.Body.Scans))}
	for i, sc := range in.Body.Scans {
		r, err := h.s.consumeScan(ctx, eventID, sc)
		if err != nil {
			return nil, err
		}
		r.Index, r.Conflict = i, r.Result != scanConsumed && r.Result != scanRepeated
		if r.Result == scanConsumed {
			body.Consumed++
		}
		if r.Conflict {
			body.Conflicts++
		}
		body.Results[i] = r
	}
	return httpapi.OK(body)
}

func (s *Door) consumeScan(ctx context.Context, eventID objectid.ID, sc scan) (scanResult, error) {
	content, err := s.codes.verify(sc.Payload)
	if err != nil {
		return scanResult{Result: scanForged}, nil //nolint:nilerr // that is the result
	}
	r := scanResult{TicketID: &content.TicketID}
	if eventID != "" && eventID != content.EventID {
		r.Result = scanOtherEvent
		return r, nil
	}
	actor, now := httpapi.CallerOf(ctx).ID, s.deps.Clock.Now()
	at := time.Time(sc.ScannedAt.Time)
	if at.After(now.Add(s.deps.Config.ScanSkew)) {
		r.refuse(refusedAhead, now)
		return r, nil
	}
	if at.After(now) {
		at = now // a device whose clock is ahead
	}
	t, err := s.db.TicketGet(ctx, s.deps.Pool, content.TicketID)
	if errors.Is(err, pgx.ErrNoRows) {
		r.Result = scanUnknown
		return r, nil
	}
	if err != nil {
		return r, fmt.Errorf("read ticket: %w", err)
	}
	if at.Before(t.RegisterDate.Add(-s.deps.Config.ScanSkew)) {
		r.refuse(refusedBefore, t.RegisterDate)
		return r, nil
	}
	from, to := state.Tickets.Of(state.TicketScannedOffline)
	used, err := s.useTicket(ctx, t.ID, func(tx pgx.Tx) (events.Ticket, error) {
		return s.db.TicketConsumeScanned(ctx, tx, ticketsdb.TicketConsumeScannedParams{
			ID: t.ID, ScannedAt: &at, Nonce: nullable.Ptr(sc.nonce(now)), Scan: sc.name(), ActorID: &actor, Now: now,
			Reason: state.Tickets.ReasonOf(state.TicketScannedOffline), FromStates: from, ToStates: to,
		})
	})
	if err == nil {
		r.Result, r.ConsumedAt = scanConsumed, httpapi.TimePtr(used.ConsumedAt)
		return r, nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return r, fmt.Errorf("consume scanned ticket: %w", err)
	}
	return r, s.scanRefused(ctx, &r, sc, at)
}

// scanRefused says why a scan did not consume its ticket.
func (s *Door) scanRefused(ctx context.Context, r *scanResult, sc scan, at time.Time) error {
	t, err := s.db.TicketGet(ctx, s.deps.Pool, *r.TicketID)
	if errors.Is(err, pgx.ErrNoRows) {
		r.Result = scanUnknown
		return nil
	}
	if err != nil {
		return fmt.Errorf("read ticket: %w", err)
	}
	r.ConsumedAt = httpapi.TimePtr(t.ConsumedAt)
	_, err = s.db.ReadmissionGet(ctx, s.deps.Pool, ticketsdb.ReadmissionGetParams{
		TicketID: t.ID, Scan: sc.name(), Nonce: nullable.Ptr(sc.Nonce), ScannedAt: &at,
	})
	if err == nil {
		r.Result = scanRepeated // and was undone since
		return nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("read readmission: %w", err)
	}
	r.Result = scanOutcome(t, sc)
	if t.Status == state.Consumed {
		return nil
	}
	block, err := s.db.TicketBlock(ctx, s.deps.Pool, t.ID)
	if err != nil {
		return fmt.Errorf("read ticket's order: %w", err)
	}
	if block.Reason != "" && !at.Before(block.Since) {
		r.refuse(block.Reason, block.Since)
		return nil
	}
	void, err := s.db.TicketVoidAt(ctx, s.deps.Pool, ticketsdb.TicketVoidAtParams{TicketID: t.ID, Instant: at})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read ticket's history: %w", err)
	}
	r.refuse(void.Reason, void.At)
	return nil
}

func (r *scanResult) refuse(reason string, at time.Time) {
	r.Result, r.Reason, r.At = scanRefused, reason, new(httpapi.Time(at))
}

// nonce is kept with the ticket. That of a device whose clock is ahead, and which
// sends none, is the instant that it told, since another one counts.
func (sc scan) nonce(now time.Time) string {
	if sc.Nonce == "" && time.Time(sc.ScannedAt.Time).After(now) {
		return sc.reported()
	}
	return sc.Nonce
}

// name is what a scan is known by when it is sent again: its nonce, or the instant that the device tells.
func (sc scan) name() string {
	if sc.Nonce != "" {
		return sc.Nonce
	}
	return sc.reported()
}

func (sc scan) reported() string {
	return "scanned_at=" + time.Time(sc.ScannedAt.Time).UTC().Format(time.RFC3339Nano)
}

// scanOutcome says why a scan did not consume its ticket. A device that repeats
// an upload without a nonce is known by the instant that it tells.
func scanOutcome(t events.Ticket, sc scan) string {
	switch t.Status {
	case state.Pending:
		return scanPending
	case state.Consumed:
		if nullable.Value(t.ConsumeNonce) == sc.name() ||
			sc.Nonce == "" && t.ConsumeNonce == nil && t.ConsumedAt.Equal(time.Time(sc.ScannedAt.Time)) {
			return scanRepeated
		}
		return scanDouble
	default:
		return scanExpired
	}
}
