package subscriptions_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/modules/subscriptions/strays"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox"
	"marquee/testutil/sandbox/stage"
)

// atGateway makes something at a sandbox behind the platform's back.
func atGateway(t *testing.T, address, header, value, kind, body string) object {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set(header, value)
	r.Header.Set("Content-Type", kind)
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	var made object
	require.NoError(t, json.NewDecoder(res.Body).Decode(&made))
	require.Equal(t, 200, res.StatusCode, "%v", made)
	return made
}

// nameless has a gateway charge a customer by a recurrence that names nothing of ours.
func nameless(t *testing.T, b *bundle, gw gateway.Name, customer, like string) string {
	t.Helper()
	s := b.gateways.Sandbox
	if gw == gateway.GWB {
		recurrence, err := b.gateways.B.ReadSubscription(t.Context(), like, "")
		require.NoError(t, err)
		method := atGateway(t, s.GWBURL()+"/v1/payment_methods/pm_card_visa/attach", "Authorization",
			"Bearer sk_test_sandbox",
			"application/x-www-form-urlencoded", url.Values{"customer": {customer}}.Encode())
		made := atGateway(t, s.GWBURL()+"/v1/subscriptions", "Authorization", "Bearer sk_test_sandbox",
			"application/x-www-form-urlencoded", url.Values{
				"customer": {customer}, "items[0][price]": {recurrence.PriceID}, "off_session": {"true"},
				"default_payment_method": {method["id"].(string)},
			}.Encode())
		return made["id"].(string)
	}
	zone, err := time.LoadLocation("America/Sao_Paulo") // the gateway's day: after 21:00 there it is tomorrow elsewhere
	require.NoError(t, err)
	raw, err := json.Marshal(object{
		"customer": customer, "billingType": "CREDIT_CARD", "value": 19.9,
		"nextDueDate": s.GWA.Now().In(zone).Format(time.DateOnly), "cycle": "MONTHLY",
		"creditCard": object{
			"holderName": "ANA SOUZA", "number": paymentstest.CardApproved, "expiryMonth": "05", "expiryYear": "2099",
			"ccv": "318",
		},
		"creditCardHolderInfo": object{
			"name": "Ana Souza", "email": "ana@example.com", "cpfCnpj": "52998224725", "postalCode": "01310100",
			"addressNumber": "150", "phone": "1138830000",
		},
		"remoteIp": "203.0.113.7",
	})
	require.NoError(t, err)
	made := atGateway(t, s.GWAURL()+"/subscriptions", "access_token", "$aact_hmlg_sandbox", "application/json",
		string(raw))
	require.NoError(t, s.GWA.Advance(time.Minute))
	return made["id"].(string)
}

// paidAt begins one at a gateway; customer and recurrence are the gateway's.
func paidAt(t *testing.T, b *bundle, gw gateway.Name) (id objectid.ID, customer, recurrence string) {
	t.Helper()
	if gw == gateway.GWB {
		id = b.paidGWB(t)
	} else {
		id = b.paidGWA(t)
	}
	b.gateways.Sandbox.GWA.SetBalance(10_000_000)
	return id, column[string](t, b, id, string(gw)+"_customer_id"),
		column[string](t, b, id, string(gw)+"_subscription_id")
}

func chargesAt(t *testing.T, b *bundle, gw gateway.Name, recurrence string) bool {
	t.Helper()
	of := gateway.Gateway(b.gateways.A)
	if gw == gateway.GWB {
		of = b.gateways.B
	}
	remote, err := of.ReadSubscription(t.Context(), recurrence, "")
	return err == nil && remote.Status == gateway.RemoteActive
}

// TestMoneyOfACustomerThatNamesNothingGoesBack, and what charged it is ended: told by a
// webhook, or by reconciliation alone.
func TestMoneyOfACustomerThatNamesNothingGoesBack(t *testing.T) {
	t.Parallel()
	for _, gateway := range []gateway.Name{gateway.GWA, gateway.GWB} {
		for _, by := range []string{"webhook", "reconciliation"} {
			t.Run(string(gateway)+" by "+by, func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				id, customer, paymentID := paidAt(t, b, gateway)
				if by != "webhook" {
					b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{})
				}
				stray := nameless(t, b, gateway, customer, paymentID)
				b.settle(t)
				if by != "webhook" {
					require.Zero(t, b.count(t, "SELECT count(*) FROM payments.unapplied_payments"))
					dry := b.reconcile(t, true)
					require.NotZero(t, dry.Verdicts[payments.Repairable], "%+v", dry.Findings)
					require.Zero(t, b.count(t,
						"SELECT count(*) FROM jobs.river_job WHERE kind = 'subscriptions_stray_money'"))
					b.reconcile(t, false)
					b.confirmLate(t)
				}
				payment := b.text(t, "SELECT gateway_payment_id FROM payments.unapplied_payments")
				row := b.listed(t, payment)
				require.Equal(t, "foreign", row["kind"])
				require.Equal(t, id.String(), row["subscription_id"])
				require.Equal(t, b.customer.ID.String(), row["customer_id"])
				b.refundUnapplied(t)
				require.Equal(t, "refunded", b.listed(t, payment)["state"])
				b.work(t)
				eventually(t, "its end", func() bool { return !chargesAt(t, b, gateway, stray) })
				require.True(t, chargesAt(t, b, gateway, paymentID), "the row's own goes on")
				require.Equal(t, "active", b.status(t, id))
				eventually(t, "the mail", func() bool { return len(b.mails.Mails()) == 1 })
				for range 2 {
					b.reconcile(t, false)
				}
				require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.unapplied_payments"))
				require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.refunds"))
			})
		}
	}
}

// singlePayment has a gateway take money of a customer once, which names nothing of ours and no
// invoice.
func singlePayment(t *testing.T, b *bundle, gw gateway.Name, customer string) string {
	t.Helper()
	s := b.gateways.Sandbox
	if gw == gateway.GWB {
		method := atGateway(t, s.GWBURL()+"/v1/payment_methods/pm_card_visa/attach", "Authorization",
			"Bearer sk_test_sandbox",
			"application/x-www-form-urlencoded", url.Values{"customer": {customer}}.Encode())
		made := atGateway(t, s.GWBURL()+"/v1/payment_intents", "Authorization", "Bearer sk_test_sandbox",
			"application/x-www-form-urlencoded", url.Values{
				"customer": {customer}, "amount": {"1990"}, "currency": {"brl"}, "confirm": {"true"},
				"off_session": {"true"}, "payment_method": {method["id"].(string)},
				"payment_method_types[]": {"card"},
			}.Encode())
		return made["id"].(string)
	}
	raw, err := json.Marshal(object{
		"customer": customer, "billingType": "PIX", "value": 19.9, "dueDate": s.GWA.Now().Format(time.DateOnly),
	})
	require.NoError(t, err)
	made := atGateway(t, s.GWAURL()+"/payments", "access_token", "$aact_hmlg_sandbox", "application/json", string(raw))
	_, err = s.GWA.Pay(made["id"].(string))
	require.NoError(t, err)
	return made["id"].(string)
}

// TestMoneyOfACustomerWithoutASubscriptionIsListed: they have bought nothing but tickets.
// Of one who has a subscription a single charge goes back like a recurrence's.
func TestMoneyOfACustomerWithoutASubscriptionIsListed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	for gateway, of := range map[gateway.Name]gateway.Gateway{gateway.GWA: b.gateways.A, gateway.GWB: b.gateways.B} {
		payer := paymentstest.Payer()
		payer.CustomerID = b.customer.ID
		b.gateways.Sandbox.GWA.SetBalance(10_000_000)
		customer, err := of.EnsureCustomer(t.Context(), payer)
		require.NoError(t, err)
		_, err = b.accounts.SetGatewayCustomer(t.Context(), b.db, b.customer.ID, string(gateway), customer)
		require.NoError(t, err)
		payment := singlePayment(t, b, gateway, customer)
		for range 2 {
			b.settle(t)
			require.Equal(t, 1, b.count(t,
				`SELECT count(*) FROM payments.unapplied_payments WHERE gateway_payment_id = $1 AND kind = 'foreign' AND state = 'open'
				AND NOT automatic AND customer_id = $2 AND subscription_id IS NULL AND amount_cents = 1990`, payment,
				b.customer.ID), gateway)
			b.reconcile(t, false)
		}
	}
	require.Equal(t, 2, b.count(t,
		"SELECT count(*) FROM payments.payments WHERE purpose = 'customer' AND local_id = $1", b.customer.ID))
	require.Zero(t, b.count(t, "SELECT count(*) FROM payments.refunds"), "nobody has decided")
	for _, by := range []string{"booked", "listed alone, as by the release before"} {
		giveBackTwice(t, b, by)
	}

	b.newcomer(t)
	_, customer, _ := paidAt(t, b, gateway.GWB)
	b.settle(t)
	require.Equal(t, 2, b.count(t, "SELECT count(*) FROM payments.unapplied_payments"),
		"the charge of an invoice tells itself what it is for")
	payment := singlePayment(t, b, gateway.GWB, customer)
	b.settle(t)
	require.Equal(t, "foreign", b.listed(t, payment)["kind"])
	b.refundUnapplied(t)
	require.Equal(t, 3, b.count(t, "SELECT count(*) FROM payments.unapplied_payments WHERE state = 'refunded'"))
}

// giveBackTwice has an admin refund the first open row of the list, and ask again.
func giveBackTwice(t *testing.T, b *bundle, by string) {
	t.Helper()
	id := b.text(t, "SELECT id FROM payments.unapplied_payments WHERE state = 'open' ORDER BY created_at LIMIT 1")
	payment := b.text(t, "SELECT gateway_payment_id FROM payments.unapplied_payments WHERE id = $1", id)
	if by != "booked" {
		_, err := b.db.Exec(t.Context(), "DELETE FROM payments.payments WHERE gateway_payment_id = $1", payment)
		require.NoError(t, err)
	}
	b.admin(t).Post(unappliedPath+"/"+id+"/refund", object{"reason": "nothing was bought"}).Expect(200)
	b.settle(t)
	require.Equal(t, "refunded", b.listed(t, payment)["state"])
	b.admin(t).Post(unappliedPath+"/"+id+"/refund", object{"reason": "once more"}).Expect(409)
	b.reconcile(t, false)
	require.True(t, givenBack(t, b, payment))
	require.Equal(t, 1, b.count(t,
		"SELECT count(*) FROM payments.refunds WHERE payment_ref = $1 AND status = 'done' AND purpose = 'customer' AND amount_cents = 1990", payment))
	require.Equal(t, 1, b.count(t,
		"SELECT count(*) FROM jobs.river_job WHERE kind = 'payments_unapplied_mail' AND args->>'id' = $1", id))
	require.Zero(t, b.count(t, "SELECT count(*) FROM finance.daily_deltas WHERE payments <> 0 OR refunds_cents <> 0"))
}

// TestChargesThatNameNothingAreReconciled: no webhook has told of them. A charge that no
// call reads is for people to place, and a stranger's stands in the report alone.
func TestChargesThatNameNothingAreReconciled(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, customer, _ := paidAt(t, b, gateway.GWB)
	b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{})
	strangers, err := b.gateways.B.EnsureCustomer(t.Context(), paymentstest.Payer())
	require.NoError(t, err)
	ours, theirs := singlePayment(t, b, gateway.GWB, customer), singlePayment(t, b, gateway.GWB, strangers)
	for _, dry := range []bool{true, false} {
		report := b.reconcile(t, dry)
		verdicts := map[string]string{}
		for _, f := range report.Findings {
			if f.Kind == payments.MissedPayment {
				verdicts[f.ID] = string(f.Verdict)
			}
		}
		want := "repaired"
		if dry {
			want = "repairable"
			require.Zero(t, b.count(t, "SELECT count(*) FROM jobs.river_job WHERE kind = 'subscriptions_stray_money'"))
		}
		require.Equal(t, map[string]string{ours: want, theirs: "unknown"}, verdicts)
	}
	b.confirmLate(t)
	require.Equal(t, "foreign", b.listed(t, ours)["kind"])
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.unapplied_payments"))
	b.refundUnapplied(t)
	require.True(t, givenBack(t, b, ours))
}

// TestWhatIsNoCustomersOfOursIsLeftAlone: the platform is not all that uses the account.
func TestWhatIsNoCustomersOfOursIsLeftAlone(t *testing.T) {
	t.Parallel()
	for _, gw := range []gateway.Name{gateway.GWA, gateway.GWB} {
		t.Run(string(gw), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			_, _, paymentID := paidAt(t, b, gw)
			var of gateway.Gateway = b.gateways.A
			if gw == gateway.GWB {
				of = b.gateways.B
			}
			strangers, err := of.EnsureCustomer(t.Context(), paymentstest.Payer())
			require.NoError(t, err)
			stray := nameless(t, b, gw, strangers, paymentID)
			b.settle(t)
			b.reconcile(t, false)
			require.Zero(t, b.count(t, "SELECT count(*) FROM payments.unapplied_payments"))
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"))
			require.Zero(t, b.count(t,
				"SELECT count(*) FROM jobs.river_job WHERE kind IN ('subscriptions_stray_money', 'subscriptions_end_stray')"))
			require.True(t, chargesAt(t, b, gw, stray))
		})
	}
}

// TestForgedMoneyOfACustomerGivesNothing: whoever has gateway A's token could have
// strangers' money given back, and their recurrences ended.
func TestForgedMoneyOfACustomerGivesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, customer, paymentID := paidAt(t, b, gateway.GWA)
	strangers, err := b.gateways.A.EnsureCustomer(t.Context(), paymentstest.Payer())
	require.NoError(t, err)
	stray := nameless(t, b, gateway.GWA, strangers, paymentID)
	b.settle(t)
	theirs := ""
	for _, c := range b.gateways.Charges(t) {
		if c.Succeeded && c.LocalID == "" {
			theirs = c.ID
		}
	}
	require.NotEmpty(t, theirs)
	for _, payment := range []string{theirs, "pay_nobody"} {
		require.NoError(t, b.service.TakeStrayMoney(t.Context(),
			strays.StrayMoneyArgs{Gateway: gateway.GWA, PaymentID: payment, CustomerID: customer}))
	}
	require.Zero(t, b.count(t, "SELECT count(*) FROM payments.unapplied_payments"))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"))
	require.True(t, chargesAt(t, b, gateway.GWA, stray))
}

// TestMoneyWaitsForWhatIsBeingAsked: it may be that of a call whose answer was lost; and
// while the gateway does not answer nothing is known of it.
func TestMoneyWaitsForWhatIsBeingAsked(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, customer, paymentID := paidAt(t, b, gateway.GWA)
	b.working = true // the job is ours
	nameless(t, b, gateway.GWA, customer, paymentID)
	b.settle(t)
	var a strays.StrayMoneyArgs
	require.NoError(t,
		b.db.QueryRow(t.Context(),
			"DELETE FROM jobs.river_job WHERE kind = 'subscriptions_stray_money' RETURNING args").Scan(&a))
	require.NoError(t, b.gateways.Sandbox.GWA.Stage().Faults.Plan(stage.Fault{
		Kind: stage.FaultStatus, Status: 500, Times: manyTimes,
	}))
	require.Error(t, b.service.TakeStrayMoney(t.Context(), a))
	b.gateways.Sandbox.GWA.Stage().Faults.Clear()
	b.set(t, id, "intent_open = true")
	require.ErrorContains(t, b.service.TakeStrayMoney(t.Context(), a), "Snooze")
	require.Zero(t, b.count(t, "SELECT count(*) FROM payments.unapplied_payments"))
	b.set(t, id, "intent_open = false")
	for range 2 {
		require.NoError(t, b.service.TakeStrayMoney(t.Context(), a))
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.unapplied_payments"))
	}
}
