package door

import (
	"context"
	"encoding/base64"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/tickets/events"
	"marquee/modules/tickets/state"
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

// TicketCode answers GET /me/tickets/{ticket_id}/qr; 409 unless the ticket is
// available, and not blocked.
func (h Handlers) TicketCode(ctx context.Context, in *events.TicketInput) (*httpapi.Output[ticketQRBody], error) {
	t, err := h.s.deps.Events.CallerTicket(ctx, httpapi.CallerOf(ctx).ID, in.TicketID)
	if err != nil {
		return nil, err
	}
	if t.Status != state.Available {
		return nil, notAvailable(t, "")
	}
	block, err := h.s.db.TicketBlock(ctx, h.s.deps.Pool, t.ID)
	if err != nil {
		return nil, fmt.Errorf("read ticket's order: %w", err)
	}
	e, err := h.s.db.EventGet(ctx, h.s.deps.Pool, t.EventID)
	if err != nil {
		return nil, fmt.Errorf("read event: %w", err)
	}
	if !e.EndsAt.After(h.s.deps.Clock.Now()) {
		return nil, notAvailable(events.Ticket{Status: state.Expired}, "")
	}
	if block.Reason != "" {
		return nil, notAvailable(t, block.Reason)
	}
	if err := httpapi.HeadEnds(ctx); err != nil {
		return nil, err
	}
	code := h.s.CodeOf(t.ID, t.EventID).Picture()
	image, err := QRDataURI(code)
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
	Revoked     []string         `json:"revoked" doc:"Tickets whose codes are void, or blocked"`
	Consumed    []consumedTicket `json:"consumed"`
}

// CheckinBundle answers GET /events/{id}/checkin-bundle.
func (h Handlers) CheckinBundle(ctx context.Context, in *eventInput) (*httpapi.Output[checkinBundleBody], error) {
	id, err := objectid.Parse(in.ID)
	if err != nil {
		return nil, fault.InvalidAt(err.Error(), "path", "id")
	}
	now := h.s.deps.Clock.Now()
	b := checkinBundleBody{
		GeneratedAt: httpapi.Time(now), CodePrefix: codePrefix, CodeForms: codeForms, Revoked: []string{},
		Consumed: []consumedTicket{},
	}
	for _, k := range h.s.codes {
		b.Keys = append(b.Keys, doorKey{
			KeyID: k.name(), Algorithm: "Ed25519", PublicKey: base64.StdEncoding.EncodeToString(publicOf(k.private)),
		})
	}
	// One snapshot, so that no ticket moves from one list past the other.
	err = pgx.BeginTxFunc(ctx, h.s.deps.Pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly},
		func(tx pgx.Tx) error {
			e, err := h.s.db.EventGet(ctx, tx, id)
			if err != nil {
				return err
			}
			if err := httpapi.HeadEnds(ctx); err != nil {
				return err
			}
			b.EventID, b.Title, b.EndsAt = e.ID, e.Title, httpapi.Time(e.EndsAt)
			if b.Revoked, err = h.s.db.TicketListRevoked(ctx, tx, id); err != nil {
				return err
			}
			consumed, err := h.s.db.TicketListConsumed(ctx, tx, id)
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
