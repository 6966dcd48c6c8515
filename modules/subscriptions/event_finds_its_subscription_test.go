package subscriptions_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/testutil/sandbox"
)

// chargeA is a charge of a recurrence at gateway A, which names the row that made it.
func chargeA(b *bundle, id objectid.ID, recurrence, payment string) gateway.Event {
	at := b.clock.Now()
	return gateway.Event{
		Gateway: gateway.GWA, CreatedAt: at, SubscriptionID: recurrence, Reference: id,
		Payload: gateway.SettledPayment{Payment: gateway.Payment{
			ID: payment + id.String(), Status: gateway.PaymentStatusSettled, NativeStatus: "CONFIRMED",
			Method: gateway.MethodCard, Amount: 4990, SettledAt: &at, DueDate: &at,
		}},
	}
}

// TestChargeOfACallWhoseAnswerWasNone: the row was given up, or still waits, and
// nobody knows the recurrence; the charge names the row, so that it counts, and the
// recurrence is known from then on.
func TestChargeOfACallWhoseAnswerWasNone(t *testing.T) {
	t.Parallel()
	for status, reason := range map[string]string{
		"pending": "pending>active payment_settled live_read", "cancelled": "cancelled>active late_money live_read",
	} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id, _ := subscriptionIn(t, b, status)
			recurrence := "sub_" + id.String() + "a"
			b.set(t, id, "gateway = 'gwa', gwb_subscription_id = NULL, started_at = NULL")
			moved := chargeA(b, id, recurrence, "pay_0")
			moved.Payload = gateway.RecurrenceMove{Subscription: gateway.RemoteSubscription{GatewayID: recurrence}}
			result := b.apply(t, moved)
			require.True(t, result.Unclaimed, "it waits until the recurrence is known")
			require.EqualValues(t, "the recurrence is not known here yet", result.Reason)

			paid := chargeA(b, id, recurrence, "pay_1")
			require.Nil(t, b.apply(t, paid).NewStatus, "nobody has asked the gateway")
			require.Equal(t, status, b.status(t, id))
			require.Nil(t, column[*string](t, b, id, "gwa_subscription_id"))
			paid.Type = gateway.ReadLive
			require.Equal(t, "active", *b.apply(t, paid).NewStatus)
			require.Equal(t, recurrence, column[string](t, b, id, "gwa_subscription_id"))
			require.Equal(t, reason, b.history(t, id)[1])
			require.False(t, b.apply(t, moved).Unclaimed)

			paid = chargeA(b, id, recurrence+"2", "pay_2")
			paid.Type = gateway.ReadLive
			result = b.apply(t, paid)
			require.EqualValues(t, "another recurrence than the subscription's", result.Reason)
			require.Equal(t, 1, b.count(t,
				"SELECT count(*) FROM payments.unapplied_payments WHERE kind = 'duplicate' AND subscription_id = $1",
				id))
		})
	}
}

// TestIdentifiersOfAnotherAuthorization: an event that mixes the ids of two is
// ignored with the reason, instead of failing for good at the uniqueness of the ids.
func TestIdentifiersOfAnotherAuthorization(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first, auth := b.authorized(t)
	code := column[string](t, b, first, "pix_conciliation_id")
	b.newcomer(t)
	a := b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix-automatico", object{"plan_id": plan})
	second, authorization := idOf(a), info(a)["gwa_pix_auth_id"].(string)
	event := func(auth, code string, reference objectid.ID) gateway.Result {
		return b.apply(t, gateway.Event{
			Gateway: gateway.GWA, CreatedAt: b.clock.Now(), AuthorizationID: auth, ConciliationID: code,
			Reference: reference,
			Payload: gateway.AuthorizationChange{
				Authorization: gateway.PixAuthorization{
					ID: auth, ConciliationID: code, Status: gateway.AuthorizationStatusActive,
				},
			},
		})
	}
	for name, r := range map[string]gateway.Result{
		"another's code":               event(authorization, code, second),
		"an authorization and no code": event("auth_unknown", "", second),
		"the code of another":          event("auth_unknown", code, ""),
	} {
		require.Equal(t, gateway.ResultIgnored, r.Status, name)
		require.EqualValues(t, "an identifier of another authorization", r.Reason, name)
	}
	require.EqualValues(t, "a contract of another subscription", event(auth, code, second).Reason)
	require.Equal(t, "pending", b.status(t, second))
	b.set(t, second, "pix_conciliation_id = NULL")
	require.EqualValues(t, "an identifier of another subscription", event(authorization, code, second).Reason)
	require.Equal(t, auth, column[string](t, b, first, "gwa_pix_auth_id"))
	require.Equal(t, "active", *event(authorization, "", second).NewStatus)
}

// TestPixOfAnotherSubscription: the same with the one payment of a manual PIX.
func TestPixOfAnotherSubscription(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first, _ := subscriptionIn(t, b, "pending")
	b.set(t, first, "gateway = 'gwa', payment_method = 'pix', gwb_subscription_id = NULL, pix_payment_id = 'pay_first'")
	b.newcomer(t)
	second, _ := subscriptionIn(t, b, "pending")
	b.set(t, second, "gateway = 'gwa', payment_method = 'pix', gwb_subscription_id = NULL")
	e := chargeA(b, second, "", "")
	editPayment(&e, func(p *gateway.Payment) { p.ID, p.Method = "pay_first", gateway.MethodPix })
	e.Type = gateway.ReadLive
	require.EqualValues(t, "an identifier of another subscription", b.apply(t, e).Reason)
	require.Equal(t, "pending", b.status(t, second))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.unapplied_payments WHERE kind = 'foreign'"))
}

// TestAuthorizationEventsOutOfOrder: gateway A promises no order.
func TestAuthorizationEventsOutOfOrder(t *testing.T) {
	t.Parallel()
	const refused, expired, cancelled = gateway.AuthorizationStatusRefused, gateway.AuthorizationStatusExpired, gateway.AuthorizationStatusCancelled
	for name, tc := range map[string]struct {
		status gateway.AuthorizationStatus
		after  time.Duration // since the activation
		ended  bool          // at the gateway
		want   string
		moves  string // "" when nothing moves
	}{
		"a refusal that is older": {refused, -time.Second, false, "active", ""},
		"an end that is older":    {expired, -time.Second, false, "active", ""},
		"a cancellation that is older": {
			cancelled, -time.Second, true, "cancelled", "active>cancelled customer_cancelled webhook",
		},
		"a cancellation": {
			cancelled, time.Second, true, "cancelled", "active>cancelled customer_cancelled webhook",
		},
		"a refusal of the same second": {
			refused, 0, true, "cancelled", "active>cancelled customer_cancelled webhook",
		},
		"a refusal that the gateway denies": {refused, time.Second, false, "active", ""},
		"an end that the gateway denies":    {expired, time.Second, false, "active", ""},
		"an end of the same second":         {expired, 0, true, "expired", "active>expired expired webhook"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id, auth := b.authorized(t)
			if tc.ended {
				b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{}) // the event below is the one that tells it
				end := func() (any, error) { return b.gateways.Sandbox.GWA.CancelAuthorization(auth, "") }
				if tc.status == expired {
					end = func() (any, error) { return b.gateways.Sandbox.GWA.ExpireAuthorization(auth) }
				}
				_, err := end()
				require.NoError(t, err)
			}
			activated := column[*time.Time](t, b, id, "last_event_at")
			require.NotNil(t, activated)
			result := b.apply(t, gateway.Event{
				Gateway: gateway.GWA, CreatedAt: activated.Add(tc.after), AuthorizationID: auth,
				Payload: gateway.AuthorizationChange{
					Authorization: gateway.PixAuthorization{ID: auth, Status: tc.status},
				},
			})
			if tc.status == cancelled {
				require.Equal(t, "cancelled", b.status(t, id), "at once")
				require.Equal(t, gateway.ResultApplied, result.Status)
			} else {
				require.Equal(t, "active", b.status(t, id), "no gateway is asked while the webhook is answered")
				require.NotEqual(t, gateway.ResultApplied, result.Status, "nothing has changed yet")
				require.True(t, result.Status == gateway.ResultIgnored || result.NewStatus == nil)
			}
			if tc.after < 0 && tc.status != cancelled {
				require.EqualValues(t, "older than what is known", result.Reason)
			}
			b.work(t)
			require.Eventually(t, func() bool {
				return b.count(t,
					"SELECT count(*) FROM jobs.river_job WHERE kind = 'subscriptions_authorization_refused' AND state <> 'completed'") == 0
			}, time.Minute, 20*time.Millisecond)
			require.Equal(t, tc.want, b.status(t, id))
			if history := b.history(t, id); tc.moves != "" {
				require.Equal(t, tc.moves, history[len(history)-1])
			}
		})
	}
}

// TestInvoicePaidBeforeAnotherFailed: its event comes late and says nothing about the
// one that failed.
func TestInvoicePaidBeforeAnotherFailed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, r := subscriptionIn(t, b, "active")
	for attempt := range 3 {
		b.apply(t, r.failed("in_2", attempt+1, 10+attempt))
	}
	require.Equal(t, "suspended", b.status(t, id))
	result := b.apply(t, r.paid("in_1", 11))
	require.Equal(t, gateway.ResultIgnored, result.Status)
	require.EqualValues(t, "older than a failure that counts: booked alone", result.Reason)
	require.Equal(t, "suspended", b.status(t, id))
	require.Equal(t, 3, column[int](t, b, id, "payment_failures"))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments WHERE local_id = $1", id),
		"but it is booked")
	b.apply(t, r.paid("in_2", 11))
	require.Equal(t, "active", b.status(t, id), "the one that failed, by an older event")
	b.apply(t, r.failed("in_3", 1, 20))
	b.apply(t, r.paid("in_4", 20))
	require.Zero(t, column[int](t, b, id, "payment_failures"), "a tie is not older")
}

// TestInvoiceOlderThanAFailureIsNotKeptInSilence: of a customer deleted before it was
// charged it goes back, as any other.
func TestInvoiceOlderThanAFailureIsNotKeptInSilence(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, r := subscriptionIn(t, b, "active")
	closeAccount(t, b)
	b.clock.Advance(time.Minute)
	paid := r.paid("in_1", 11)
	editPayment(&paid, func(p *gateway.Payment) { p.SettledAt = new(b.clock.Now()) })
	b.apply(t, r.failed("in_2", 1, 12))
	b.apply(t, paid)
	require.Equal(t, 1, column[int](t, b, id, "payment_failures"))
	require.Equal(t, 1, b.count(t,
		"SELECT count(*) FROM payments.unapplied_payments WHERE automatic AND gateway_payment_id LIKE 'in_1%'"))
}

// TestAnEventLocksTheCustomerBeforeTheSubscription, which it takes as it is once both are its.
func TestAnEventLocksTheCustomerBeforeTheSubscription(t *testing.T) {
	t.Parallel()
	var q lifecycle.Queries
	for column, lock := range map[string]func(context.Context, postgres.DB, *string) (lifecycle.Subscription, error){
		"gwa_subscription_id": q.SubscriptionLockByGWAID, "gwb_subscription_id": q.SubscriptionLockByGWBID,
	} {
		t.Run(column, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id, _ := subscriptionIn(t, b, "active")
			b.set(t, id, column+" = 'sub_1'")
			first, err := b.db.Begin(t.Context())
			require.NoError(t, err)
			_, err = first.Exec(t.Context(), "SELECT 1 FROM accounts.users WHERE id = $1 FOR NO KEY UPDATE", b.customer.ID)
			require.NoError(t, err)
			locked := make(chan lifecycle.Subscription)
			go func() {
				defer close(locked)
				assert.NoError(t, postgres.InTx(t.Context(), b.db, func(tx pgx.Tx) error {
					sub, err := lock(t.Context(), tx, new("sub_1"))
					locked <- sub
					return err
				}))
			}()
			require.Eventually(t, func() bool {
				return b.count(t, `SELECT count(*) FROM pg_stat_activity
					WHERE datname = current_database() AND wait_event_type = 'Lock'`) == 1
			}, 10*time.Second, 10*time.Millisecond)
			_, err = first.Exec(t.Context(),
				"UPDATE subscriptions.subscriptions SET payment_failures = 2 WHERE id = $1", id) // nobody holds it
			require.NoError(t, err)
			require.NoError(t, first.Commit(t.Context()))
			sub := <-locked
			require.Equal(t, id, sub.ID)
			require.EqualValues(t, 2, sub.PaymentFailures)
			<-locked
		})
	}
}
