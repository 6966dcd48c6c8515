package subscriptions_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/testutil/pgtest"
	"marquee/testutil/sandbox/gwa/account"
	"marquee/testutil/sandbox/stage"
)

func TestAdminRefundsAtGatewayB(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, admin := b.paidGWB(t), b.admin(t)
	path := "/admin/gwb/subscriptions/" + id.String()

	list := admin.Get(path + "/payments").Expect(200).Map()
	require.Equal(t, column[string](t, b, id, "gwb_subscription_id"), list["gwb_subscription_id"])
	payment := list["payments"].([]any)[0].(object)
	require.Equal(t, 4990.0, payment["amount"])
	require.Equal(t, "brl", payment["currency"])
	require.Equal(t, "succeeded", payment["status"])
	require.Equal(t, false, payment["refunded"])

	require.Equal(t, 422, admin.Post(path+"/refund", object{"reason": "abc"}).Status)
	require.Equal(t, 404,
		admin.Post(path+"/refund", object{"reason": "as agreed", "payment_intent_id": "pi_of_somebody"}).Status)
	wrong := admin.Post("/admin/gwa/subscriptions/"+id.String()+"/refund", object{"reason": "as agreed"}).Expect(422)
	require.Equal(t, "VALIDATION_ERROR", wrong.Code())

	refund := admin.Post(path+"/refund", object{"reason": "as agreed", "payment_intent_id": payment["payment_intent"]}).
		Expect(200).Map()
	require.Equal(t, 4990.0, refund["refund_amount"])
	require.Equal(t, payment["payment_intent"], refund["payment_intent_id"])
	require.Equal(t, "as agreed", refund["reason"])
	require.NotEmpty(t, refund["admin"])
	require.NotNil(t, refund["gateway_response"])
	b.settle(t)
	require.Equal(t, int64(4990), column[int64](t, b, id, "total_refunded_cents"),
		"once, by the answer and the webhook")

	again := admin.Post(path+"/refund", object{"reason": "as agreed"}).Expect(422)
	require.Equal(t, "REFUND_NOT_ALLOWED", again.Code())
	history := admin.Get(path + "/refunds").Expect(200).Map()
	require.Equal(t, 4990.0, history["total_refunded"])
	require.Equal(t, false, history["has_chargeback"])
	require.Equal(t, 0.0, history["chargeback_count"])
	entry := history["refunds"].([]any)[0].(object)
	require.Regexp(t, "^REFUND-"+id.String()+"-[0-9]+$", entry["event_id"])
	require.Equal(t, "ADMIN.REFUND.GWB_REFUND", entry["type"])
	require.NotNil(t, entry["processed_at"])
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.webhook_logs WHERE event_id = $1", entry["event_id"]))
}

func TestAdminRefundsPartlyAtGatewayA(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, admin := b.paidGWA(t), b.admin(t)
	path := "/admin/gwa/subscriptions/" + id.String()
	payment := admin.Get("/subscriptions/" + id.String() + "/payments").Expect(200).
		Map()["payments"].([]any)[0].(object)
	require.Equal(t, "CREDIT_CARD", payment["billing_type"])
	for _, value := range []string{"0", "-1", "1.001", "49.91", "1e9"} {
		a := admin.Post(path+"/refund", fmt.Sprintf(`{"reason":"as agreed","value":%s}`, value)).Expect(422)
		require.Equal(t, "VALIDATION_ERROR", a.Code(), value)
		require.Equal(t, "value", a.Field(), value)
	}
	first := admin.Post(path+"/refund", object{"reason": "as agreed", "value": 20.5}).Expect(200).Map()
	require.Equal(t, 2050.0, first["refund_amount"])
	require.NotEmpty(t, first["payment_id"])
	rest := admin.Post("/subscriptions/"+id.String()+"/refund", object{"reason": "the rest"}).Expect(200).Map()
	require.Equal(t, 2940.0, info(rest)["refund_amount"])
	require.Equal(t, "partial", info(rest)["refund_type"])
	require.Equal(t, 4990.0, doc(rest)["total_refunded"])
	b.settle(t)
	require.Equal(t, int64(4990), column[int64](t, b, id, "total_refunded_cents"))
	require.Equal(t, "REFUND_NOT_ALLOWED", admin.Post(path+"/refund", object{"reason": "once more"}).Expect(422).Code())
}

func TestRefundThatTheGatewayRejects(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	id, admin := idOf(b.expect(t, 201, "POST", "/gwa/subscribe/pix", object{"plan_id": plan})), b.admin(t)
	_, err := b.gateways.Sandbox.GWA.Pay(column[string](t, b, id, "pix_payment_id"))
	require.NoError(t, err)
	b.settle(t)
	_, err = b.gateways.Sandbox.GWA.ChangeSettings(func(s *account.Settings) { s.RefundsNeedBalance = true })
	require.NoError(t, err)
	b.gateways.Sandbox.GWA.SetBalance(0)
	a := admin.Post("/subscriptions/"+id.String()+"/refund", object{"reason": "as agreed"})
	require.Equal(t, "REFUND_FAILED", a.Expect(500).Code())
	require.Equal(t, "The payment gateway rejected the refund.", a.Detail())
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.refunds WHERE status = 'failed'"),
		"the request was written before the call")
	require.Zero(t, column[int64](t, b, id, "total_refunded_cents"))
}

func TestRefundWithoutAPayment(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _ := subscriptionIn(t, b, "pending")
	a := b.admin(t).Post("/subscriptions/"+id.String()+"/refund", object{"reason": "as agreed"}).Expect(422)
	require.Equal(t, "REFUND_NOT_ALLOWED", a.Code())
}

func TestAdminCancels(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(*bundle, *testing.T) string{
		"gwa": func(b *bundle, t *testing.T) string { return b.paidGWA(t).String() },
		"gwb": func(b *bundle, t *testing.T) string { return b.paidGWB(t).String() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id, admin := begin(b, t), b.admin(t)
			other := map[string]string{"gwa": "gwb", "gwb": "gwa"}[name]
			require.Equal(t, "VALIDATION_ERROR",
				admin.Post("/admin/"+other+"/subscriptions/"+id+"/cancel", nil).Expect(422).Code())
			a := admin.Post("/admin/"+name+"/subscriptions/"+id+"/cancel", object{"reason": "asked by phone"}).
				Expect(200).Map()
			require.Equal(t, b.customer.ID.String(), a["customer_id"])
			require.NotEmpty(t, a[name+"_subscription_id"])
			require.NotNil(t, a["cancelled_at"])
			require.NotNil(t, a["gateway_response"])
			require.Empty(t, b.current(t))
			b.settle(t)
			require.Equal(t, 409, admin.Post("/subscriptions/"+id+"/cancel", nil).Status)
			require.Equal(t, 1, b.count(t,
				"SELECT count(*) FROM subscriptions.transitions WHERE reason = 'admin_cancelled' AND source = 'admin' AND actor_id IS NOT NULL"))
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM accounts.audit_log WHERE action = 'admin_"+name+
				"_subscription_cancel' AND after ->> 'reason' = 'asked by phone'"))
			require.Equal(t, 404, admin.Post("/subscriptions/66f0a1b2c3d4e5f607182a01/cancel", nil).Status)
			require.Equal(t, 422, admin.Post("/subscriptions/x/cancel", nil).Status)
		})
	}
}

// TestAdminSeesWhatAnAutomaticPixPaid: its first payment has another customer at the
// gateway and names nobody.
func TestAdminSeesWhatAnAutomaticPixPaid(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, auth := b.authorized(t)
	admin, path := b.admin(t), "/subscriptions/"+id.String()
	paid := admin.Get(path + "/payments").Expect(200).Map()["payments"].([]any)
	require.Len(t, paid, 1)
	require.Equal(t, "RECEIVED", paid[0].(object)["status"])
	require.Equal(t, "PIX", paid[0].(object)["billing_type"])
	refund := admin.Post(path+"/refund", object{"reason": "as agreed"}).Expect(200).Map()
	require.Equal(t, 4990.0, info(refund)["refund_amount"])
	require.Equal(t, 4990.0,
		admin.Get(path + "/payments").Expect(200).Map()["payments"].([]any)[0].(object)["amount_refunded"])
	require.Equal(t, object{"id": auth, "status": "canceled"},
		admin.Post(path+"/cancel", nil).Expect(200).Map()["gateway_response"])
}

func TestAdminCancelsAPeriodThatIsPaid(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	id := idOf(b.expect(t, 201, "POST", "/gwa/subscribe/pix", object{"plan_id": plan}))
	_, err := b.gateways.Sandbox.GWA.PayPIX(column[string](t, b, id, "pix_payload"))
	require.NoError(t, err)
	b.settle(t)
	a := b.admin(t).Post("/admin/gwa/subscriptions/"+id.String()+"/cancel", nil).Expect(200).Map()
	require.Equal(t, "The subscription was cancelled.", a["message"])
	require.Nil(t, a["gateway_response"], "nothing runs there")
	require.Empty(t, b.current(t))
}

func TestAdminCancelsWhileTheGatewayIsDown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, admin := b.paidGWB(t), b.admin(t)
	faults := &b.gateways.Sandbox.GWB.Stage().Faults
	require.NoError(t, (*faults).Plan(stage.Fault{
		Method: http.MethodDelete, Kind: stage.FaultStatus, Status: 500, Times: manyTimes,
	}))
	a := admin.Post("/subscriptions/"+id.String()+"/cancel", nil).Expect(200).Map()
	require.Nil(t, a["gateway_response"])
	require.Equal(t, "cancelled", b.status(t, id))
	(*faults).Clear()
	b.runStatusChecks(t, 10*time.Second)
	require.NotNil(t, column[*time.Time](t, b, id, "gateway_ended_at"))
}

func TestAdminExtendsAndActivates(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _ := subscriptionIn(t, b, "active")
	admin, path := b.admin(t), "/admin/subscriptions/"+id.String()
	next := column[time.Time](t, b, id, "next_billing_date")
	for _, body := range []object{
		{}, {"days": 0}, {"days": 3651}, {"days": 3, "expires_at": "2099-01-01"}, {"expires_at": "2001-01-01"},
	} {
		require.Equal(t, 422, admin.Post(path+"/extend", body).Status, body)
	}
	require.Equal(t, 422, admin.Post(path+"/extend", object{"expires_at": next.AddDate(0, 0, -1)}).Status,
		"the customer has paid until then")
	admin.Post(path+"/extend", object{"days": 10}).Expect(200)
	expires := column[time.Time](t, b, id, "expires_at")
	require.WithinDuration(t, next.AddDate(0, 0, 10), expires, time.Second)
	require.WithinDuration(t, expires, column[time.Time](t, b, id, "next_billing_date"), time.Second)
	require.Equal(t, 422, admin.Post(path+"/extend", object{"expires_at": next}).Status, "never back")
	for _, malformed := range []string{"2030-02-31", "2030-01", "tomorrow", "2030-01-01T25:00"} {
		require.Equal(t, "expires_at", admin.Post(path+"/extend", object{"expires_at": malformed}).Expect(422).Field(),
			malformed)
	}
	later := expires.UTC().AddDate(1, 0, 0).Truncate(24 * time.Hour)
	for i, layout := range []string{"2006-01-02", "2006-01-02T15:04", "2006-01-02T15:04:05", time.RFC3339} {
		to := later.AddDate(0, 0, i)
		admin.Post(path+"/extend", object{"expires_at": to.Format(layout)}).Expect(200)
		require.WithinDuration(t, to, column[time.Time](t, b, id, "expires_at"), 0, layout)
	}

	admin.Post("/subscriptions/"+id.String()+"/cancel", nil).Expect(200)
	require.Equal(t, 409, admin.Post(path+"/extend", object{"days": 1}).Status)
	b.set(t, id, "payment_failures = 2, has_chargeback = true")
	a := admin.Post(path+"/activate", object{"reason": "goodwill"}).Expect(200).Map()
	require.Equal(t, "active", doc(a)["status"])
	require.Equal(t, 0.0, doc(a)["payment_failures"])
	require.Equal(t, false, doc(a)["has_chargeback"])
	require.NotNil(t, doc(a)["expires_at"], "no recurrence stands behind it")
	require.Equal(t, id, b.current(t))

	admin.Post("/subscriptions/"+id.String()+"/cancel", nil).Expect(200)
	subscriptionstest.Active(t, b.db, b.customer.ID)
	require.Equal(t, "CONFLICT", admin.Post(path+"/activate", nil).Expect(409).Code())
	require.NotEqual(t, id, b.current(t))
}

// TestAdminActivatesNoCardOfWhichNobodyKnows: the call that makes the recurrence has no
// answer yet, so that nothing might ever charge what is opened.
func TestAdminActivatesNoCardOfWhichNobodyKnows(t *testing.T) {
	t.Parallel()
	b := setup(t)
	lose(t, b.gateways.Sandbox.GWA.Stage(), stage.FaultResetAfter, "/v3/subscriptions")
	id := idOf(b.expect(t, 201, http.MethodPost, "/gwa/subscribe", gwaCard("5162306219378829")))
	require.Equal(t, "pending", b.status(t, id))
	detail := b.admin(t).Post("/admin/subscriptions/"+id.String()+"/activate", object{}).Expect(409).Map()["detail"]
	require.Contains(t, detail, "is asked again at")
	require.Equal(t, "pending", b.status(t, id))
	require.False(t, b.access(t))
}

// TestAdminActivatesAnUnpaidPixForOnePeriod: nothing would ever end what nobody has paid and
// no recurrence charges.
func TestAdminActivatesAnUnpaidPixForOnePeriod(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pix.months = 3
	b.listen()
	id := idOf(b.expect(t, 201, "POST", "/gwa/subscribe/pix", object{"plan_id": plan}))
	a := b.admin(t).Post("/admin/subscriptions/"+id.String()+"/activate", nil).Expect(200).Map()
	require.Equal(t, "active", doc(a)["status"])
	end := column[time.Time](t, b, id, "expires_at")
	require.WithinDuration(t, lifecycle.AddMonths(b.clock.Now(), 3, reportZone(t)), end, time.Minute)
	_, err := b.gateways.Sandbox.GWA.Pay(column[string](t, b, id, "pix_payment_id"))
	require.NoError(t, err)
	b.settle(t)
	require.WithinDuration(t, lifecycle.AddMonths(end, 3, reportZone(t)), column[time.Time](t, b, id, "expires_at"),
		time.Second, "the code is paid all the same")
}

// TestAdminActivatesAnAutomaticPixThatWasNeverMade: while nobody knows whether its
// authorization was made it is charged later, or not at all: the checks tell.
func TestAdminActivatesAnAutomaticPixThatWasNeverMade(t *testing.T) {
	t.Parallel()
	b := setup(t)
	gateway := b.gateways.Sandbox.GWA.Stage()
	lose(t, gateway, stage.FaultResetBefore, "/v3/pix/automatic")
	id := idOf(b.expect(t, 201, "POST", "/gwa/subscribe/pix-automatico", object{"plan_id": plan}))
	gateway.Faults.Clear()
	began := b.clock.Now()
	admin, path := b.admin(t), "/admin/subscriptions/"+id.String()+"/activate"
	require.Equal(t, "active", doc(admin.Post(path, nil).Expect(200).Map())["status"])
	require.Nil(t, column[*time.Time](t, b, id, "expires_at"), "its debits may come yet")
	b.runStatusChecks(t, 20*time.Minute)
	require.False(t, column[bool](t, b, id, "intent_open"))
	require.Equal(t, "missing", b.text(t, "SELECT state FROM payments.intents WHERE subject_id = $1", id))
	require.WithinDuration(t, lifecycle.AddMonths(began, 1, reportZone(t)), column[time.Time](t, b, id, "expires_at"),
		time.Second)
	require.True(t, b.access(t))

	b.set(t, id, "expires_at = NULL") // by an earlier release
	require.NotNil(t, doc(admin.Post(path, nil).Expect(200).Map())["expires_at"])
	pgtest.RequireInvariants(t, b.db, b.clock.Now())
	b.clock.Advance(32 * 24 * time.Hour)
	require.NoError(t, b.service.Sweep(t.Context()))
	require.Equal(t, "expired", b.status(t, id))
	require.False(t, b.access(t))
}

func TestAdminReportsAChargeback(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, admin := b.paidGWB(t), b.admin(t)
	path := "/subscriptions/" + id.String()
	require.Equal(t, 422, admin.Post(path+"/chargeback", object{"reason": "bad"}).Status)
	a := admin.Post(path+"/chargeback", object{"reason": "told by the bank", "amount": 4990}).Expect(200).Map()
	require.Equal(t, "suspended", doc(a)["status"])
	require.Equal(t, true, doc(a)["has_chargeback"])
	require.False(t, b.access(t))
	refunds := admin.Get(path + "/refunds").Expect(200).Map()
	require.Equal(t, 1.0, refunds["chargeback_count"])
	require.Equal(t, "open", refunds["chargebacks"].([]any)[0].(object)["status"])
	require.Equal(t, intentPaid(t, b), refunds["chargebacks"].([]any)[0].(object)["payment_intent_id"])
	require.Equal(t, "active>suspended chargeback admin", b.history(t, id)[2])

	// No more than what was paid, without what was given back.
	b.newcomer(t)
	unpaid := idOf(b.expect(t, 201, "POST", "/gwa/subscribe/pix", object{"plan_id": plan}))
	require.Equal(t, "amount",
		admin.Post("/subscriptions/"+unpaid.String()+"/chargeback", object{"reason": "told by the bank"}).Expect(422).
			Field())
	require.Equal(t, "pending", b.status(t, unpaid))
	b.newcomer(t)
	refunded := b.paidGWB(t)
	admin.Post("/admin/gwb/subscriptions/"+refunded.String()+"/refund", object{"reason": "as agreed", "amount": 990}).
		Expect(200)
	require.Equal(t, "amount",
		admin.Post("/subscriptions/"+refunded.String()+"/chargeback",
			object{"reason": "told by the bank", "amount": 4001}).Expect(422).Field())
	admin.Post("/admin/gwb/subscriptions/"+refunded.String()+"/refund", object{"reason": "the rest", "amount": 4000}).
		Expect(200)
	require.Equal(t, "amount",
		admin.Post("/subscriptions/"+refunded.String()+"/chargeback",
			object{"reason": "told by the bank", "amount": 1}).Expect(422).Field())
	require.Equal(t, "active", b.status(t, refunded))
}

func TestAdminListsAndEdits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _ := subscriptionIn(t, b, "active")
	admin := b.admin(t)
	require.Len(t, admin.Get(`/subscriptions?query={"status":"active"}`).Expect(200).Map()["docs"], 1)
	require.Len(t, admin.Get("/admin/gwb/subscriptions").Expect(200).Map()["docs"], 1)
	require.Empty(t, admin.Get("/admin/gwa/subscriptions").Expect(200).Map()["docs"])
	stats := admin.Get("/subscriptions/stats").Expect(200).Map()
	require.Equal(t, 4990.0, stats["monthly_recurring_revenue"])
	require.Equal(t, 4990.0, stats["by_gateway"].(object)["gwb"].(object)["average_subscription_value"])
	require.Equal(t, 1.0, admin.Get("/admin/gwb/subscriptions/stats").Expect(200).Map()["active"])
	require.Equal(t, 0.0, admin.Get("/admin/gwa/subscriptions/stats").Expect(200).Map()["total_subscriptions"])

	put := func(fields object) int {
		fields["_id"] = id
		return admin.Put("/subscriptions", []object{fields}).Status
	}
	subscriptionstest.Plan(t, b.db, "dearer", 9990)
	remote := column[string](t, b, id, "gwb_subscription_id")
	b.set(t, id, "gwb_subscription_id = NULL")
	require.Equal(t, 200,
		put(object{"plan_id": "dearer", "next_billing_date": "2099-05-06T00:00:00Z", "started_at": "1999-01-01"}))
	b.set(t, id, "gwb_subscription_id = $2", remote)
	require.Equal(t, int64(9990), column[int64](t, b, id, "price_cents"), "the plan moves the price")
	require.Equal(t, 2099, column[time.Time](t, b, id, "next_billing_date").Year())
	require.Equal(t, 422, put(object{"plan_id": "no-such-plan"}))
	require.Equal(t, 422, put(object{"total_refunded": 1}))
	require.Equal(t, 422, put(object{"colour": "red"}))
	require.Equal(t, 422, put(object{"status": "pending"}))
	require.Equal(t, 200, put(object{"status": "suspended"}))
	require.False(t, b.access(t))
	require.Equal(t, 200, put(object{"status": "active"}))
	require.Equal(t, 200, put(object{"status": "cancelled"}))
	require.Empty(t, b.current(t))
	require.NotNil(t, column[*time.Time](t, b, id, "ended_at"))
	require.Equal(t, 422, put(object{"status": "suspended"}), "it has ended")
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.intents WHERE kind = 'end' AND state = 'open'"))
	require.Equal(t, 4, b.count(t, "SELECT count(*) FROM accounts.audit_log WHERE action = 'subscription_update'"))
	require.Len(t, b.history(t, id), 4)
	other := subscriptionstest.Active(t, b.db, b.customer.ID)
	require.Equal(t, 409, put(object{"status": "active"}))
	require.Equal(t, other, b.current(t))
	require.Equal(t, 404,
		admin.Put("/subscriptions", []object{{"_id": "66f0a1b2c3d4e5f607182a01", "status": "active"}}).Status)
}

func TestAdminRoutesRefuseCustomers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _ := subscriptionIn(t, b, "active")
	for _, call := range [][2]string{
		{"GET", "/subscriptions"},
		{"PUT", "/subscriptions"},
		{"POST", "/subscriptions/" + id.String() + "/cancel"},
		{"POST", "/admin/gwb/subscriptions/" + id.String() + "/refund"},
		{"GET", "/admin/gwa/subscriptions/stats"},
	} {
		status, _ := b.call(t, call[0], call[1], nil)
		require.Equal(t, 403, status, call)
	}
}
