package mails

import (
	"context"
	"fmt"
	"slices"
	"time"

	"marquee/modules/accounts"
	"marquee/modules/tickets/events"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/state"
	"marquee/platform/fault"
	"marquee/platform/money"
	"marquee/platform/nullable"
	"marquee/platform/postgres"
)

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

// SendEventMail writes to a holder, unless the account is deleted or, of a moved event, no
// valid ticket is left.
func (s *Mails) SendEventMail(ctx context.Context, args events.MailArgs) error {
	e, err := s.db.EventGet(ctx, s.deps.Pool, args.EventID)
	if postgres.IsNoRows(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read event: %w", err)
	}
	holder, err := s.deps.Accounts.CustomerByID(ctx, s.deps.Pool, args.CustomerID)
	if fault.Is(err, fault.KindNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if args.Template == events.MailMoved {
		holders, err := s.db.TicketListHolders(ctx, s.deps.Pool, ticketsdb.TicketListHoldersParams{EventID: e.ID})
		if err != nil || e.CancelledAt != nil || !slices.Contains(holders, holder.ID) {
			return err
		}
	}
	data, err := s.eventMailOf(ctx, e, holder, args)
	if err != nil {
		return err
	}
	message, err := s.deps.Templates.Render(ctx, args.Template, holder.Language, holder.Email, data)
	if err != nil {
		return fmt.Errorf("write mail: %w", err)
	}
	return s.deps.Mail.Send(ctx, message)
}

func (s *Mails) eventMailOf(ctx context.Context, e events.Event, holder accounts.Customer,
	args events.MailArgs,
) (eventMail, error) {
	in := func(t time.Time) string { return dateIn(holder.Language, t.In(s.deps.Config.Zone)) }
	end := func(t *time.Time) string {
		if t == nil {
			return ""
		}
		return in(*t)
	}
	data := eventMail{
		Name: holder.FullName, Event: e.Title, Date: in(e.EventDate), End: end(e.EventEndDate), Location: e.Location,
		Reason: nullable.Value(e.CancelReason),
		All:    nullable.Value(e.CancelRefund) == events.RefundAll,
	}
	if args.Old != nil {
		data.Old = &oldPlace{Date: in(args.Old.Start), End: end(args.Old.End), Location: args.Old.Location}
	}
	orders, err := s.db.OrderListPaidOf(ctx, s.deps.Pool,
		ticketsdb.OrderListPaidOfParams{CustomerID: holder.ID, EventID: e.ID})
	if err != nil {
		return data, fmt.Errorf("list orders: %w", err)
	}
	total, since := money.Cents(0), e.CancelledAt
	if since == nil {
		since = new(s.deps.Clock.Now())
	}
	for _, o := range orders {
		if o.DisputedAt != nil {
			data.Disputed = true
			continue
		}
		tickets, err := s.db.TicketListOfOrder(ctx, s.deps.Pool, &o.ID)
		if err != nil {
			return data, fmt.Errorf("read tickets: %w", err)
		}
		if args.Template == events.MailMoved &&
			slices.ContainsFunc(tickets, func(t events.Ticket) bool { return t.Status == state.Consumed }) {
			continue // it cannot be given back
		}
		left, _, err := s.deps.Orders.GivenBackOf(ctx, s.deps.Pool, o, since)
		if err != nil {
			return data, err
		}
		total += left
		if until := e.RefundUntil; until != nil && until.After(s.deps.Clock.Now()) {
			data.Until = in(*until)
			if o.WithoutLogin || holder.EmailVerified { // else nobody knows whose mailbox it is
				data.Links = append(data.Links, s.deps.Links.Link(o.ID, *until))
			}
		}
	}
	if total > 0 {
		data.Total = total.In(holder.Language)
	}
	return data, nil
}
