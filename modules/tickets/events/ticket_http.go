package events

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/resource"
)

type createTicketInput struct {
	Body struct {
		CustomerID  objectid.ID  `json:"customer_id" pattern:"^[0-9a-fA-F]{24}$"`
		EventID     objectid.ID  `json:"event_id" pattern:"^[0-9a-fA-F]{24}$"`
		Title       string       `json:"title" required:"false" maxLength:"200" doc:"Default: the event's title"`
		Description string       `json:"description" required:"false" maxLength:"1000"`
		ImageID     *objectid.ID `json:"image_id" required:"false" nullable:"true" pattern:"^[0-9a-fA-F]{24}$"`
	}
}

// CreateTicket answers POST /tickets: an admin gives a customer a ticket.
func (h Handlers) CreateTicket(ctx context.Context, in *createTicketInput) (*resource.Response, error) {
	b := in.Body
	eventID, _ := objectid.Parse(b.EventID.String())
	customerID, _ := objectid.Parse(b.CustomerID.String())
	admin := httpapi.CallerOf(ctx).ID
	var ids []objectid.ID
	err := postgres.InTx(ctx, h.s.deps.Pool, func(tx pgx.Tx) (err error) {
		ids, err = h.s.IssueTx(ctx, tx, Issue{
			EventID: eventID, CustomerIDs: []objectid.ID{customerID}, Title: b.Title, Description: b.Description,
			ImageID: b.ImageID, ActorID: &admin,
		})
		if err != nil {
			return err
		}
		return Tickets.AuditNewTx(ctx, tx, ids)
	})
	if err != nil {
		return nil, err
	}
	return h.s.TicketEnvelope(ctx, ids[0])
}

// UpdateTickets answers PUT /tickets. Orders and events are locked before the tickets, as
// everywhere.
func (h Handlers) UpdateTickets(ctx context.Context, in *resource.BodyInput) (*resource.Response, error) {
	by := resource.Actor{ID: httpapi.CallerOf(ctx).ID, Now: h.s.deps.Clock.Now()}
	var docs []byte
	err := postgres.InTx(ctx, h.s.deps.Pool, func(tx pgx.Tx) error {
		if err := lockOrdersAndEvents(ctx, tx, resource.IDs(in.Body)); err != nil {
			return err
		}
		ids, err := Tickets.UpdateTx(ctx, tx, by, in.Body)
		if err != nil {
			return err
		}
		docs, _, err = Tickets.DocsTx(ctx, tx, ids)
		return err
	})
	if err != nil {
		return nil, err
	}
	return envelopeOf(ctx, docs, nil)
}

// ListCallerTickets answers GET /me/tickets with the parameters of any collection;
// 404 for the _id of somebody else's ticket.
func (h Handlers) ListCallerTickets(ctx context.Context, _ *resource.GetInput) (*resource.Response, error) {
	me, err := h.s.deps.Accounts.CustomerByID(ctx, h.s.deps.Pool, httpapi.CallerOf(ctx).ID)
	if err != nil {
		return nil, err
	}
	view := CallerTickets[me.EmailVerified]
	params, err := view.ParseParams(httpapi.RequestURL(ctx))
	if err != nil {
		return nil, err
	}
	params.Only = ofCustomer(me.ID)
	list, err := view.Prepare(params)
	if err != nil {
		return nil, err
	}
	if err := list.Run(ctx, h.s.deps.Lists.Primary()); err != nil {
		return nil, resource.Report(ctx, h.s.deps.Log, err)
	}
	return list.Envelope(ctx), nil
}

// ofCustomer narrows a list to a customer's tickets.
func ofCustomer(id objectid.ID) []resource.Only {
	return []resource.Only{{Field: "customer_id", Value: id.String()}}
}

// TicketSearch makes tickets searchable as they may be listed: all of them by
// admins, their own by a customer.
func (s *Store) TicketSearch() resource.Searchable {
	return resource.Searchable{
		Name: "tickets",
		View: func(ctx context.Context) (*resource.View, error) {
			caller := httpapi.CallerOf(ctx)
			if caller.IsAdmin() {
				return Tickets.View, nil
			}
			me, err := s.deps.Accounts.CustomerByID(ctx, s.deps.Pool, caller.ID)
			return CallerTickets[me.EmailVerified], err
		},
		Only: func(ctx context.Context) []resource.Only {
			if caller := httpapi.CallerOf(ctx); !caller.IsAdmin() {
				return ofCustomer(caller.ID)
			}
			return nil
		},
	}
}

// TicketInput names a ticket in the path.
type TicketInput struct {
	TicketID string `path:"ticket_id"`
}

// CallerTicket reads a ticket that the caller may see as their own: 404 for somebody
// else's, and for a guest's before the address is verified.
func (s *Store) CallerTicket(ctx context.Context, customerID objectid.ID, path string) (Ticket, error) {
	t, err := s.TicketByPath(ctx, path)
	if err != nil {
		return t, err
	}
	if t.CustomerID != customerID {
		return Ticket{}, ErrNoTicket()
	}
	if t.WithoutLogin {
		me, err := s.deps.Accounts.CustomerByID(ctx, s.deps.Pool, customerID)
		if err != nil {
			return Ticket{}, err
		}
		if !me.EmailVerified {
			return Ticket{}, ErrNoTicket()
		}
	}
	return t, nil
}

// TicketByPath reads a ticket by its id in the path: 404 for one that is not there.
func (s *Store) TicketByPath(ctx context.Context, path string) (Ticket, error) {
	id, err := objectid.Parse(path)
	if err != nil {
		return Ticket{}, fault.InvalidAt(err.Error(), "path", "ticket_id")
	}
	t, err := s.db.TicketGet(ctx, s.deps.Pool, id)
	if postgres.IsNoRows(err) {
		return Ticket{}, ErrNoTicket()
	}
	if err != nil {
		return Ticket{}, fmt.Errorf("read ticket: %w", err)
	}
	return t, nil
}

// ErrNoTicket is 404.
func ErrNoTicket() *fault.Error { return fault.NotFound("Ticket") }

// TicketEnvelope is the envelope with one ticket.
func (s *Store) TicketEnvelope(ctx context.Context, id objectid.ID) (*resource.Response, error) {
	docs, n, err := Tickets.DocsTx(ctx, s.deps.Pool, []objectid.ID{id})
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, ErrNoTicket()
	}
	return envelopeOf(ctx, docs, nil)
}

// envelopeOf wraps documents that Postgres made.
func envelopeOf(ctx context.Context, docs []byte, info any) (*resource.Response, error) {
	all := []json.RawMessage{}
	if err := json.Unmarshal(append(append([]byte{'['}, docs...), ']'), &all); err != nil {
		return nil, fmt.Errorf("read own documents: %w", err)
	}
	return render(httpapi.Envelope[json.RawMessage]{
		Docs: all, Msg: "ok", Info: info,
		Links:      []httpapi.Link{{LinkType: "GET", Rel: "self", Href: httpapi.SelfURL(ctx)}},
		Pagination: httpapi.Pagination{QtyDocsPage: len(all), QtyOfPages: 1, QtyTotalDocs: len(all)},
	})
}
