package tickets

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

type ticketQRBody struct {
	TicketID objectid.ID `json:"ticket_id"`
	Payload  string      `json:"qr_payload" doc:"Signed: a door device can check it offline"`
	DataURI  string      `json:"qr_data_uri" doc:"PNG"`
}

// ticketCode answers GET /me/tickets/{ticket_id}/qr; 409 unless the ticket is
// available.
func (s *Service) ticketCode(ctx context.Context, in *ticketInput) (*httpapi.Output[ticketQRBody], error) {
	t, err := s.ownTicket(ctx, httpapi.CallerOf(ctx).ID, in.TicketID)
	if err != nil {
		return nil, err
	}
	if Status(t.Status) != Available {
		return nil, notAvailable(t)
	}
	e, err := s.db.EventGet(ctx, s.pool, t.EventID)
	if err != nil {
		return nil, fmt.Errorf("read event: %w", err)
	}
	if !e.EndsAt.After(s.clock.Now()) {
		return nil, notAvailable(ticket{Status: string(Expired)})
	}
	code := s.codeOf(t).picture()
	image, err := qrDataURI(code)
	if err != nil {
		return nil, fmt.Errorf("draw code: %w", err)
	}
	return httpapi.OK(ticketQRBody{TicketID: t.ID, Payload: code, DataURI: image})
}

type eventInput struct {
	ID string `path:"id"`
}

// doorKey is a public key of a check-in bundle.
type doorKey struct {
	KeyID     string `json:"kid" doc:"8 hexadecimal digits, the first 4 bytes of a code"`
	Algorithm string `json:"alg" enum:"Ed25519"`
	PublicKey string `json:"public_key" doc:"32 bytes in base64"`
}

// codeForm is a form in which codes are written.
type codeForm struct {
	Prefix   string `json:"prefix"`
	Encoding string `json:"encoding" enum:"base45,base64url" doc:"RFC 9285, or RFC 4648 for addresses, without padding"`
}

var codeForms = []codeForm{{picturePrefix, "base45"}, {codePrefix, "base64url"}}

type consumedTicket struct {
	TicketID   objectid.ID  `json:"ticket_id"`
	ConsumedAt httpapi.Time `json:"consumed_at"`
}

// checkinBundleBody is what a door device takes along to work without network.
type checkinBundleBody struct {
	EventID     objectid.ID      `json:"event_id"`
	Title       string           `json:"title"`
	EndsAt      httpapi.Time     `json:"ends_at"`
	GeneratedAt httpapi.Time     `json:"generated_at"`
	CodePrefix  string           `json:"code_prefix" doc:"Of the first form; the signature is over these characters and the first 28 bytes"`
	CodeForms   []codeForm       `json:"code_forms" doc:"How the same bytes are written: codes of every form are good"`
	Keys        []doorKey        `json:"keys" doc:"A code is good when one of them verifies it, its event is this one, and its ticket is in neither list"`
	Revoked     []string         `json:"revoked" doc:"Tickets whose codes are void"`
	Consumed    []consumedTicket `json:"consumed"`
}

// checkinBundle answers GET /events/{id}/checkin-bundle.
func (s *Service) checkinBundle(ctx context.Context, in *eventInput) (*httpapi.Output[checkinBundleBody], error) {
	id, err := objectid.Parse(in.ID)
	if err != nil {
		return nil, fault.InvalidAt(err.Error(), "path", "id")
	}
	now := s.clock.Now()
	b := checkinBundleBody{GeneratedAt: httpapi.Time(now), CodePrefix: codePrefix, CodeForms: codeForms, Revoked: []string{}, Consumed: []consumedTicket{}}
	for _, k := range s.codes {
		b.Keys = append(b.Keys, doorKey{KeyID: k.name(), Algorithm: "Ed25519", PublicKey: base64.StdEncoding.EncodeToString(publicOf(k.private))})
	}
	// One snapshot, so that no ticket moves from one list past the other.
	err = pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		e, err := s.db.EventGet(ctx, tx, id)
		if err != nil {
			return err
		}
		b.EventID, b.Title, b.EndsAt = e.ID, e.Title, httpapi.Time(e.EndsAt)
		if b.Revoked, err = s.db.TicketListRevoked(ctx, tx, id); err != nil {
			return err
		}
		consumed, err := s.db.TicketListConsumed(ctx, tx, id)
		for _, c := range consumed {
			b.Consumed = append(b.Consumed, consumedTicket{TicketID: c.ID, ConsumedAt: httpapi.Time(*c.ConsumedAt)})
		}
		return err
	})
	if postgres.IsNoRows(err) {
		return nil, fault.NotFound("Event")
	}
	if err != nil {
		return nil, fmt.Errorf("read bundle: %w", err)
	}
	return httpapi.OK(b)
}

// scan is one code read at a door without network.
type scan struct {
	Payload   string       `json:"qr_payload" minLength:"1" maxLength:"500"`
	ScannedAt httpapi.Time `json:"scanned_at"`
	Nonce     string       `json:"nonce" required:"false" maxLength:"100"`
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
)

type scanResult struct {
	Index      int           `json:"index"`
	TicketID   *objectid.ID  `json:"ticket_id" nullable:"true"`
	Result     string        `json:"result" enum:"consumed,repeated,already_consumed,forged,other_event,pending,expired,not_found"`
	Conflict   bool          `json:"conflict" doc:"The door let somebody in on a code that was not good any more"`
	ConsumedAt *httpapi.Time `json:"consumed_at" nullable:"true"`
}

type scanBatchBody struct {
	Consumed  int          `json:"consumed"`
	Conflicts int          `json:"conflicts"`
	Results   []scanResult `json:"results"`
}

// consumeBatch answers POST /tickets/consume-qr/batch: scans made offline, each
// on its own, so that one conflict keeps no other scan from counting.
func (s *Service) consumeBatch(ctx context.Context, in *batchInput) (*httpapi.Output[scanBatchBody], error) {
	eventID, _ := objectid.Parse(in.Body.EventID.String())
	body := scanBatchBody{Results: make([]scanResult, len(in.Body.Scans))}
	for i, sc := range in.Body.Scans {
		r, err := s.consumeScan(ctx, eventID, sc)
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

func (s *Service) consumeScan(ctx context.Context, eventID objectid.ID, sc scan) (scanResult, error) {
	content, err := s.codes.verify(sc.Payload)
	if err != nil {
		return scanResult{Result: scanForged}, nil //nolint:nilerr // that is the result
	}
	r := scanResult{TicketID: &content.TicketID}
	if eventID != "" && eventID != content.EventID {
		r.Result = scanOtherEvent
		return r, nil
	}
	actor, now := httpapi.CallerOf(ctx).ID, s.clock.Now()
	at := time.Time(sc.ScannedAt)
	if at.After(now) {
		at = now // a device whose clock is ahead
	}
	t, err := s.useTicket(ctx, content.TicketID, func(tx pgx.Tx) (ticket, error) {
		return s.db.TicketConsumeScanned(ctx, tx, ticketsdb.TicketConsumeScannedParams{
			ID: content.TicketID, ScannedAt: &at, Nonce: filled(sc.nonce(now)), ActorID: &actor, Now: now,
		})
	})
	if err == nil {
		r.Result, r.ConsumedAt = scanConsumed, httpapi.TimePtr(t.ConsumedAt)
		return r, nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return r, fmt.Errorf("consume scanned ticket: %w", err)
	}
	t, err = s.db.TicketGet(ctx, s.pool, content.TicketID)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		r.Result = scanUnknown
		return r, nil
	case err != nil:
		return r, fmt.Errorf("read ticket: %w", err)
	}
	r.Result, r.ConsumedAt = scanOutcome(t, sc), httpapi.TimePtr(t.ConsumedAt)
	return r, nil
}

// nonce is kept with the ticket. That of a device whose clock is ahead, and which
// sends none, is the instant that it told, since another one counts.
func (sc scan) nonce(now time.Time) string {
	if sc.Nonce == "" && time.Time(sc.ScannedAt).After(now) {
		return sc.told()
	}
	return sc.Nonce
}

func (sc scan) told() string {
	return "scanned_at=" + time.Time(sc.ScannedAt).UTC().Format(time.RFC3339Nano)
}

// scanOutcome says why a scan did not consume its ticket. A device that repeats
// an upload without a nonce is known by the instant that it tells.
func scanOutcome(t ticket, sc scan) string {
	switch Status(t.Status) {
	case Pending:
		return scanPending
	case Consumed:
		same := sc.Nonce
		if same == "" {
			same = sc.told()
		}
		if text(t.ConsumeNonce) == same || sc.Nonce == "" && t.ConsumeNonce == nil && t.ConsumedAt.Equal(time.Time(sc.ScannedAt)) {
			return scanRepeated
		}
		return scanDouble
	default:
		return scanExpired
	}
}
