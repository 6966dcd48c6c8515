package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/testutil/sandbox/stage"
)

// extenders are the two ways in which an admin makes a subscription last longer by a
// month.
var extenders = map[string]func(t *testing.T, b *bundle, id objectid.ID){
	"an unapplied payment": func(t *testing.T, b *bundle, id objectid.ID) {
		t.Helper()
		b.admin(t).Post(unappliedPath+"/"+plantUnapplied(t, b, id)+"/extend", nil).Expect(200)
	},
	"days": func(t *testing.T, b *bundle, id objectid.ID) {
		t.Helper()
		b.admin(t).Post("/admin/subscriptions/"+id.String()+"/extend", object{"days": 33}).Expect(200)
	},
}

// plantUnapplied plants money of the customer's that pays a month, and has not been applied.
func plantUnapplied(t *testing.T, b *bundle, living objectid.ID) string {
	t.Helper()
	payment := "pay_late_" + objectid.New().String()
	_, err := b.db.Exec(t.Context(),
		`INSERT INTO payments.payments (gateway, gateway_payment_id, purpose, local_id, customer_id, amount_cents, method, native_status, settled_at, created_at, updated_at)
		VALUES ('gwa', $1, 'subscription', $2, $3, 4990, 'pix', 'RECEIVED', now(), now(), now())`, payment, living,
		b.customer.ID)
	require.NoError(t, err)
	require.NoError(t, postgres.InTx(t.Context(), b.db, func(tx pgx.Tx) error {
		_, err := b.payments.Cases().RecordUnappliedTx(t.Context(), tx, payments.Unapplied{
			Kind: payments.UnappliedDuplicate, Gateway: gateway.GWA, PaymentID: payment, Amount: new(money.Cents(4990)),
			CustomerID: b.customer.ID, SubscriptionID: living, PaidAt: new(b.clock.Now()),
		})
		return err
	}))
	return b.listed(t, payment)["_id"].(string)
}

func chargeMove(t *testing.T, b *bundle, id objectid.ID) string {
	t.Helper()
	return b.text(t,
		"SELECT coalesce((SELECT state FROM subscriptions.charge_moves WHERE subscription_id = $1 ORDER BY id DESC LIMIT 1), '')", id)
}

// TestAnExtensionMovesTheNextCharge: time goes by at the gateways. No charge in the
// extended month, one after, access all the while; every cent is counted at the gateway.
func TestAnExtensionMovesTheNextCharge(t *testing.T) {
	t.Parallel()
	for gateway, begin := range map[string]func(*bundle, *testing.T) objectid.ID{
		"gwa": (*bundle).paidGWA, "gwb": (*bundle).paidGWB,
	} {
		for way, extend := range extenders {
			t.Run(gateway+" by "+way, func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				id := begin(b, t)
				b.signLater(t)
				b.goBy(t, 2*day)
				begun := b.clock.Now()
				extend(t, b, id)
				require.Equal(t, "open", chargeMove(t, b, id), "committed before the gateway is asked")
				end := column[time.Time](t, b, id, "expires_at")
				require.WithinDuration(t, begun.AddDate(0, 2, -2), end, 5*day)
				b.goBy(t, end.Sub(b.clock.Now())-30*time.Hour)
				require.Equal(t, []string{">open asked: ordered here", "open>done confirmed: the gateway has confirmed it"},
					b.orderHistory(t, "charge_move", id))
				require.NotNil(t, column[*time.Time](t, b, id, "expires_at"))
				paid, _ := b.taken(t, id)
				require.EqualValues(t, 4990, paid, "nothing in the extended month")
				b.goBy(t, 12*time.Hour)
				require.Nil(t, column[*time.Time](t, b, id, "expires_at"), "the recurrence goes on: no end")
				require.True(t, b.access(t))
				for range 3 {
					b.goBy(t, 12*time.Hour)
					require.True(t, b.access(t), "also while the charge is told late")
				}
				paid, _ = b.taken(t, id)
				require.EqualValues(t, 2*4990, paid, "one after")
				require.Equal(t, "active", b.status(t, id))
				b.goBy(t, 31*day)
				paid, _ = b.taken(t, id)
				require.EqualValues(t, 3*4990, paid, "and then as before")
				require.Zero(t, column[int](t, b, id, "payment_failures"))
				require.Zero(t, b.count(t, "SELECT count(*) FROM payments.refunds"))
			})
		}
	}
}

// TestAnExtensionIsRepeatedUntilTheGatewayConfirms: answers are lost, before and after
// they took effect; two extensions add up.
func TestAnExtensionIsRepeatedUntilTheGatewayConfirms(t *testing.T) {
	t.Parallel()
	for gateway, begin := range map[string]func(*bundle, *testing.T) objectid.ID{
		"gwa": (*bundle).paidGWA, "gwb": (*bundle).paidGWB,
	} {
		for name, kind := range map[string]stage.FaultKind{
			"not made": stage.FaultStatus, "made": stage.FaultResetAfter,
		} {
			t.Run(gateway+" "+name, func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				id := begin(b, t)
				b.signLater(t)
				b.goBy(t, 2*day)
				faults := b.gateways.Sandbox.GWB.Stage().Faults
				verb := http.MethodPost
				if gateway == "gwa" {
					faults, verb = b.gateways.Sandbox.GWA.Stage().Faults, http.MethodPut
				}
				require.NoError(t, faults.Plan(stage.Fault{
					Method: verb, Path: "/v", Kind: kind, Status: 500, Times: manyTimes,
				}))
				extenders["days"](t, b, id)
				b.runDueStatusChecks(t)
				require.Equal(t, "open", chargeMove(t, b, id))
				faults.Clear()
				extenders["days"](t, b, id)
				end := column[time.Time](t, b, id, "expires_at")
				b.runStatusChecks(t, 10*time.Second)
				b.goBy(t, time.Hour)
				require.Equal(t, "done", chargeMove(t, b, id))
				require.Equal(t, 1, b.count(t, "SELECT count(*) FROM subscriptions.charge_moves"))
				require.WithinDuration(t, end, column[time.Time](t, b, id, "next_billing_date"), time.Second)
				b.goBy(t, end.Sub(b.clock.Now())-30*time.Hour)
				paid, _ := b.taken(t, id)
				require.EqualValues(t, 4990, paid)
				b.goBy(t, 3*day)
				paid, _ = b.taken(t, id)
				require.EqualValues(t, 2*4990, paid)
			})
		}
	}
}

// TestAChargeThatSlipsIntoAnExtension: the gateway could not be told in time. The money
// goes back, and moves no date.
func TestAChargeThatSlipsIntoAnExtension(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, b *bundle, gateway string) {
		id := begins[gateway](b, t)
		b.signLater(t)
		b.goBy(t, 2*day)
		extenders["days"](t, b, id)
		end := column[time.Time](t, b, id, "expires_at")
		b.clock.Advance(35 * day) // nobody works here meanwhile
		b.gateways.Advance(t, 35*day)
		b.settle(t)
		paid, _ := b.taken(t, id)
		require.EqualValues(t, 2*4990, paid)
		require.WithinDuration(t, end, column[time.Time](t, b, id, "expires_at"), time.Second)
		payment := b.text(t, "SELECT gateway_payment_id FROM payments.unapplied_payments")
		require.Equal(t, "duplicate", b.listed(t, payment)["kind"])
		b.gateways.Sandbox.GWA.SetBalance(10_000_000)
		b.refundUnapplied(t)
		require.Equal(t, "refunded", b.listed(t, payment)["state"])
		b.goBy(t, end.Sub(b.clock.Now())+2*day)
		paid, _ = b.taken(t, id)
		require.EqualValues(t, 3*4990, paid, "once refunded, then the one after")
		require.Equal(t, "active", b.status(t, id))
	})
}

// TestAnExtensionComesAfterTheDebitThatIsOrdered: the bank knows of it already, so it
// pays its own period.
func TestAnExtensionComesAfterTheDebitThatIsOrdered(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _, _ := b.debited(t)
	cycle := column[time.Time](t, b, id, "next_billing_date")
	b.admin(t).Post("/admin/subscriptions/"+id.String()+"/extend", object{"days": 3}).Expect(200)
	next := column[time.Time](t, b, id, "next_billing_date")
	require.WithinDuration(t, cycle.AddDate(0, 1, 3), next, time.Second)
	passToEvening(t, b, 8)
	require.Equal(t, 2, b.count(t, "SELECT count(*) FROM payments.payments"))
	require.Equal(t, next, column[time.Time](t, b, id, "next_billing_date"), "the debit takes nothing of it away")
	passTime(t, b, next.Sub(b.clock.Now())-time.Hour)
	require.Equal(t, 2, b.count(t, "SELECT count(*) FROM payments.payments"))
	passToEvening(t, b, 4)
	require.Equal(t, 3, b.count(t, "SELECT count(*) FROM payments.payments"))
}

// TestWhatCannotBeExtendedNow is a clear 409, and changes nothing.
func TestWhatCannotBeExtendedNow(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ set, says string }{
		"a failed payment": {"payment_failures = 1", "has failed"},
		"suspended":        {"status = 'suspended'", "suspended"},
		"disputed":         {"has_chargeback = true", "disputed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id := b.paidGWB(t)
			b.set(t, id, tc.set)
			before := column[time.Time](t, b, id, "next_billing_date")
			a := b.admin(t).Post("/admin/subscriptions/"+id.String()+"/extend", object{"days": 3}).Expect(409).Map()
			require.Contains(t, a["detail"], tc.says)
			b.admin(t).Post(unappliedPath+"/"+plantUnapplied(t, b, id)+"/extend", nil).Expect(409)
			require.Equal(t, before, column[time.Time](t, b, id, "next_billing_date"))
			require.Zero(t, b.count(t, "SELECT count(*) FROM subscriptions.charge_moves"))
		})
	}
	t.Run("further than gateway B goes", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.admin(t).Post("/admin/subscriptions/"+b.paidGWB(t).String()+"/extend", object{"days": 1000}).Expect(409)
	})
}

// TestAnExtensionOfWhatHasEndedAtTheGateway lasts, and charges nobody.
func TestAnExtensionOfWhatHasEndedAtTheGateway(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWA(t)
	extenders["days"](t, b, id)
	require.NoError(t, b.gateways.A.CancelSubscription(t.Context(), column[string](t, b, id, "gwa_subscription_id"),
		id))
	b.runDueStatusChecks(t)
	require.Equal(t, "refused", chargeMove(t, b, id))
	b.settle(t)
	require.Equal(t, "active", b.status(t, id))
	end := column[time.Time](t, b, id, "expires_at")
	b.goBy(t, end.Sub(b.clock.Now())+time.Hour)
	require.Equal(t, "expired", b.status(t, id))
}
