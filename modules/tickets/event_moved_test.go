package tickets_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/payments/paymentstest"
)

// TestAMovedEventTellsItsHolders: by half an hour or more, at once or bit by bit, or elsewhere,
// what it was and is, in the report's time zone; and they may give back whatever the limits.
func TestAMovedEventTellsItsHolders(t *testing.T) {
	t.Parallel()
	b := withdrawable(t)
	b.work()
	zone, err := time.LoadLocation("America/Sao_Paulo")
	require.NoError(t, err)
	start := b.clock.Now().Add(47 * time.Hour).Truncate(time.Minute)
	event := b.event(object{"event_date": start.Format(time.RFC3339)})
	first, second := buyTwo["gwb card"](b, b.me, event), buyTwo["gwa card"](b, b.me, event)
	tried, third := b.another()
	unproved, fourth := b.another()
	_, err = b.db.Exec(t.Context(),
		"UPDATE accounts.users SET email_verified = false, email_verified_at = NULL WHERE id = $1", unproved.ID)
	require.NoError(t, err)
	buyTwo["gwb card"](b, fourth, event)
	used := buyTwo["gwb card"](b, third, event)
	b.admin.Put("/tickets/"+ticketsOf(used)[0].String()+"/consume", nil).Expect(200)
	b.nobody.Post("/store/purchase/checkout/gwb/card",
		guest(cardB(event, 1, paymentstest.TokenApproved), "bruno@example.com", "11144477735")).Expect(200)
	code := b.code(ticketsOf(first)[0])
	require.Equal(t, "WITHDRAWAL_NOT_ALLOWED", b.me.Post(withdrawPath(first), nil).Expect(422).Code(),
		"less than 48 h before it")

	move := func(fields object) object {
		fields["_id"] = event
		return docs(b.admin.Put("/events", []object{fields}).Expect(200))[0]
	}
	mails := func() int { return len(b.mails.to(b.customer.Email, "O evento mudou")) }
	guestMails := func() int { return len(b.mails.to("bruno@example.com", "O evento mudou")) }
	requireMail := func(n int) string { // both, since a mail says how things stand when it is sent
		b.eventually("the mail", func() bool { return mails() == n && guestMails() == n })
		return b.mails.to(b.customer.Email, "O evento mudou")[n-1].Text
	}
	at := func(t time.Time) string { return t.In(zone).Format("02/01/2006, 15:04") }
	date := func(t time.Time) object { return object{"event_date": t.Format(time.RFC3339)} }

	require.Nil(t, move(date(start.Add(29 * time.Minute)))["refund_until"])
	require.Nil(t, move(object{"title": "Another title", "location": " Cine  Ipiranga "})["refund_until"])
	moved := move(date(start.Add(31 * time.Minute)))
	require.Equal(t, start.Add(31*time.Minute).UTC().Format("2006-01-02T15:04:05.000Z"), moved["refund_until"],
		"it begins within seven days")
	text := requireMail(1)
	require.Contains(t, text, "Antes: "+at(start)+", ", "what they knew")
	require.Contains(t, text, "Agora: "+at(start.Add(31*time.Minute)))
	require.Equal(t, 2, strings.Count(text, "withdraw#"), text)
	for _, who := range []accounts.Customer{tried, unproved} {
		b.eventually("the mail", func() bool { return len(b.mails.to(who.Email, "O evento mudou")) == 1 })
		require.NotContains(t, b.mails.to(who.Email, "O evento mudou")[0].Text, "withdraw#",
			"a used ticket; a mailbox that may be anybody's")
	}
	require.Equal(t, code, b.code(ticketsOf(first)[0]), "no code dies by moving")

	later := start.Add(20 * 24 * time.Hour)
	moved["event_date"] = later.Format(time.RFC3339) // a client sends all back that it read
	week := b.clock.Now().Add(7 * 24 * time.Hour).UTC().Format("2006-01-02T15:04")
	require.Equal(t, week, docs(b.admin.Put("/events", []object{moved}).Expect(200))[0]["refund_until"].(string)[:16])
	requireMail(2)
	until := b.clock.Now().Add(9 * 24 * time.Hour).UTC().Truncate(time.Second).Format("2006-01-02T15:04:05.000Z")
	require.Equal(t, until, move(object{"location": "Teatro Municipal", "refund_until": until})["refund_until"])
	require.Contains(t, requireMail(3), "Agora: "+at(later)+", Teatro Municipal")
	require.Contains(t, requireMail(3), "Antes: "+at(later)+", ")
	end := later.Add(5 * time.Hour)
	require.Equal(t, week, move(object{
		"event_end_date": end.Format(time.RFC3339), "refund_until": until,
	})["refund_until"].(string)[:16], "what GET shows says nothing of this move")
	require.Contains(t, requireMail(4), "Agora: "+at(later)+" até "+at(end))
	for i, old := range []any{
		nil, b.clock.Now().Add(-time.Hour).Format(time.RFC3339),
	} { // what a client read long ago takes no right away
		location := []string{"Cine Belas Artes", "Teatro Municipal"}[i]
		require.Equal(t, week, move(object{"location": location, "refund_until": old})["refund_until"].(string)[:16])
		requireMail(5 + i)
	}

	links := map[string]string{}
	for _, m := range b.mails.to("bruno@example.com", "O evento mudou") {
		_, token, _ := strings.Cut(m.Text, "withdraw#")
		token, _, _ = strings.Cut(token, "\n")
		links[m.Text] = token
	}
	b.clock.Advance(6 * 24 * time.Hour)
	require.Equal(t, 241.0, b.me.Post(withdrawPath(first), nil).Expect(200).Map()["refund_amount"])
	require.Equal(t, "WITHDRAWAL_NOT_ALLOWED", third.Post(withdrawPath(used), nil).Expect(422).Code(),
		"a used ticket was no ticket for another day")
	b.settle()
	ended := 0
	for _, token := range links { // each of those that have not ended, to one effect
		a := b.nobody.Post("/store/ticket-orders/withdraw", object{"token": token})
		if a.Status == 400 {
			ended++
			continue
		}
		require.Equal(t, 120.5, a.Expect(200).Map()["refund_amount"])
	}
	require.Equal(t, 1, ended)
	b.settle()
	require.Equal(t, 5, b.issued(event)-b.count("SELECT count(*) FROM tickets.tickets WHERE status = 'consumed'"))
	back := move(date(start.Add(10 * 24 * time.Hour)))
	require.NotEqual(t, until, back["refund_until"])
	b.eventually("moved once more", func() bool { return mails() == 7 })
	require.Len(t, b.mails.to("bruno@example.com", "O evento mudou"), 6, "who has given back is told nothing")
	gone, err := time.Parse(time.RFC3339, back["refund_until"].(string))
	require.NoError(t, err)
	b.clock.Advance(gone.Sub(b.clock.Now()))
	require.Contains(t, b.me.Post(withdrawPath(second), nil).Expect(422).Detail(), gone.Format("2006-01-02T15:04:05Z"))
	require.Equal(t, 2, b.count("SELECT count(*) FROM payments.refunds WHERE status = 'done'"))

	nobody := b.event(nil)
	require.Nil(t, docs(b.admin.Put("/events", []object{{
		"_id": nobody, "location": "Elsewhere",
	}}).Expect(200))[0]["refund_until"], "nobody has tickets")
}
