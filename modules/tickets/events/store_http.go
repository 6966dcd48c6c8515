package events

import (
	"context"
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Reais is an amount that the API shows as decimal reais.
type Reais money.Cents

// MarshalJSON writes two decimals.
func (r Reais) MarshalJSON() ([]byte, error) { return json.Marshal(money.Reais(r)) }

// Schema is a number.
func (Reais) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeNumber, Description: "Reais"}
}

// storeEvent is an event as the store shows it (docs/contract/tickets.md, The store).
type storeEvent struct {
	ID               objectid.ID   `json:"_id"`
	Title            string        `json:"title"`
	Description      string        `json:"description"`
	EventType        string        `json:"event_type"`
	EventDate        httpapi.Time  `json:"event_date"`
	EventEndDate     *httpapi.Time `json:"event_end_date" nullable:"true"`
	Location         string        `json:"location"`
	TicketValue      *Reais        `json:"ticket_value" nullable:"true" doc:"Reais; null is free"`
	ImageID          *objectid.ID  `json:"image_id" nullable:"true"`
	ImageURL         *string       `json:"image_url" nullable:"true" doc:"Public"`
	Capacity         *int32        `json:"capacity" nullable:"true"`
	TicketsIssued    int32         `json:"tickets_issued"`
	AvailableTickets *int32        `json:"available_tickets" nullable:"true" doc:"Null is unlimited"`
	MaxPerPerson     *int32        `json:"max_per_person" nullable:"true" doc:"Places that one person may buy; null is no limit"`
	IsSaleBoxOffice  bool          `json:"is_sale_box_office"`
	AgeRating        *string       `json:"age_rating" nullable:"true" enum:"L,10,12,14,16,18" doc:"L is for everybody; null is not rated"`
	RatingReasons    []string      `json:"rating_reasons" nullable:"false" doc:"What the rating is for"`
}

func (s *Store) storeEventOf(e Event) storeEvent {
	out := storeEvent{
		ID: e.ID, Title: e.Title, Description: e.Description, EventType: e.EventType,
		EventDate:    httpapi.Time(e.EventDate),
		EventEndDate: httpapi.TimePtr(e.EventEndDate), Location: e.Location, ImageID: e.ImageID, Capacity: e.Capacity,
		TicketsIssued: e.TicketsIssued, MaxPerPerson: e.MaxPerPerson, IsSaleBoxOffice: e.IsSaleBoxOffice,
		AgeRating: e.AgeRating, RatingReasons: e.RatingReasons,
	}
	if e.TicketValueCents != nil {
		out.TicketValue = new(Reais(*e.TicketValueCents))
	}
	if e.ImageID != nil {
		out.ImageURL = new(s.deps.Files.PublicURL(*e.ImageID))
	}
	if e.Capacity != nil {
		out.AvailableTickets = new(max(*e.Capacity-e.TicketsIssued, 0))
	}
	return out
}

type storeBody struct {
	Events []storeEvent `json:"events"`
}

// ListStore answers GET /store/events, the next event first.
func (h Handlers) ListStore(ctx context.Context, _ *struct{}) (*httpapi.Output[storeBody], error) {
	if err := httpapi.HeadEnds(ctx); err != nil {
		return nil, err
	}
	var rows []ticketsdb.EventListOnSaleRow
	err := h.s.deps.Lists.Read(ctx, func(ctx context.Context, db postgres.Pool) (err error) {
		rows, err = h.s.db.EventListOnSale(ctx, db, h.s.deps.Clock.Now())
		return err
	})
	if err != nil {
		return nil, err
	}
	body := storeBody{Events: make([]storeEvent, len(rows))}
	for i, e := range rows {
		body.Events[i] = h.s.storeEventOf(Event(e))
	}
	return httpapi.OK(body)
}

type storeEventInput struct {
	EventID string `path:"event_id"`
}

// GetStoreEvent answers GET /store/events/{event_id}; 404 for one that the list
// does not show.
func (h Handlers) GetStoreEvent(ctx context.Context, in *storeEventInput) (*httpapi.Output[storeEvent], error) {
	id, err := objectid.Parse(in.EventID)
	if err != nil {
		return nil, fault.InvalidAt(err.Error(), "path", "event_id")
	}
	var e Event
	err = h.s.deps.Lists.Read(ctx, func(ctx context.Context, db postgres.Pool) (err error) {
		e, err = h.s.db.EventGet(ctx, db, id)
		return err
	})
	if postgres.IsNoRows(err) || err == nil && Sellable(e, h.s.deps.Clock.Now()) != nil {
		return nil, fault.NotFound("Event")
	}
	if err != nil {
		return nil, err
	}
	return httpapi.OK(h.s.storeEventOf(e))
}
