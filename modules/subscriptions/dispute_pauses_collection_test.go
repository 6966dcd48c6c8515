package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

// stages are the sandboxes of each gateway.
var stages = map[string]func(b *bundle) *stage.Stage{
	"gwa": func(b *bundle) *stage.Stage { return b.gateways.Sandbox.GWA.Stage() },
	"gwb": func(b *bundle) *stage.Stage { return b.gateways.Sandbox.GWB.Stage() },
}

// While the gateway is down the pause is asked for again until it is confirmed; so is
// its end. Also when every job was lost.
func TestAPauseIsAskedForUntilTheGatewayConfirms(t *testing.T) {
	t.Parallel()
	for gateway, d := range disputesAt {
		for _, kind := range []stage.FaultKind{stage.FaultStatus, stage.FaultResetAfter, stage.FaultResetBefore} {
			t.Run(gateway+" "+string(kind), func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				id := d.begin(b, t)
				b.signLater(t)
				b.goBy(t, 2*day)
				faults := stages[gateway](b).Faults
				down := func() {
					for _, method := range []string{
						http.MethodGet, http.MethodPut, http.MethodPost, http.MethodDelete,
					} {
						require.NoError(t, faults.Plan(stage.Fault{
							Method: method, Path: "/v", Kind: kind, Times: manyTimes,
						}))
					}
				}
				dispute := d.open(b, t, id)
				down()
				for range 3 {
					b.clock.Advance(20 * time.Minute)
					b.runDueStatusChecks(t)
				}
				require.Equal(t, "pausing", b.pause(t, id))
				faults.Clear()
				_, err := b.db.Exec(t.Context(), "DELETE FROM jobs.river_job")
				require.NoError(t, err)
				b.runStatusChecks(t, 20*time.Minute)
				require.Equal(t, "paused", b.pause(t, id))
				_, waiting := b.taken(t, id)
				require.Zero(t, waiting)

				d.close(b, t, dispute, true)
				down()
				b.clock.Advance(20 * time.Minute)
				b.runDueStatusChecks(t)
				require.Equal(t, "resuming", b.pause(t, id))
				require.Equal(t, "active", b.status(t, id), "access does not wait for the gateway")
				faults.Clear()
				b.runStatusChecks(t, 20*time.Minute)
				require.Equal(t, []string{
					">pausing disputed: the money is disputed", "pausing>paused collection_stopped: the gateway collects nothing",
					"paused>resuming lifted: no dispute keeps it closed", "resuming>resumed collection_resumed: the gateway collects again",
				}, b.orderHistory(t, "pause", id))
				b.goBy(t, 40*day)
				paid, _ := b.taken(t, id)
				require.EqualValues(t, 2*4990, paid)
			})
		}
	}
}

// A charge that was collected all the same moves no date, and is on the list to be
// given back by itself.
func TestAChargeThatSlipsThroughIsListed(t *testing.T) {
	t.Parallel()
	eachDispute(t, func(t *testing.T, b *bundle, gateway string, d disputes, id objectid.ID) {
		b.signLater(t)
		b.goBy(t, 2*day)
		dispute := d.open(b, t, id)
		next := column[time.Time](t, b, id, "next_billing_date")
		b.clock.Advance(time.Minute)
		b.gateways.Advance(t, time.Minute)
		recurring[gateway].renew(b, t, id) // before the pause reaches the gateway
		b.settle(t)
		require.Equal(t, 2, b.count(t, "SELECT count(*) FROM payments.payments WHERE local_id = $1", id),
			"the ledger has it")
		require.Equal(t, "suspended", b.status(t, id))
		if gateway == "gwa" { // gateway B tells its period by customer.subscription.updated
			require.Equal(t, next, column[time.Time](t, b, id, "next_billing_date"))
		}
		require.Equal(t, 1, b.count(t,
			`SELECT count(*) FROM payments.unapplied_payments u JOIN payments.payments p USING (gateway_payment_id)
			WHERE p.local_id = $1 AND u.automatic AND u.amount_cents = 4990 AND u.subscription_id = $1 AND u.note LIKE '%disputed%'`, id))
		b.goBy(t, time.Hour)
		chargeIsGivenBack(t, b)
		b.settle(t)
		require.EqualValues(t, 4990, column[int64](t, b, id, "total_refunded_cents"))
		d.close(b, t, dispute, true)
		b.goBy(t, time.Hour)
		require.Equal(t, "active", b.status(t, id))
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.unapplied_payments"))
	})
}

// The echo of a pause may come after it is over; an end that is none of our doing ends.
func TestEchoesOfAPause(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := disputesAt["gwa"]
	id := d.begin(b, t)
	b.signLater(t)
	b.goBy(t, 2*day)
	dispute := d.open(b, t, id)
	b.goBy(t, day)
	inactivated := gateway.Event{
		Gateway: gateway.GWA, Type: "SUBSCRIPTION_INACTIVATED", CreatedAt: b.clock.Now(),
		SubscriptionID: column[string](t, b, id, "gwa_subscription_id"),
		Payload: gateway.SubscriptionEnd{
			Subscription: gateway.RemoteSubscription{Status: gateway.RemoteCanceled, Inactive: true},
		},
	}
	require.Equal(t, gateway.ResultIgnored, b.apply(t, inactivated).Status)
	require.NoError(t, b.service.SyncSubscription(t.Context(), b.customer.ID))
	require.Equal(t, "suspended", b.status(t, id), "nor does a look at what is inactive end it")
	d.close(b, t, dispute, true)
	b.goBy(t, day)
	require.Equal(t, "resumed", b.pause(t, id))
	require.Equal(t, gateway.ResultIgnored, b.apply(t, inactivated).Status, "late")
	require.Equal(t, "active", b.status(t, id))
	b.goBy(t, day)
	inactivated.CreatedAt = b.clock.Now()
	b.apply(t, inactivated)
	b.settle(t)
	require.Equal(t, "active", b.status(t, id), "the gateway says that it runs")
	require.NoError(t, b.gateways.A.StopCollection(t.Context(),
		gateway.Collection{SubscriptionID: id, GatewayID: inactivated.SubscriptionID}))
	b.settle(t)
	require.Equal(t, "cancelled", b.status(t, id), "somebody's hand at the gateway's console")
}

func TestSeveralDisputesOfOneSubscription(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, tc := range map[string]struct {
		states []gateway.DisputeState // of the second; the first is open
		first  gateway.DisputeState   // then
		status string
	}{
		"one won of two": {[]gateway.DisputeState{gateway.DisputeOpen, gateway.DisputeWon}, "", "suspended"},
		"both won": {
			[]gateway.DisputeState{gateway.DisputeOpen, gateway.DisputeWon}, gateway.DisputeWon, "active",
		},
		"one lost": {[]gateway.DisputeState{gateway.DisputeOpen, gateway.DisputeLost}, "", "cancelled"},
		"lost, then won": {
			[]gateway.DisputeState{gateway.DisputeOpen, gateway.DisputeLost}, gateway.DisputeWon, "cancelled",
		},
		"won after lost": {[]gateway.DisputeState{gateway.DisputeLost, gateway.DisputeWon}, "", "cancelled"},
		"opened anew, won": {
			[]gateway.DisputeState{gateway.DisputeWon, gateway.DisputeOpen, gateway.DisputeWon},
			gateway.DisputeWon,
			"active",
		},
	} {
		b.newcomer(t)
		id, r := subscriptionIn(t, b, "active")
		deliver := func(dispute string, state gateway.DisputeState, second int) {
			for range 2 { // and once more changes nothing
				b.apply(t, gateway.Event{
					Gateway: gateway.GWB, SubscriptionID: r.id, CreatedAt: r.at(second),
					Payload: gateway.DisputeChange{
						Report: gateway.DisputeReport{
							ID: dispute + r.id, PaymentID: dispute, Amount: 4990, State: state, At: r.at(second),
							OpenedAt: r.at(second),
						},
					},
				})
			}
		}
		deliver("dp_1", gateway.DisputeOpen, 1)
		for i, state := range tc.states {
			deliver("dp_2", state, 2+i)
		}
		if tc.first != "" {
			deliver("dp_1", tc.first, 9)
		}
		require.Equal(t, tc.status, b.status(t, id), name)
		require.Equal(t, tc.status != "active", column[bool](t, b, id, "has_chargeback"), name)
		require.LessOrEqual(t,
			b.count(t,
				"SELECT count(*) FROM subscriptions.pauses WHERE subscription_id = $1 AND state IN ('pausing', 'paused', 'resuming')", id), 1, name)
		if name == "lost, then won" {
			require.True(t, column[bool](t, b, id, "has_chargeback"), "what was lost stays lost")
		}
	}
}

// A dispute of a payment of a subscription that was replaced is none of the new one's.
func TestADisputeOfWhatHasEnded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	old := b.paidGWB(t)
	b.expect(t, 200, http.MethodDelete, "/customers/me/subscription", nil)
	b.settle(t)
	id := idOf(b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard("pm_card_visa")))
	b.settle(t)
	dispute := disputesAt["gwb"].open(b, t, old)
	require.Equal(t, "cancelled", b.status(t, old))
	require.True(t, column[bool](t, b, old, "has_chargeback"))
	require.Zero(t, b.count(t, "SELECT count(*) FROM subscriptions.pauses"))
	disputesAt["gwb"].close(b, t, dispute, false)
	require.Equal(t, "cancelled", b.status(t, old))
	require.Equal(t, "active", b.status(t, id))
	require.False(t, column[bool](t, b, id, "has_chargeback"))
}

// An admin's word pauses as the gateway's does, and the gateway's own report of the
// same payment takes it over. One who activates it has collection resume.
func TestAnAdminsChargebackAndActivation(t *testing.T) {
	t.Parallel()
	eachDispute(t, func(t *testing.T, b *bundle, gateway string, d disputes, id objectid.ID) {
		admin := b.admin(t)
		b.signLater(t)
		b.goBy(t, 2*day)
		if gateway == "gwb" { // the ledger learns the payment intent, which the dispute names
			_, err := b.db.Exec(t.Context(), "UPDATE payments.payments SET payment_intent_id = $1", intentPaid(t, b))
			require.NoError(t, err)
		}
		admin.Post("/subscriptions/"+id.String()+"/chargeback", object{"reason": "told by the bank"}).Expect(200)
		require.Equal(t, "pausing", b.pause(t, id))
		b.goBy(t, 35*day)
		require.Equal(t, "paused", b.pause(t, id))
		paid, waiting := b.taken(t, id)
		require.EqualValues(t, 4990, paid)
		require.Zero(t, waiting)

		admin.Post("/admin/subscriptions/"+id.String()+"/activate", nil).Expect(200)
		require.Equal(t, "active", b.status(t, id))
		require.Equal(t, "resuming", b.pause(t, id))
		b.goBy(t, 26*day)
		require.Equal(t, "resumed", b.pause(t, id))
		paid, _ = b.taken(t, id)
		require.EqualValues(t, 2*4990, paid)
		dispute := d.open(b, t, id)
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.disputes"), "the same dispute")
		d.close(b, t, dispute, false)
		require.Equal(t, "cancelled", b.status(t, id), "it is lost after all")
	})
}

func TestCancellingWhatIsDisputedEndsThePause(t *testing.T) {
	t.Parallel()
	eachDispute(t, func(t *testing.T, b *bundle, _ string, d disputes, id objectid.ID) {
		b.signLater(t)
		b.goBy(t, 2*day)
		dispute := d.open(b, t, id)
		b.goBy(t, time.Hour)
		b.expect(t, 200, http.MethodDelete, "/customers/me/subscription", nil)
		require.Equal(t, "void", b.pause(t, id))
		d.close(b, t, dispute, true)
		b.goBy(t, 65*day)
		require.Equal(t, "cancelled", b.status(t, id))
		paid, waiting := b.taken(t, id)
		require.EqualValues(t, 4990, paid)
		require.Zero(t, waiting)
	})
}

// Gateway A may tell of a lost chargeback without a word of it: then it looks like a
// refund that nobody asked for.
func TestARefundWhileTheDisputeIsOpenIsItsLoss(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWA(t)
	payment := disputesAt["gwa"].open(b, t, id)
	at := b.clock.Now().Add(time.Hour)
	refunded := gateway.Event{
		Gateway: gateway.GWA, Type: "PAYMENT_REFUNDED", CreatedAt: at,
		SubscriptionID: column[string](t, b, id, "gwa_subscription_id"),

		Payload: gateway.RefundChange{
			Status:  gateway.RefundStatusDone,
			Payment: gateway.Payment{ID: payment, NativeStatus: "REFUNDED", Method: gateway.MethodCard, Amount: 4990},
			Report: gateway.RefundReport{
				PaymentID: payment, HasTotal: true, Total: 4990, At: at, Type: "PAYMENT_REFUNDED",
			},
		},
	}
	for range 2 {
		b.apply(t, refunded)
		later := refunded.Payload.(gateway.RefundChange)
		later.Report.At = later.Report.At.Add(day)
		refunded.Payload = later
	}
	require.Equal(t, "cancelled", b.status(t, id))
	require.Equal(t, "lost", b.text(t, "SELECT state FROM payments.disputes"))
	require.Zero(t, b.count(t, "SELECT count(*) FROM payments.refunds"))
	require.Zero(t, column[int64](t, b, id, "total_refunded_cents"))
}

// What is ordered of an automatic PIX is removed, nothing is ordered while it is
// paused, and the cycle is ordered anew afterwards.
func TestADisputedAutomaticPixIsNotDebited(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _, debit := b.debited(t)
	b.gateways.Advance(t, 0)
	b.admin(t).Post("/subscriptions/"+id.String()+"/chargeback", object{"reason": "told by the bank"}).Expect(200)
	next := column[time.Time](t, b, id, "next_billing_date")
	b.runDueStatusChecks(t)
	b.settle(t)
	require.Equal(t, "paused", b.pause(t, id))
	require.Equal(t, next, column[time.Time](t, b, id, "next_billing_date"), "the echo moves nothing")
	require.NoError(t, b.gateways.Sandbox.GWA.Advance(12*day))
	b.settle(t)
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments WHERE local_id = $1", id))
	b.clock.Advance(12 * day)
	require.NoError(t, b.service.Debit(t.Context(), id))
	require.NoError(t, b.service.Sweep(t.Context()))
	require.Zero(t, b.count(t, "SELECT count(*) FROM subscriptions.debits WHERE gateway_payment_id IS NOT NULL"))

	b.admin(t).Post("/admin/subscriptions/"+id.String()+"/activate", nil).Expect(200)
	b.runDueStatusChecks(t)
	require.Equal(t, "resumed", b.pause(t, id))
	require.WithinDuration(t, b.clock.Now(), column[time.Time](t, b, id, "next_billing_date"), time.Minute,
		"from today")
	require.NoError(t, b.service.Debit(t.Context(), id))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM subscriptions.debits WHERE gateway_payment_id <> $1", debit))
}
