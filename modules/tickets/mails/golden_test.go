package mails

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/tickets/door"
	"marquee/modules/tickets/events"
	"marquee/modules/tickets/orders"
	"marquee/platform/mail"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/testutil/golden"
	"marquee/web"
)

// TestMailsAsPeopleReadThem pins each mail of the module in both languages, as
// HTML and as text.
func TestMailsAsPeopleReadThem(t *testing.T) {
	t.Parallel()
	templates, err := mail.ParseTemplates(web.Mail())
	require.NoError(t, err)
	keys := door.NewKeys([]byte("0123456789abcdef0123456789abcdef"), nil)
	var tickets []mailTicket
	for n, id := range []objectid.ID{"66f0a1b2c3d4e5f607182a01", "66f0a1b2c3d4e5f607182a02"} {
		tickets = append(tickets, mailTicket{
			Number: n + 1, CID: "ticket" + id.String(),
			Code: keys.Sign(door.Content{TicketID: id, EventID: "66f0a1b2c3d4e5f607182e01"}).Text(),
		})
	}
	for _, language := range []string{"pt", "en"} {
		date := dateIn(language, time.Date(2026, time.December, 1, 19, 30, 0, 0, time.UTC))
		paid := orderMail{
			Name: "Ana <Souza> & Filhos", Event: "Estreia: Canções do Mar", Date: date,
			Location: "Cine Ipiranga, São Paulo", Total: money.Cents(124100).In(language), Tickets: tickets,
		}
		free := orderMail{Event: "Palestra", Date: date, Free: true, Tickets: tickets[:1]}
		withdrawable, late := paid, paid
		withdrawable.Until, withdrawable.Link, late.CalledOff = date,
			"https://api.example.com/api/v1/store/ticket-orders/withdraw#66f0a1b2c3d4e5f607182a01.6a0b.mac", true
		open := paid
		open.Pix = &mailCode{
			Payload: "00020126580014br.gov.bcb.pix<&>", CID: "pix.66f0a1b2c3d4e5f607182a01", Until: date,
		}
		for name, c := range map[string]struct {
			template string
			data     orderMail
		}{
			"confirmation":              {orders.MailConfirmation, paid},
			"confirmation-free":         {orders.MailConfirmation, free},
			"refund":                    {orders.MailRefund, paid},
			"pix":                       {orders.MailPix, open},
			"nothing-owed":              {orders.MailNotOwed, paid},
			"confirmation-withdrawable": {orders.MailConfirmation, withdrawable},
			"refund-called-off":         {orders.MailRefund, late},
		} {
			m, err := templates.Render(t.Context(), c.template, language, "ana@example.com", c.data)
			require.NoError(t, err)
			path := "testdata/mail/" + name + "." + language
			golden.Equal(t, path+".html", m.HTML)
			golden.Equal(t, path+".txt", "Subject: "+m.Subject+"\n\n"+m.Text)
		}
		off := eventMail{
			Name: "Ana <Souza> & Filhos", Event: "Estreia: Canções do Mar", Date: date,
			Location: "Cine Ipiranga, São Paulo", Reason: "The projector <burned> down.",
			Total: money.Cents(124100).In(language), All: true, Disputed: true,
		}
		onRequest := off
		onRequest.All, onRequest.Disputed, onRequest.Until, onRequest.Links = false, false, date, []string{
			withdrawable.Link, withdrawable.Link,
		}
		moved := onRequest
		moved.End, moved.Old = date, &oldPlace{Date: date, Location: "Teatro <Municipal>"}
		gratis := eventMail{Event: "Palestra", Date: date, Reason: "It rains.", All: true}
		account := moved
		account.Links, account.End = nil, ""
		for name, c := range map[string]struct {
			template string
			data     eventMail
		}{
			"event-cancelled":            {events.MailCancelled, off},
			"event-cancelled-on-request": {events.MailCancelled, onRequest},
			"event-cancelled-free":       {events.MailCancelled, gratis},
			"event-moved":                {events.MailMoved, moved},
			"event-moved-account":        {events.MailMoved, account},
		} {
			m, err := templates.Render(t.Context(), c.template, language, "ana@example.com", c.data)
			require.NoError(t, err)
			path := "testdata/mail/" + name + "." + language
			golden.Equal(t, path+".html", m.HTML)
			golden.Equal(t, path+".txt", "Subject: "+m.Subject+"\n\n"+m.Text)
		}
	}
}
