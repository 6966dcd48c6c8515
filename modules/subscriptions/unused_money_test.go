package subscriptions_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/platform/money"
	"marquee/platform/objectid"
	sandboxa "marquee/testutil/sandbox/gwa/account"
)

// unusedMoney makes money at a gateway that names a subscription, or its customer alone, and
// gives nobody anything: another PIX of A, a second intent of B.
func unusedMoney(t *testing.T, b *bundle, gw gateway.Name, id objectid.ID, reais float64,
	reference objectid.ID,
) string {
	t.Helper()
	s := b.gateways.Sandbox
	if gw == gateway.GWB {
		made := atGateway(t, s.GWBURL()+"/v1/payment_intents", "Authorization", "Bearer sk_test_sandbox",
			"application/x-www-form-urlencoded", url.Values{
				"customer": {column[string](t, b, id, "gwb_customer_id")}, "amount": {strconv.Itoa(int(reais * 100))},
				"currency": {"brl"}, "confirm": {"true"},
				"payment_method_types[0]": {"pix"}, "payment_method_data[type]": {"pix"},
				"metadata[local_subscription_id]": {reference.String()}, "metadata[kind]": {"subscription_pix"},
			}.Encode())
		require.NoError(t, s.GWB.PayPIX(made["id"].(string)))
		b.settle(t)
		return made["id"].(string)
	}
	body := fmt.Sprintf(`{"customer":%q,"billingType":"PIX","value":%v,"dueDate":%q`,
		column[string](t, b, id, "gwa_customer_id"), reais, s.GWA.Now().Format(time.DateOnly))
	if reference != "" {
		body += fmt.Sprintf(`,"externalReference":%q`, reference)
	}
	made := atGateway(t, s.GWAURL()+"/payments", "access_token", "$aact_hmlg_sandbox", "application/json", body+"}")
	_, err := s.GWA.Pay(made["id"].(string))
	require.NoError(t, err)
	b.settle(t)
	return made["id"].(string)
}

// consoleRefund gives a payment back at its gateway's console: without the mark of a request
// of ours.
func consoleRefund(t *testing.T, b *bundle, gw gateway.Name, payment string, cents money.Cents) {
	t.Helper()
	s := b.gateways.Sandbox
	s.GWA.SetBalance(10_000_000)
	if gw == gateway.GWB {
		body := url.Values{"payment_intent": {payment}, "amount": {strconv.Itoa(int(cents))}}.Encode()
		atGateway(t, s.GWBURL()+"/v1/refunds", "Authorization", "Bearer sk_test_sandbox",
			"application/x-www-form-urlencoded", body)
	} else {
		atGateway(t, s.GWAURL()+"/payments/"+payment+"/refund", "access_token", "$aact_hmlg_sandbox",
			"application/json", `{"value":`+cents.String()+`}`)
	}
	b.settle(t)
}

// TestMoneyThatBoughtNothingEndsNothing: whatever becomes of a payment that stands on the
// list, the subscription that other money paid goes on; ledger and list have it.
func TestMoneyThatBoughtNothingEndsNothing(t *testing.T) {
	t.Parallel()
	same := func(b *bundle, id objectid.ID) objectid.ID { return id }
	none := func(*bundle, objectid.ID) objectid.ID { return "" }
	for name, tc := range map[string]struct {
		gateway   gateway.Name
		paid      func(b *bundle, t *testing.T) objectid.ID
		reference func(*bundle, objectid.ID) objectid.ID
	}{
		"A, a card, without reference": {gateway.GWA, (*bundle).paidGWA, none},
		"A, a PIX, another amount":     {gateway.GWA, (*bundle).paidPixGWA, same},
		"B, a card, a second intent":   {gateway.GWB, (*bundle).paidGWB, same},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.listen()
			id := tc.paid(b, t)
			end := column[*time.Time](t, b, id, "expires_at")
			goesOn := func(payment, state string) {
				t.Helper()
				require.Equal(t, "active", b.status(t, id))
				require.False(t, column[bool](t, b, id, "has_chargeback"))
				require.Equal(t, end, column[*time.Time](t, b, id, "expires_at"))
				require.Empty(t, b.pause(t, id))
				require.True(t, b.access(t))
				require.Equal(t, state, b.listed(t, payment)["state"])
				require.Zero(t, b.count(t, "SELECT count(*) FROM payments.intents WHERE kind = 'end'"),
					"nothing ends at the gateway")
			}
			paid := func() string {
				t.Helper()
				payment := unusedMoney(t, b, tc.gateway, id, 25, tc.reference(b, id))
				goesOn(payment, "open")
				return payment
			}

			back := paid()
			consoleRefund(t, b, tc.gateway, back, 2500)
			goesOn(back, "kept")
			require.Equal(t, 1, b.count(t,
				"SELECT count(*) FROM payments.disputes WHERE payment_ref = $1 AND kind = 'med' AND state = 'lost' AND amount_cents = 2500", back))

			open := func(payment string) (decide func(won bool)) {
				t.Helper()
				if tc.gateway == gateway.GWB {
					dispute, err := b.gateways.Sandbox.GWB.OpenDispute(payment, "fraudulent", false)
					require.NoError(t, err)
					b.settle(t)
					return func(won bool) { disputesAt["gwb"].close(b, t, dispute, won) }
				}
				for _, step := range []sandboxa.ChargebackStep{
					sandboxa.ChargebackRequested, sandboxa.ChargebackDisputed,
				} {
					_, err := b.gateways.Sandbox.GWA.Chargeback(payment, step, "")
					require.NoError(t, err)
				}
				b.settle(t)
				return func(won bool) { disputesAt["gwa"].close(b, t, payment, won) }
			}
			disputed := paid()
			before := b.listed(t, disputed)
			lose := open(disputed)
			goesOn(disputed, "open")
			b.refundUnapplied(t)
			path := unappliedPath + "/" + before["_id"].(string)
			b.admin(t).Post(path+"/refund", nil).Expect(422)
			b.admin(t).Post(path+"/extend", object{"subscription_id": id}).Expect(409)
			require.Equal(t, before["kind"], b.listed(t, disputed)["kind"])
			require.Equal(t, before["note"], b.listed(t, disputed)["note"])
			require.NoError(t, b.service.Sweep(t.Context()))
			goesOn(disputed, "open")
			lose(false)
			goesOn(disputed, "kept")
			b.admin(t).Post(path+"/extend", object{"subscription_id": id}).Expect(409)

			won := paid()
			open(won)(true)
			goesOn(won, "open")
			b.clock.Advance(time.Hour)
			b.refundUnapplied(t)
			if b.count(t,
				"SELECT count(*) FROM payments.unapplied_payments WHERE gateway_payment_id = $1 AND automatic",
				won) == 1 {
				goesOn(won, "refunded")
			}
			b.settle(t)
			b.reconcile(t, false)
			goesOn(back, "kept")
		})
	}
}

// TestALostDisputeGivesBackWhatOtherMoneyPaidFor: two periods of a PIX are paid, the bank
// takes one back.
func TestALostDisputeGivesBackWhatOtherMoneyPaidFor(t *testing.T) {
	t.Parallel()
	for _, on := range []string{"gwa", "gwb"} {
		t.Run(on, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			twice := func() (id objectid.ID, first, code string) {
				t.Helper()
				b.newcomer(t)
				b.listen()
				id, _ = dueByPix(t, b, on)
				first = b.text(t, "SELECT gateway_payment_id FROM payments.payments WHERE local_id = $1", id)
				a := b.expect(t, 201, http.MethodPost, renewPixPath, nil)
				payCode(t, b, on, a)
				b.gateways.Sandbox.GWA.SetBalance(10_000_000)
				return id, first, a["payment"].(object)["id"].(string)
			}
			takeBack := func(payment string) {
				t.Helper()
				if on == "gwa" {
					takeBack(t, b, payment, 0)
				} else {
					consoleRefund(t, b, gateway.GWB, payment, 4990)
				}
			}
			id, first, code := twice()
			takeBack(first)
			require.Equal(t, "cancelled", b.status(t, id))
			require.Equal(t, "late", b.listed(t, code)["kind"])
			b.refundUnapplied(t)
			require.Equal(t, "refunded", b.listed(t, code)["state"], "%v", b.listed(t, code))
			require.True(t, givenBack(t, b, code))
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.unapplied_payments"))

			id, first, code = twice()
			if on == "gwa" { // gateway B's webhooks are signed by the machine's clock
				b.clock.Advance(time.Hour)
			}
			takeBack(code)
			require.Equal(t, "cancelled", b.status(t, id))
			if on == "gwb" { // whose payment is of the second of its end
				return
			}
			b.refundUnapplied(t)
			require.Equal(t, "open", b.listed(t, first)["state"], "some of it was used: people decide")
			require.Contains(t, b.listed(t, first)["note"], "paid until")
		})
	}
	t.Run("paid while disputed", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.listen()
		id, _ := dueByPix(t, b, "gwa")
		first := b.text(t, "SELECT gateway_payment_id FROM payments.payments WHERE local_id = $1", id)
		a := b.expect(t, 201, http.MethodPost, renewPixPath, nil)
		dispute := disputesAt["gwa"].open(b, t, id)
		require.Equal(t, "suspended", b.status(t, id))
		require.Equal(t, first, dispute)
		payCode(t, b, "gwa", a)
		require.Equal(t, "suspended", b.status(t, id))
		b.gateways.Sandbox.GWA.SetBalance(10_000_000)
		disputesAt["gwa"].close(b, t, dispute, false)
		require.Equal(t, "cancelled", b.status(t, id))
		b.refundUnapplied(t)
		require.Equal(t, "refunded", b.listed(t, a["payment"].(object)["id"].(string))["state"])
	})
}

// TestAWithdrawalGivesBackWhatWasKept, and the list says so.
func TestAWithdrawalGivesBackWhatWasKept(t *testing.T) {
	t.Parallel()
	b := withdrawable(t)
	id := b.paidPixGWA(t)
	payment := unusedMoney(t, b, gateway.GWA, id, 25, id)
	b.gateways.Sandbox.GWA.SetBalance(10_000_000)
	b.admin(t).Post(unappliedPath+"/"+b.listed(t, payment)["_id"].(string)+"/keep",
		object{"reason": "They agreed to it."}).Expect(200)
	b.expect(t, 200, http.MethodPost, withdrawPath, nil)
	b.settle(t)
	require.Equal(t, "refunded", b.listed(t, payment)["state"])
	require.EqualValues(t, 4990+2500, column[int64](t, b, id, "total_refunded_cents"))
	b.admin(t).Post(unappliedPath+"/"+b.listed(t, payment)["_id"].(string)+"/extend", nil).Expect(409)
}
