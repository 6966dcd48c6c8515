package tickets_test

import (
	"bytes"
	"image/png"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/modules/payments/paymentstest"
	"marquee/modules/tickets"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
	"marquee/testutil/sandbox/stage"
)

// A valid CPF and a valid CNPJ that no fixture has.
const (
	guestCPF  = "52998224725"
	guestCNPJ = "11222333000181"
)

func guest(body object, email, taxID string) object {
	body["buyer"] = object{"full_name": "Bruno Lima", "email": email, "tax_id": taxID, "phone": "+5511987654321"}
	return body
}

func TestCheckoutMakesARealAccount(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	b.work()
	event := b.event(nil)
	const email = "bruno@example.com"
	m := b.nobody.Post("/store/purchase/checkout/gwb/card",
		guest(cardB(event, 2, paymentstest.TokenApproved), "Bruno@Example.com", guestCPF)).Expect(200).Map()
	require.Equal(t, true, order(m)["without_login"])
	listed := m["tickets"].([]any)
	require.Len(t, listed, 2)
	require.True(t, strings.HasPrefix(listed[0].(object)["qr_data_uri"].(string), "data:image/png;base64,"))
	require.Equal(t, 1,
		b.count("SELECT count(*) FROM accounts.users WHERE email = $1 AND NOT email_verified AND password_hash IS NULL AND tax_id = $2", email, guestCPF))
	require.Equal(t, 1, b.count("SELECT count(*) FROM accounts.codes WHERE purpose = 'reset' AND address = $1", email))

	b.eventually("the tickets are mailed", func() bool { return len(b.mails.to(email, "Seus ingressos")) == 1 })
	mail := b.mails.to(email, "Seus ingressos")[0]
	require.Contains(t, mail.Text, "Premiere")
	require.Contains(t, mail.Text, "Cine Ipiranga")
	require.Len(t, mail.Inline, 2)
	for _, picture := range mail.Inline {
		require.Contains(t, mail.HTML, "cid:"+picture.ID)
		drawn, err := png.DecodeConfig(bytes.NewReader(picture.Data))
		require.NoError(t, err)
		require.Equal(t, 0, drawn.Width%49, "whole pixels a module: 41 of a code and 4 on each side")
	}
	code := strings.TrimSpace(mail.Text[strings.Index(mail.Text, "MT1."):])
	code, _, _ = strings.Cut(code, "\n")
	b.admin.Post("/tickets/consume-qr", object{"qr_payload": code, "event_id": event}).Expect(200)

	again := b.nobody.Post("/store/purchase/checkout/gwa/pix", guest(pix(event, 1), email, guestCPF)).Expect(200).Map()
	require.Equal(t, order(m)["customer_id"], order(again)["customer_id"], "the account is reused")
	require.Nil(t, again["tickets"])
	require.Contains(t, again, "tickets")
	_, err := b.gateways.Sandbox.GWA.PayPIX(again["pix"].(object)["payload"].(string))
	require.NoError(t, err)
	b.settle()
	b.eventually("its ticket is mailed after the webhook",
		func() bool { return len(b.mails.to(email, "Seus ingressos")) == 2 })
	require.Len(t, b.mails.to(email, "Seus ingressos")[1].Inline, 1)
	b.settle()
	b.sweep()
	require.Len(t, b.mails.to(email, "Seus ingressos"), 2)
}

func TestCheckoutForAnAccountThatIsThere(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	verified := b.customer
	m := b.nobody.Post("/store/purchase/checkout/gwb/card",
		guest(cardB(event, 1, paymentstest.TokenApproved), verified.Email, verified.TaxID)).Expect(200).Map()
	require.Equal(t, verified.ID.String(), order(m)["customer_id"])
	require.Len(t, docs(b.me.Get("/me/tickets").Expect(200)), 1)
	after, err := b.accounts.CustomerByID(t.Context(), b.db, verified.ID)
	require.NoError(t, err)
	require.Equal(t, verified.FullName, after.FullName, "nothing is overwritten")
	require.Equal(t, verified.Phone, after.Phone)

	a := b.nobody.Post("/store/purchase/checkout/gwb/card",
		guest(cardB(event, 1, paymentstest.TokenApproved), "new@example.com", verified.TaxID)).Expect(409)
	require.Equal(t, "tax_id", a.Field())
	require.Equal(t, 0, b.count("SELECT count(*) FROM accounts.users WHERE email = 'new@example.com'"))
	admin := accountstest.Admin(t, b.db)
	b.nobody.Post("/store/purchase/checkout/gwb/card",
		guest(cardB(event, 1, paymentstest.TokenApproved), admin.Email, guestCPF)).Expect(409)
}

func TestAGuestsTicketsAreHiddenFromAnUnverifiedSession(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	c := accountstest.Customer(t, b.db, func(n *accounts.NewUser) { n.EmailVerified = false })
	session := b.nobody.As(accountstest.Token(t, b.db, c.Username))
	m := b.nobody.Post("/store/purchase/checkout/gwb/card",
		guest(cardB(event, 1, paymentstest.TokenApproved), c.Email, c.TaxID)).Expect(200).Map()
	purchase := session.Post("/store/purchase/gwb/card", cardB(event, 1, paymentstest.TokenApproved)).Expect(200).Map()
	hidden := ticketsOf(m)[0].String()
	orderID := order(m)["_id"].(string)

	list := docs(session.Get("/me/tickets").Expect(200))
	require.Len(t, list, 1)
	require.Equal(t, ticketsOf(purchase)[0].String(), list[0]["_id"])
	require.Len(t, session.Get("/me/ticket-orders").Expect(200).Map()["orders"], 1)
	session.Get("/me/ticket-orders/" + orderID).Expect(404)
	session.Get("/me/tickets/" + hidden + "/qr").Expect(404)
	session.Put("/tickets/"+hidden+"/consume", nil).Expect(404)
	session.Get("/me/tickets?_id=" + hidden).Expect(404)

	_, err := b.db.Exec(t.Context(),
		"UPDATE accounts.users SET email_verified = true, email_verified_at = now() WHERE id = $1", c.ID)
	require.NoError(t, err)
	require.Len(t, docs(session.Get("/me/tickets").Expect(200)), 2)
	session.Get("/me/ticket-orders/" + orderID).Expect(200)
	session.Get("/me/tickets/" + hidden + "/qr").Expect(200)
}

func TestCheckoutRefusesBuyers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	for _, path := range []string{"gwa/card", "gwa/pix", "gwb/card", "gwb/pix"} {
		path = "/store/purchase/checkout/" + path
		require.Equal(t, "buyer", b.nobody.Post(path, pix(event, 1)).Expect(422).Field())
	}
	for field, value := range map[string]any{"email": "nobody", "tax_id": "123", "full_name": "x", "phone": "abc"} {
		body := guest(pix(event, 1), "guest@example.com", guestCPF)
		body["buyer"].(object)[field] = value
		require.Equal(t, "buyer."+field, b.nobody.Post("/store/purchase/checkout/gwb/pix", body).Expect(422).Field())
		if field != "phone" {
			delete(body["buyer"].(object), field)
			b.nobody.Post("/store/purchase/checkout/gwb/pix", body).Expect(422)
		}
	}
	require.Equal(t, "buyer.tax_id",
		b.nobody.Post("/store/purchase/checkout/gwb/pix", guest(pix(event, 1), "guest@example.com", "52998224724")).
			Expect(422).Field())
	require.Equal(t, 0, b.count("SELECT count(*) FROM accounts.users WHERE email = 'guest@example.com'"))
	const withLetters = "12ABC34501DE35" // a right CNPJ where the setting allows letters
	require.Equal(t, "buyer.tax_id",
		b.nobody.Post("/store/purchase/checkout/gwb/pix", guest(pix(event, 1), "guest@example.com", withLetters)).
			Expect(422).Field())
	b.nobody.Post("/store/purchase/checkout/gwb/pix", guest(pix(event, 1), "guest@example.com", guestCNPJ)).Expect(200)
	require.Equal(t, 1, b.issued(event))
}

func TestCheckoutsOfOneAddressAtOnceShareAnAccount(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	statuses := make([]int, 6)
	var wg sync.WaitGroup
	for i := range statuses {
		wg.Go(func() {
			statuses[i] = b.nobody.Post("/store/purchase/checkout/gwb/pix",
				guest(pix(event, 1), "twin@example.com", guestCPF)).Status
		})
	}
	wg.Wait()
	require.Equal(t, []int{200, 200, 200, 200, 200, 200}, statuses)
	require.Equal(t, 1, b.count("SELECT count(*) FROM accounts.users WHERE email = 'twin@example.com'"))
	require.Equal(t, 6, b.issued(event))
}

func TestDeclinesAreCounted(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *tickets.Config) { c.DeclinesPerBuyer, c.DeclinesPerCard = 2, 100 })
	event := b.event(nil)
	for range 2 {
		b.me.Post("/store/purchase/gwb/card", cardB(event, 1, paymentstest.TokenDeclined)).Expect(400)
	}
	a := b.me.Post("/store/purchase/gwb/card", cardB(event, 1, paymentstest.TokenApproved)).Expect(429)
	require.NotEmpty(t, a.Header.Get("Retry-After"))
	b.me.Post("/store/purchase/gwb/pix", pix(event, 1)).Expect(200)
	_, other := b.another()
	other.Post("/store/purchase/gwb/card", cardB(event, 1, paymentstest.TokenApproved)).Expect(200)
	b.clock.Advance(time.Hour + time.Minute)
	b.me.Post("/store/purchase/gwb/card", cardB(event, 1, paymentstest.TokenApproved)).Expect(200)
	for _, secret := range []string{paymentstest.TokenDeclined, b.customer.Email} {
		require.Equal(t, 0,
			b.count("SELECT count(*) FROM tickets.declines WHERE encode(mac, 'escape') LIKE '%' || $1 || '%'", secret))
	}
}

func TestACardIsRefusedWhereverItIsTried(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *tickets.Config) { c.DeclinesPerCard, c.DeclinesPerBuyer = 1, 100 })
	event := b.event(nil)
	b.me.Post("/store/purchase/gwa/card", cardA(event, 1, paymentstest.CardDeclined)).Expect(400)
	b.nobody.Post("/store/purchase/checkout/gwa/card",
		guest(cardA(event, 1, paymentstest.CardDeclined), "thief@example.com", guestCPF)).Expect(429)
	require.Equal(t, 0, b.count("SELECT count(*) FROM accounts.users WHERE email = 'thief@example.com'"),
		"no account, no mail")
}

// rushOfCards has so many cards tried at once, half of them by guests, and tells how many came to the gateway: each is
// an order first.
func rushOfCards(b *bundle, many int) (called int) {
	b.t.Helper()
	events := []objectid.ID{b.event(nil), b.event(nil)}
	var wg sync.WaitGroup
	for i := range many {
		wg.Go(func() {
			body := cardB(events[i%2], 1, paymentstest.TokenDeclined)
			path, by := "/store/purchase/gwb/card", b.me
			if i%4 > 1 {
				path, by = "/store/purchase/checkout/gwb/card", b.nobody
				body = guest(body, b.customer.Email, guestCPF)
			}
			require.Contains(b.t, []int{400, 429}, by.Post(path, body).Status)
		})
	}
	wg.Wait()
	return b.count("SELECT count(*) FROM tickets.orders")
}

// TestCardsTriedAtOnceAreBounded: a payment under way counts as declined until its answer is there, so that as many come
// to the gateway at once as may one after the other.
func TestCardsTriedAtOnceAreBounded(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]func(c *tickets.Config){
		"by a buyer":   func(c *tickets.Config) { c.DeclinesPerBuyer, c.DeclinesPerCard = 3, 1000 },
		"of a card":    func(c *tickets.Config) { c.DeclinesPerCard, c.DeclinesPerBuyer = 3, 1000 },
		"from a place": func(c *tickets.Config) { c.DeclinesPerAddress, c.DeclinesPerCard, c.DeclinesPerBuyer = 3, 1000, 1000 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, limit)
			require.Equal(t, 3, rushOfCards(b, 40))
			require.Equal(t, 9, b.count("SELECT count(*) FROM tickets.declines WHERE order_id IS NULL"))
			require.Equal(t, 9, b.count("SELECT count(*) FROM tickets.declines"), "none is under way")
		})
	}
	t.Run("without the guard", func(t *testing.T) {
		t.Parallel()
		b := setup(t, func(c *tickets.Config) { c.DeclinesPerBuyer, c.DeclinesPerCard = 3, 1000 })
		// What was declined counts alone, as if nobody knew of what is under way.
		_, err := b.db.Exec(t.Context(), `ALTER FUNCTION tickets.declines_taken(bytea[], bytea[], bytea[], timestamptz, boolean) RENAME TO counted;
			CREATE FUNCTION tickets.declines_taken(a bytea[], c bytea[], b bytea[], since timestamptz, wait boolean) RETURNS integer[] LANGUAGE sql
			RETURN (SELECT array_agg(0 ORDER BY n) FROM generate_series(1, 6 * cardinality(c)) n)`)
		require.NoError(t, err)
		require.Greater(t, rushOfCards(b, 40), 3)
	})
}

// TestAPaymentUnderWayCountsUntilItsAnswerIsThere: who has one may buy again, up to as many as may be declined; then for
// a moment nobody may. Once they are paid none counts.
func TestAPaymentUnderWayCountsUntilItsAnswerIsThere(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	st := b.gateways.Sandbox.GWB.Stage()
	require.NoError(t, st.Faults.Plan(stage.Fault{
		Method: http.MethodPost, Path: "/v1/payment_intents", Kind: stage.FaultResetAfter, Times: 10 * manyTimes,
	}))
	buy := func() *apitest.Response {
		return b.me.Post("/store/purchase/gwb/card", cardB(event, 1, paymentstest.TokenApproved))
	}
	for range 5 {
		require.Equal(t, "PENDING", payment(buy().Expect(200).Map())["status"])
	}
	refused := buy().Expect(429)
	require.Equal(t, "2", refused.Header.Get("Retry-After"))
	require.Contains(t, refused.Detail(), "under way")
	b.me.Post("/store/purchase/gwb/pix", pix(event, 1)).Expect(200)
	st.Faults.Clear()
	rows, err := b.db.Query(t.Context(), "SELECT id FROM tickets.orders WHERE payment_method = 'credit_card'")
	require.NoError(t, err)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[objectid.ID])
	require.NoError(t, err)
	b.clock.Advance(10 * time.Minute)
	for _, id := range ids {
		require.NoError(t, b.service.Reconcile().Recover(t.Context(), id))
	}
	require.Equal(t, 5, b.count("SELECT count(*) FROM tickets.orders WHERE state = 'paid'"))
	require.Zero(t, b.count("SELECT count(*) FROM tickets.declines"))
	for range 6 {
		require.Equal(t, "CONFIRMED", payment(buy().Expect(200).Map())["status"])
	}
	require.Zero(t, b.count("SELECT count(*) FROM tickets.declines"))
}

// TestADeclineToldLaterCounts: by whatever tells it.
func TestADeclineToldLaterCounts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	st := b.gateways.Sandbox.GWB.Stage()
	require.NoError(t, st.Faults.Plan(stage.Fault{
		Method: http.MethodPost, Path: "/v1/payment_intents", Kind: stage.FaultResetAfter, Times: manyTimes,
	}))
	m := b.me.Post("/store/purchase/gwb/card", cardB(event, 1, paymentstest.TokenDeclined)).Expect(200).Map()
	require.Equal(t, 3, b.count("SELECT count(*) FROM tickets.declines WHERE order_id = $1", order(m)["_id"]))
	st.Faults.Clear()
	b.listen()
	b.settle()
	b.clock.Advance(10 * time.Minute)
	require.NoError(t, b.service.Reconcile().Recover(t.Context(), objectid.ID(order(m)["_id"].(string))))
	state, _ := b.orderRow(order(m)["_id"].(string))
	require.Equal(t, "released", state)
	require.Equal(t, 3, b.count("SELECT count(*) FROM tickets.declines WHERE order_id IS NULL"))
}
