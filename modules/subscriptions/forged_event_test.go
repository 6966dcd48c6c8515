package subscriptions_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
)

// forge delivers an event as somebody would who has gateway A's token, and does what
// follows from it.
func forge(t *testing.T, b *bundle, event, key string, of object) {
	t.Helper()
	body, err := json.Marshal(object{
		"id": "evt_" + objectid.New().String(), "event": event,
		"dateCreated": b.clock.Now().Format("2006-01-02 15:04:05"), key: of,
	})
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.serve().url+"/webhooks/gwa",
		bytes.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Asaas-Access-Token", paymentstest.GWAToken)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, 200, res.StatusCode)
	b.confirmLate(t)
}

// payment is gateway A's own picture of a payment, as far as an event is read.
func forgedPayment(b *bundle, id objectid.ID, payment, recurrence string, more object) object {
	p := object{
		"object": "payment", "id": payment, "value": 49.90, "billingType": "CREDIT_CARD", "status": "CONFIRMED",
		"externalReference": id.String(),
		"dueDate":           b.clock.Now().Format(time.DateOnly), "confirmedDate": b.clock.Now().Format(time.DateOnly),
	}
	if recurrence != "" {
		p["subscription"] = recurrence
	}
	for k, v := range more {
		p[k] = v
	}
	return p
}

// stands is all that an event could change of a subscription and its money.
func stands(t *testing.T, b *bundle, id objectid.ID) string {
	t.Helper()
	return b.text(t,
		`SELECT concat_ws(' ', s.status, s.next_billing_date, s.expires_at, s.payment_failures, s.has_chargeback, s.total_refunded_cents,
		(SELECT count(*) FROM payments.payments), (SELECT count(*) FROM payments.failed_attempts), (SELECT count(*) FROM payments.refunds),
		(SELECT count(*) FROM payments.disputes), (SELECT count(*) FROM payments.unapplied_payments), (SELECT count(*) FROM subscriptions.transitions))
		FROM subscriptions.subscriptions s WHERE s.id = '`+id.String()+`'`)
}

// TestForgedEventsOfACardChangeNothing: charges of a day far ahead, failures, refunds and
// disputes that the gateway does not show.
func TestForgedEventsOfACardChangeNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWA(t)
	payment, recurrence := b.text(t, "SELECT gateway_payment_id FROM payments.payments"),
		column[string](t, b, id, "gwa_subscription_id")
	before := stands(t, b, id)
	for _, dates := range []object{{"dueDate": "2099-12-22"}, {"confirmedDate": "2099-12-22"}} {
		forge(t, b, "PAYMENT_CONFIRMED", "payment",
			forgedPayment(b, id, "pay_"+objectid.New().String(), recurrence, dates))
		require.Equal(t, before, stands(t, b, id))
	}
	for range 3 {
		forge(t, b, "PAYMENT_OVERDUE", "payment",
			forgedPayment(b, id, "pay_"+objectid.New().String(), recurrence, object{"status": "OVERDUE"}))
	}
	for _, event := range []string{"PAYMENT_OVERDUE", "PAYMENT_CREDIT_CARD_CAPTURE_REFUSED"} {
		forge(t, b, event, "payment", forgedPayment(b, id, payment, recurrence, object{"status": "OVERDUE"}))
	}
	require.Equal(t, before, stands(t, b, id))
	forgeTakenBack(t, b, id, payment, recurrence, object{})
	require.Equal(t, before, stands(t, b, id))
	require.True(t, b.access(t))
	require.Equal(t, 11,
		b.count(t,
			"SELECT count(*) FROM payments.webhook_logs WHERE result->>'reason' LIKE 'the gateway does not show%' AND processed"))
}

// forgeTakenBack tells refunds and disputes of a payment that was neither refunded nor disputed.
func forgeTakenBack(t *testing.T, b *bundle, id objectid.ID, payment, recurrence string, more object) {
	t.Helper()
	for event, status := range map[string]string{
		"PAYMENT_REFUNDED": "REFUNDED", "PAYMENT_PARTIALLY_REFUNDED": "CONFIRMED",
		"PAYMENT_CHARGEBACK_REQUESTED":         "CHARGEBACK_REQUESTED",
		"PAYMENT_AWAITING_CHARGEBACK_REVERSAL": "AWAITING_CHARGEBACK_REVERSAL",
	} {
		p := forgedPayment(b, id, payment, recurrence, more)
		p["status"] = status
		if status == "REFUNDED" || event == "PAYMENT_PARTIALLY_REFUNDED" {
			p["refunds"] = []object{
				{"dateCreated": b.clock.Now().Format(time.DateTime), "status": "DONE", "value": 49.90},
			}
		}
		forge(t, b, event, "payment", p)
	}
}

// TestForgedEventsTakeNoPixBack: of one that was paid.
func TestForgedEventsTakeNoPixBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	id := idOf(b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan}))
	payment := column[string](t, b, id, "pix_payment_id")
	_, err := b.gateways.Sandbox.GWA.Pay(payment)
	require.NoError(t, err)
	b.settle(t)
	before := stands(t, b, id)
	forgeTakenBack(t, b, id, payment, "", object{"billingType": "PIX"})
	require.Equal(t, before, stands(t, b, id))
	require.True(t, b.access(t))
}

// TestAForgedActivationOpensNothing: of an authorization that still waits for its payer,
// and of the payment of its first code.
func TestAForgedActivationOpensNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	id := idOf(b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix-automatico", object{"plan_id": plan}))
	auth, code := column[string](t, b, id, "gwa_pix_auth_id"), column[string](t, b, id, "pix_conciliation_id")
	before := stands(t, b, id)
	forge(t, b, "PIX_AUTOMATIC_RECURRING_AUTHORIZATION_ACTIVATED", "authorization", object{
		"id": auth, "status": "ACTIVE", "contractId": id.String(),
		"immediateQrCode": object{"conciliationIdentifier": code},
	})
	require.Equal(t, before, stands(t, b, id))
	forge(t, b, "PAYMENT_RECEIVED", "payment",
		forgedPayment(b, "", "pay_forged", "",
			object{"billingType": "PIX", "pixQrCodeId": code, "externalReference": nil}))
	require.Equal(t, before, stands(t, b, id))
	require.False(t, b.access(t))
	_, err := b.gateways.Sandbox.GWA.ActivateAuthorization(auth)
	require.NoError(t, err)
	b.settle(t)
	require.Equal(t, "active", b.status(t, id), "the gateway's own")
}

// TestAPaymentIsOfOneSubscription: one that is booked opens, lengthens and teaches no other,
// nor one that has ended, whatever an event says that it is of.
func TestAPaymentIsOfOneSubscription(t *testing.T) {
	t.Parallel()
	b := setup(t)
	card := b.paidGWA(t)
	payment, recurrence := b.text(t, "SELECT gateway_payment_id FROM payments.payments"),
		column[string](t, b, card, "gwa_subscription_id")
	for _, way := range []string{"pix", "pix-automatico"} {
		b.newcomer(t)
		id := idOf(b.expect(t, 201, http.MethodPost, "/gwa/subscribe/"+way, object{"plan_id": plan}))
		before := stands(t, b, id)
		named := func() {
			t.Helper()
			for _, as := range []object{{"billingType": "PIX", "status": "RECEIVED"}, {}} {
				forge(t, b, "PAYMENT_RECEIVED", "payment", forgedPayment(b, id, payment, "", as))
				forge(t, b, "PAYMENT_CONFIRMED", "payment", forgedPayment(b, id, payment, recurrence, as))
			}
			require.Equal(t, before, stands(t, b, id))
			require.False(t, b.access(t))
		}
		named()
		b.expect(t, 200, http.MethodDelete, "/customers/me/subscription", nil)
		before = stands(t, b, id)
		named()
	}
	require.Equal(t, card.String(), b.text(t, "SELECT local_id FROM payments.payments"))
	require.Equal(t, 8, b.count(t,
		"SELECT count(*) FROM payments.webhook_logs WHERE result->>'reason' LIKE 'the payment is booked for something else'"))
}

// TestReconciliationFindsWhatTheGatewayDoesNotShow: what was booked as given back and as
// disputed before events were read live.
func TestReconciliationFindsWhatTheGatewayDoesNotShow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWA(t)
	payment, at := b.text(t, "SELECT gateway_payment_id FROM payments.payments"), b.clock.Now()
	paid := &gateway.Payment{
		ID: payment, Status: gateway.PaymentStatusSettled, NativeStatus: "CONFIRMED", Method: gateway.MethodCard,
		Amount: 4990, SettledAt: &at,
	}
	b.apply(t, gateway.Event{
		Gateway: gateway.GWA, CreatedAt: at, Reference: id,
		Payload: gateway.RefundChange{Status: gateway.RefundStatusDone, Payment: *paid, Report: gateway.RefundReport{
			PaymentID: payment, Total: 1000, HasTotal: true, At: at,
			Singles: []gateway.SingleRefund{{Amount: 1000, Status: gateway.RefundStatusDone, At: at}}, Listed: true,
		}},
	})
	b.apply(t, gateway.Event{
		Gateway: gateway.GWA, CreatedAt: at, Reference: id,
		Payload: gateway.DisputeChange{Payment: *paid, Report: gateway.DisputeReport{
			ID: payment, PaymentID: payment, Amount: 4990, State: gateway.DisputeOpen, NativeStatus: "CHARGEBACK_REQUESTED",
			OpenedAt: at, At: at,
		}},
	})
	for _, dry := range []bool{true, false} {
		report, err := b.service.Reconcile(t.Context(),
			payments.ReconcileOptions{Since: at.Add(-day), Gateways: []gateway.Name{gateway.GWA}, DryRun: dry})
		require.NoError(t, err)
		require.Equal(t, 1, report.Counts["unshown_refund"], "%v", report.Findings)
		require.Equal(t, 1, report.Counts["unshown_dispute"], "%v", report.Findings)
	}
}

// forgedPix has another customer subscribe by PIX, whose payment is told and not made.
func forgedPix(t *testing.T, b *bundle) (id objectid.ID, code string) {
	t.Helper()
	b.newcomer(t)
	id = idOf(b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan}))
	code = column[string](t, b, id, "pix_payment_id")
	forge(t, b, "PAYMENT_RECEIVED", "payment",
		forgedPayment(b, id, code, "", object{"billingType": "PIX", "status": "RECEIVED"}))
	return id, code
}

// TestAnInventedPaymentGivesNoTrueChargeBack: the true charge of the day counts, and the
// invented one, of which an event alone told, no more. Reconciliation finds such a payment
// before, and a code that is open at the gateway.
func TestAnInventedPaymentGivesNoTrueChargeBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWA(t)
	b.gateways.Sandbox.GWA.SetBalance(10_000_000)
	next := column[time.Time](t, b, id, "next_billing_date")
	due := next.In(reportZone(t)).Format(time.DateOnly)
	forge(t, b, "PAYMENT_CONFIRMED", "payment",
		forgedPayment(b, id, "pay_invented", column[string](t, b, id, "gwa_subscription_id"),
			object{"dueDate": due, "originalDueDate": due}))
	require.Equal(t, 2, b.count(t, "SELECT count(*) FROM payments.payments WHERE counted"),
		"a charge of the right amount counts at once")
	report := b.reconcile(t, true)
	require.Equal(t, 1, report.Counts["unshown_payment"], "%v", report.Findings)
	require.Zero(t, b.count(t, "SELECT count(*) FROM payments.unapplied_payments"))

	recurring["gwa"].renew(b, t, id)
	b.settle(t)
	require.Equal(t, 3, b.count(t, "SELECT count(*) FROM payments.payments"))
	require.Equal(t, 0, b.count(t,
		"SELECT count(*) FROM payments.payments WHERE counted = (gateway_payment_id = 'pay_invented')"))
	require.Equal(t, "unknown open",
		b.text(t,
			"SELECT string_agg(kind || ' ' || state || CASE WHEN automatic THEN ' automatic' ELSE '' END, ', ') FROM payments.unapplied_payments"))
	require.Equal(t, "open", b.listed(t, "pay_invented")["state"])
	b.refundUnapplied(t)
	require.Zero(t, b.count(t, "SELECT count(*) FROM payments.refunds"))
	require.Equal(t, oneMonthOn(t, next), column[time.Time](t, b, id, "next_billing_date"))
	require.Equal(t, "active", b.status(t, id))
	extend := func(payment, says string) {
		t.Helper()
		before := b.text(t,
			"SELECT string_agg(concat_ws(' ', id, expires_at, next_billing_date), ',' ORDER BY id) FROM subscriptions.subscriptions")
		path := unappliedPath + "/" + b.listed(t, payment)["_id"].(string) + "/extend"
		require.Contains(t, b.admin(t).Post(path, object{}).Expect(409).Map()["detail"], says)
		require.Equal(t, before,
			b.text(t,
				"SELECT string_agg(concat_ws(' ', id, expires_at, next_billing_date), ',' ORDER BY id) FROM subscriptions.subscriptions"))
	}
	extend("pay_invented", "does not show")

	pix, code := forgedPix(t, b)
	require.Equal(t, "active", b.status(t, pix))
	require.Equal(t, 2, b.reconcile(t, false).Counts["unshown_payment"])
	require.Equal(t, "unknown", b.listed(t, code)["kind"])
	require.Equal(t, pix.String(), b.listed(t, code)["subscription_id"])
	extend(code, "does not show")
	b.refundUnapplied(t)
	require.Equal(t, "open", b.listed(t, code)["state"])
	_, err := b.gateways.Sandbox.GWA.Pay(code)
	require.NoError(t, err)
	extend(code, "already granted")
	b.settle(t)
	require.Equal(t, 1, b.reconcile(t, false).Counts["unshown_payment"], "the invented one alone")
	row := b.listed(t, code)
	require.Equal(t, "kept", row["state"])
	require.Contains(t, row["note"], "now shows it as paid")
	require.Equal(t, "open", b.listed(t, "pay_invented")["state"])

	// Shown by now, and nothing was given for it: its note does not say any more that it is not shown.
	_, code = forgedPix(t, b)
	b.reconcile(t, false)
	require.Contains(t, b.listed(t, code)["note"], "does not show it")
	counts := func(c bool) {
		t.Helper()
		_, err := b.db.Exec(t.Context(), "UPDATE payments.payments SET counted = $2 WHERE gateway_payment_id = $1",
			code, c)
		require.NoError(t, err)
	}
	counts(false)
	_, err = b.gateways.Sandbox.GWA.Pay(code)
	require.NoError(t, err)
	for range 2 {
		b.reconcile(t, false)
		row = b.listed(t, code)
		require.Equal(t, "open", row["state"])
		require.Contains(t, row["note"], "now shows it as paid, and nothing was granted for it")
		require.NotContains(t, row["note"], "does not show")
	}
	counts(true)
	b.reconcile(t, false)
	require.Equal(t, "kept", b.listed(t, code)["state"])

	_, code = forgedPix(t, b)
	b.reconcile(t, false)
	b.listen()
	_, err = b.gateways.Sandbox.GWA.Pay(code)
	require.NoError(t, err)
	b.settle(t)
	b.work(t)
	eventually(t, "its webhook to have it asked for", func() bool { return b.listed(t, code)["state"] == "kept" })
}
