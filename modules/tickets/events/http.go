package events

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/resource"
)

// ListEvents answers GET /events: a page to any user, a record by _id to admins
// (docs/contract/tickets.md, Events).
func (h Handlers) ListEvents(ctx context.Context, in *resource.GetInput) (*resource.Response, error) {
	view, err := listable(ctx)
	if err != nil {
		return nil, err
	}
	return h.s.deps.Routes.List(view)(ctx, in)
}

func listable(ctx context.Context) (*resource.View, error) {
	if httpapi.RequestURL(ctx).Query().Has("_id") && !httpapi.CallerOf(ctx).IsAdmin() {
		return nil,
			fault.Forbidden("Only administrators can read one event by its id. Filter the list, or see /store/events.")
	}
	return Events.View, nil
}

// EventSearch makes events searchable by those who may list them.
func (s *Store) EventSearch() resource.Searchable {
	return resource.Searchable{Name: "events", View: listable}
}

// UpdateEvents answers PUT /events. A capacity below what is issued is taken: it
// stops the sale, and info warns of it. Tickets that expired because an event had
// ended come back when it is moved to where it is not over. Holders are told of a move (movedTx).
func (h Handlers) UpdateEvents(ctx context.Context, in *resource.BodyInput) (*resource.Response, error) {
	by := resource.Actor{ID: httpapi.CallerOf(ctx).ID, Now: h.s.deps.Clock.Now()}
	var docs []byte
	err := postgres.InTx(ctx, h.s.deps.Pool, func(tx pgx.Tx) error {
		ended, err := h.s.db.EventLockEnded(ctx, tx,
			ticketsdb.EventLockEndedParams{Ids: objectid.Strings(resource.IDs(in.Body)), Now: by.Now})
		if err != nil {
			return fmt.Errorf("lock events: %w", err)
		}
		before, err := h.s.eventTimesTx(ctx, tx, resource.IDs(in.Body))
		if err != nil {
			return err
		}
		ids, err := Events.UpdateTx(ctx, tx, by, in.Body)
		if err != nil {
			return err
		}
		if err := h.s.movedTx(ctx, tx, before, ids); err != nil {
			return err
		}
		if err := h.s.ReviveTx(ctx, tx, by, ended); err != nil {
			return err
		}
		docs, _, err = Events.DocsTx(ctx, tx, ids)
		return err
	})
	if err != nil {
		return nil, err
	}
	response, err := envelopeOf(ctx, docs, nil)
	if err != nil {
		return nil, err
	}
	return withWarnings(response)
}

// Warnings is info in the answer to a change of events, where there are any.
type Warnings struct {
	Warnings []warning `json:"warnings"`
}

// warning is of one event.
type warning struct {
	ID      objectid.ID `json:"_id"`
	Field   string      `json:"field"`
	Message string      `json:"message"`
}

// withWarnings fills info when an event in the answer has less capacity than
// tickets issued.
func withWarnings(response *resource.Response) (*resource.Response, error) {
	var body httpapi.Envelope[json.RawMessage]
	if err := json.Unmarshal(response.Body, &body); err != nil {
		return nil, fmt.Errorf("read own answer: %w", err)
	}
	var warnings []warning
	for _, doc := range body.Docs {
		var e struct {
			ID            objectid.ID `json:"_id"`
			Capacity      *int        `json:"capacity"`
			TicketsIssued int         `json:"tickets_issued"`
		}
		if err := json.Unmarshal(doc, &e); err != nil {
			return nil, fmt.Errorf("read own document: %w", err)
		}
		if e.Capacity != nil && *e.Capacity < e.TicketsIssued {
			warnings = append(warnings, warning{ID: e.ID, Field: "capacity", Message: fmt.Sprintf(
				"%s issued already, more than the capacity of %d. What is issued stays valid; no more are issued.",
				issued(e.TicketsIssued), *e.Capacity)})
		}
	}
	if len(warnings) == 0 {
		return response, nil
	}
	body.Info = Warnings{warnings}
	return render(body)
}

// render writes an envelope whose documents Postgres made.
func render(body httpapi.Envelope[json.RawMessage]) (*resource.Response, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("write answer: %w", err)
	}
	return &resource.Response{ContentType: "application/json", Body: raw}, nil
}

func issued(n int) string {
	if n == 1 {
		return "1 ticket is"
	}
	return fault.Count(n, "ticket") + " are"
}
