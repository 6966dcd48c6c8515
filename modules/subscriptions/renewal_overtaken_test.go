package subscriptions_test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox"
)

// overtaken has the request end what a renewal has just read: both wait for the lock on
// the customer, the end of the subscription before the renewal.
func overtaken(t *testing.T, b *bundle, method, path string) (ended, renewal int) {
	t.Helper()
	return inTurn(t, b,
		func() int { status, _ := b.call(t, method, path, nil); return status },
		func() int { status, _ := b.call(t, http.MethodPut, renewPath, goodCard()); return status })
}

// inTurn makes two requests that wait for the lock on the customer, the first before the
// second, and answers their statuses. What the gateway tells of them is held back: a
// webhook waits for the same lock, and would be taken for one of the two.
func inTurn(t *testing.T, b *bundle, before, after func() int) (first, second int) {
	t.Helper()
	b.settle(t)
	b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{})
	defer b.listen()
	tx, err := b.db.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(t.Context()) }()
	_, err = tx.Exec(t.Context(), "SELECT 1 FROM accounts.users WHERE id = $1 FOR UPDATE", b.customer.ID)
	require.NoError(t, err)
	wait := func(n int) {
		eventually(t, "waits for the lock", func() bool {
			return b.count(t,
				"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") == n
		})
	}
	var wg sync.WaitGroup
	wg.Go(func() { first = before() })
	wait(1)
	wg.Go(func() { second = after() })
	wait(2)
	require.NoError(t, tx.Rollback(t.Context()))
	wg.Wait()
	return first, second
}

// TestCancelOvertakenByARenewal: an unpaid PIX that a renewal by card has just dropped
// is not what the customer has cancelled: either what takes its place ends, too, or they
// hear that it goes on.
func TestCancelOvertakenByARenewal(t *testing.T) {
	t.Parallel()
	for _, gateway := range []string{"gwa", "gwb"} {
		t.Run(gateway, func(t *testing.T) {
			t.Parallel()
			b := withdrawable(t)
			b.listen()
			id := idOf(b.expect(t, 201, http.MethodPost, "/"+gateway+"/subscribe/pix", object{"plan_id": plan}))
			var body object
			renewal, ended := inTurn(t, b,
				func() int { status, _ := b.call(t, http.MethodPut, renewPath, goodCard()); return status },
				func() int {
					var status int
					status, body = b.call(t, http.MethodDelete, subscriptionPath, nil)
					return status
				})
			b.settle(t)
			require.Equal(t, 200, renewal)
			require.Equal(t, []string{">pending subscribed subscribe", "pending>cancelled replaced customer"},
				b.history(t, id))
			live := b.count(t, "SELECT count(*) FROM subscriptions.subscriptions WHERE status IN ('active', 'pending')")
			if ended == 200 {
				require.NotEqual(t, id.String(), body["subscription_id"])
				require.Zero(t, live)
				return
			}
			require.Equal(t, 409, ended)
			require.Equal(t, 1, live, "the renewal goes on")
		})
	}
}

// TestRenewalOvertakenByAnEnd: nothing is begun, nor charged, for a customer who has
// just cancelled or withdrawn.
func TestRenewalOvertakenByAnEnd(t *testing.T) {
	t.Parallel()
	unpaid := func(gateway string) func(*bundle, *testing.T) objectid.ID {
		return func(b *bundle, t *testing.T) objectid.ID {
			return idOf(b.expect(t, 201, http.MethodPost, "/"+gateway+"/subscribe/pix", object{"plan_id": plan}))
		}
	}
	for name, way := range map[string]struct {
		begin        func(*bundle, *testing.T) objectid.ID
		method, path string
		status       string
		code         int
	}{
		"cancel at A":              {(*bundle).paidGWA, http.MethodDelete, subscriptionPath, "cancelled", 404},
		"cancel at B":              {(*bundle).paidGWB, http.MethodDelete, subscriptionPath, "cancelled", 404},
		"cancel at the period end": {(*bundle).paidGWB, http.MethodDelete, subscriptionPath + atEnd, "active", 409},
		"withdraw at A":            {(*bundle).paidGWA, http.MethodPost, withdrawPath, "cancelled", 404},
		"withdraw at B":            {(*bundle).paidGWB, http.MethodPost, withdrawPath, "cancelled", 404},
		"unpaid PIX at A":          {unpaid("gwa"), http.MethodDelete, subscriptionPath, "cancelled", 404},
		"unpaid PIX at B":          {unpaid("gwb"), http.MethodDelete, subscriptionPath, "cancelled", 404},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := withdrawable(t)
			id := way.begin(b, t)
			b.settle(t)
			paid := b.count(t, "SELECT count(*) FROM payments.payments")
			ended, renewal := overtaken(t, b, way.method, way.path)
			require.Equal(t, 200, ended)
			require.Equal(t, way.code, renewal)
			b.settle(t)
			require.Equal(t, way.status, b.status(t, id))
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM subscriptions.subscriptions"))
			require.Equal(t, paid, b.count(t, "SELECT count(*) FROM payments.payments"))
		})
	}
}

// TestCancelOvertakenByThePayment: who gives up what is not paid throws no paid time away.
func TestCancelOvertakenByThePayment(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(*bundle, *testing.T) objectid.ID{
		"PIX that is being clarified": func(b *bundle, t *testing.T) objectid.ID {
			id := idOf(b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan}))
			b.set(t, id, "intent_open = true")
			return id
		},
		"card that waits for its payer": func(b *bundle, t *testing.T) objectid.ID {
			return idOf(b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenAuthentication)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id := begin(b, t)
			tx, err := b.db.Begin(t.Context())
			require.NoError(t, err)
			defer func() { _ = tx.Rollback(t.Context()) }()
			_, err = tx.Exec(t.Context(), "SELECT 1 FROM accounts.users WHERE id = $1 FOR UPDATE", b.customer.ID)
			require.NoError(t, err)
			var status int
			var wg sync.WaitGroup
			wg.Go(func() { status, _ = b.call(t, http.MethodDelete, subscriptionPath, nil) })
			eventually(t, "waits for the lock", func() bool {
				return b.count(t,
					"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") == 1
			})
			_, err = tx.Exec(t.Context(),
				`WITH moved AS (UPDATE subscriptions.subscriptions SET status = 'active', started_at = now(), intent_open = false WHERE id = $1 RETURNING *)
				INSERT INTO subscriptions.transitions (subscription_id, customer_id, at, from_status, to_status, reason, source)
				SELECT id, customer_id, now(), 'pending', 'active', 'payment_settled', 'webhook' FROM moved`, id)
			require.NoError(t, err)
			require.NoError(t, tx.Commit(t.Context()))
			wg.Wait()
			require.Equal(t, 409, status)
			require.Equal(t, "active", b.status(t, id))
		})
	}
}
