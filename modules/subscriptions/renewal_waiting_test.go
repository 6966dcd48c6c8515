package subscriptions_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

// renewWith are the card data of a renewal, for either gateway.
func renewWith(token, number string) object {
	body := gwaCard(number)
	body["payment_method_id"] = token
	delete(body, "plan_id")
	return body
}

func goodCard() object { return renewWith(paymentstest.TokenApproved, paymentstest.CardApproved) }

func renewed(a object) objectid.ID { return objectid.ID(a["subscription"].(object)["id"].(string)) }

// financeFigures are what finance tells, renewals or not.
func financeFigures(t *testing.T, b *bundle) string {
	t.Helper()
	return b.text(t, `SELECT jsonb_pretty(jsonb_build_object(
		'standing', (SELECT jsonb_build_object('active', sum(active), 'mrr', sum(mrr_cents), 'trials', sum(trials), 'trial_mrr', sum(trial_mrr_cents), 'overdue', sum(overdue)) FROM finance.standing),
		'entries', (SELECT count(*) FROM finance.entries), 'exits', (SELECT count(*) FROM finance.exits),
		'days', (SELECT jsonb_build_object('entries', sum(entries), 'exits', sum(exits), 'firsts', sum(firsts)) FROM finance.daily_deltas),
		'churn', (SELECT jsonb_agg(c ORDER BY c) FROM finance.churn_monthly c), 'cohorts', (SELECT jsonb_agg(c ORDER BY c) FROM finance.cohorts c)))::text`)
}

// TestRenewalBeginsWhenThePaidTimeEnds: there is no gap in access, nothing is charged
// before, and no figure and no mail tells of it.
func TestRenewalBeginsWhenThePaidTimeEnds(t *testing.T) {
	t.Parallel()
	eachBegun(t, func(t *testing.T, b *bundle, name string, old objectid.ID) {
		b.settle(t)
		b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd,
			nil) // expires_at is the end of what is paid, however it is paid
		b.settle(t)
		if name == "gwb" {
			b.expect(t, 200, http.MethodPut, renewPath, object{})
			b.settle(t)
		}
		end := b.day(t, old, "coalesce(expires_at, next_billing_date)")
		before, paid := financeFigures(t, b), len(b.gateways.Paid(t))

		a := b.expect(t, 200, http.MethodPut, renewPath, goodCard())
		id := renewed(a)
		require.Equal(t, "pending", a["subscription"].(object)["status"])
		require.Nil(t, a["subscription"].(object)["started_at"])
		require.Equal(t, "credit_card", a["subscription"].(object)["payment_method"])
		require.Contains(t, a["message"], end)
		require.NotEqual(t, old, id)
		require.True(t, b.access(t))
		require.Equal(t, "active", b.status(t, id), "the gateway took the card")
		require.Equal(t, "cancelled", b.status(t, old))
		require.Equal(t, id, b.current(t))
		b.settle(t)
		require.NoError(t, b.service.Sweep(t.Context()))
		require.True(t, b.access(t))
		require.Equal(t, id, b.current(t), "and the echo of the old one's end changes nothing")
		require.Equal(t, end, b.day(t, id, "next_billing_date"))
		require.Nil(t, column[*time.Time](t, b, id, "expires_at"))
		require.Zero(t, column[int](t, b, id, "trial_days"))
		require.NotNil(t, column[*time.Time](t, b, old, "gateway_ended_at"))
		moves := b.history(t, old)
		require.Equal(t, "active>cancelled replaced customer", moves[len(moves)-1])
		require.Equal(t, ">pending renewed subscribe", b.history(t, id)[0])
		require.Contains(t, []string{
			"pending>active renewal_taken subscribe",
			"pending>active gateway_status webhook",
		}, b.history(t, id)[1], "whichever came first")
		require.Len(t, b.history(t, id), 2)
		require.Equal(t, before, financeFigures(t, b), "one in no figure")
		require.Empty(t, b.mails.Mails(), "and in no mail")
		require.Len(t, b.gateways.Paid(t), paid, "nothing is charged before")

		if strings.HasPrefix(name, "gwb") { // its webhooks are signed in real time
			return
		}
		at, err := time.Parse(time.DateOnly, end)
		require.NoError(t, err)
		travel(t, b, at.Add(26*time.Hour).Format(time.RFC3339))
		b.settle(t)
		require.Len(t, b.gateways.Paid(t), paid+1, "then the new one charges")
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments WHERE local_id = $1", id))
		require.True(t, b.access(t))
	})
}

// TestRenewalWithinATrial: the trial goes on, and is the customer's one.
func TestRenewalWithinATrial(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{"gwa": "/gwa/subscribe", "gwb": "/gwb/subscribe"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			_, err := b.db.Exec(t.Context(), "UPDATE subscriptions.plans SET trial_enabled = true, trial_days = 10")
			require.NoError(t, err)
			b.listen()
			body := goodCard()
			body["plan_id"] = plan
			if name == "gwa" {
				delete(body, "payment_method_id")
			} else {
				body = gwbCard(paymentstest.TokenApproved)
			}
			old := idOf(b.expect(t, 201, http.MethodPost, path, body))
			b.settle(t)
			require.Equal(t, "active", b.status(t, old))
			end, before := b.day(t, old, "next_billing_date"), financeFigures(t, b)
			id := renewed(b.expect(t, 200, http.MethodPut, renewPath, goodCard()))
			b.settle(t)
			require.Equal(t, "active", b.status(t, id))
			require.Equal(t, end, b.day(t, id, "next_billing_date"))
			require.Equal(t, before, financeFigures(t, b))
			require.Empty(t, b.gateways.Paid(t))
		})
	}
}

func TestRefusedRenewalLeavesTheOldOne(t *testing.T) {
	t.Parallel()
	eachBegun(t, func(t *testing.T, b *bundle, name string, old objectid.ID) {
		before := financeFigures(t, b)
		body := renewWith("pm_card_visa_chargeDeclined", paymentstest.CardDeclined)
		if strings.HasPrefix(name, "gwb") {
			a := b.expect(t, 200, http.MethodPut, renewPath, body)
			require.Equal(t, "cancelled", a["subscription"].(object)["status"])
			require.Contains(t, a["message"], "goes on")
		} else {
			refused(t, b.expect(t, 400, http.MethodPut, renewPath, body), "VALIDATION_ERROR", "credit_card")
		}
		b.settle(t)
		require.Equal(t, "active", b.status(t, old))
		require.Equal(t, old, b.current(t))
		require.True(t, b.access(t))
		require.Len(t, b.history(t, old), 2)
		require.Equal(t, before, financeFigures(t, b))
		b.expect(t, 200, http.MethodPut, renewPath, goodCard())
	})
}

// loseNewRecurrence plans that the gateway's answer to a new recurrence is lost, with or without
// its effect.
func loseNewRecurrence(t *testing.T, b *bundle, gateway string, kind stage.FaultKind) (again func()) {
	t.Helper()
	at, path := b.gateways.Sandbox.GWA.Stage(), "/v3/subscriptions"
	if gateway == "gwb" {
		at, path = b.gateways.Sandbox.GWB.Stage(), "/v1/subscriptions"
	}
	lose(t, at, kind, path)
	return at.Faults.Clear
}

// begun begins a subscription and a renewal of it whose answer is lost.
func lostRenewal(t *testing.T, b *bundle, gateway string, kind stage.FaultKind) (old, id objectid.ID) {
	t.Helper()
	old = begins[gateway](b, t)
	b.settle(t)
	b.gateways.Sandbox.GWB.Stage().Webhooks.Hold("*")
	again := loseNewRecurrence(t, b, gateway, kind)
	a := b.expect(t, 200, http.MethodPut, renewPath, goodCard())
	again()
	require.Equal(t, "pending", a["subscription"].(object)["status"])
	require.Equal(t, object{"payment_status": "unknown"}, a["info"])
	id = renewed(a)
	require.True(t, column[bool](t, b, id, "intent_open"))
	require.Equal(t, "active", b.status(t, old), "the old one goes on while it is clarified")
	require.Equal(t, old, b.current(t))
	return old, id
}

func recoverIntent(t *testing.T, b *bundle, id objectid.ID) {
	t.Helper()
	require.NoError(t, b.service.Recover(t.Context(), id))
	if column[bool](t, b, id, "intent_open") {
		b.runStatusChecks(t, 12*time.Minute) // until it is proved that nothing was made
	}
	b.gateways.Sandbox.GWB.Stage().Webhooks.Release()
	b.settle(t)
}

func TestRenewalWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, b *bundle, gateway string) {
		old, id := lostRenewal(t, b, gateway, stage.FaultResetAfter)
		refused(t, b.expect(t, 409, http.MethodPut, renewPath, goodCard()), "CONFLICT", "")
		require.Equal(t, old.String(), doc(b.expect(t, 200, http.MethodGet, subscriptionPath, nil))["_id"])
		require.True(t, b.access(t))
		before := financeFigures(t, b)
		recoverIntent(t, b, id)
		require.Equal(t, "active", b.status(t, id), "found")
		require.Equal(t, "cancelled", b.status(t, old))
		require.Equal(t, id, b.current(t))
		require.True(t, b.access(t))
		require.NoError(t, b.service.EndAtGateway(t.Context(), old))
		b.settle(t)
		require.Equal(t, before, financeFigures(t, b))

		b.newcomer(t)
		old, id = lostRenewal(t, b, gateway, stage.FaultResetBefore)
		recoverIntent(t, b, id)
		require.Equal(t, "cancelled", b.status(t, id), "nothing was made")
		require.Equal(t, "active", b.status(t, old))
		require.Equal(t, old, b.current(t))
		b.expect(t, 200, http.MethodPut, renewPath, goodCard())
	})
}

// TestCancelWhileARenewalWaits: it ends both, and at the gateway what the call made.
func TestCancelWhileARenewalWaits(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, b *bundle, gateway string) {
		old, id := lostRenewal(t, b, gateway, stage.FaultResetAfter)
		require.Equal(t, "cancelled", b.expect(t, 200, http.MethodDelete, subscriptionPath, nil)["status"])
		require.Equal(t, "cancelled", b.status(t, old))
		require.Equal(t, "cancelled", b.status(t, id))
		require.Empty(t, b.current(t))
		recoverIntent(t, b, id)
		require.NoError(t, b.service.EndAtGateway(t.Context(), id))
		require.Equal(t, "cancelled", b.status(t, id))
		require.NotNil(t, column[*time.Time](t, b, id, "gateway_ended_at"), "what the call made is ended")

		b.newcomer(t)
		old, id = lostRenewal(t, b, gateway, stage.FaultResetAfter)
		b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
		require.Equal(t, "active", b.status(t, old))
		require.Equal(t, "cancelled", b.status(t, id))
		require.Equal(t, old, b.current(t))
		recoverIntent(t, b, id)
		require.NoError(t, b.service.EndAtGateway(t.Context(), id))
		require.Equal(t, "cancelled", b.status(t, id))
	})
}

// TestTheOldOneEndsWhileItsRenewalWaits: the renewal is the customer's subscription
// from then on, and opens when it is clarified.
func TestTheOldOneEndsWhileItsRenewalWaits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	old := paidPix(t, b, "gwb")
	b.gateways.Sandbox.GWB.Stage().Webhooks.Hold("*")
	again := loseNewRecurrence(t, b, "gwb", stage.FaultResetAfter)
	id := renewed(b.expect(t, 200, http.MethodPut, renewPath, goodCard()))
	again()
	b.set(t, old, "expires_at = $2", b.clock.Now().Add(-time.Second))
	require.NoError(t, b.service.Expire(t.Context(), old))
	require.Equal(t, "expired", b.status(t, old))
	require.Equal(t, id, b.current(t))
	require.False(t, b.access(t))
	b.expect(t, 409, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenApproved))
	recoverIntent(t, b, id)
	require.Equal(t, "active", b.status(t, id))
	require.Equal(t, id, b.current(t))
}

// TestTheOldOneIsPaidWhileItsRenewalWaits: the same time would be charged twice, so
// the payment is listed.
func TestTheOldOneIsPaidWhileItsRenewalWaits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	old, id := lostRenewal(t, b, "gwa", stage.FaultResetAfter)
	_, err := b.gateways.Sandbox.GWA.Renew(column[string](t, b, old, "gwa_subscription_id"), false)
	require.NoError(t, err)
	b.settle(t)
	due := column[time.Time](t, b, old, "next_billing_date")
	b.clock.Advance(31 * 24 * time.Hour)
	b.apply(t, gateway.Event{
		Gateway: gateway.GWA, Type: "PAYMENT_CONFIRMED", CreatedAt: b.clock.Now(),
		SubscriptionID: column[string](t, b, old, "gwa_subscription_id"),
		Payload: gateway.SettledPayment{
			Payment: gateway.Payment{
				ID: "pay_twice", Status: gateway.PaymentStatusSettled, NativeStatus: "CONFIRMED",
				Method: gateway.MethodCard, Amount: 4990, SettledAt: new(b.clock.Now()), DueDate: &due,
			},
		},
	})
	recoverIntent(t, b, id)
	require.Equal(t, "active", b.status(t, id))
	require.Equal(t, "pay_twice",
		b.text(t, "SELECT gateway_payment_id FROM payments.unapplied_payments WHERE kind = 'duplicate'"))
}

// TestRenewalThatHasToBeAuthenticated: what is not paid is charged at once, and its
// payer authenticates by the secret of GET /gwb/subscription.
func TestRenewalThatHasToBeAuthenticated(t *testing.T) {
	t.Parallel()
	b := setup(t)
	old := b.paidGWB(t)
	b.set(t, old, "payment_failures = 1") // the last charge failed: nothing is paid
	id := renewed(b.expect(t, 200, http.MethodPut, renewPath,
		object{"payment_method_id": paymentstest.TokenAuthentication}))
	b.settle(t)
	require.Equal(t, "pending", b.status(t, id))
	require.Equal(t, "active", b.status(t, old))
	read := b.expect(t, 200, http.MethodGet, "/gwb/subscription", nil)
	require.Equal(t, old, idOf(read))
	require.NotEmpty(t, info(read)["client_secret"])

	require.Equal(t, old, b.current(t))
	next := renewed(b.expect(t, 200, http.MethodPut, renewPath,
		object{"payment_method_id": paymentstest.TokenAuthentication}))
	require.Equal(t, "cancelled", b.status(t, id), "another try replaces it")
	b.settle(t)
	read = b.expect(t, 200, http.MethodGet, "/gwb/subscription", nil)
	require.NoError(t, b.gateways.Sandbox.GWB.CompleteChallenge(intentOf(read)))
	b.settle(t)
	require.Equal(t, "active", b.status(t, next))
	require.Equal(t, "cancelled", b.status(t, old))
	require.Equal(t, next, b.current(t))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments WHERE local_id = $1", next))
}

// TestRenewalOfGatewayAThatIsRefusedLater: without paid time the card is charged after
// the answer; a refusal leaves the old one.
func TestRenewalOfGatewayAThatIsRefusedLater(t *testing.T) {
	t.Parallel()
	b := setup(t)
	old := b.paidGWA(t)
	b.set(t, old, "payment_failures = 1")
	id := renewed(b.expect(t, 200, http.MethodPut, renewPath, goodCard()))
	require.Equal(t, "pending", b.status(t, id))
	require.Equal(t, "active", b.status(t, old))
	_, err := b.gateways.Sandbox.GWA.FailNextCharge(column[string](t, b, id, "gwa_subscription_id"))
	require.NoError(t, err)
	require.NoError(t, b.gateways.Sandbox.GWA.Advance(time.Minute))
	b.settle(t)
	require.Equal(t, "cancelled", b.status(t, id))
	require.Equal(t, "active", b.status(t, old))
	require.Equal(t, old, b.current(t))

	id = renewed(b.expect(t, 200, http.MethodPut, renewPath, goodCard()))
	require.NoError(t, b.gateways.Sandbox.GWA.Advance(time.Minute))
	b.settle(t)
	require.Equal(t, "active", b.status(t, id))
	require.Equal(t, "cancelled", b.status(t, old))
}
