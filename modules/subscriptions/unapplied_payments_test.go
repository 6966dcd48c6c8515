package subscriptions_test

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts/accountstest"
	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
	"marquee/testutil/pgtest"
	"marquee/testutil/sandbox/stage"
)

const unappliedPath = "/admin/finance/unapplied-payments"

// latePix has the customer pay a code of a subscription that ended here and was
// forgotten at the gateway, while another subscription lives: the one of gateway B
// that it returns.
func latePix(t *testing.T, b *bundle, gateway string) (ended, living objectid.ID, payment string) {
	t.Helper()
	b.listen()
	ended = idOf(b.expect(t, 201, http.MethodPost, "/"+gateway+"/subscribe/pix", object{"plan_id": plan}))
	payment = column[string](t, b, ended, "pix_payment_id")
	b.set(t, ended, "status = 'cancelled', ended_at = $2", paymentstest.Now())
	living = b.paidGWB(t)
	if gateway == "gwa" {
		_, err := b.gateways.Sandbox.GWA.Pay(payment)
		require.NoError(t, err)
	} else {
		require.NoError(t, b.gateways.Sandbox.GWB.PayPIX(payment))
	}
	b.settle(t)
	return ended, living, payment
}

func TestLateMoneyOfACustomerWhoHasAnotherSubscriptionIsRefunded(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, b *bundle, gateway string) {
		ended, living, payment := latePix(t, b, gateway)
		row := b.listed(t, payment)
		require.Equal(t, "late", row["kind"])
		require.Equal(t, "open", row["state"])
		require.EqualValues(t, 4990, row["amount"])
		require.Equal(t, ended.String(), row["subscription_id"])
		require.Equal(t, b.customer.ID.String(), row["customer_id"])
		require.Nil(t, row["order_id"])
		require.NotEmpty(t, row["paid_at"])
		require.Contains(t, row["note"], living)
		b.gateways.Sandbox.GWA.SetBalance(10_000_000)
		b.work(t)
		eventually(t, "the refund", func() bool { return b.listed(t, payment)["state"] == "refunded" })
		require.True(t, givenBack(t, b, payment))
		b.settle(t)
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.refunds"), "one intent a payment")
		eventually(t, "what its event tells",
			func() bool { return column[int64](t, b, ended, "total_refunded_cents") == 4990 })
		require.Equal(t, "active", b.status(t, living))
		require.Equal(t, "cancelled", b.status(t, ended))
		eventually(t, "the mail", func() bool { return len(b.mails.Mails()) == 1 })
		require.Contains(t, b.mails.Mails()[0].Text, "49,90")
		require.Equal(t, 1, b.count(t,
			"SELECT count(*) FROM payments.unapplied_decisions WHERE source = 'platform' AND to_state = 'refunding'"))
		require.Equal(t, 1, b.count(t,
			`SELECT count(*) FROM accounts.audit_log WHERE actor_id IS NULL AND actor_name = 'platform' AND resource = 'unapplied-payments'
			AND action = 'unapplied_payment_refunding' AND before->>'state' = 'open' AND after->>'state' = 'refunding'`))
		require.Equal(t, 1, b.count(t,
			"SELECT count(*) FROM payments.refunds WHERE source = 'platform' AND admin IS NULL"))
	})
}

// TestWhatTheGatewayDoesNotConfirmIsNotRefunded: gateway A's webhooks are not signed.
func TestWhatTheGatewayDoesNotConfirmIsNotRefunded(t *testing.T) {
	t.Parallel()
	t.Run("a payment that was never made", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.listen()
		ended := idOf(b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan}))
		payment := column[string](t, b, ended, "pix_payment_id")
		b.set(t, ended, "status = 'cancelled', ended_at = $2", paymentstest.Now())
		b.paidGWB(t)
		e := gateway.Event{
			Gateway: gateway.GWA, Reference: ended, CreatedAt: b.clock.Now(),
			Payload: gateway.SettledPayment{Payment: gateway.Payment{
				ID: payment, Status: gateway.PaymentStatusSettled, NativeStatus: "RECEIVED", Method: gateway.MethodPix,
				Amount: 4990, SettledAt: new(b.clock.Now()),
			}},
		}
		b.apply(t, e)
		b.confirmLate(t)
		require.Zero(t, b.count(t, "SELECT count(*) FROM payments.payments WHERE gateway = 'gwa'"),
			"an event alone books nothing")
		e.Type = gateway.Reconciled // a list that errs
		b.apply(t, e)
		b.refundUnapplied(t)
		row := b.listed(t, payment)
		require.Equal(t, "open", row["state"])
		require.Contains(t, row["note"], "PENDING")
		require.Equal(t, 0, b.count(t, "SELECT count(*) FROM payments.refunds"))
	})
	t.Run("one of another amount", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, _, payment := latePix(t, b, "gwa")
		_, err := b.db.Exec(t.Context(),
			"UPDATE payments.payments SET amount_cents = 9990 WHERE gateway_payment_id = $1", payment)
		require.NoError(t, err)
		b.refundUnapplied(t)
		row := b.listed(t, payment)
		require.Equal(t, "open", row["state"])
		require.Contains(t, row["note"], "49.90")
		require.Equal(t, 0, b.count(t, "SELECT count(*) FROM payments.refunds"))
	})
	t.Run("while it does not answer", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, _, payment := latePix(t, b, "gwa")
		b.gateways.Sandbox.GWA.SetBalance(10_000_000)
		require.NoError(t, b.gateways.Sandbox.GWA.Stage().Faults.Plan(stage.Fault{
			Kind: stage.FaultStatus, Status: 500, Times: 20,
		}))
		b.refundUnapplied(t)
		require.Equal(t, "open", b.listed(t, payment)["state"])
		b.gateways.Sandbox.GWA.Stage().Faults.Clear()
		b.refundUnapplied(t)
		require.Equal(t, "open", b.listed(t, payment)["state"], "not before its time")
		b.clock.Advance(time.Hour)
		b.refundUnapplied(t)
		require.Equal(t, "refunded", b.listed(t, payment)["state"])
	})
}

func TestAutomaticRefundsKeepToTheirLimits(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]payments.AutomaticRefunds{
		"none an hour":       {PerHour: new(0)},
		"less than it a day": {PerDay: new(money.Cents(4989))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupWithin(t, pgtest.DB(t), limits)
			_, _, payment := latePix(t, b, "gwb")
			b.refundUnapplied(t)
			require.Equal(t, "open", b.listed(t, payment)["state"])
			b.admin(t).Post(unappliedPath+"/"+b.listed(t, payment)["_id"].(string)+"/refund", nil).Expect(200)
			require.Equal(t, "refunded", b.listed(t, payment)["state"], "a person may all the same")
		})
	}
	t.Run("the next hour goes on", func(t *testing.T) {
		t.Parallel()
		b := setupWithin(t, pgtest.DB(t), payments.AutomaticRefunds{PerHour: new(1)})
		_, _, first := latePix(t, b, "gwb")
		b.newcomer(t)
		_, _, second := latePix(t, b, "gwb")
		b.refundUnapplied(t)
		require.Equal(t, "refunded", b.listed(t, first)["state"])
		require.Equal(t, "open", b.listed(t, second)["state"])
		b.clock.Advance(61 * time.Minute)
		b.refundUnapplied(t)
		require.Equal(t, "refunded", b.listed(t, second)["state"])
	})
}

func TestNothingIsRefundedByItselfAfterARestore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, _, payment := latePix(t, b, "gwb")
	_, err := b.db.Exec(t.Context(),
		"UPDATE payments.database_marks SET mark = 'the cluster that the backup was taken of'")
	require.NoError(t, err)
	b.refundUnapplied(t)
	require.Equal(t, "open", b.listed(t, payment)["state"])
	require.NoError(t, b.payments.Comparison().AcceptDatabase(t.Context()))
	b.refundUnapplied(t)
	require.Equal(t, "refunded", b.listed(t, payment)["state"])
}

func TestMoneyOfADeletedCustomerIsRefundedWithoutMail(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	ended := idOf(b.expect(t, 201, http.MethodPost, "/gwb/subscribe/pix", object{"plan_id": plan}))
	payment := column[string](t, b, ended, "pix_payment_id")
	b.set(t, ended, "status = 'cancelled', ended_at = $2", paymentstest.Now())
	_, err := b.db.Exec(t.Context(),
		"UPDATE accounts.users SET deleted_at = now(), enable = false, current_subscription_id = NULL WHERE id = $1",
		b.customer.ID)
	require.NoError(t, err)
	require.NoError(t, b.gateways.Sandbox.GWB.PayPIX(payment))
	b.settle(t)
	b.refundUnapplied(t)
	require.Equal(t, "refunded", b.listed(t, payment)["state"])
	require.True(t, givenBack(t, b, payment))
	b.work(t)
	eventually(t, "the mail's job", func() bool {
		return b.count(t,
			"SELECT count(*) FROM jobs.river_job WHERE kind = 'payments_unapplied_mail' AND state = 'completed'") == 1
	})
	require.Empty(t, b.mails.Mails())
}

// TestACodeThatWasPaidJustBeforeItsEnd is told after it: it gave no access, and so
// opens the subscription.
func TestACodeThatWasPaidJustBeforeItsEnd(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := idOf(b.expect(t, 201, http.MethodPost, "/gwb/subscribe/pix", object{"plan_id": plan}))
	paid := func(payment string, at time.Time) {
		b.apply(t, gateway.Event{
			Gateway: gateway.GWB, Reference: id, CreatedAt: at,
			Payload: gateway.SettledPayment{Payment: gateway.Payment{
				ID: payment, Status: gateway.PaymentStatusSettled, NativeStatus: "succeeded", Method: gateway.MethodPix,
				Amount: 4990, SettledAt: &at,
			}},
		})
	}
	paid(column[string](t, b, id, "pix_payment_id"), b.clock.Now())
	b.clock.Advance(32 * 24 * time.Hour)
	require.NoError(t, b.service.Sweep(t.Context()))
	require.Equal(t, "expired", b.status(t, id))
	paid("pi_second", b.clock.Now().Add(-time.Minute))
	require.Equal(t, "active", b.status(t, id))
}

func TestPeopleDecideAboutUnappliedPayments(t *testing.T) {
	t.Parallel()
	decided := func(t *testing.T, b *bundle, id string, state string) {
		t.Helper()
		admin := b.admin(t)
		for _, again := range []struct {
			path string
			body any
		}{{"/refund", nil}, {"/extend", nil}, {"/keep", object{"reason": "Once more"}}} {
			admin.Post(unappliedPath+"/"+id+again.path, again.body).Expect(409)
		}
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.unapplied_payments WHERE state = $1", state))
	}
	t.Run("keep", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, _, payment := latePix(t, b, "gwb")
		id := b.listed(t, payment)["_id"].(string)
		admin := b.admin(t)
		for _, bad := range []object{{"reason": "four"}, {"reason": "     "}, {}} {
			admin.Post(unappliedPath+"/"+id+"/keep", bad).Expect(422)
		}
		admin.Post(unappliedPath+"/"+objectid.New().String()+"/keep", object{"reason": "Unknown"}).Expect(404)
		row := doc(admin.Post(unappliedPath+"/"+id+"/keep", object{"reason": "The customer agreed."}).Expect(200).Map())
		require.Equal(t, "kept", row["state"])
		require.Equal(t, "The customer agreed.", row["note"])
		decided(t, b, id, "kept")
		b.refundUnapplied(t)
		require.Equal(t, 0, b.count(t, "SELECT count(*) FROM payments.refunds"))
		require.Equal(t, 1, b.count(t,
			"SELECT count(*) FROM accounts.audit_log WHERE resource = 'unapplied-payments' AND record_id = $1", id))
	})
	t.Run("refund", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		ended, _, payment := latePix(t, b, "gwb")
		id := b.listed(t, payment)["_id"].(string)
		row := doc(b.admin(t).Post(unappliedPath+"/"+id+"/refund", object{"reason": "Paid twice"}).Expect(200).Map())
		require.Equal(t, "refunded", row["state"])
		decided(t, b, id, "refunded")
		require.True(t, givenBack(t, b, payment))
		require.EqualValues(t, 4990, column[int64](t, b, ended, "total_refunded_cents"))
		require.Equal(t, 1, b.count(t,
			"SELECT count(*) FROM payments.refunds WHERE reason = 'Paid twice' AND admin_id IS NOT NULL"))
	})
	t.Run("refund, twice with one key", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, _, payment := latePix(t, b, "gwb")
		id := b.listed(t, payment)["_id"].(string)
		admin := b.admin(t).With("Idempotency-Key", "decision-1")
		first := admin.Post(unappliedPath+"/"+id+"/refund", nil).Expect(200)
		require.Equal(t, string(first.Body), string(admin.Post(unappliedPath+"/"+id+"/refund", nil).Expect(200).Body))
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.refunds"))
	})
	t.Run("refund that the gateway refuses", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, _, payment := latePix(t, b, "gwa")
		b.gateways.Sandbox.GWA.SetBalance(0)
		id := b.listed(t, payment)["_id"].(string)
		b.admin(t).Post(unappliedPath+"/"+id+"/refund", nil).Expect(500)
		row := b.listed(t, payment)
		require.Equal(t, "unrefundable", row["kind"])
		require.Equal(t, "open", row["state"])
		b.refundUnapplied(t)
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.refunds"), "not by itself again")
		b.gateways.Sandbox.GWA.SetBalance(10_000_000)
		require.Equal(t, "refunded",
			doc(b.admin(t).Post(unappliedPath+"/"+id+"/refund", nil).Expect(200).Map())["state"])
	})
	t.Run("refund by the subscription's own route", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		ended, _, payment := latePix(t, b, "gwb")
		b.admin(t).Post("/subscriptions/"+ended.String()+"/refund", object{"reason": "Paid twice"}).Expect(200)
		require.Equal(t, "refunded", b.listed(t, payment)["state"])
		decided(t, b, b.listed(t, payment)["_id"].(string), "refunded")
	})
	t.Run("of which no payment is known", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, err := b.db.Exec(t.Context(),
			"INSERT INTO payments.unapplied_payments (kind, gateway, subject, created_at, updated_at) VALUES ('unknown', 'gwa', 'sub_1', now(), now())")
		require.NoError(t, err)
		admin := b.admin(t)
		row := doc(admin.Get(unappliedPath).Expect(200).Map())
		require.Nil(t, row["amount"])
		require.Nil(t, row["gateway_payment_id"])
		id := row["_id"].(string)
		admin.Post(unappliedPath+"/"+id+"/refund", nil).Expect(409)
		admin.Post(unappliedPath+"/"+id+"/extend", nil).Expect(409)
		admin.Post(unappliedPath+"/"+id+"/keep", object{"reason": "It was a test."}).Expect(200)
	})
	t.Run("by admins alone", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.expect(t, 403, http.MethodGet, unappliedPath, nil)
		b.expect(t, 403, http.MethodPost, unappliedPath+"/"+objectid.New().String()+"/refund", nil)
	})
}

func TestAnUnappliedPaymentExtendsALivingSubscription(t *testing.T) {
	t.Parallel()
	t.Run("by the months that it pays for", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		ended, living, payment := latePix(t, b, "gwa")
		next := column[time.Time](t, b, living, "next_billing_date")
		id := b.listed(t, payment)["_id"].(string)
		row := doc(b.admin(t).Post(unappliedPath+"/"+id+"/extend", nil).Expect(200).Map())
		require.Equal(t, "extended", row["state"])
		require.Equal(t, living.String(), row["subscription_id"])
		want := lifecycle.AddMonths(next, 1, reportZone(t))
		require.True(t, want.Equal(column[time.Time](t, b, living, "expires_at")))
		require.True(t, want.Equal(column[time.Time](t, b, living, "next_billing_date")))
		require.Equal(t, 2, b.count(t, "SELECT count(*) FROM payments.payments WHERE local_id = $1", living))
		require.Equal(t, 0, b.count(t, "SELECT count(*) FROM payments.payments WHERE local_id = $1", ended))
		b.refundUnapplied(t)
		require.Equal(t, 0, b.count(t, "SELECT count(*) FROM payments.refunds"))
		b.admin(t).Post(unappliedPath+"/"+id+"/refund", nil).Expect(409)
	})
	t.Run("named, and of another customer", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, _, payment := latePix(t, b, "gwb")
		b.newcomer(t)
		other := b.paidGWB(t)
		id := b.listed(t, payment)["_id"].(string)
		b.admin(t).Post(unappliedPath+"/"+id+"/extend", object{"subscription_id": other}).Expect(409)
		b.admin(t).Post(unappliedPath+"/"+id+"/extend", object{"subscription_id": objectid.New()}).Expect(404)
		b.admin(t).Post(unappliedPath+"/"+id+"/extend", object{"subscription_id": "no id"}).Expect(422)
		require.Equal(t, "open", b.listed(t, payment)["state"])
	})
	t.Run("that pays for no period of it", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, living, payment := latePix(t, b, "gwb")
		b.set(t, living, "price_cents = 4991")
		b.admin(t).Post(unappliedPath+"/"+b.listed(t, payment)["_id"].(string)+"/extend", nil).Expect(409)
		require.Equal(t, "open", b.listed(t, payment)["state"])
	})
	t.Run("when none lives any more", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, living, payment := latePix(t, b, "gwb")
		id := b.listed(t, payment)["_id"].(string)
		b.admin(t).Post("/subscriptions/"+living.String()+"/cancel", nil).Expect(200)
		b.admin(t).Post(unappliedPath+"/"+id+"/extend", nil).Expect(409)
		b.admin(t).Post(unappliedPath+"/"+id+"/extend", object{"subscription_id": living}).Expect(409)
	})
}

// TestDecisionsAtOnce: of all decisions, an automatic refund among them, one counts.
func TestDecisionsAtOnce(t *testing.T) {
	t.Parallel()
	for round := range 3 {
		t.Run(strconv.Itoa(round), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			_, living, payment := latePix(t, b, "gwb")
			id := b.listed(t, payment)["_id"].(string)
			token := accountstest.Token(t, b.db, accountstest.Admin(t, b.db).Username)
			before := column[time.Time](t, b, living, "next_billing_date")
			var wg sync.WaitGroup
			var won sync.Map
			for _, path := range []string{"/refund", "/extend", "/keep", "/refund"} {
				wg.Go(func() {
					a := apitest.New(t, b.serve().api).As(token).Post(unappliedPath+"/"+id+path,
						map[string]any{"reason": "At once"})
					if path == "/extend" {
						a = apitest.New(t, b.serve().api).As(token).Post(unappliedPath+"/"+id+path, nil)
					}
					if a.Status == 200 {
						won.Store(path, true)
					}
				})
			}
			wg.Go(func() { _ = b.payments.Cases().Sweep(context.WithoutCancel(t.Context())) })
			wg.Wait()
			require.Equal(t, 1, b.count(t,
				"SELECT count(*) FROM payments.unapplied_decisions WHERE from_state = 'open'"), "one decision")
			extended := !column[time.Time](t, b, living, "next_billing_date").Equal(before)
			require.Equal(t, b.listed(t, payment)["state"] == "extended", extended)
			require.Equal(t, b.listed(t, payment)["state"] == "refunded", givenBack(t, b, payment))
			require.LessOrEqual(t, b.count(t, "SELECT count(*) FROM payments.refunds"), 1)
		})
	}
}
