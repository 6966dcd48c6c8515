package subscriptions_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

const renewPixPath = "/customers/me/subscription/renew/pix"

// endsIn moves the end of a subscription that is paid.
func endsIn(t *testing.T, b *bundle, id objectid.ID, span time.Duration) time.Time {
	t.Helper()
	end := b.clock.Now().Add(span).Truncate(time.Millisecond)
	b.set(t, id, "expires_at = $2, anchor_day = NULL", end)
	return end
}

// dueByPix is a PIX of the gateway that can be renewed.
func dueByPix(t *testing.T, b *bundle, gateway string) (id objectid.ID, end time.Time) {
	t.Helper()
	id = paidPix(t, b, gateway)
	return id, endsIn(t, b, id, 5*24*time.Hour)
}

// payCode has the payer pay the code of a renewal.
func payCode(t *testing.T, b *bundle, gateway string, a object) {
	t.Helper()
	if gateway == "gwa" {
		_, err := b.gateways.Sandbox.GWA.PayPIX(a["pix"].(object)["payload"].(string))
		require.NoError(t, err)
	} else {
		require.NoError(t, b.gateways.Sandbox.GWB.PayPIX(a["payment"].(object)["id"].(string)))
	}
	b.settle(t)
}

func oneMonthOn(t *testing.T, at time.Time) time.Time {
	t.Helper()
	return lifecycle.AddMonths(at, 1, reportZone(t))
}

func TestRenewByPix(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, b *bundle, gateway string) {
		id, end := dueByPix(t, b, gateway)
		before := financeFigures(t, b)
		a := b.expect(t, 201, http.MethodPost, renewPixPath, nil)
		require.Equal(t, id.String(), a["subscription"].(object)["_id"])
		require.Equal(t, "PENDING", a["payment"].(object)["status"])
		require.Equal(t, "PIX", a["payment"].(object)["billing_type"])
		require.NotEmpty(t, a["payment"].(object)["id"])
		require.NotEmpty(t, a["pix"].(object)["payload"])
		require.NotEmpty(t, a["pix"].(object)["encoded_image"])
		again := b.expect(t, 201, http.MethodPost, renewPixPath, nil)
		require.Equal(t, a["pix"], again["pix"], "the same open code")
		require.Equal(t, a["payment"], again["payment"])
		qr := b.expect(t, 200, http.MethodGet, "/customers/me/pix-qr", nil)
		require.Equal(t, "active", qr["status"])
		require.Contains(t, qr["message"], "to renew your subscription, which is paid until")
		require.Equal(t, a["pix"].(object)["payload"], qr["pix"].(object)["qr_code"])
		require.Equal(t, a["payment"].(object)["id"], qr["pix"].(object)["payment_id"])
		require.WithinDuration(t, end, column[time.Time](t, b, id, "expires_at"), 0, "unpaid it changes nothing")

		payCode(t, b, gateway, a)
		require.WithinDuration(t, oneMonthOn(t, end), column[time.Time](t, b, id, "expires_at"), time.Second,
			"from the old end")
		require.Equal(t, "active", b.status(t, id))
		require.Len(t, b.history(t, id), 2)
		require.Equal(t, []string{">open code_ordered: a further period", "open>paid code_paid: paid"},
			b.orderHistory(t, "renewal_charge", id))
		require.Equal(t, 2, b.count(t,
			"SELECT count(*) FROM payments.payments WHERE local_id = $1 AND amount_cents = 4990", id))
		require.Equal(t, 1, b.count(t,
			"SELECT count(*) FROM subscriptions.renewal_charges WHERE state = 'paid' AND moved_from = $1", end))
		require.Equal(t, before, financeFigures(t, b), "one in no figure but the money")
		b.expect(t, 404, http.MethodGet, "/customers/me/pix-qr", nil)
		refused(t, b.expect(t, 409, http.MethodPost, renewPixPath, nil), "CONFLICT", "")
	})
}

// TestPaidRenewalIsSettledOnce: told twice, and by the answer to a check besides.
func TestPaidRenewalIsSettledOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, end := dueByPix(t, b, "gwa")
	a := b.expect(t, 201, http.MethodPost, renewPixPath, nil)
	payCode(t, b, "gwa", a)
	payment := a["payment"].(object)["id"].(string)
	now := b.clock.Now()
	for _, reference := range []objectid.ID{
		"", objectid.ID(b.text(t, "SELECT id FROM subscriptions.renewal_charges")),
	} {
		b.apply(t, gateway.Event{
			Gateway: gateway.GWA, Type: "PAYMENT_RECEIVED", CreatedAt: now, Reference: reference,
			Payload: gateway.SettledPayment{
				Payment: gateway.Payment{
					ID: payment, Status: gateway.PaymentStatusSettled, NativeStatus: "RECEIVED",
					Method: gateway.MethodPix, Amount: 4990, SettledAt: &now,
				},
			},
		})
	}
	require.WithinDuration(t, oneMonthOn(t, end), column[time.Time](t, b, id, "expires_at"), time.Second)
	require.Equal(t, 2, b.count(t, "SELECT count(*) FROM payments.payments WHERE local_id = $1", id))
}

func TestRenewByPixIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.expect(t, 404, http.MethodPost, renewPixPath, nil)
	conflict := func(what string) {
		t.Helper()
		refused(t, b.expect(t, 409, http.MethodPost, renewPixPath, nil), "CONFLICT", "")
		require.Zero(t, b.count(t, "SELECT count(*) FROM subscriptions.renewal_charges"), what)
	}
	for name, begin := range begins {
		b.newcomer(t)
		begin(b, t)
		conflict(name + ", before the window or not by PIX")
	}
	b.newcomer(t)
	b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan})
	conflict("not paid")
	b.newcomer(t)
	id, _ := dueByPix(t, b, "gwb")
	_, err := b.db.Exec(t.Context(), "UPDATE subscriptions.plans SET is_active = false")
	require.NoError(t, err)
	refused(t, b.expect(t, 400, http.MethodPost, renewPixPath, nil), "VALIDATION_ERROR", "plan_id")
	_, err = b.db.Exec(t.Context(), "UPDATE subscriptions.plans SET is_active = true")
	require.NoError(t, err)
	endsIn(t, b, id, 8*24*time.Hour)
	conflict("a day before the window")
	b.admin(t).Post("/subscriptions/"+id.String()+"/chargeback", object{"reason": "they dispute it"}).Expect(200)
	endsIn(t, b, id, 24*time.Hour)
	conflict("disputed")
}

// TestRenewalCodeEndsWithItsSubscription: nobody can pay it any more.
func TestRenewalCodeEndsWithItsSubscription(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, b *bundle, gateway string) {
		id, _ := dueByPix(t, b, gateway)
		a := b.expect(t, 201, http.MethodPost, renewPixPath, nil)
		b.expect(t, 200, http.MethodDelete, subscriptionPath, nil)
		require.Equal(t, 1, b.count(t,
			"SELECT count(*) FROM jobs.river_job WHERE kind = 'subscriptions_renewal_charge' AND scheduled_at <= $1", b.clock.Now()))
		require.NoError(t, b.service.Sweep(t.Context()))
		require.Equal(t, "gone", b.text(t, "SELECT state FROM subscriptions.renewal_charges"))
		require.Equal(t, []string{">open code_ordered: a further period", "open>gone code_gone: can no longer be paid"},
			b.orderHistory(t, "renewal_charge", id))
		if gateway == "gwa" {
			_, err := b.gateways.Sandbox.GWA.PayPIX(a["pix"].(object)["payload"].(string))
			require.Error(t, err)
		} else {
			require.Error(t, b.gateways.Sandbox.GWB.PayPIX(a["payment"].(object)["id"].(string)))
		}
		b.settle(t)
	})
}

// TestRenewalPaidLate: what is paid after the end opens again, from the payment on; what
// was paid before and told after counts from the old end.
func TestRenewalPaidLate(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, before := range []bool{false, true} {
		b.newcomer(t)
		id, end := dueByPix(t, b, "gwa")
		a := b.expect(t, 201, http.MethodPost, renewPixPath, nil)
		payment := a["payment"].(object)["id"].(string)
		paidAt := end.Add(2 * time.Hour)
		if before {
			paidAt = end.Add(-2 * time.Hour)
		}
		b.clock.Advance(end.Add(3 * time.Hour).Sub(b.clock.Now()))
		require.NoError(t, b.service.Expire(t.Context(), id))
		require.Equal(t, "expired", b.status(t, id))
		b.apply(t, gateway.Event{
			Gateway: gateway.GWA, Type: gateway.Reconciled, CreatedAt: paidAt,
			Reference: objectid.ID(b.text(t,
				"SELECT id FROM subscriptions.renewal_charges WHERE gateway_payment_id = $1", payment)),
			Payload: gateway.SettledPayment{
				Payment: gateway.Payment{
					ID: payment, Status: gateway.PaymentStatusSettled, NativeStatus: "RECEIVED",
					Method: gateway.MethodPix, Amount: 4990, SettledAt: &paidAt,
				},
			},
		})
		require.Equal(t, "active", b.status(t, id))
		from := paidAt
		if before {
			from = end
		}
		require.WithinDuration(t, oneMonthOn(t, from), column[time.Time](t, b, id, "expires_at"), time.Second)
		require.Equal(t, "paid",
			b.text(t, "SELECT state FROM subscriptions.renewal_charges WHERE gateway_payment_id = $1", payment))
		require.True(t, b.access(t))
		b.clock.Advance(-end.Add(3 * time.Hour).Sub(b.clock.Now()))
	}
}

func TestRenewalWhoseCodeIsLost(t *testing.T) {
	t.Parallel()
	for gateway, path := range map[string]string{"gwa": "/v3/payments", "gwb": "/v1/payment_intents"} {
		t.Run(gateway, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			_, end := dueByPix(t, b, gateway)
			faults := b.gateways.Sandbox.GWA.Stage().Faults
			if gateway == "gwb" {
				faults = b.gateways.Sandbox.GWB.Stage().Faults
			}
			plan := func(kind stage.FaultKind) {
				require.NoError(t, faults.Plan(stage.Fault{
					Method: http.MethodPost, Path: path, Kind: kind, Times: manyTimes,
				}))
			}
			plan(stage.FaultResetAfter)
			unknown := b.expect(t, 201, http.MethodPost, renewPixPath, nil)
			require.Equal(t, "unknown", info(unknown)["payment_status"])
			require.Equal(t, object{"id": nil, "status": "PENDING", "billing_type": "PIX"}, unknown["payment"])
			require.Nil(t, unknown["pix"].(object)["payload"])
			require.Equal(t, "active", unknown["subscription"].(object)["status"])
			next := info(unknown)["clarifying"].(object)["next_look_at"]
			require.Contains(t, info(unknown)["message"], next.(string)[:len("2006-01-02T15:04:05")])
			require.NoError(t, faults.Plan(stage.Fault{
				Kind: stage.FaultStatus, Status: http.StatusInternalServerError, Times: manyTimes,
			}))
			again := b.expect(t, 201, http.MethodPost, renewPixPath, nil)
			next = info(again)["clarifying"].(object)["next_look_at"] // it was asked once more
			require.Equal(t, again["info"], b.expect(t, 201, http.MethodPost, renewPixPath, nil)["info"],
				"another try hears the same")
			qr := b.expect(t, 200, http.MethodGet, "/customers/me/pix-qr", nil)
			require.Nil(t, qr["pix"].(object)["qr_code"])
			require.Equal(t, next, qr["clarifying"].(object)["next_look_at"])
			faults.Clear()
			b.clock.Advance(5 * time.Second)
			a := b.expect(t, 201, http.MethodPost, renewPixPath, nil)
			require.Nil(t, a["info"])
			require.NotEmpty(t, a["pix"].(object)["payload"], "found, not made again")
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM subscriptions.renewal_charges"))
			payCode(t, b, gateway, a)
			require.Equal(t, 1, b.count(t,
				"SELECT count(*) FROM subscriptions.renewal_charges WHERE state = 'paid' AND moved_from = $1", end))

			b.newcomer(t)
			_, _ = dueByPix(t, b, gateway)
			plan(stage.FaultResetBefore)
			b.expect(t, 201, http.MethodPost, renewPixPath, nil)
			faults.Clear()
			b.expect(t, 201, http.MethodPost, renewPixPath, nil)
			charge := objectid.ID(b.text(t, "SELECT id FROM subscriptions.renewal_charges WHERE state = 'open'"))
			b.runStatusChecks(t, 85*time.Second)
			require.Equal(t, 0, b.count(t, "SELECT misses FROM payments.intents WHERE subject_id = $1", charge),
				"not before the call's own time is over")
			b.runStatusChecks(t, 8*time.Minute)
			require.Equal(t, "gone", b.text(t, "SELECT state FROM subscriptions.renewal_charges WHERE id = $1", charge),
				"proved that nothing was made")
			b.expect(t, 201, http.MethodPost, renewPixPath, nil)
		})
	}
}

// TestRenewalNotKnownForADay is looked at by the schedule of all, and put before people.
func TestRenewalNotKnownForADay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.unsound = append(b.unsound, "unapplied_match_ledger")
	_, _ = dueByPix(t, b, "gwa")
	faults := b.gateways.Sandbox.GWA.Stage().Faults
	require.NoError(t, faults.Plan(stage.Fault{
		Path: "/v3/payments", Kind: stage.FaultStatus, Status: http.StatusInternalServerError, Times: manyTimes,
	}))
	b.expect(t, 201, http.MethodPost, renewPixPath, nil)
	waitAndCheck(t, b, 23*time.Hour)
	require.Equal(t, 1, b.count(t,
		"SELECT count(*) FROM payments.intents WHERE kind = 'renewal_charge' AND state = 'open' AND not_known_since IS NOT NULL"))
	require.Zero(t, b.count(t, "SELECT count(*) FROM payments.unapplied_payments WHERE kind = 'unknown'"))
	waitAndCheck(t, b, 2*time.Hour)
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.unapplied_payments WHERE kind = 'unknown'"))
	faults.Clear()
	waitAndCheck(t, b, time.Hour)
	b.runStatusChecks(t, time.Minute)
	require.Equal(t, "missing", b.text(t, "SELECT state FROM payments.intents WHERE kind = 'renewal_charge'"))
	require.Equal(t, "gone", b.text(t, "SELECT state FROM subscriptions.renewal_charges"))
}

// TestRenewalCodeThatRanOut: another is made, and the old one cannot be paid.
func TestRenewalCodeThatRanOut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, _ = dueByPix(t, b, "gwa")
	a := b.expect(t, 201, http.MethodPost, renewPixPath, nil)
	_, err := b.db.Exec(t.Context(), "UPDATE subscriptions.renewal_charges SET pix_expires_at = $1", b.clock.Now())
	require.NoError(t, err)
	b.expect(t, 404, http.MethodGet, "/customers/me/pix-qr", nil)
	next := b.expect(t, 201, http.MethodPost, renewPixPath, nil)
	require.NotEqual(t, a["payment"], next["payment"])
	_, err = b.gateways.Sandbox.GWA.PayPIX(a["pix"].(object)["payload"].(string))
	require.Error(t, err)
}

func TestRenewByPixRepeatsItsAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, _ = dueByPix(t, b, "gwb")
	me := b.client(t, "renew-pix")
	first := me.Post(renewPixPath, nil).Expect(201)
	require.Equal(t, string(first.Body), string(me.Post(renewPixPath, nil).Expect(201).Body))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM subscriptions.renewal_charges"))
}

// TestRenewalCodesAtOnce: one code is made; who asks meanwhile hears so, and has the same
// code once it is there.
func TestRenewalCodesAtOnce(t *testing.T) {
	t.Parallel()
	for gateway, path := range map[string]string{"gwa": "/v3/payments", "gwb": "/v1/payment_intents"} {
		late := 0
		for try := 0; late == 0 && try < 5; try++ { // unless the machine stood still for as long as the gateway takes
			late = requestRenewalCodes(t, gateway, path)
		}
		require.NotZero(t, late, "the gateway takes longer than the requests come apart")
	}
}

// requestRenewalCodes asks four times at once, and returns how many were told to come again.
func requestRenewalCodes(t *testing.T, gateway, path string) (late int) {
	t.Helper()
	b := setup(t)
	_, _ = dueByPix(t, b, gateway)
	b.bearer(t)
	require.NoError(t, stages[gateway](b).Faults.Plan(stage.Fault{
		Method: http.MethodPost, Path: path, Kind: stage.FaultDelay, Delay: stage.Duration(500 * time.Millisecond),
		Times: manyTimes,
	}))
	var mu sync.Mutex
	responses := map[int][]object{}
	atOnce(4, func(int) {
		status, a := b.call(t, http.MethodPost, renewPixPath, nil)
		mu.Lock()
		defer mu.Unlock()
		responses[status] = append(responses[status], a)
	})
	require.NotEmpty(t, responses[201])
	require.Equal(t, 4, len(responses[201])+len(responses[409]), "%v", responses)
	for _, a := range responses[409] {
		require.Contains(t, a["detail"], "being made")
		refused(t, a, "CONFLICT", "")
	}
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM subscriptions.renewal_charges"))
	again := b.expect(t, 201, http.MethodPost, renewPixPath, nil)
	require.Equal(t, responses[201][0]["payment"], again["payment"])
	require.Equal(t, responses[201][0]["pix"], again["pix"])
	return len(responses[409])
}
