package tickets

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/accounts"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/state"
	"marquee/platform/fault"
	"marquee/platform/jobs"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Templates of web/mail about an event.
const (
	mailCancelled = "ticket-event-cancelled"
	mailMoved     = "ticket-event-moved"
)

// eventPlace is when and where an event was.
type eventPlace struct {
	Start    time.Time  `json:"start"`
	End      *time.Time `json:"end,omitempty"`
	Location string     `json:"location"`
}

// eventMailArgs writes to one who has tickets of an event, whatever their number.
type eventMailArgs struct {
	EventID    objectid.ID `json:"event_id"`
	CustomerID objectid.ID `json:"customer_id"`
	Template   string      `json:"template"`
	Old        *eventPlace `json:"old,omitempty"` // of a moved event
}

// Kind names the job.
func (eventMailArgs) Kind() string { return "tickets_event_mail" }

// mailHoldersTx writes to each holder of a called off event once.
func (s *Service) mailHoldersTx(ctx context.Context, tx pgx.Tx, e event, template string, old *eventPlace) error {
	holders, err := s.db.TicketListHolders(ctx, tx, ticketsdb.TicketListHoldersParams{EventID: e.ID, WithConsumed: true})
	if err != nil {
		return fmt.Errorf("list holders: %w", err)
	}
	return s.mailTheseTx(ctx, tx, e.ID, holders, template, old)
}

func (s *Service) mailTheseTx(ctx context.Context, tx pgx.Tx, id objectid.ID, holders []objectid.ID, template string, old *eventPlace) error {
	for some := range slices.Chunk(holders, 1000) {
		all := make([]river.InsertManyParams, len(some))
		for i, holder := range some {
			all[i] = river.InsertManyParams{
				Args:       eventMailArgs{EventID: id, CustomerID: holder, Template: template, Old: old},
				InsertOpts: &river.InsertOpts{Queue: jobs.QueueMail},
			}
		}
		if _, err := s.jobs.InsertManyFastTx(ctx, tx, all); err != nil {
			return fmt.Errorf("queue mails: %w", err)
		}
	}
	return nil
}

// eventMail is what the templates show. Instants are in REPORT_TZ.
type eventMail struct {
	Name, Event    string
	Date, Location string
	End            string // "" where the event has none
	Old            *oldPlace
	Reason         string // of a called off event
	Total          string // reais that go back, "" when nothing was paid
	All            bool   // all goes back by itself
	Disputed       bool   // a bank has the money of an order
	Until          string // until when tickets may be given back; "" where they may not
	Links          []string
}

type oldPlace struct{ Date, End, Location string }

// sendEventMail writes to a holder. Who has deleted the account gets nothing, nor does who has
// no good ticket of a moved event any more.
func (s *Service) sendEventMail(ctx context.Context, args eventMailArgs) error {
	e, err := s.db.EventGet(ctx, s.pool, args.EventID)
	if postgres.IsNoRows(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read event: %w", err)
	}
	holder, err := s.accounts.CustomerByID(ctx, s.pool, args.CustomerID)
	if fault.Is(err, fault.Missing) {
		return nil
	}
	if err != nil {
		return err
	}
	if args.Template == mailMoved {
		holders, err := s.db.TicketListHolders(ctx, s.pool, ticketsdb.TicketListHoldersParams{EventID: e.ID})
		if err != nil || e.CancelledAt != nil || !slices.Contains(holders, holder.ID) {
			return err
		}
	}
	data, err := s.eventMailOf(ctx, e, holder, args)
	if err != nil {
		return err
	}
	message, err := s.templates.Render(args.Template, holder.Language, holder.Email, data)
	if err != nil {
		return fmt.Errorf("write mail: %w", err)
	}
	return s.mail.Send(ctx, message)
}

func (s *Service) eventMailOf(ctx context.Context, e event, holder accounts.Customer, args eventMailArgs) (eventMail, error) {
	in := func(t time.Time) string { return dateIn(holder.Language, t.In(s.cfg.Zone)) }
	end := func(t *time.Time) string {
		if t == nil {
			return ""
		}
		return in(*t)
	}
	data := eventMail{
		Name: holder.FullName, Event: e.Title, Date: in(e.EventDate), End: end(e.EventEndDate), Location: e.Location, Reason: text(e.CancelReason),
		All: text(e.CancelRefund) == refundAll,
	}
	if args.Old != nil {
		data.Old = &oldPlace{Date: in(args.Old.Start), End: end(args.Old.End), Location: args.Old.Location}
	}
	orders, err := s.db.OrderListPaidOf(ctx, s.pool, ticketsdb.OrderListPaidOfParams{CustomerID: holder.ID, EventID: e.ID})
	if err != nil {
		return data, fmt.Errorf("list orders: %w", err)
	}
	total, since := money.Cents(0), new(orTime(e.CancelledAt, s.clock.Now()))
	for _, o := range orders {
		if o.DisputedAt != nil {
			data.Disputed = true
			continue
		}
		tickets, err := s.db.TicketListOfOrder(ctx, s.pool, &o.ID)
		if err != nil {
			return data, fmt.Errorf("read tickets: %w", err)
		}
		if args.Template == mailMoved && slices.ContainsFunc(tickets, func(t ticket) bool { return t.Status == state.Consumed }) {
			continue // it cannot be given back
		}
		left, _, err := s.givenBackOf(ctx, s.pool, o, since)
		if err != nil {
			return data, err
		}
		total += left
		if until := e.RefundUntil; until != nil && until.After(s.clock.Now()) {
			data.Until = in(*until)
			if o.WithoutLogin || holder.EmailVerified { // else nobody knows whose mailbox it is
				data.Links = append(data.Links, s.withdrawalLink(o.ID, *until))
			}
		}
	}
	if total > 0 {
		data.Total = total.In(holder.Language)
	}
	return data, nil
}
