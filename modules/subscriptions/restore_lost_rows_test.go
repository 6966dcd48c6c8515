package subscriptions_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/platform/operators"
	"marquee/testutil/sandbox"
	"marquee/testutil/secrettest"
)

// loseSubscription takes a subscription out of the database, with its money and events, as the
// restore of an older one does.
func loseSubscription(t *testing.T, b *bundle, id objectid.ID) {
	t.Helper()
	_, err := b.db.Exec(t.Context(), strings.ReplaceAll(`SET session_replication_role = replica;
		DELETE FROM subscriptions.transitions WHERE subscription_id = 'ID'; DELETE FROM subscriptions.subscriptions WHERE id = 'ID';
		DELETE FROM payments.payments WHERE local_id = 'ID';
		DELETE FROM payments.intent_steps WHERE intent_id IN (SELECT id FROM payments.intents WHERE subject_id = 'ID'); DELETE FROM payments.intents WHERE subject_id = 'ID';
		DELETE FROM payments.processed_events; DELETE FROM payments.webhook_logs;
		UPDATE accounts.users SET current_subscription_id = NULL WHERE current_subscription_id = 'ID';
		SET session_replication_role = DEFAULT`, "ID", id.String()))
	require.NoError(t, err)
	_, err = b.db.Exec(t.Context(), "SELECT finance.rebuild()")
	require.NoError(t, err)
}

// TestWhatARestoreLostIsListed: the customer and their subscription are known at the
// gateway alone, and name ids of ours. Their money stands on the list, from which an
// admin gives it back; what charges is listed first, and ended once that is confirmed.
func TestWhatARestoreLostIsListed(t *testing.T) {
	t.Parallel()
	for _, gw := range []gateway.Name{gateway.GWA, gateway.GWB} {
		t.Run(string(gw), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id, _, recurrence := paidAt(t, b, gw)
			b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{})
			payment := b.text(t, "SELECT gateway_payment_id FROM payments.payments WHERE local_id = $1", id)
			loseSubscription(t, b, id)
			_, err := b.db.Exec(t.Context(), "UPDATE accounts.users SET gwa_customer_id = NULL, gwb_customer_id = NULL")
			require.NoError(t, err)
			_, err = b.db.Exec(t.Context(), "UPDATE payments.database_marks SET mark = 'restored'")
			require.NoError(t, err)

			strays := func(r *payments.ReconcileReport) (found []string) {
				for _, f := range r.Findings {
					if f.Kind == payments.StrayRecurrence {
						require.Equal(t, recurrence, f.ID)
						require.Equal(t, id, f.LocalID)
						found = append(found, string(f.Verdict))
					}
				}
				return found
			}
			dry := b.reconcile(t, true)
			require.NotZero(t, dry.Verdicts[payments.Repairable], "%+v", dry.Findings)
			require.Zero(t, b.count(t, "SELECT count(*) FROM payments.unapplied_payments"))
			apply := func() *payments.ReconcileReport {
				require.NoError(t, b.service.ConfirmStrays(t.Context(), payments.ReconcileOptions{}))
				r := b.reconcile(t, false)
				require.NoError(t, b.payments.Comparison().AcceptDatabase(t.Context()))
				b.confirmLate(t)
				return r
			}
			apply()
			row := b.listed(t, payment)
			var customer any // whom gateway B's metadata name
			if gw == gateway.GWB {
				customer = b.customer.ID.String()
				require.NotContains(t, row["note"], "neither is its customer")
			}
			require.Equal(t, []any{"unknown", "open", 4990.0, customer},
				[]any{row["kind"], row["state"], row["amount"], row["customer_id"]})
			require.Contains(t, row["note"], id.String())
			require.Zero(t, b.count(t,
				"SELECT count(*) FROM payments.processed_events WHERE result ->> 'reason' = 'unknown subject' AND subjects && ARRAY[$1]::text[]", id))
			b.refundUnapplied(t)
			require.NoError(t, b.service.EndStrays(t.Context()))
			require.Equal(t, []string{"repairable"}, strays(b.reconcile(t, true)), "listed first")
			require.True(t, chargesAt(t, b, gw, recurrence))
			require.Equal(t, 1, b.count(t,
				"SELECT count(*) FROM subscriptions.stray_recurrences WHERE held AND told_at IS NOT NULL"))
			b.clock.Advance(time.Minute)
			require.Equal(t, []string{"repaired"}, strays(apply()))
			require.False(t, chargesAt(t, b, gw, recurrence))
			require.Equal(t, "open", b.listed(t, payment)["state"], "people decide")

			path := unappliedPath + "/" + row["_id"].(string)
			b.admin(t).Post(path+"/extend", nil).Expect(409)
			b.admin(t).Post(path+"/refund", object{"reason": "lost by the restore"}).Expect(200)
			b.listen()
			b.settle(t)
			require.Equal(t, "refunded", b.listed(t, payment)["state"])
			if gw == gateway.GWA { // at B the charge has another name than its invoice
				require.True(t, givenBack(t, b, payment))
			}
			b.admin(t).Post(path+"/refund", object{"reason": "once more"}).Expect(409)
			require.Empty(t, strays(apply()))
			require.Equal(t, 1, b.count(t,
				"SELECT count(*) FROM payments.refunds WHERE status = 'done' AND local_id IN ($1, $2)", id,
				b.customer.ID))
		})
	}
}

// TestLostMoneyFindsItsCustomer: while nobody here is known to have paid it, the operators
// are told once a day; somebody who has the gateway's id again is its customer, and may be
// given it back.
func TestLostMoneyFindsItsCustomer(t *testing.T) {
	t.Parallel()
	for _, gateway := range []gateway.Name{gateway.GWA, gateway.GWB} {
		t.Run(string(gateway), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id, customer, _ := paidAt(t, b, gateway)
			b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{})
			payment := b.text(t, "SELECT gateway_payment_id FROM payments.payments WHERE local_id = $1", id)
			loseSubscription(t, b, id)
			_, err := b.db.Exec(t.Context(), "UPDATE accounts.users SET gwa_customer_id = NULL, gwb_customer_id = NULL")
			require.NoError(t, err)
			_, err = b.db.Exec(t.Context(), "UPDATE accounts.users SET deleted_at = now() WHERE id = $1",
				b.customer.ID) // whom gateway B names
			require.NoError(t, err)
			require.NoError(t, b.service.ConfirmStrays(t.Context(), payments.ReconcileOptions{}))
			b.reconcile(t, false)
			b.confirmLate(t)
			_, err = b.db.Exec(t.Context(), "UPDATE accounts.users SET deleted_at = NULL WHERE id = $1", b.customer.ID)
			require.NoError(t, err)
			require.Nil(t, b.listed(t, payment)["customer_id"])
			require.Contains(t, b.listed(t, payment)["note"], "neither is its customer, "+customer)

			client, err := jobs.New(b.db, jobs.Options{Log: secrettest.Logger(t)})
			require.NoError(t, err)
			svc := payments.New(payments.Deps{
				Pool: b.db, Jobs: client, Clock: b.clock, Log: secrettest.Logger(t), Adapters: b.gateways.Adapters(),
				Accounts:  b.accounts,
				Operators: operators.New(client, nil, []string{"ops@example.com"}),
			})
			requireMails := func(want int) {
				t.Helper()
				require.NoError(t, svc.Cases().Sweep(t.Context()))
				require.Equal(t, want,
					b.count(t,
						"SELECT count(*) FROM jobs.river_job WHERE kind = 'operators_mail' AND args->>'text' LIKE '%' || $1 || '%'", payment))
			}
			requireMails(1)
			requireMails(1)
			b.clock.Advance(24 * time.Hour)
			requireMails(2)

			_, err = b.db.Exec(t.Context(),
				"UPDATE accounts.users SET "+string(gateway)+"_customer_id = $1 WHERE id = $2", customer, b.customer.ID)
			require.NoError(t, err)
			b.clock.Advance(24 * time.Hour)
			requireMails(2)
			row := b.listed(t, payment)
			require.Equal(t, []any{b.customer.ID.String(), "open"}, []any{row["customer_id"], row["state"]})
			require.Contains(t, row["note"], "; but its customer is known, "+customer)
			b.admin(t).Post(unappliedPath+"/"+row["_id"].(string)+"/refund", object{"reason": "lost by the restore"}).
				Expect(200)
			require.Equal(t, "refunded", b.listed(t, payment)["state"])
			require.Equal(t, 1, b.count(t,
				"SELECT count(*) FROM payments.refunds WHERE status = 'done' AND customer_id = $1", b.customer.ID))
			_, err = b.db.Exec(t.Context(), "DELETE FROM jobs.river_job WHERE kind = 'operators_mail'")
			require.NoError(t, err)
		})
	}
}

// TestManyLostRecurrencesEndNothing: they are rows that this database has lost. One
// alone, found while no restore is known of, ends by itself.
func TestManyLostRecurrencesEndNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _, recurrence := paidAt(t, b, gateway.GWB)
	loseSubscription(t, b, id)
	plant := func(recurrence string, reference objectid.ID) {
		_, err := b.db.Exec(t.Context(),
			`INSERT INTO subscriptions.stray_recurrences (gateway, recurrence_id, reference, payment_id, held, found_at)
			VALUES ('gwb', $1, $2, 'in_of_' || $1, false, $3)`, recurrence, reference, b.clock.Now())
		require.NoError(t, err)
	}
	plant(recurrence, id)
	for n := range 5 {
		plant(fmt.Sprintf("sub_lost%d", n), objectid.New())
	}
	for range 2 {
		require.NoError(t, b.service.EndStrays(t.Context()))
		require.True(t, chargesAt(t, b, gateway.GWB, recurrence))
	}
	require.Equal(t, 6, b.count(t,
		"SELECT count(*) FROM subscriptions.stray_recurrences WHERE told_at IS NOT NULL AND ended_at IS NULL"))
	_, err := b.db.Exec(t.Context(), "DELETE FROM subscriptions.stray_recurrences WHERE recurrence_id = 'sub_lost0'")
	require.NoError(t, err)
	require.NoError(t, b.service.EndStrays(t.Context()))
	require.False(t, chargesAt(t, b, gateway.GWB, recurrence))
	require.Equal(t, 5, b.count(t, "SELECT count(*) FROM subscriptions.stray_recurrences WHERE outcome = 'ended'"))
}

// TestTheRecurrenceOfALostRowIsEnded: its customer is known by an older subscription,
// which its money is booked for.
func TestTheRecurrenceOfALostRowIsEnded(t *testing.T) {
	t.Parallel()
	for _, gateway := range []gateway.Name{gateway.GWA, gateway.GWB} {
		t.Run(string(gateway), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			older, _, _ := paidAt(t, b, gateway)
			b.expect(t, 200, "DELETE", "/customers/me/subscription", nil)
			b.settle(t)
			id, _, recurrence := paidAt(t, b, gateway)
			payment := b.text(t, "SELECT gateway_payment_id FROM payments.payments WHERE local_id = $1", id)
			b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{})
			loseSubscription(t, b, id)
			b.reconcile(t, false)
			b.confirmLate(t)
			require.Equal(t, "foreign", b.listed(t, payment)["kind"])
			require.Equal(t, older.String(), b.listed(t, payment)["subscription_id"])
			require.Equal(t, 1, b.count(t,
				"SELECT count(*) FROM jobs.river_job WHERE kind = 'subscriptions_end_stray' AND args ->> 'recurrence_id' = $1", recurrence))
			b.work(t) // it is not decided yet that the money goes back
			eventually(t, "the wait", func() bool {
				return b.count(t,
					"SELECT count(*) FROM jobs.river_job WHERE kind = 'subscriptions_end_stray' AND metadata ? 'snoozes'") == 1 ||
					b.listed(t, payment)["state"] == "refunded"
			})
			b.refundUnapplied(t)
			eventually(t, "its end", func() bool {
				return endStraysSoon(t, b) && !chargesAt(t, b, gateway, recurrence)
			})
			eventually(t, "its refund", func() bool { return b.listed(t, payment)["state"] == "refunded" })
		})
	}
}

// TestTheLostRecurrenceOfATicketBuyerIsEnded: the gateway's customer is known by tickets
// alone. Its charges go back by themselves once the database was accepted, and what charges
// ends with that. About a recurrence that names nothing of ours people decide.
func TestTheLostRecurrenceOfATicketBuyerIsEnded(t *testing.T) {
	t.Parallel()
	for _, gateway := range []gateway.Name{gateway.GWA, gateway.GWB} {
		t.Run(string(gateway), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id, customer, recurrence := paidAt(t, b, gateway)
			payment := b.text(t, "SELECT gateway_payment_id FROM payments.payments WHERE local_id = $1", id)
			b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{})
			loseSubscription(t, b, id)
			stampCustomer(t, b, gateway, customer)
			_, err := b.db.Exec(t.Context(), "UPDATE payments.database_marks SET mark = 'restored'")
			require.NoError(t, err)
			b.reconcile(t, false)
			b.confirmLate(t)
			b.refundUnapplied(t)
			row := b.listed(t, payment)
			require.Equal(t, []any{"foreign", "open", b.customer.ID.String()},
				[]any{row["kind"], row["state"], row["customer_id"]})
			require.Contains(t, row["note"], recurrence)
			require.True(t, chargesAt(t, b, gateway, recurrence), "listed first")

			require.NoError(t, b.payments.Comparison().AcceptDatabase(t.Context()))
			b.reconcile(t, false)
			b.refundUnapplied(t)
			require.Equal(t, "refunded", b.listed(t, payment)["state"])
			b.work(t)
			eventually(t, "its end", func() bool {
				return endStraysSoon(t, b) && !chargesAt(t, b, gateway, recurrence)
			})

			nameless := nameless(t, b, gateway, customer, recurrence)
			b.reconcile(t, false)
			b.confirmLate(t)
			eventually(t, "its money", func() bool {
				return b.count(t,
					"SELECT count(*) FROM payments.unapplied_payments WHERE state = 'open' AND NOT automatic") == 1
			})
			b.refundUnapplied(t)
			require.True(t, chargesAt(t, b, gateway, nameless), "people decide")
			path := unappliedPath + "/" + b.text(t, "SELECT id FROM payments.unapplied_payments WHERE state = 'open'") +
				"/refund"
			b.admin(t).Post(path, object{"reason": "nothing was bought"}).Expect(200)
			eventually(t, "its end", func() bool { return endStraysSoon(t, b) && !chargesAt(t, b, gateway, nameless) })
		})
	}
}

// endStraysSoon has the ends of recurrences that wait for a decision try again: it may have
// been taken just after they looked.
func endStraysSoon(t *testing.T, b *bundle) bool {
	_, err := b.db.Exec(t.Context(),
		"UPDATE jobs.river_job SET scheduled_at = now(), state = 'available' WHERE kind = 'subscriptions_end_stray' AND state = 'scheduled'")
	return err == nil
}

// stampCustomer gives the customer the id that a gateway has for them, as buying tickets does.
func stampCustomer(t *testing.T, b *bundle, gateway gateway.Name, customer string) {
	t.Helper()
	_, err := b.db.Exec(t.Context(), "UPDATE accounts.users SET "+string(gateway)+"_customer_id = $1 WHERE id = $2",
		customer, b.customer.ID)
	require.NoError(t, err)
}
