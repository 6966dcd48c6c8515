package subscriptions_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
	"marquee/testutil/sandbox/stage"
)

const dearer = "dearer"

// recurring are the kinds of subscriptions whose price their gateway charges.
var recurring = map[string]struct {
	begin func(b *bundle, t *testing.T) objectid.ID
	stage func(b *bundle) *stage.Stage
	path  string // of the call that changes the price
	verb  string
	renew func(b *bundle, t *testing.T, id objectid.ID)
}{
	"gwa": {
		(*bundle).paidGWA, func(b *bundle) *stage.Stage { return b.gateways.Sandbox.GWA.Stage() }, "/v3/subscriptions",
		http.MethodPut,
		func(b *bundle, t *testing.T, id objectid.ID) {
			t.Helper()
			_, err := b.gateways.Sandbox.GWA.Renew(column[string](t, b, id, "gwa_subscription_id"), false)
			require.NoError(t, err)
		},
	},
	"gwb": {
		(*bundle).paidGWB, func(b *bundle) *stage.Stage { return b.gateways.Sandbox.GWB.Stage() }, "/v1/subscriptions",
		http.MethodPost,
		func(b *bundle, t *testing.T, id objectid.ID) {
			t.Helper()
			require.NoError(t, b.gateways.Sandbox.GWB.Renew(column[string](t, b, id, "gwb_subscription_id")))
		},
	},
}

func putPlan(admin *apitest.Client, id objectid.ID, plan string) *apitest.Response {
	return admin.Put("/subscriptions", []object{{"_id": id, "plan_id": plan}})
}

// requireMoved checks that the subscription has the dearer plan and that its next charge
// is the dearer price.
func requireMoved(t *testing.T, b *bundle, kind string, id objectid.ID) {
	t.Helper()
	require.Equal(t, dearer, column[string](t, b, id, "plan_id"))
	require.Equal(t, int64(9990), column[int64](t, b, id, "price_cents"))
	require.Equal(t, "done",
		b.text(t, "SELECT state FROM subscriptions.plan_moves WHERE subscription_id = $1 ORDER BY id DESC LIMIT 1", id))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments WHERE local_id = $1", id),
		"nothing is charged for the move")
	recurring[kind].renew(b, t, id)
	b.settle(t)
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments WHERE amount_cents = 9990 AND local_id = $1",
		id))
	require.Equal(t, "active", b.status(t, id))
}

// requireUnmoved checks that everything is as it was.
func requireUnmoved(t *testing.T, b *bundle, id objectid.ID) {
	t.Helper()
	require.Equal(t, plan, column[string](t, b, id, "plan_id"))
	require.Equal(t, int64(4990), column[int64](t, b, id, "price_cents"))
}

// eachRecurring runs a case for a paid subscription of both gateways, with a
// dearer plan to move to.
func eachRecurring(t *testing.T, b *bundle,
	run func(t *testing.T, kind string, id objectid.ID, admin *apitest.Client),
) {
	t.Helper()
	subscriptionstest.Plan(t, b.db, dearer, 9990)
	admin := b.admin(t)
	for kind, r := range recurring {
		t.Run(kind, func(t *testing.T) {
			b.newcomer(t)
			run(t, kind, r.begin(b, t), admin)
		})
	}
}

func TestMoveToAnotherPlanMovesThePriceAtTheGateway(t *testing.T) {
	t.Parallel()
	b := setup(t)
	eachRecurring(t, b, func(t *testing.T, kind string, id objectid.ID, admin *apitest.Client) {
		for range 2 { // and once more changes nothing
			doc := putPlan(admin, id, dearer).Expect(200).Map()["docs"].([]any)[0].(object)
			require.Equal(t, dearer, doc["plan_id"])
		}
		b.settle(t)
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM subscriptions.plan_moves WHERE subscription_id = $1", id))
		require.Equal(t, []string{">open asked: ordered here", "open>done confirmed: the gateway has confirmed it"},
			b.orderHistory(t, "plan_move", id))
		require.Equal(t, "open seen, open called, answer done", b.text(t, `SELECT string_agg(by || ' ' || outcome, ', ' ORDER BY s.id)
			FROM payments.intent_steps s JOIN subscriptions.plan_moves m ON m.id = (SELECT subject_id FROM payments.intents WHERE id = s.intent_id)
			WHERE m.subscription_id = $1`, id))
		requireMoved(t, b, kind, id)
		admin.Put("/subscriptions", []object{{"_id": id, "plan_id": plan}}).Expect(200)
		requireUnmoved(t, b, id)
	})
	admin, _ := planAPI(t, b)
	left := first(admin.Get("/plans/admin?query=" + url.QueryEscape(`{"plan_id":"`+dearer+`"}`)))["_id"].(string)
	require.Contains(t, admin.Delete("/plans?_id="+left, nil).Expect(409).Detail(), "Inactivate it instead.",
		"its moves name it")
}

func TestMoveWhoseAnswerIsLostIsFinishedByACheck(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, kind := range []stage.FaultKind{stage.FaultResetAfter, stage.FaultResetBefore, stage.FaultStatus} {
		t.Run(string(kind), func(t *testing.T) {
			eachRecurring(t, b, func(t *testing.T, gateway string, id objectid.ID, admin *apitest.Client) {
				r := recurring[gateway]
				require.NoError(t, r.stage(b).Faults.Plan(stage.Fault{
					Method: r.verb, Path: r.path, Kind: kind, Times: manyTimes,
				}))
				a := putPlan(admin, id, dearer)
				require.Equal(t, 503, a.Status)
				require.Contains(t, a.Detail(), "as soon as the gateway confirms")
				requireUnmoved(t, b, id)
				require.Equal(t, 1, b.count(t, "SELECT count(*) FROM subscriptions.plan_moves WHERE state = 'open'"))
				if kind != stage.FaultResetAfter { // there a second check finds the price changed
					require.Equal(t, 503, putPlan(admin, id, dearer).Status,
						"the same order again is the one that is open")
				}
				require.Equal(t, 1, b.count(t,
					"SELECT count(*) FROM subscriptions.plan_moves WHERE subscription_id = $1", id))
				r.stage(b).Faults.Clear()
				b.runStatusChecks(t, 20*time.Second) // the second order was a check, too
				b.settle(t)
				requireMoved(t, b, gateway, id)
			})
		})
	}
}

func TestMoveThatTheGatewayRefusesChangesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, tc := range map[string]struct {
		fault  stage.Fault
		status int
	}{
		"would not listen": {
			stage.Fault{
				Kind: stage.FaultStatus, Status: 403,
				Body: `{"errors":[{"code":"x"}],"error":{"type":"invalid_request_error"}}`,
			}, 503,
		},
		"finds it wrong": {stage.Fault{Kind: stage.FaultStatus, Status: 400}, 400},
		"lost it":        {stage.Fault{}, 409},
	} {
		t.Run(name, func(t *testing.T) {
			eachRecurring(t, b, func(t *testing.T, kind string, id objectid.ID, admin *apitest.Client) {
				r := recurring[kind]
				tc.fault.Method, tc.fault.Path, tc.fault.Times = r.verb, r.path, manyTimes
				remote := column[string](t, b, id, kind+"_subscription_id")
				if tc.fault.Kind == "" {
					b.set(t, id, kind+"_subscription_id = 'sub_0000000000000000'")
				} else {
					require.NoError(t, r.stage(b).Faults.Plan(tc.fault))
				}
				require.Equal(t, tc.status, putPlan(admin, id, dearer).Status)
				requireUnmoved(t, b, id)
				b.set(t, id, kind+"_subscription_id = $2", remote)
				require.Equal(t, "refused",
					b.text(t,
						"SELECT state FROM subscriptions.plan_moves WHERE subscription_id = $1 ORDER BY id DESC LIMIT 1", id))
				r.stage(b).Faults.Clear()
				putPlan(admin, id, dearer).Expect(200)
				b.settle(t)
				requireMoved(t, b, kind, id)
			})
		})
	}
}

// TestARefusalAfterTheReleaseBeforeProvesNothing: its call may have changed the price already.
func TestARefusalAfterTheReleaseBeforeProvesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	eachRecurring(t, b, func(t *testing.T, kind string, id objectid.ID, _ *apitest.Client) {
		r := recurring[kind]
		_, err := b.db.Exec(t.Context(), `INSERT INTO subscriptions.plan_moves (id, subscription_id, plan_id, tries, register_date)
			VALUES ($1, $2, $3, 1, $4)`, objectid.New(), id, dearer, b.clock.Now().Add(-time.Hour))
		require.NoError(t, err)
		require.NoError(t, r.stage(b).Faults.Plan(stage.Fault{
			Method: r.verb, Path: r.path, Kind: stage.FaultStatus, Status: 400, Times: manyTimes,
		}))
		require.NoError(t, b.service.Sweep(t.Context()))
		b.runStatusChecks(t, 10*time.Second)
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.intents WHERE kind = 'plan_move' AND looks > 0 AND state = 'open'"))
		r.stage(b).Faults.Clear()
		b.runStatusChecks(t, time.Minute)
		b.settle(t)
		requireMoved(t, b, kind, id)
	})
}

func TestMoveOfWhatEndedMeanwhileIsVoid(t *testing.T) {
	t.Parallel()
	b := setup(t)
	eachRecurring(t, b, func(t *testing.T, kind string, id objectid.ID, admin *apitest.Client) {
		r := recurring[kind]
		require.NoError(t, r.stage(b).Faults.Plan(stage.Fault{
			Method: r.verb, Path: r.path, Kind: stage.FaultResetBefore, Times: manyTimes,
		}))
		require.Equal(t, 503, putPlan(admin, id, dearer).Status)
		r.stage(b).Faults.Clear()
		subscriptionstest.Plan(t, b.db, "cheaper", 990)
		require.Equal(t, 409, putPlan(admin, id, "cheaper").Status, "one move after the other")
		admin.Post("/subscriptions/"+id.String()+"/cancel", nil).Expect(200)
		b.runStatusChecks(t, 10*time.Second)
		require.Equal(t, []string{">open asked: ordered here", "open>void overtaken: ended, or the day has come"},
			b.orderHistory(t, "plan_move", id))
		requireUnmoved(t, b, id)
	})
}

// TestMoveOfARecurrenceThatEndedThereIsRefused: an admin may have opened the row again, and
// a first call whose answer is lost leaves the refusal of the next ones to prove nothing.
func TestMoveOfARecurrenceThatEndedThereIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	eachRecurring(t, b, func(t *testing.T, kind string, id objectid.ID, admin *apitest.Client) {
		r := recurring[kind]
		remote := column[string](t, b, id, kind+"_subscription_id")
		console := map[string]gateway.Gateway{"gwa": b.gateways.A, "gwb": b.gateways.B}[kind]
		require.NoError(t, console.CancelSubscription(t.Context(), remote, id))
		b.settle(t)
		admin.Post("/admin/subscriptions/"+id.String()+"/activate", nil).Expect(200)
		require.NoError(t, r.stage(b).Faults.Plan(stage.Fault{
			Method: http.MethodGet, Path: r.path, Kind: stage.FaultResetBefore, Times: manyTimes,
		}))
		require.NoError(t, r.stage(b).Faults.Plan(stage.Fault{
			Method: r.verb, Path: r.path, Kind: stage.FaultResetBefore, Times: manyTimes,
		}))
		require.Equal(t, 503, putPlan(admin, id, dearer).Status)
		r.stage(b).Faults.Clear()
		b.runStatusChecks(t, 10*time.Second)
		require.Equal(t, "refused",
			b.text(t, "SELECT state FROM subscriptions.plan_moves WHERE subscription_id = $1 ORDER BY id DESC LIMIT 1",
				id))
		requireUnmoved(t, b, id)
		require.Contains(t, putPlan(admin, id, dearer).Expect(409).Detail(),
			"The gateway no longer has this subscription.")
	})
}

func TestMoveIsWrittenWithTheRestOrNotAtAll(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, admin := b.paidGWB(t), b.admin(t)
	subscriptionstest.Plan(t, b.db, dearer, 9990)
	require.Equal(t, 422, admin.Put("/subscriptions", []object{{"_id": id, "plan_id": dearer, "status": "pending"}}).
		Status)
	require.Zero(t, b.count(t, "SELECT count(*) FROM subscriptions.plan_moves"))
	admin.Put("/subscriptions", []object{{"_id": id, "plan_id": dearer, "expires_at": "2099-05-06T00:00:00Z"}}).
		Expect(200)
	require.Equal(t, dearer, column[string](t, b, id, "plan_id"))
	require.Equal(t, 2099, column[time.Time](t, b, id, "expires_at").Year())
	require.Equal(t, 1, b.count(t,
		`SELECT count(*) FROM accounts.audit_log WHERE after ->> 'plan_id' = 'dearer' AND before ->> 'plan_id' = 'fixture-plan'`))
}

func TestMovesThatNoGatewayHasToFollow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	admin := b.admin(t)
	subscriptionstest.Plan(t, b.db, dearer, 9990)
	id := idOf(b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan}))
	require.Equal(t, 409, putPlan(admin, id, dearer).Status, "its code asks for the old price")
	_, err := b.gateways.Sandbox.GWA.Pay(column[string](t, b, id, "pix_payment_id"))
	require.NoError(t, err)
	b.settle(t)
	putPlan(admin, id, dearer).Expect(200)
	require.Equal(t, int64(9990), column[int64](t, b, id, "price_cents"))
	require.Zero(t, b.count(t, "SELECT count(*) FROM subscriptions.plan_moves"))
}

func TestAutomaticPixKeepsThePlanThatTheBankKnows(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _ := b.authorized(t)
	subscriptionstest.Plan(t, b.db, dearer, 9990)
	require.Equal(t, 409, putPlan(b.admin(t), id, dearer).Status)
	requireUnmoved(t, b, id)
}

// TestNoMoveWhileACodeRenewsAtTheOldPrice: paid afterwards it would give a period of the
// dearer plan.
func TestNoMoveWhileACodeRenewsAtTheOldPrice(t *testing.T) {
	t.Parallel()
	for _, gateway := range []string{"gwa", "gwb"} {
		b := setup(t)
		id, _ := dueByPix(t, b, gateway)
		a := b.expect(t, 201, http.MethodPost, "/customers/me/subscription/renew/pix", nil)
		subscriptionstest.Plan(t, b.db, dearer, 9990)
		require.Equal(t, 409, putPlan(b.admin(t), id, dearer).Status)
		requireUnmoved(t, b, id)
		payCode(t, b, gateway, a)
		b.settle(t)
		putPlan(b.admin(t), id, dearer).Expect(200)
		require.Equal(t, int64(9990), column[int64](t, b, id, "price_cents"))
	}
}

// TestAMoveOfTheReleaseBeforeIsAdopted: it writes the move alone, and may die before its call.
func TestAMoveOfTheReleaseBeforeIsAdopted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	eachRecurring(t, b, func(t *testing.T, _ string, id objectid.ID, _ *apitest.Client) {
		_, err := b.db.Exec(t.Context(), `INSERT INTO subscriptions.plan_moves (id, subscription_id, plan_id, from_cents, next_try_at, register_date)
			VALUES (platform.new_object_id(), $1, 'dearer', 4990, now() + interval '1 minute', now())`, id)
		require.NoError(t, err)
		b.clock.Advance(20 * time.Minute)
		require.NoError(t, b.service.Sweep(t.Context()))
		b.runStatusChecks(t, 20*time.Second)
		b.settle(t)
		require.Equal(t, "done", b.text(t, "SELECT state FROM subscriptions.plan_moves WHERE subscription_id = $1", id))
	})
}
