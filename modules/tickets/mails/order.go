package mails

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/tickets/door"
	"marquee/modules/tickets/orders"
	"marquee/modules/tickets/state"
	"marquee/platform/fault"
	"marquee/platform/mail"
	"marquee/platform/money"
)

// orderMail is what the templates show.
type orderMail struct {
	Name     string // of the buyer; may be empty
	Event    string
	Date     string // in REPORT_TZ
	Location string
	Total    string // reais
	Free     bool   // nothing was to be paid
	Tickets  []mailTicket
	Pix      *mailCode
	// CalledOff: the money arrived when its event was.
	CalledOff bool
	// Until when the order may be given back by Link, in REPORT_TZ; "" where it may not.
	Until, Link string
}

// mailCode is a PIX that can be paid.
type mailCode struct {
	Payload string
	CID     string // of the picture
	Until   string // in REPORT_TZ
}

type mailTicket struct {
	Number int
	CID    string // of the picture
	Code   string
}

// SendMail writes to the buyer. Nobody is written to whose account is deleted.
func (s *Mails) SendMail(ctx context.Context, args orders.MailArgs) error {
	o, err := s.db.OrderGet(ctx, s.deps.Pool, args.OrderID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read order: %w", err)
	}
	if overtaken(o, args.Template, s.deps.Clock.Now()) {
		return nil
	}
	buyer, err := s.deps.Accounts.CustomerByID(ctx, s.deps.Pool, o.CustomerID)
	if fault.Is(err, fault.KindNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	e, err := s.db.EventGet(ctx, s.deps.Pool, o.EventID)
	if err != nil {
		return fmt.Errorf("read event: %w", err)
	}
	data := orderMail{
		Name: buyer.FullName, Event: e.Title, Date: dateIn(buyer.Language, e.EventDate.In(s.deps.Config.Zone)),
		Location: e.Location,
		Total:    money.Cents(o.TotalCents).In(buyer.Language), Free: o.TotalCents == 0,
		CalledOff: e.CancelledAt != nil,
	}
	var pictures []mail.Inline
	switch args.Template {
	case orders.MailConfirmation:
		if data.Tickets, pictures, err = s.drawTickets(ctx, o); err != nil || len(data.Tickets) == 0 {
			return err
		}
		if until, _ := s.deps.Orders.WithdrawalUntil(e, o); until != nil && until.After(s.deps.Clock.Now()) {
			data.Until = dateIn(buyer.Language, until.In(s.deps.Config.Zone))
			data.Link = s.deps.Links.Link(o.ID, e.EndsAt.Add(linkLater))
		}
	case orders.MailPix:
		data.Pix = &mailCode{
			Payload: *o.PixPayload, CID: "pix." + o.ID.String(),
			Until: dateIn(buyer.Language, o.HoldUntil.In(s.deps.Config.Zone)),
		}
		png, err := door.QRPNG(*o.PixPayload)
		if err != nil {
			return fmt.Errorf("draw PIX code: %w", err)
		}
		pictures = []mail.Inline{{ID: data.Pix.CID, Name: "pix.png", ContentType: "image/png", Data: png}}
	}
	message, err := s.deps.Templates.Render(ctx, args.Template, buyer.Language, buyer.Email, data)
	if err != nil {
		return fmt.Errorf("write mail: %w", err)
	}
	message.Inline = append(message.Inline, pictures...)
	return s.deps.Mail.Send(ctx, message)
}

// overtaken reports whether what a mail was to tell is no longer so.
func overtaken(o orders.Order, template string, now time.Time) bool {
	switch template {
	case orders.MailPix:
		return !o.Payable(now)
	case orders.MailNotOwed:
		return o.State != state.Released // money has come after all, and has its own mail
	}
	return false
}

// drawTickets draws the codes of an order's tickets that are good.
func (s *Mails) drawTickets(ctx context.Context, o orders.Order) ([]mailTicket, []mail.Inline, error) {
	tickets, err := s.db.TicketListOfOrder(ctx, s.deps.Pool, &o.ID)
	if err != nil {
		return nil, nil, fmt.Errorf("read tickets: %w", err)
	}
	var listed []mailTicket
	var pictures []mail.Inline
	for _, t := range tickets {
		if t.Status != state.Available {
			continue
		}
		code := s.deps.Door.CodeOf(t.ID, t.EventID)
		png, err := door.QRPNG(code.Picture())
		if err != nil {
			return nil, nil, fmt.Errorf("draw code: %w", err)
		}
		n := len(listed) + 1
		cid := fmt.Sprintf("ticket%d.%s", n, t.ID)
		listed = append(listed, mailTicket{Number: n, CID: cid, Code: code.Text()})
		pictures = append(pictures, mail.Inline{
			ID: cid, Name: fmt.Sprintf("ticket-%d.png", n), ContentType: "image/png", Data: png,
		})
	}
	return listed, pictures, nil
}

func dateIn(language string, t time.Time) string {
	if language == "en" {
		return t.Format("January 2, 2006, 15:04")
	}
	return t.Format("02/01/2006, 15:04")
}

// linkLater is how long after its event a link in a confirmation still tells why it is too late.
const linkLater = 24 * time.Hour
