package subscriptions_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

const (
	subscriptionPath = "/customers/me/subscription"
	atEnd            = "?at=period_end"
)

// paidPix begins a manual PIX of gateway A, or B, that is paid.
func paidPix(t *testing.T, b *bundle, gateway string) objectid.ID {
	t.Helper()
	b.listen()
	id := idOf(b.expect(t, 201, http.MethodPost, "/"+gateway+"/subscribe/pix", object{"plan_id": plan}))
	if gateway == "gwa" {
		_, err := b.gateways.Sandbox.GWA.PayPIX(column[string](t, b, id, "pix_payload"))
		require.NoError(t, err)
	} else {
		require.NoError(t, b.gateways.Sandbox.GWB.PayPIX(column[string](t, b, id, "pix_payment_id")))
	}
	b.settle(t)
	if b.status(t, id) != "active" {
		replayWaiting(t, b)
	}
	require.Equal(t, "active", b.status(t, id))
	return id
}

// begins are the subscriptions with paid time, by how they are paid.
var begins = map[string]func(*bundle, *testing.T) objectid.ID{
	"gwa": (*bundle).paidGWA, "gwb": (*bundle).paidGWB,
	"gwa pix":   func(b *bundle, t *testing.T) objectid.ID { return paidPix(t, b, "gwa") },
	"gwb pix":   func(b *bundle, t *testing.T) objectid.ID { return paidPix(t, b, "gwb") },
	"automatic": func(b *bundle, t *testing.T) objectid.ID { id, _ := b.authorized(t); return id },
}

// eachBegun runs a test for each of them at once, in a bundle of its own.
func eachBegun(t *testing.T, run func(t *testing.T, b *bundle, name string, id objectid.ID)) {
	t.Helper()
	for name, begin := range begins {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			run(t, b, name, begin(b, t))
		})
	}
}

func TestCancelAtPeriodEnd(t *testing.T) {
	t.Parallel()
	eachBegun(t, func(t *testing.T, b *bundle, name string, id objectid.ID) {
		end := lifecycle.AddMonths(b.clock.Now(), 1, reportZone(t)).In(reportZone(t))
		day := end.Format(time.DateOnly)
		b.expect(t, 422, http.MethodDelete, subscriptionPath+"?at=now", nil)
		b.expect(t, 422, http.MethodDelete, subscriptionPath+"?at=", nil)
		require.False(t, column[bool](t, b, id, "cancel_at_period_end"))
		a := b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
		require.Equal(t, "active", a["status"])
		require.Equal(t, id.String(), a["subscription_id"])
		require.Contains(t, a["message"], day)
		require.Equal(t, day, b.day(t, id, "expires_at"))
		b.settle(t)
		status := doc(b.expect(t, 200, http.MethodGet, subscriptionPath, nil))
		require.Equal(t, "active", status["status"])
		require.Equal(t, true, status["cancel_at_period_end"])
		require.True(t, b.access(t), "and the echo of the end at the gateway changes nothing")
		require.Len(t, b.history(t, id), 2)
		b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
		require.Equal(t, day, b.day(t, id, "expires_at"), "repeated")
		require.NoError(t, b.service.SyncSubscription(t.Context(), b.customer.ID))
		require.NoError(t, b.service.Sweep(t.Context()))
		require.Equal(t, "active", b.status(t, id))
		if name == "gwa" || name == "automatic" {
			require.NotNil(t, column[*time.Time](t, b, id, "gateway_deleted_at"), "stopped now")
		}

		payments := b.count(t, "SELECT count(*) FROM payments.payments")
		travel(t, b, end.AddDate(0, 0, 2).Format(time.RFC3339))
		b.settle(t)
		require.False(t, b.access(t))
		require.NoError(t, b.service.Expire(t.Context(), id))
		require.Contains(t, []string{"cancelled", "expired"}, b.status(t, id))
		require.Contains(t, b.history(t, id)[2], " customer_cancelled ")
		require.Equal(t, payments, b.count(t, "SELECT count(*) FROM payments.payments"),
			"nothing was charged any more")
		require.Empty(t, b.current(t))
	})
}

// TestCancelAtPeriodEndOfAChargeMadeAhead: gateway A makes charges 40 days ahead and
// tells the date after them; what is paid ends before.
func TestCancelAtPeriodEndOfAChargeMadeAhead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	travel(t, b, "2083-01-31T15:00:00Z")
	id := b.paidGWA(t)
	travel(t, b, "2083-02-02T15:00:00Z")
	b.settle(t)
	require.Equal(t, "2083-03-31", b.day(t, id, "next_billing_date"),
		"the gateway tells the date after the charge that it has made")
	b.expect(t, 200, http.MethodDelete, "/gwa/subscription"+atEnd, nil)
	require.Equal(t, "2083-02-28", b.day(t, id, "expires_at"))
	b.settle(t)
	require.Equal(t, "2083-02-28", b.day(t, id, "expires_at"))
	require.Nil(t, column[*time.Time](t, b, id, "next_billing_date"))
}

func TestCancelAtPeriodEndNeedsPaidTime(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.expect(t, 404, http.MethodDelete, subscriptionPath+atEnd, nil)
	b.expect(t, 404, http.MethodDelete, "/gwa/subscription"+atEnd, nil)
	b.expect(t, 404, http.MethodDelete, "/gwb/subscription"+atEnd, nil)
	pix := idOf(b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan}))
	refused(t, b.expect(t, 409, http.MethodDelete, subscriptionPath+atEnd, nil), "CONFLICT", "")
	b.expect(t, 400, http.MethodDelete, "/gwb/subscription"+atEnd, nil)
	require.Equal(t, "pending", b.status(t, pix))
	for _, status := range []string{"pending", "suspended"} {
		b.newcomer(t)
		subscriptionstest.In(t, b.db, b.customer.ID, status)
		refused(t, b.expect(t, 409, http.MethodDelete, subscriptionPath+atEnd, nil), "CONFLICT", "")
		refused(t, b.expect(t, 409, http.MethodDelete, "/gwb/subscription"+atEnd, nil), "CONFLICT", "")
	}
	b.newcomer(t)
	failing := b.paidGWB(t)
	b.set(t, failing, "payment_failures = 1")
	refused(t, b.expect(t, 409, http.MethodDelete, subscriptionPath+atEnd, nil), "CONFLICT", "")
}

// TestCancelNamesTheDaysGivenUp: who cancels at once is told what they throw away. The
// days lead from the date of the cancellation to the one that is named, at each time of
// either day.
func TestCancelNamesTheDaysGivenUp(t *testing.T) {
	t.Parallel()
	b := setup(t)
	travel(t, b, "2083-02-10T15:00:00Z")
	for _, at := range []struct{ now, end, message string }{
		{"2083-02-28T15:00:00Z", "2083-03-10T15:00:01Z", "10 paid days, until 2083-03-10,"},
		{"2083-02-28T15:00:01Z", "2083-03-10T15:00:00Z", "10 paid days, until 2083-03-10,"},
		{"2083-02-28T23:59:59Z", "2083-03-10T15:00:00Z", "10 paid days, until 2083-03-10,"},
		{"2083-03-01T00:00:00Z", "2083-03-10T15:00:00Z", "10 paid days, until 2083-03-10,"}, // still the 28th here
		{"2083-03-01T02:59:59Z", "2083-03-11T02:59:59Z", "10 paid days, until 2083-03-10,"},
		{"2083-03-01T03:00:00Z", "2083-03-11T02:59:59Z", "9 paid days, until 2083-03-10,"},
		{"2083-03-01T03:00:00Z", "2083-03-11T03:00:00Z", "10 paid days, until 2083-03-11,"},
		{"2083-03-10T02:59:59Z", "2083-03-10T03:00:00Z", "One paid day, until 2083-03-10,"},
		{"2083-03-10T04:00:00Z", "2083-03-10T15:00:00Z", "One paid day, until 2083-03-10,"},
	} {
		b.newcomer(t)
		id := paidPix(t, b, "gwa")
		b.set(t, id, "expires_at = $2", at.end)
		now, err := time.Parse(time.RFC3339, at.now)
		require.NoError(t, err)
		back := b.clock.Now()
		b.clock.Advance(now.Sub(back))
		a := b.expect(t, 200, http.MethodDelete, subscriptionPath, nil)
		require.Equal(t, "cancelled", a["status"])
		require.Contains(t, a["message"], " "+at.message, at.now)
		b.clock.Advance(back.Sub(now))
	}
	b.newcomer(t)
	b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan})
	require.NotContains(t, b.expect(t, 200, http.MethodDelete, subscriptionPath, nil)["message"], "paid day")
	b.newcomer(t)
	trial := subscriptionstest.In(t, b.db, b.customer.ID, "active")
	b.set(t, trial, "trial_days = 7, next_billing_date = $2", b.clock.Now().Add(7*day))
	message := b.expect(t, 200, http.MethodDelete, subscriptionPath, nil)["message"]
	require.Contains(t, message, " 7 trial days, until ")
	require.NotContains(t, message, "paid")
}

// TestRecurrenceIsStoppedAfterALostAnswer: the gateway is silent, the checks go on,
// and where there is no intent the sweep.
func TestRecurrenceIsStoppedAfterALostAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWA(t)
	gateway := b.gateways.Sandbox.GWA.Stage()
	require.NoError(t, gateway.Faults.Plan(stage.Fault{
		Method: http.MethodDelete, Kind: stage.FaultStatus, Status: 500, Times: manyTimes,
	}))
	a := b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
	require.Equal(t, "active", a["status"])
	gateway.Faults.Clear()
	require.Nil(t, column[*time.Time](t, b, id, "gateway_deleted_at"))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.intents WHERE kind = 'end' AND state = 'open'"))
	b.runStatusChecks(t, 10*time.Second)
	require.NotNil(t, column[*time.Time](t, b, id, "gateway_deleted_at"))
	b.settle(t)
	require.Equal(t, "active", b.status(t, id))
	require.True(t, b.access(t))
}

// TestAChargeThatSlippedThroughPaysItsPeriod: taken before the recurrence was stopped.
func TestAChargeThatSlippedThroughPaysItsPeriod(t *testing.T) {
	t.Parallel()
	b := setup(t)
	travel(t, b, "2083-02-10T15:00:00Z")
	id := b.paidGWA(t)
	b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
	b.settle(t)
	due, now := time.Date(2083, 3, 10, 3, 0, 0, 0, time.UTC), b.clock.Now()
	b.apply(t, gateway.Event{
		Gateway: gateway.GWA, Type: "PAYMENT_CONFIRMED", CreatedAt: now,
		SubscriptionID: column[string](t, b, id, "gwa_subscription_id"),
		Payload: gateway.SettledPayment{
			Payment: gateway.Payment{
				ID: "pay_slipped", Status: gateway.PaymentStatusSettled, NativeStatus: "CONFIRMED",
				Method: gateway.MethodCard, Amount: 4990, SettledAt: &now, DueDate: &due,
			},
		},
	})
	require.Equal(t, "2083-04-10", b.day(t, id, "expires_at"))
	require.True(t, column[bool](t, b, id, "cancel_at_period_end"))
}

func TestRenewTakesTheEndBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWB(t)
	refused(t, b.expect(t, 400, http.MethodPut, renewPath, object{}), "VALIDATION_ERROR", "payment_method_id")
	b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
	b.settle(t)
	a := b.expect(t, 200, http.MethodPut, renewPath, nil) // no body is an empty one
	require.Equal(t, id.String(), a["subscription"].(object)["id"])
	require.Equal(t, "active", a["subscription"].(object)["status"])
	b.settle(t)
	require.False(t, column[bool](t, b, id, "cancel_at_period_end"))
	require.Nil(t, column[*time.Time](t, b, id, "expires_at"))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments WHERE local_id = $1", id), "no charge")
	require.Len(t, b.history(t, id), 2)
	refused(t, b.expect(t, 400, http.MethodPut, renewPath, object{}), "VALIDATION_ERROR", "payment_method_id")
}

// TestAResumptionThatIsNotAnswered is pending to its customer, and asked for again until
// the gateway has confirmed it, or the customer wants the end after all.
func TestAResumptionThatIsNotAnswered(t *testing.T) {
	t.Parallel()
	for _, kind := range []stage.FaultKind{stage.FaultResetBefore, stage.FaultResetAfter, stage.FaultStatus} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id := b.paidGWB(t)
			b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
			b.settle(t)
			gateway := b.gateways.Sandbox.GWB.Stage()
			ends := func() bool {
				remote, err := b.gateways.B.ReadSubscription(t.Context(),
					column[string](t, b, id, "gwb_subscription_id"), id)
				require.NoError(t, err)
				return remote.CancelAtPeriodEnd
			}
			lost := func() {
				gateway.Webhooks.Hold("*")
				require.NoError(t, gateway.Faults.Plan(stage.Fault{
					Method: http.MethodPost, Kind: kind, Times: manyTimes,
				}))
				a := b.expect(t, 200, http.MethodPut, renewPath, object{})
				require.Equal(t, "pending", a["subscription"].(object)["status"])
				require.Equal(t, id.String(), a["subscription"].(object)["id"])
				require.Equal(t, object{"payment_status": "unknown"}, a["info"])
				require.True(t, column[bool](t, b, id, "cancel_at_period_end"), "not known: nothing changes")
				require.Equal(t, "active", b.status(t, id))
				require.True(t, b.access(t))
				next := b.text(t,
					`SELECT to_char(next_look_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') FROM payments.intents WHERE kind = 'resume' AND state = 'open'`)
				require.Contains(t, b.expect(t, 409, http.MethodPut, renewPath, object{})["detail"],
					"asked again at "+next)
			}
			lost()
			gateway.Faults.Clear()
			b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
			require.Zero(t, b.count(t,
				"SELECT count(*) FROM payments.intents WHERE kind = 'resume' AND state = 'open'"),
				"it is to end after all")
			require.True(t, ends())
			gateway.Webhooks.Release()
			b.settle(t)
			b.runStatusChecks(t, time.Minute)
			require.True(t, column[bool](t, b, id, "cancel_at_period_end"))

			lost()
			b.runStatusChecks(t, 10*time.Second)
			gateway.Faults.Clear()
			b.runStatusChecks(t, time.Minute)
			require.False(t, ends())
			gateway.Webhooks.Release()
			b.settle(t)
			require.False(t, column[bool](t, b, id, "cancel_at_period_end"))
			require.Nil(t, column[*time.Time](t, b, id, "expires_at"))
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments WHERE local_id = $1", id),
				"no charge")
		})
	}
}

// TestAResumptionHasItsIntentBeforeItsCall: whoever dies from then on is found by the checks, and a cancel waits for the
// call.
func TestAResumptionHasItsIntentBeforeItsCall(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, gateway := toEnd(t, b)
	require.NoError(t, gateway.Faults.Plan(stage.Fault{
		Method: http.MethodPost, Kind: stage.FaultDelay, Delay: stage.Duration(2 * time.Second),
	}))
	resumed := make(chan int, 1)
	resume := func() {
		status, _ := b.call(t, http.MethodPut, renewPath, object{})
		resumed <- status
	}
	go resume()
	require.Eventually(t, func() bool { return len(gateway.Faults.Planned()) == 0 }, time.Minute, time.Millisecond)
	require.Equal(t, 1, b.count(t,
		"SELECT count(*) FROM payments.intents WHERE kind = 'resume' AND subject_id = $1 AND state = 'open' AND calls = 1", id))
	for _, method := range []string{http.MethodDelete + " " + subscriptionPath + atEnd, http.MethodPut + " " + renewPath} {
		method, path, _ := strings.Cut(method, " ")
		require.Contains(t, b.expect(t, 409, method, path, nil)["detail"],
			"Resuming your subscription is still being confirmed.")
	}
	require.Equal(t, 200, <-resumed)
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.intents WHERE kind = 'resume' AND state = 'done'"))
	require.False(t, column[bool](t, b, id, "cancel_at_period_end"))
	gateway.Webhooks.Release()
	b.settle(t)
}

// TestAnAdminsResumptionThatIsNotAnswered is repeated by nobody: the gateway is read, and the row says what stands there.
func TestAnAdminsResumptionThatIsNotAnswered(t *testing.T) {
	t.Parallel()
	for kind, ends := range map[stage.FaultKind]bool{stage.FaultResetBefore: true, stage.FaultResetAfter: false} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id, gateway := toEnd(t, b)
			require.NoError(t, gateway.Faults.Plan(stage.Fault{Method: http.MethodPost, Kind: kind, Times: manyTimes}))
			require.Equal(t, 503, b.admin(t).Post("/admin/subscriptions/"+id.String()+"/activate", object{}).Status)
			gateway.Faults.Clear()
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.intents WHERE kind = 'resume' AND state = 'void'"))
			b.runStatusChecks(t, time.Minute)
			require.NoError(t, b.service.Sweep(t.Context()))
			requireAgreed(t, b, id, ends)
		})
	}
}

// TestACancelDuringTheCheckOfAResumptionWaitsForIt: the check's call could reach the gateway last, and the customer be
// charged who was told that it ends.
func TestACancelDuringTheCheckOfAResumptionWaitsForIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, gateway := toEnd(t, b)
	require.NoError(t, gateway.Faults.Plan(stage.Fault{
		Method: http.MethodPost, Kind: stage.FaultResetBefore, Times: manyTimes,
	}))
	require.Equal(t, "pending", b.expect(t, 200, http.MethodPut, renewPath, object{})["subscription"].(object)["status"])
	gateway.Faults.Clear()
	require.NoError(t, gateway.Faults.Plan(stage.Fault{
		Method: http.MethodPost, Kind: stage.FaultDelay, Delay: stage.Duration(2 * time.Second),
	}))
	b.clock.Advance(10 * time.Second)
	checked := make(chan error, 1)
	go func() { checked <- b.payments.Intents().CheckDue(t.Context(), "gwb") }()
	require.Eventually(t, func() bool { return len(gateway.Faults.Planned()) == 0 }, time.Minute, time.Millisecond)
	require.Contains(t, b.expect(t, 409, http.MethodDelete, subscriptionPath+atEnd, nil)["detail"],
		"Resuming your subscription is still being confirmed.")
	require.NoError(t, <-checked)
	b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
	gateway.Webhooks.Release()
	b.settle(t)
	remote, err := b.gateways.B.ReadSubscription(t.Context(), column[string](t, b, id, "gwb_subscription_id"), id)
	require.NoError(t, err)
	require.True(t, remote.CancelAtPeriodEnd)
	require.True(t, column[bool](t, b, id, "cancel_at_period_end"))
}

// TestRenewCannotUndoADeletion: gateway A has no recurrence any more, so a card is
// needed; a PIX that was paid once has none to take back.
func TestRenewCannotUndoADeletion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, name := range []string{"gwa", "gwa pix", "automatic"} {
		b.newcomer(t)
		id := begins[name](b, t)
		b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
		refused(t, b.expect(t, 400, http.MethodPut, renewPath, object{}), "VALIDATION_ERROR", "credit_card")
		require.True(t, column[bool](t, b, id, "cancel_at_period_end"))
	}
	b.newcomer(t)
	id := paidPix(t, b, "gwb")
	b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
	ends := b.day(t, id, "expires_at")
	require.Equal(t, id.String(), b.expect(t, 200, http.MethodPut, renewPath, object{})["subscription"].(object)["id"])
	require.False(t, column[bool](t, b, id, "cancel_at_period_end"))
	require.Equal(t, ends, b.day(t, id, "expires_at"), "a period that was paid once ends all the same")
}

func TestAdminTakesTheEndBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	admin := b.admin(t)
	activate := func(id objectid.ID, status int) {
		admin.Post("/admin/subscriptions/"+id.String()+"/activate", object{"reason": "they asked"}).Expect(status)
	}
	id := b.paidGWB(t)
	b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
	b.settle(t)
	activate(id, 200)
	b.settle(t)
	require.False(t, column[bool](t, b, id, "cancel_at_period_end"))
	require.Nil(t, column[*time.Time](t, b, id, "expires_at"))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM accounts.audit_log WHERE record_id = $1", id))
	for _, name := range []string{"gwa", "automatic"} {
		b.newcomer(t)
		id := begins[name](b, t)
		b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
		activate(id, 409)
		require.True(t, column[bool](t, b, id, "cancel_at_period_end"), name)
	}
	b.newcomer(t)
	id = paidPix(t, b, "gwa")
	b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
	activate(id, 200)
	require.False(t, column[bool](t, b, id, "cancel_at_period_end"))
}

// TestNullIsNoCardLeftOut: it resumes nothing.
func TestNullIsNoCardLeftOut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWB(t)
	b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
	for _, field := range []string{"credit_card", "credit_card_holder_info", "payment_method_id"} {
		refused(t, b.expect(t, 400, http.MethodPut, renewPath, object{field: nil}), "VALIDATION_ERROR",
			"payment_method_id")
	}
	require.True(t, column[bool](t, b, id, "cancel_at_period_end"))
}
