package events

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/state"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/query"
	"marquee/platform/resource"
)

// Tickets is the collection of tickets (docs/contract/tickets.md, A ticket).
var Tickets = resource.New(resource.Definition{
	Name: "tickets", Singular: "Ticket", Table: "tickets.tickets", Search: "t.search",
	From: "tickets.tickets t JOIN tickets.events e ON e.id = t.event_id JOIN tickets.customers c ON c.id = t.customer_id LEFT JOIN tickets.orders o ON o.id = t.order_id",
	Fields: []resource.Field{
		{Name: "event_id", Kind: query.OID, Write: resource.Once, Rule: resource.Rule{Required: true}},
		{Name: "customer_id", Kind: query.OID, Write: resource.Once, Rule: resource.Rule{Required: true}},
		{
			Name: "ticket_order_id", Expr: "t.order_id", Kind: query.OID, Nullable: true,
			Doc: "Null when an admin or a promo code issued it",
		},
		{Name: "title", Kind: query.String, Rule: resource.Rule{Required: true, MinLength: 1, MaxLength: 200}},
		{Name: "description", Kind: query.String, Nullable: true, Rule: resource.Rule{MaxLength: 1000}},
		{
			Name: "status", Kind: query.String,
			Rule: resource.Rule{
				Default: string(state.Available),
				Enum: []string{
					string(state.Pending), string(state.Available), string(state.Consumed), string(state.Expired),
				},
			},
		},
		{
			Name: "blocked", Expr: "tickets.blocked(t.status, t.refund_id, o.disputed_at, e.cancelled_at)",
			Kind: query.String, Nullable: true,
			Doc: "Why the door refuses the ticket although its status is good: refund_requested, event_cancelled, payment_disputed; null when nothing blocks it",
		},
		{Name: "promo_code_id", Kind: query.OID, Nullable: true, Write: resource.ReadOnly},
		{Name: "promo_code", Kind: query.String, Nullable: true, Write: resource.ReadOnly},
		{Name: "consumed_at", Kind: query.Date, Nullable: true, Write: resource.ReadOnly},
		{Name: "image_id", Kind: query.OID, Nullable: true},
		{Name: "created_at", Expr: "t.register_date", Kind: query.Date},
		{Name: "updated_at", Expr: "t.register_update_date", Kind: query.Date},
		{Name: "customer_name", Expr: "c.name", Kind: query.String},
		{Name: "customer_email", Expr: "c.email", Kind: query.String},
		{Name: "event_title", Expr: "e.title", Kind: query.String},
		{Name: "event_date", Expr: "e.event_date", Kind: query.Date},
		{Name: "event_location", Expr: "e.location", Kind: query.String},
	},
	Constraints: map[string]resource.Violation{
		ConstraintCapacity: {Message: "The event is sold out: the ticket cannot take a place again."},
	},
	Hooks: resource.Hooks{BeforeUpdate: setEditReason, BeforeDelete: guardDeletes},
})

// CallerTickets is what a customer sees of their tickets: all, or, while the address
// is not verified, those that were bought logged in (docs/contract/accounts.md, Customers).
var CallerTickets = map[bool]*resource.View{true: Tickets.View, false: Tickets.Restrict("NOT t.without_login")}

// setEditReason gives the history its reason and actor.
func setEditReason(ctx context.Context, tx pgx.Tx, records []*resource.Record) error {
	if err := guardEdits(ctx, tx, records); err != nil {
		return err
	}
	for _, rec := range records {
		if status, ok := rec.Value("status"); ok {
			as, _ := status.(string)
			rec.Set("reason", state.Tickets.ReasonOf(state.TicketEdited(state.Ticket(as))))
			rec.Set("actor_id", httpapi.CallerOf(ctx).ID.String())
		}
	}
	return nil
}

// Issue is tickets to be issued without an order: by an admin, or by a promo
// code.
type Issue struct {
	EventID     objectid.ID
	CustomerIDs []objectid.ID // one ticket each; the same customer may stand there more than once
	Title       string        // default: the event's
	Description string
	ImageID     *objectid.ID
	PromoCodeID *objectid.ID
	PromoCode   string
	ActorID     *objectid.ID // the admin; nil for the customer
}

// IssueTx issues tickets, good at once, and returns their ids. Errors: 404 for an
// unknown event or customer, 400 when the event is over, 409 when it is called off, and when
// there are fewer places than tickets.
func (s *Store) IssueTx(ctx context.Context, tx pgx.Tx, in Issue) ([]objectid.ID, error) {
	if err := s.KeepCustomersTx(ctx, tx, in.CustomerIDs...); err != nil {
		return nil, err
	}
	e, err := s.LockTx(ctx, tx, in.EventID)
	if postgres.IsNoRows(err) {
		return nil, fault.NotFound("Event")
	}
	if err != nil {
		return nil, fmt.Errorf("lock event: %w", err)
	}
	now := s.deps.Clock.Now()
	if e.CancelledAt != nil {
		return nil, fault.Conflict("The event is called off: no tickets to it are given.")
	}
	if !e.EndsAt.After(now) {
		return nil, errEnded()
	}
	if strings.TrimSpace(in.Title) == "" {
		in.Title = e.Title
	}
	if in.ImageID == nil {
		in.ImageID = e.ImageID
	}
	by := state.TicketGiven
	if in.PromoCodeID != nil {
		by = state.TicketRedeemed
	}
	ids, err := s.db.TicketInsert(ctx, tx, ticketsdb.TicketInsertParams{
		EventID: e.ID, Title: in.Title, Description: nullable.Ptr(strings.TrimSpace(in.Description)),
		Reason: state.Tickets.ReasonOf(by), ActorID: in.ActorID,
		PromoCodeID: in.PromoCodeID, PromoCode: nullable.Ptr(in.PromoCode), ImageID: in.ImageID, Now: now,
		CustomerIds: objectid.Strings(in.CustomerIDs),
	})
	if postgres.Constraint(err) == ConstraintCapacity {
		return nil, ErrSoldOut()
	}
	if err != nil {
		return nil, fmt.Errorf("issue tickets: %w", err)
	}
	return ids, nil
}

// KeepCustomersTx keeps the names of customers who are about to have tickets; 404
// for one who is not there. Customers are locked before events, so who issues to
// several customers, one IssueTx after the other, calls it for all of them first.
func (s *Store) KeepCustomersTx(ctx context.Context, tx pgx.Tx, ids ...objectid.ID) error {
	known, err := s.deps.Accounts.CustomersByID(ctx, tx, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, ok := known[id]; !ok {
			return fault.NotFound("Customer")
		}
	}
	return s.KeepNamesTx(ctx, tx, known)
}

// KeepNamesTx keeps the names of customers who are about to have tickets, with the transaction's next
// statement.
func (s *Store) KeepNamesTx(ctx context.Context, tx pgx.Tx, customers map[objectid.ID]accounts.Customer) error {
	var p ticketsdb.CustomerKeepManyParams
	for id, c := range customers {
		p.Ids, p.Names, p.Emails = append(p.Ids, id.String()), append(p.Names, NameOf(c)), append(p.Emails, c.Email)
	}
	if err := s.db.CustomerKeepMany(ctx, postgres.Later(tx), p); err != nil {
		return fmt.Errorf("keep customers' names: %w", err)
	}
	return nil
}

// NameOf is what a customer is called.
func NameOf(c accounts.Customer) string {
	if c.FullName != "" {
		return c.FullName
	}
	return c.Username
}

// CustomerChangedTx takes a new name or e-mail of a customer to their tickets. It
// belongs into the transaction that changes them.
func (s *Store) CustomerChangedTx(ctx context.Context, tx pgx.Tx, c accounts.Customer) error {
	return s.db.CustomerUpdate(ctx, tx, ticketsdb.CustomerUpdateParams{ID: c.ID, Name: NameOf(c), Email: c.Email})
}

// ErrSoldOut is 409.
func ErrSoldOut() *fault.Error { return fault.Conflict("The event is sold out.") }

func errEnded() *fault.Error {
	return fault.BadRequest("The event is over: tickets are no longer sold.")
}

// Ticket is a row as the database holds it.
type Ticket = ticketsdb.Ticket
