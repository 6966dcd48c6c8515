package subscriptions_test

import (
	"encoding/json"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox"
)

// payBeside has a gateway take a PIX of the customer, of an amount in cents, that names the
// subscription and is no charge of it. Kind is gateway B's metadata.
func payBeside(t *testing.T, b *bundle, gw gateway.Name, id objectid.ID, cents int, kind string) string {
	t.Helper()
	s, customer := b.gateways.Sandbox, column[string](t, b, id, string(gw)+"_customer_id")
	if gw == gateway.GWB {
		form := url.Values{
			"amount": {strconv.Itoa(cents)}, "currency": {"brl"}, "customer": {customer},
			"payment_method_types[0]": {"pix"}, "payment_method_data[type]": {"pix"},
			"confirm": {"true"}, "metadata[local_subscription_id]": {id.String()},
		}
		if kind != "" {
			form.Set("metadata[kind]", kind)
		}
		made := atGateway(t, s.GWBURL()+"/v1/payment_intents", "Authorization", "Bearer sk_test_sandbox",
			"application/x-www-form-urlencoded", form.Encode())
		require.NoError(t, s.GWB.PayPIX(made["id"].(string)))
		return made["id"].(string)
	}
	raw, err := json.Marshal(object{
		"customer": customer, "billingType": "PIX", "value": float64(cents) / 100,
		"dueDate": s.GWA.Now().Format(time.DateOnly), "externalReference": id,
	})
	require.NoError(t, err)
	made := atGateway(t, s.GWAURL()+"/payments", "access_token", "$aact_hmlg_sandbox", "application/json", string(raw))
	_, err = s.GWA.Pay(made["id"].(string))
	require.NoError(t, err)
	return made["id"].(string)
}

// TestMoneyBesideTheRecurrenceGoesBack: it names a subscription that a recurrence pays,
// is of the right amount, and lengthens nothing; told by a webhook, or by reconciliation
// alone. What the recurrence charges then counts as ever.
func TestMoneyBesideTheRecurrenceGoesBack(t *testing.T) {
	t.Parallel()
	for name, cents := range map[string]int{"gwa": 4990, "gwb": 4990, "gwa discounted": 990, "gwa automatic": 4990} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			gw := gateway.Name(name[:3])
			var id objectid.ID
			switch name {
			case "gwa automatic":
				id, _ = b.authorized(t)
			case "gwa discounted":
				b.promos.price = 990
				b.listen()
				body := gwaCard(paymentstest.CardApproved)
				body["promo_code"] = "FIRST1"
				id = idOf(b.expect(t, 201, "POST", "/gwa/subscribe", body))
				b.settle(t)
				require.Equal(t, "active", b.status(t, id))
			default:
				id, _, _ = paidAt(t, b, gw)
			}
			b.gateways.Sandbox.GWA.SetBalance(10_000_000)
			end := column[*time.Time](t, b, id, "next_billing_date")
			goesBack := func(payment string) {
				t.Helper()
				require.Equal(t, "duplicate", b.listed(t, payment)["kind"])
				require.Equal(t, id.String(), b.listed(t, payment)["subscription_id"])
				require.Equal(t, end, column[*time.Time](t, b, id, "next_billing_date"))
				b.refundUnapplied(t)
				b.settle(t)
				require.Equal(t, "refunded", b.listed(t, payment)["state"])
			}
			result := payBeside(t, b, gw, id, cents, "")
			b.settle(t)
			goesBack(result)

			b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{})
			found := payBeside(t, b, gw, id, cents, gateway.KindSubscriptionPix)
			b.reconcile(t, false)
			b.confirmLate(t)
			b.listen()
			goesBack(found)
			require.Equal(t, "active", b.status(t, id))
			require.Equal(t, 2, b.count(t, "SELECT count(*) FROM payments.payments WHERE NOT counted"))
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments WHERE counted"))
			if name != "gwa" {
				return
			}
			recurrence := column[string](t, b, id, "gwa_subscription_id")
			for _, cents := range []int{9900, 100} { // set at the gateway, by nobody here
				change := gateway.PriceChange{
					SubscriptionID: id, SubscriptionGatewayID: recurrence, Amount: money.Cents(cents),
				}
				require.NoError(t, b.gateways.A.ChangePrice(t.Context(), change))
				_, err := b.gateways.Sandbox.GWA.Renew(recurrence, false)
				require.NoError(t, err)
				b.settle(t)
				require.Equal(t, 1, b.count(t,
					"SELECT count(*) FROM payments.unapplied_payments WHERE kind = 'foreign' AND state = 'open' AND amount_cents = $1", cents))
			}
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments WHERE counted"))
		})
	}
}

// TestAPixOfAnotherAmountAtGatewayBPaysNoPeriod: as at gateway A; one of the price is
// another period of a manual PIX, whoever made it.
func TestAPixOfAnotherAmountAtGatewayBPaysNoPeriod(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	id := idOf(b.expect(t, 201, "POST", "/gwb/subscribe/pix", object{"plan_id": plan}))
	require.NoError(t, b.gateways.Sandbox.GWB.PayPIX(column[string](t, b, id, "pix_payment_id")))
	b.settle(t)
	require.Equal(t, "active", b.status(t, id))
	end := column[time.Time](t, b, id, "expires_at")
	odd := payBeside(t, b, gateway.GWB, id, 100, gateway.KindSubscriptionPix)
	b.settle(t)
	require.Equal(t, "foreign", b.listed(t, odd)["kind"])
	require.Contains(t, b.listed(t, odd)["note"], "49.90")
	require.Equal(t, end, column[time.Time](t, b, id, "expires_at"))
	payBeside(t, b, gateway.GWB, id, 4990, gateway.KindSubscriptionPix)
	b.settle(t)
	require.Equal(t, oneMonthOn(t, end), column[time.Time](t, b, id, "expires_at"))
}
