package tickets_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

// TestTheCodeThatACheckFinds: the answer to a purchase came without it. The buyer, also a
// guest, is mailed the code, and sees it in the order, as long as the places are held.
func TestTheCodeThatACheckFinds(t *testing.T) {
	t.Parallel()
	for _, w := range []way{ways["gwa pix"], ways["gwb pix"]} {
		for _, asGuest := range []bool{false, true} {
			name := w.path
			if asGuest {
				name += ", guest"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				b.listen()
				b.work()
				p := unanswered(t, b, w, asGuest)

				b.clock.Advance(6 * time.Second)
				b.sweep()
				b.eventually("the code is mailed",
					func() bool { return len(b.mails.to(p.email, "Seu código PIX")) == 1 })
				mail := b.mails.to(p.email, "Seu código PIX")[0]
				require.Len(t, mail.Inline, 1)
				b.clock.Advance(time.Minute)
				b.sweep()
				if !asGuest {
					m := b.me.Get("/me/ticket-orders/" + p.id).Expect(http.StatusOK).Map()
					require.Contains(t, mail.Text, m["pix"].(object)["payload"])
					require.NotEmpty(t, m["pix"].(object)["encoded_image"])
					until, err := time.Parse(time.RFC3339, m["pix"].(object)["expiration_date"].(string))
					require.NoError(t, err)
					require.True(t, until.After(b.clock.Now()))
				}

				payFound(t, b, w, p.id)
				b.settle()
				b.eventually("the tickets are good", func() bool { return b.ticketStatus(p.ticket) == "available" })
				if asGuest {
					b.eventually("the tickets are mailed",
						func() bool { return len(b.mails.to(p.email, "Seus ingressos")) == 1 })
				} else {
					require.Nil(t, b.me.Get("/me/ticket-orders/" + p.id).Expect(http.StatusOK).Map()["pix"])
				}
				require.Len(t, b.mails.to(p.email, "código PIX"), 1)
				require.Empty(t, b.mails.to(p.email, "não foi concluída"))
			})
		}
	}
}

// TestTheCodeThatIsFoundTooLate: nobody can be shown it, so that it is made unpayable,
// the places are free, and the buyer is written that nothing is owed.
func TestTheCodeThatIsFoundTooLate(t *testing.T) {
	t.Parallel()
	for _, w := range []way{ways["gwa pix"], ways["gwb pix"]} {
		t.Run(w.path, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.listen()
			b.work()
			p := unanswered(t, b, w, true)
			b.clock.Advance(31 * time.Minute)
			b.eventually("the buyer is told", func() bool {
				b.sweep() // a check that has just been made is not made again at once
				return len(b.mails.to(p.email, "não foi concluída")) == 1
			})
			require.Empty(t, b.mails.to(p.email, "código PIX"))
			state, _ := b.orderRow(p.id)
			require.Equal(t, "released", state)
			require.Equal(t, "expired", b.ticketStatus(p.ticket))
			require.Error(t, payAt(b, w, p.id), "it cannot be paid any more")
			b.sweep()
			require.Len(t, b.mails.to(p.email, "Premiere"), 1)
		})
	}
}

// TestAnUnansweredCodeThatIsWithdrawnFirst: the gateway's event comes before any check has written that nobody can pay
// it; the buyer, who has seen no code, is written that nothing is owed all the same, and once.
func TestAnUnansweredCodeThatIsWithdrawnFirst(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	b.work()
	p := unanswered(t, b, ways["gwa pix"], true)
	made, found, err := b.gateways.A.FindPix(t.Context(), gateway.PixTerms{Reference: objectid.ID(p.id)})
	require.NoError(t, err)
	require.True(t, found)
	require.NoError(t, b.gateways.A.CancelPix(t.Context(), made.Payment.ID, objectid.ID(p.id)))
	b.eventually("the buyer is told", func() bool { return len(b.mails.to(p.email, "não foi concluída")) == 1 })
	require.Equal(t, "expired", b.ticketStatus(p.ticket))
	b.clock.Advance(31 * time.Minute)
	b.sweep()
	b.settle()
	require.Len(t, b.mails.to(p.email, "Premiere"), 1)
}

// TestAPurchaseThatCameToNothing: nothing was made, as the checks prove; the buyer, who
// was answered PENDING, is written so, whatever they wanted to pay with.
func TestAPurchaseThatCameToNothing(t *testing.T) {
	t.Parallel()
	for name, w := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.work()
			st := stageOf(b, w)
			require.NoError(t, st.Faults.Plan(stage.Fault{
				Method: http.MethodPost, Path: w.call, Kind: stage.FaultResetBefore, Times: manyTimes,
			}))
			m := b.me.Post(w.path, w.body(b.event(nil))).Expect(http.StatusOK).Map()
			require.Equal(t, "PENDING", payment(m)["status"])
			st.Faults.Clear()
			for range 6 {
				b.clock.Advance(20 * time.Minute)
				b.sweep()
			}
			b.eventually("the buyer is told",
				func() bool { return len(b.mails.to(b.customer.Email, "não foi concluída")) == 1 })
			require.Len(t, b.mails.to(b.customer.Email, ""), 1)
		})
	}
}

// unansweredPurchase is one whose code was made and whose answer was lost.
type unansweredPurchase struct {
	id, email string
	ticket    objectid.ID
}

func unanswered(t *testing.T, b *bundle, w way, asGuest bool) unansweredPurchase {
	t.Helper()
	st := stageOf(b, w)
	require.NoError(t, st.Faults.Plan(stage.Fault{
		Method: http.MethodPost, Path: w.call, Kind: stage.FaultResetAfter, Times: manyTimes,
	}))
	body, path, email, client := w.body(b.event(nil)), w.path, b.customer.Email, b.me
	if asGuest {
		email, client = "visita@example.com", b.nobody
		body = guest(body, email, guestCPF)
		path = "/store/purchase/checkout" + path[len("/store/purchase"):]
	}
	m := client.Post(path, body).Expect(http.StatusOK).Map()
	st.Faults.Clear()
	require.Equal(t, "PENDING", payment(m)["status"])
	require.Nil(t, m["pix"])
	return unansweredPurchase{id: order(m)["_id"].(string), ticket: ticketsOf(m)[0], email: email}
}

func stageOf(b *bundle, w way) *stage.Stage {
	if w.call == "/v1/payment_intents" {
		return b.gateways.Sandbox.GWB.Stage()
	}
	return b.gateways.Sandbox.GWA.Stage()
}

func payFound(t *testing.T, b *bundle, w way, id string) {
	t.Helper()
	require.NoError(t, payAt(b, w, id))
}

// payAt pays the payment of an order at its gateway.
func payAt(b *bundle, w way, id string) error {
	var paymentID string
	if err := b.db.QueryRow(b.t.Context(), "SELECT gateway_payment_id FROM tickets.orders WHERE id = $1", id).
		Scan(&paymentID); err != nil {
		return err
	}
	if w.call == "/v1/payment_intents" {
		return b.gateways.Sandbox.GWB.PayPIX(paymentID)
	}
	_, err := b.gateways.Sandbox.GWA.Pay(paymentID)
	return err
}
