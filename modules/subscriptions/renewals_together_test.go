package subscriptions

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts/accountstest"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/modules/subscriptions/webhooks"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/testutil/pgtest"
)

// renewalOf is the event of gateway B that an invoice of the subscription's recurrence was paid.
func renewalOf(id objectid.ID, name string) gateway.Event {
	at := time.Now().UTC().Truncate(time.Second)
	invoice := fmt.Sprintf("in_%s_%s", name, id)
	return gateway.Event{
		Gateway: gateway.GWB, ID: "evt_" + invoice, Type: "invoice.paid", CreatedAt: at, SubscriptionID: "sub_" + id.String(),
		Reference: id, Payload: gateway.SettledPayment{Payment: gateway.Payment{
			ID: invoice, InvoiceID: invoice, Status: gateway.PaymentStatusSettled, NativeStatus: "paid",
			Method: gateway.MethodCard, Amount: 4990, SettledAt: &at,
		}},
	}
}

// written is what an event has written about a subscription, without ids and instants.
func written(t *testing.T, db *pgxpool.Pool, id objectid.ID) (all []string) {
	t.Helper()
	rows, err := db.Query(t.Context(), `SELECT concat_ws(' ', s.status, s.payment_failures, left(s.last_paid_invoice_id, 7),
			s.last_payment_at IS NULL, s.expires_at, s.next_billing_date IS NULL, s.intent_open, s.started_at = s.register_date)
		FROM subscriptions.subscriptions s WHERE s.id = $1
		UNION ALL SELECT concat_ws(' ', p.gateway, left(p.gateway_payment_id, 7), left(p.invoice_id, 7), p.payment_intent_id, p.purpose, p.amount_cents,
			p.method, p.native_status, p.counted, p.due_at, p.shown_at, p.created_at = p.updated_at) FROM payments.payments p WHERE p.local_id = $1
		UNION ALL SELECT concat_ws(' ', h.from_status, h.to_status, h.reason, h.source) FROM subscriptions.transitions h WHERE h.subscription_id = $1
		UNION ALL SELECT concat_ws(' ', j.kind, j.args - 'subjects') FROM jobs.river_job j WHERE j.args::text LIKE '%' || $1::text || '%'`, id)
	require.NoError(t, err)
	all, err = pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return all
}

// Many at once write what each writes alone; for one of them an event waits, which a job applies.
func TestRenewalsTogetherAreAsEachAlone(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	s := newService(t, db)
	renewals := webhooks.NewRenewals(s.applier)
	var together, alone []gateway.Event
	var subs [2][]objectid.ID
	for i := range 6 {
		for j, events := range []*[]gateway.Event{&together, &alone} {
			id := subscriptionstest.Active(t, db, accountstest.Customer(t, db).ID)
			subs[j] = append(subs[j], id)
			*events = append(*events, renewalOf(id, "x"))
			if i == 0 {
				_, err := db.Exec(t.Context(), `INSERT INTO payments.processed_events (gateway, event_id, log_id, state, subjects, result, event_at, updated_at)
					VALUES ('gwb', $1, $2, 'waiting', ARRAY[$1], '{}', now(), now())`, "in_x_"+id.String(), objectid.New())
				require.NoError(t, err)
			}
			if i == 1 { // which says nothing about a renewal after it
				_, err := db.Exec(t.Context(), `INSERT INTO payments.failed_attempts (gateway, gateway_payment_id, attempt, purpose, local_id, amount_cents, failed_at, created_at)
					VALUES ('gwb', 'in_failed_' || $1, 1, 'subscription', $1, 4990, now() - interval '1 hour', now() - interval '1 hour')`, id)
				require.NoError(t, err)
			}
		}
	}
	var results map[string]gateway.Result
	require.NoError(t, postgres.InTx(t.Context(), db, func(tx pgx.Tx) (err error) {
		results, err = renewals.ApplyEventsTx(t.Context(), tx, together)
		return err
	}))
	require.Len(t, results, len(together))
	for i, e := range alone {
		require.True(t, renewals.MayShare(e))
		require.NoError(t, postgres.InTx(t.Context(), db, func(tx pgx.Tx) error {
			result, err := s.ApplyEventTx(t.Context(), tx, e)
			other := results[together[i].ID]
			require.Equal(t, subs[0][i], *other.SubscriptionID)
			other.SubscriptionID = result.SubscriptionID
			require.Equal(t, result, other)
			return err
		}))
		want := written(t, db, subs[1][i])
		require.Equal(t, want, written(t, db, subs[0][i]))
		jobs := 0
		if i == 0 {
			jobs = 1
		}
		require.Len(t, want, 3+jobs, "the subscription, its payment, its beginning, and the job")
	}
	require.NoError(t, postgres.InTx(t.Context(), db, func(tx pgx.Tx) (err error) {
		results, err = renewals.ApplyEventsTx(t.Context(), tx, together)
		return err
	}))
	require.Empty(t, results, "the ledger has them")
}

// Whatever is more than a plain renewal is left as it was, to be applied alone; its neighbours are applied.
func TestWhatIsNoPlainRenewalIsLeftAlone(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	renewals := webhooks.NewRenewals(newService(t, db).applier)
	cases := map[string]string{
		"it waits for its first payment": "UPDATE subscriptions.subscriptions SET status = 'pending', started_at = NULL WHERE id = $1",
		"it is suspended":                "UPDATE subscriptions.subscriptions SET status = 'suspended' WHERE id = $1",
		"it has ended":                   "UPDATE subscriptions.subscriptions SET status = 'expired', ended_at = now() WHERE id = $1",
		"it ends with its period":        "UPDATE subscriptions.subscriptions SET cancel_at_period_end = true, expires_at = now() + interval '1 day' WHERE id = $1",
		"it has a chargeback":            "UPDATE subscriptions.subscriptions SET has_chargeback = true WHERE id = $1",
		"its outcome is open":            "UPDATE subscriptions.subscriptions SET intent_open = true WHERE id = $1",
		"it is of another recurrence":    "UPDATE subscriptions.subscriptions SET gwb_subscription_id = 'sub_other' WHERE id = $1",
		"the gateway has ended it":       "UPDATE subscriptions.subscriptions SET gateway_deleted_at = now() WHERE id = $1",
		"the account is deleted":         "UPDATE accounts.users SET deleted_at = now() WHERE current_subscription_id = $1",
		"a charge has failed since": `INSERT INTO payments.failed_attempts (gateway, gateway_payment_id, attempt, purpose, local_id, amount_cents, failed_at, created_at)
			VALUES ('gwb', 'in_failed', 1, 'subscription', $1, 4990, now(), now())`,
		"the ledger has the payment": `INSERT INTO payments.payments (gateway, gateway_payment_id, purpose, local_id, customer_id, amount_cents, method, native_status, settled_at, created_at, updated_at, counted)
			SELECT 'gwb', 'in_x_' || s.id, 'subscription', s.id, s.customer_id, 4990, 'credit_card', 'paid', now(), now(), now(), true FROM subscriptions.subscriptions s WHERE s.id = $1`,
	}
	plain := subscriptionstest.Active(t, db, accountstest.Customer(t, db).ID)
	events := []gateway.Event{renewalOf(plain, "x")}
	odd := map[string]objectid.ID{}
	for name, statement := range cases {
		id := subscriptionstest.Active(t, db, accountstest.Customer(t, db).ID)
		_, err := db.Exec(t.Context(), statement, id)
		require.NoError(t, err, name)
		odd[name] = id
		events = append(events, renewalOf(id, "x"))
	}
	for _, lock := range []string{ // nobody waits for them
		"SELECT FROM accounts.users u WHERE u.current_subscription_id = $1 FOR UPDATE",
		"SELECT FROM subscriptions.subscriptions s WHERE s.id = $1 FOR UPDATE",
	} {
		id := subscriptionstest.Active(t, db, accountstest.Customer(t, db).ID)
		other, err := db.Begin(t.Context())
		require.NoError(t, err)
		defer func() { _ = other.Rollback(t.Context()) }()
		_, err = other.Exec(t.Context(), lock, id)
		require.NoError(t, err)
		odd[lock] = id
		events = append(events, renewalOf(id, "x"))
	}
	events = append(events, renewalOf(plain, "y")) // of two of one, the second waits
	before := map[string][]string{}
	for name, id := range odd {
		before[name] = written(t, db, id)
	}
	var results map[string]gateway.Result
	require.NoError(t, postgres.InTx(t.Context(), db, func(tx pgx.Tx) (err error) {
		results, err = renewals.ApplyEventsTx(t.Context(), tx, events)
		return err
	}))
	for name, id := range odd {
		require.NotContains(t, results, renewalOf(id, "x").ID, name)
	}
	require.Len(t, results, 1)
	for id := range results {
		require.Contains(t, []string{events[0].ID, events[len(events)-1].ID}, id)
	}
	for name, id := range odd {
		require.Equal(t, before[name], written(t, db, id), name)
	}
	for _, e := range []gateway.Event{
		{Gateway: gateway.GWA, SubscriptionID: "sub_1", Payload: events[0].Payload},
		{Gateway: gateway.GWB, Payload: events[0].Payload},
		{Gateway: gateway.GWB, SubscriptionID: "sub_1", Payload: gateway.FailedPayment{}},
		{Gateway: gateway.GWB, SubscriptionID: "sub_1", Purpose: gateway.ForOrder, Payload: events[0].Payload},
	} {
		require.False(t, renewals.MayShare(e), "%+v", e)
	}
}

// TestARenewalUpdatesItsRowInPlace: no index holds what it writes (HOT), or each renewal would write into all of them.
func TestARenewalUpdatesItsRowInPlace(t *testing.T) {
	t.Parallel()
	db := pgtest.NewDB(t)
	renewals := webhooks.NewRenewals(newService(t, db).applier)
	e := renewalOf(subscriptionstest.Active(t, db, accountstest.Customer(t, db).ID), "x")
	var updated, inPlace int
	require.NoError(t, postgres.InTx(t.Context(), db, func(tx pgx.Tx) error {
		if _, err := renewals.ApplyEventsTx(t.Context(), tx, []gateway.Event{e}); err != nil {
			return err
		}
		return tx.QueryRow(t.Context(), `SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_user_tables
			WHERE relid = 'subscriptions.subscriptions'::regclass`).Scan(&updated, &inPlace)
	}))
	require.Equal(t, 1, updated)
	require.Equal(t, 1, inPlace)
}
