package tickets_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/modules/tickets"
	"marquee/platform/mail"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
	"marquee/testutil/sandbox"
	"marquee/testutil/sandbox/stage"
)

func withdrawable(t *testing.T) *bundle {
	t.Helper()
	b := setup(t, func(c *tickets.Config) {
		c.WithdrawalDays, c.WithdrawalBefore, c.RefundsPerSecond = 7, 48*time.Hour, 50
		c.PublicURL, c.WithdrawalPage = "https://api.example.com", []byte("<html>give back</html>")
	})
	b.listen()
	b.gateways.Sandbox.GWA.SetBalance(100_000_000)
	return b
}

// buyTwo are the ways to pay an order of two tickets.
var buyTwo = map[string]func(b *bundle, buyer *apitest.Client, event objectid.ID) object{
	"gwa card": func(b *bundle, buyer *apitest.Client, event objectid.ID) object {
		return buyer.Post("/store/purchase/gwa/card", cardA(event, 2, paymentstest.CardApproved)).Expect(200).Map()
	},
	"gwb card": func(b *bundle, buyer *apitest.Client, event objectid.ID) object {
		return buyer.Post("/store/purchase/gwb/card", cardB(event, 2, paymentstest.TokenApproved)).Expect(200).Map()
	},
	"gwa pix": func(b *bundle, buyer *apitest.Client, event objectid.ID) object {
		m := buyer.Post("/store/purchase/gwa/pix", pix(event, 2)).Expect(200).Map()
		_, err := b.gateways.Sandbox.GWA.Pay(order(m)["gateway_payment_id"].(string))
		require.NoError(b.t, err)
		b.settle()
		return m
	},
	"gwb pix": func(b *bundle, buyer *apitest.Client, event objectid.ID) object {
		m := buyer.Post("/store/purchase/gwb/pix", pix(event, 2)).Expect(200).Map()
		require.NoError(b.t, b.gateways.Sandbox.GWB.PayPIX(order(m)["gateway_payment_id"].(string)))
		b.settle()
		return m
	},
}

func withdrawPath(m object) string {
	return "/me/ticket-orders/" + order(m)["_id"].(string) + "/withdraw"
}

// TestABuyerGivesAnOrderBack: by each way to pay, once, within the limits, while no ticket is used.
func TestABuyerGivesAnOrderBack(t *testing.T) {
	t.Parallel()
	for name, buy := range buyTwo {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := withdrawable(t)
			event := b.event(object{"capacity": 4})
			m, other := buy(b, b.me, event), buy(b, b.me, event)
			id, all := order(m)["_id"].(string), ticketsOf(m)
			_, stranger := b.another()
			stranger.Post(withdrawPath(m), nil).Expect(404)
			b.me.Post("/me/ticket-orders/"+objectid.New().String()+"/withdraw", nil).Expect(404)
			b.me.Post("/me/ticket-orders/x/withdraw", nil).Expect(422)
			require.NotEmpty(t, b.me.Get("/me/ticket-orders/" + id).Expect(200).Map()["withdrawal_until"])

			keyed := b.me.With("Idempotency-Key", "5e1a2f6e-0c7b-4b61-9d53-1d0a7ce1b002")
			a := keyed.Post(withdrawPath(m), nil).Expect(200).Map()
			require.Equal(t, 241.0, a["refund_amount"])
			require.Equal(t, 2, b.issued(event), "the places are free at once")
			require.Equal(t, a, keyed.Post(withdrawPath(m), nil).Expect(200).Map(), "the same request again")
			b.settle()
			a = b.me.Post(withdrawPath(m), nil).Expect(200).Map()
			require.Equal(t, []any{241.0, "refunded"}, []any{a["refund_amount"], a["status"]}, "asked again")
			require.NotEmpty(t, a["refunded_at"])
			state, _ := b.orderRow(id)
			require.Equal(t, "refunded", state)
			require.Equal(t, 24100, b.count("SELECT sum(amount_cents) FROM payments.refunds WHERE status = 'done'"))
			for _, ticket := range all {
				require.Equal(t, "expired", b.ticketStatus(ticket))
			}
			require.Nil(t, b.me.Get("/me/ticket-orders/" + id).Expect(200).Map()["withdrawal_until"])

			b.admin.Put("/tickets/"+ticketsOf(other)[0].String()+"/consume", nil).Expect(200)
			refused := b.me.Post(withdrawPath(other), nil).Expect(422)
			require.Equal(t, "WITHDRAWAL_NOT_ALLOWED", refused.Code())
			require.Contains(t, refused.Detail(), "used")
			require.Equal(t, 24100, b.count("SELECT sum(amount_cents) FROM payments.refunds"))
		})
	}
}

// TestTheRightOfWithdrawalEnds: on the seventh day after that of the payment, in the report's
// time zone, and 48 hours before the event; it is not offered where the setting says so.
func TestTheRightOfWithdrawalEnds(t *testing.T) {
	t.Parallel()
	b := withdrawable(t)
	zone, err := time.LoadLocation("America/Sao_Paulo")
	require.NoError(t, err)
	soon := b.event(object{"event_date": b.clock.Now().Add(72 * time.Hour).Format(time.RFC3339)})
	late := b.event(nil)
	bySoon, byLate := buyTwo["gwb card"](b, b.me, soon), buyTwo["gwb card"](b, b.me, late)
	free := b.event(object{"ticket_value": nil, "event_date": b.clock.Now().Add(72 * time.Hour).Format(time.RFC3339)})
	gratis := b.me.Post("/store/purchase/gwb/card", cardB(free, 2, paymentstest.TokenApproved)).Expect(200).Map()
	ends := func(m object) time.Time {
		text := b.me.Get("/me/ticket-orders/" + order(m)["_id"].(string)).Expect(200).Map()["withdrawal_until"].(string)
		at, err := time.Parse(time.RFC3339, text)
		require.NoError(t, err)
		return at
	}
	refused := func(m object) {
		until := ends(m)
		b.clock.Advance(until.Sub(b.clock.Now()))
		a := b.me.Post(withdrawPath(m), nil).Expect(422)
		require.Equal(t, "WITHDRAWAL_NOT_ALLOWED", a.Code())
		require.Contains(t, a.Detail(), until.Format("2006-01-02T15:04:05Z"))
		require.Zero(t, b.count("SELECT count(*) FROM payments.refunds"))
	}
	day := b.clock.Now().In(zone)
	require.True(t, ends(byLate).Equal(time.Date(day.Year(), day.Month(), day.Day()+8, 0, 0, 0, 0, zone)), "%s",
		ends(byLate))
	refused(bySoon)
	require.Zero(t, int(b.me.Post(withdrawPath(gratis), nil).Expect(200).Map()["refund_amount"].(float64)),
		"what was free, until it begins")
	require.Zero(t, b.issued(free))
	refused(byLate)
}

// TestAnUnpaidOrderIsGivenBack: void at its gateway first; paid in that instant, it is
// refunded; while nobody knows whether it is paid, it stays.
func TestAnUnpaidOrderIsGivenBack(t *testing.T) {
	t.Parallel()
	b := withdrawable(t)
	event := b.event(nil)
	m := b.me.Post("/store/purchase/gwa/pix", pix(event, 2)).Expect(200).Map()
	a := b.me.Post(withdrawPath(m), nil).Expect(200).Map()
	require.Equal(t, object{"refund_amount": 0.0, "refunded_at": nil, "status": "cancelled"}, a)
	require.Zero(t, b.issued(event))
	_, err := b.gateways.Sandbox.GWA.Pay(order(m)["gateway_payment_id"].(string))
	require.Error(t, err, "nobody can pay it any more")

	paid := b.me.Post("/store/purchase/gwb/pix", pix(event, 1)).Expect(200).Map()
	b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{})
	require.NoError(t, b.gateways.Sandbox.GWB.PayPIX(order(paid)["gateway_payment_id"].(string)))
	a = b.me.Post(withdrawPath(paid), nil).Expect(200).Map()
	require.Equal(t, []any{120.5, "refunded"}, []any{a["refund_amount"], a["status"]})
	require.Zero(t, b.issued(event))

	require.NoError(t, b.gateways.Sandbox.GWB.Stage().Faults.Plan(stage.Fault{
		Method: "POST", Suffix: "/payment_intents", Kind: stage.FaultResetAfter, Times: manyTimes,
	}))
	open := b.me.Post("/store/purchase/gwb/card", cardB(event, 1, paymentstest.TokenApproved)).Expect(200).Map()
	b.me.Post(withdrawPath(open), nil).Expect(409)
}

// TestAWithdrawalOutlivesItsGateway: what a gateway is not there for is asked again by job,
// what it refuses is left to people; the tickets are void in any case.
func TestAWithdrawalOutlivesItsGateway(t *testing.T) {
	t.Parallel()
	b := withdrawable(t)
	event := b.event(nil)
	first, second := buyTwo["gwb card"](b, b.me, event), buyTwo["gwb card"](b, b.me, event)
	faults := b.gateways.Sandbox.GWB.Stage().Faults
	require.NoError(t, faults.Plan(stage.Fault{
		Method: "POST", Suffix: "/refunds", Kind: stage.FaultStatus, Status: 429,
		Body: `{"error":{"type":"rate_limit_error","message":"Slow down."}}`, Times: manyTimes,
	}))
	a := b.me.Post(withdrawPath(first), nil).Expect(200).Map()
	require.Equal(t, []any{241.0, nil, "refunding"}, []any{a["refund_amount"], a["refunded_at"], a["status"]})
	require.Equal(t, "expired", b.ticketStatus(ticketsOf(first)[0]))
	b.admin.Put("/tickets", []object{{"_id": ticketsOf(first)[0], "status": "available"}}).Expect(409)
	faults.Clear()
	b.clock.Advance(2 * time.Hour)
	require.NoError(t, b.service.Refunds().GiveBackDue(t.Context()))
	b.settle()
	a = b.me.Post(withdrawPath(first), nil).Expect(200).Map()
	require.Equal(t, []any{241.0, "refunded"}, []any{a["refund_amount"], a["status"]})

	require.NoError(t, faults.Plan(stage.Fault{
		Method: "POST", Suffix: "/refunds", Kind: stage.FaultStatus, Status: 400,
		Body: `{"error":{"type":"invalid_request_error","code":"charge_already_refunded","message":"No."}}`,
	}))
	a = b.me.Post(withdrawPath(second), nil).Expect(200).Map()
	require.Equal(t, []any{241.0, "refunding"}, []any{a["refund_amount"], a["status"]})
	b.clock.Advance(2 * time.Hour)
	require.NoError(t, b.service.Refunds().GiveBackDue(t.Context()), "it is not asked again")
	require.Equal(t, 1,
		b.count("SELECT count(*) FROM payments.unapplied_payments WHERE kind = 'unrefundable' AND state = 'open' AND amount_cents = 24100 AND order_id = $1", order(second)["_id"]))
	listed := b.admin.Get("/admin/finance/unapplied-payments").Expect(200)
	b.admin.Post("/admin/finance/unapplied-payments/"+docs(listed)[0]["_id"].(string)+"/refund", nil).Expect(200)
	b.settle()
	state, _ := b.orderRow(order(second)["_id"].(string))
	require.Equal(t, "refunded", state, "people have it refunded by the list")
	require.Zero(t, b.issued(event))
}

// TestAGuestGivesAnOrderBackByLink: only by a POST of the mail's own token, until it ends.
func TestAGuestGivesAnOrderBackByLink(t *testing.T) {
	t.Parallel()
	b := withdrawable(t)
	b.work()
	event := b.event(nil)
	m := b.nobody.Post("/store/purchase/checkout/gwb/card",
		guest(cardB(event, 2, paymentstest.TokenApproved), "bruno@example.com", "11144477735")).Expect(200).Map()
	other := b.nobody.Post("/store/purchase/checkout/gwb/card",
		guest(cardB(event, 1, paymentstest.TokenApproved), "bruno@example.com", "11144477735")).Expect(200).Map()
	confirmations := func() []mail.Message { return b.mails.to("bruno@example.com", "Seus ingressos") }
	b.eventually("two mails", func() bool { return len(confirmations()) == 2 })
	links := map[string]string{}
	for _, m := range confirmations() {
		_, rest, ok := strings.Cut(m.Text, "https://api.example.com/api/v1/store/ticket-orders/withdraw#")
		require.True(t, ok, m.Text)
		token, _, _ := strings.Cut(rest, "\n")
		require.Contains(t, m.HTML, "#"+token)
		links[token[:24]] = token
	}
	token := links[order(m)["_id"].(string)]
	const path = "/store/ticket-orders/withdraw"
	page := b.nobody.Get(path).Expect(200)
	require.Contains(t, string(page.Body), "give back")
	require.Zero(t, b.count("SELECT count(*) FROM payments.refunds"), "a page performs nothing")

	forged := order(other)["_id"].(string) + token[24:]
	longer := token[:25] + "f" + token[25:]
	for _, bad := range []string{"x", token + "x", forged, longer, strings.Repeat("a", 200)} {
		b.nobody.Post(path, object{"token": bad}).Expect(400)
	}
	for range 2 {
		a := b.nobody.Post(path, object{"token": token}).Expect(200).Map()
		require.Equal(t, 241.0, a["refund_amount"])
	}
	require.Equal(t, 1, b.count("SELECT count(*) FROM payments.refunds"), "it has one effect")
	b.clock.Advance(10 * 24 * time.Hour)
	require.Equal(t, "WITHDRAWAL_NOT_ALLOWED",
		b.nobody.Post(path, object{"token": links[order(other)["_id"].(string)]}).Expect(422).Code())
	b.clock.Advance(22 * 24 * time.Hour)
	b.nobody.Post(path, object{"token": links[order(other)["_id"].(string)]}).Expect(400)
}
