package events

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/platform/fault"
	"marquee/platform/objectid"
	"marquee/platform/query"
	"marquee/platform/resource"
)

// Constraints that people can run into.
const (
	ConstraintCapacity    = "events_capacity_respected"
	constraintTicketEvent = "tickets_event_known"
	constraintOrderEvent  = "orders_event_known"
)

// EventTypes are the values of event_type.
var EventTypes = []string{"movie_premiere", "lecture", "screening", "other"}

// maxCents bounds a ticket's price: a million reais.
const maxCents = 100_000_000

// Events is the collection of events (docs/contract/tickets.md, Events).
var Events = resource.New(resource.Definition{
	Name: "events", Singular: "Event", Table: "tickets.events", Search: "t.search",
	Fields: slices.Concat([]resource.Field{
		{Name: "code", Kind: query.String, Nullable: true, Doc: "Unique, kept in upper case", Rule: resource.Rule{
			MinLength: 1, MaxLength: 50, Pattern: `^[A-Za-z0-9]+([ ._-][A-Za-z0-9]+)*$`,
			Means: "letters and digits with single hyphens, dots, underscores or spaces between them",
		}},
		{Name: "title", Kind: query.String, Rule: resource.Rule{Required: true, MinLength: 1, MaxLength: 200}},
		{Name: "description", Kind: query.String, Rule: resource.Rule{Default: "", MaxLength: 1000}},
		{Name: "event_type", Kind: query.String, Rule: resource.Rule{Default: "other", Enum: EventTypes}},
		{Name: "event_date", Kind: query.Date, Rule: resource.Rule{Required: true}, Doc: "Start"},
		{Name: "event_end_date", Kind: query.Date, Nullable: true, Doc: "End; null means three hours after the start"},
		{Name: "location", Kind: query.String, Rule: resource.Rule{Default: "", MaxLength: 500}},
		{
			Name: "capacity", Kind: query.Int, Nullable: true, Rule: resource.Rule{Min: new(int64(0))},
			Doc: "Null is unlimited",
		},
		{
			Name: "max_per_person", Kind: query.Int, Nullable: true, Rule: resource.Rule{Min: new(int64(1))},
			Doc: "Places that one person may buy, paid or held; null is no limit",
		},
		{Name: "tickets_issued", Kind: query.Int, Write: resource.ReadOnly, Doc: "Tickets that hold a place"},
		{
			Name: "ticket_value", Column: "ticket_value_cents", Kind: query.Cents, Nullable: true,
			Rule: resource.Rule{Min: new(int64(0)), Max: new(int64(maxCents))},
			Doc:  "Reais a ticket; null is free",
		},
		{
			Name: "is_sale_box_office", Kind: query.Bool, Rule: resource.Rule{Default: false},
			Doc: "On sale in the store",
		},
		{Name: "image_id", Kind: query.OID, Nullable: true, Doc: "File id"},
		{Name: "is_active", Kind: query.Bool, Rule: resource.Rule{Default: true}},
		{
			Name: "cancelled_at", Kind: query.Date, Nullable: true, Write: resource.ReadOnly,
			Doc: "When it was called off: its tickets are blocked",
		},
		{
			Name: "cancel_reason", Kind: query.String, Nullable: true, Write: resource.ReadOnly,
			Doc: "The reason given to ticket holders",
		},
		{
			Name: "refund_until", Kind: query.Date, Nullable: true,
			Doc: "Until when holders may give their orders back, whatever the limits of withdrawal; set by moving the event: seven days, or its start if that is sooner",
		},
	}, resource.RatingFields(), []resource.Field{
		{Name: "created_at", Expr: "t.register_date", Kind: query.Date},
		{Name: "updated_at", Expr: "t.register_update_date", Kind: query.Date},
	}),
	Constraints: map[string]resource.Violation{
		"events_code_unique": {Field: "code", Message: "is already taken"},
		"events_end_after_start": {
			Kind: fault.KindInvalid, Field: "event_end_date", Message: "has to be after event_date",
		},
		"events_cancelled_is_closed": {Field: "is_active", Message: "stays false: the event is called off"},
		constraintTicketEvent:        {Message: "The event has tickets and cannot be deleted."},
		constraintOrderEvent:         {Message: "The event has been sold and cannot be deleted."},
	},
	Hooks: resource.Hooks{BeforeCreate: foldCodes, BeforeUpdate: beforeEventUpdate, BeforeDelete: dropUnsold},
})

func beforeEventUpdate(ctx context.Context, tx pgx.Tx, records []*resource.Record) error {
	if err := guardCancelled(ctx, tx, records); err != nil {
		return err
	}
	return foldCodes(ctx, tx, records)
}

// foldCodes brings codes into upper case.
func foldCodes(_ context.Context, _ pgx.Tx, records []*resource.Record) error {
	for _, rec := range records {
		if code, ok := rec.Value("code"); ok {
			if text, ok := code.(string); ok {
				rec.Set("code", strings.ToUpper(text))
			}
		}
	}
	return nil
}

// dropUnsold takes away places that were released unpaid; everything else that
// an event has keeps it from being deleted (docs/contract/tickets.md, Events).
func dropUnsold(ctx context.Context, tx pgx.Tx, ids []objectid.ID) error {
	db := ticketsdb.New()
	if err := db.EventDropUnheldTickets(ctx, tx, objectid.Strings(ids)); err != nil {
		return err
	}
	return db.EventDropUnpaidOrders(ctx, tx, objectid.Strings(ids))
}

// Sellable says why an event is not for sale: 400 not for sale, 400 over
// (docs/contract/tickets.md, The store); nil when it is.
func Sellable(e Event, now time.Time) error {
	if !e.IsSaleBoxOffice || !e.IsActive {
		return fault.BadRequest("The event is not for sale.").WithField("event_id")
	}
	if !e.EndsAt.After(now) {
		return errEnded().WithField("event_id")
	}
	return nil
}

// SellableAtBoxOffice says why an event is not sold at the counter: 400 switched off, as one that is called off is, or
// over; nil when it is, whether the store shows it or not.
func SellableAtBoxOffice(e Event, now time.Time) error {
	if !e.IsActive {
		return fault.BadRequest("The event is not for sale.").WithField("id")
	}
	if !e.EndsAt.After(now) {
		return errEnded().WithField("id")
	}
	return nil
}

// Event is a row as the database holds it.
type Event = ticketsdb.EventGetRow

// LockTx reads the event and keeps others from issuing tickets to it.
func (s *Store) LockTx(ctx context.Context, tx pgx.Tx, id objectid.ID) (Event, error) {
	row, err := s.db.EventLock(ctx, tx, id)
	return Event(row), err
}
