package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
)

func TestAutomaticPixIsDebitedOnceACycle(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _ := b.authorized(t)
	require.True(t, b.access(t))
	require.Nil(t, column[*time.Time](t, b, id, "expires_at"))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments WHERE local_id = $1", id),
		"found by the code's id")
	next := column[time.Time](t, b, id, "next_billing_date")
	require.WithinDuration(t, time.Now().AddDate(0, 1, 0), next, 4*24*time.Hour)
	require.NoError(t, b.service.Debit(t.Context(), id))
	require.Zero(t, b.count(t, "SELECT count(*) FROM subscriptions.debits"), "not before its time")

	b.clock.Advance(next.AddDate(0, 0, -6).Sub(b.clock.Now()))
	require.NoError(t, b.gateways.Sandbox.GWA.Advance(next.AddDate(0, 0, -6).Sub(b.gateways.Sandbox.GWA.Now())))
	for range 3 {
		require.NoError(t, b.service.Debit(t.Context(), id))
	}
	require.NoError(t, b.service.Sweep(t.Context()))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM subscriptions.debits WHERE gateway_payment_id IS NOT NULL"))
	require.NoError(t, b.gateways.Sandbox.GWA.Advance(8*24*time.Hour))
	b.settle(t)
	require.Equal(t, 2, b.count(t, "SELECT count(*) FROM payments.payments WHERE local_id = $1", id))
	after := column[time.Time](t, b, id, "next_billing_date")
	require.WithinDuration(t, next.AddDate(0, 1, 0), after, 4*24*time.Hour)
	require.Equal(t, "active", b.status(t, id))
}

// TestDebitOfTheReleaseWithoutIntentsIsFound: nobody asks about it by schedule.
func TestDebitOfTheReleaseWithoutIntentsIsFound(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _ := b.authorized(t)
	next := column[time.Time](t, b, id, "next_billing_date")
	b.clock.Advance(next.AddDate(0, 0, -6).Sub(b.clock.Now()))
	require.NoError(t, b.gateways.Sandbox.GWA.Advance(next.AddDate(0, 0, -6).Sub(b.gateways.Sandbox.GWA.Now())))
	require.NoError(t, b.service.Debit(t.Context(), id))
	payment := b.text(t, "SELECT gateway_payment_id FROM subscriptions.debits")
	_, err := b.db.Exec(t.Context(), "UPDATE subscriptions.debits SET gateway_payment_id = NULL, ordered_at = NULL")
	require.NoError(t, err)
	require.NoError(t, b.service.Debit(t.Context(), id), "the order may be on its way")
	require.Zero(t, b.count(t, "SELECT count(*) FROM payments.intents WHERE state = 'open'"))
	b.clock.Advance(16 * time.Minute)
	require.NoError(t, b.service.Debit(t.Context(), id))
	checkGatewayA(t, b, time.Second)
	require.Equal(t, payment, b.text(t, "SELECT gateway_payment_id FROM subscriptions.debits"), "found, not made again")
}

func TestFailedDebitCountsAndTheNextCycleFollows(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, auth := b.authorized(t)
	next := column[time.Time](t, b, id, "next_billing_date")
	b.clock.Advance(next.AddDate(0, 0, -6).Sub(b.clock.Now()))
	require.NoError(t, b.gateways.Sandbox.GWA.Advance(next.AddDate(0, 0, -6).Sub(b.gateways.Sandbox.GWA.Now())))
	require.NoError(t, b.service.Debit(t.Context(), id))
	failed := gateway.Event{
		Gateway: gateway.GWA, AuthorizationID: auth, CreatedAt: b.clock.Now(),
		Payload: gateway.FailedPayment{
			Attempt: 1, Payment: gateway.Payment{
				ID: b.text(t, "SELECT gateway_payment_id FROM subscriptions.debits"), Method: gateway.MethodPix,
				Amount: 4990,
			},
		},
	}
	b.apply(t, failed)
	b.apply(t, failed) // PAYMENT_OVERDUE after the refused instruction
	require.Equal(t, 1, column[int](t, b, id, "payment_failures"))
	require.WithinDuration(t, next.AddDate(0, 1, 0), column[time.Time](t, b, id, "next_billing_date"), 4*24*time.Hour)
	require.Equal(t, "active", b.status(t, id))
}

// What nobody will pay must not be waited for: no other debit would follow, and
// access would go on for good.
func TestDebitThatIsDeletedAtTheGatewayIsPassedOver(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _, debit := b.debited(t)
	next := column[time.Time](t, b, id, "next_billing_date")
	require.NoError(t, b.gateways.A.CancelPix(t.Context(), debit, ""))
	b.settle(t)
	require.WithinDuration(t, next.AddDate(0, 1, 0), column[time.Time](t, b, id, "next_billing_date"), 4*24*time.Hour)
	require.Zero(t, column[int](t, b, id, "payment_failures"), "nobody refused anything")
	require.Equal(t, "active", b.status(t, id))
}

func TestFailureThatOvertakesItsDebitIsPassedOverByTheNextReport(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, auth, debit := b.debited(t)
	next := column[time.Time](t, b, id, "next_billing_date")
	know := func(id *string) {
		_, err := b.db.Exec(t.Context(),
			"UPDATE subscriptions.debits SET gateway_payment_id = $1::text, ordered_at = CASE WHEN $1::text IS NOT NULL THEN tried_at END", id)
		require.NoError(t, err)
	}
	failed := gateway.Event{
		Gateway: gateway.GWA, AuthorizationID: auth, CreatedAt: b.clock.Now(),
		Payload: gateway.FailedPayment{
			Attempt: 1, Payment: gateway.Payment{ID: debit, Method: gateway.MethodPix, Amount: 4990},
		},
	}
	know(nil)
	b.apply(t, failed)
	require.WithinDuration(t, next, column[time.Time](t, b, id, "next_billing_date"), time.Second,
		"it is not known of which cycle it was")
	know(&debit)
	b.apply(t, failed)
	require.Equal(t, 1, column[int](t, b, id, "payment_failures"))
	require.WithinDuration(t, next.AddDate(0, 1, 0), column[time.Time](t, b, id, "next_billing_date"), 4*24*time.Hour)
}

// authorizationResult is what the webhook log says of the newest event of an authorization.
const authorizationResult = `SELECT concat_ws(' ', result->>'status', result->>'new_status') FROM payments.webhook_logs
	WHERE event_type LIKE 'PIX_AUTOMATIC_RECURRING_AUTHORIZATION_%' ORDER BY received_at DESC, id DESC LIMIT 1`

func TestAuthorizationEvents(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		happen func(b *bundle, auth string) (any, error)
		want   string
	}{
		"cancelled": {func(b *bundle, auth string) (any, error) {
			return b.gateways.Sandbox.GWA.CancelAuthorization(auth, "by the payer")
		}, "cancelled"},
		"expired": {
			func(b *bundle, auth string) (any, error) { return b.gateways.Sandbox.GWA.ExpireAuthorization(auth) },
			"expired",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id, auth := b.authorized(t)
			b.clock.Advance(time.Second) // the event after those of the authorization
			_, err := tc.happen(b, auth)
			require.NoError(t, err)
			b.settle(t)
			if name == "cancelled" {
				require.Equal(t, "cancelled", b.status(t, id), "at once")
				require.Equal(t, "processed cancelled", b.text(t, authorizationResult))
			} else {
				require.Equal(t, "queued", b.text(t, authorizationResult), "nothing has changed yet")
				require.Equal(t, "active", b.status(t, id))
			}
			b.work(t)
			eventually(t, "it ends, once the gateway was asked", func() bool { return b.status(t, id) == tc.want })
			eventually(t, "the log tells what came of it",
				func() bool { return b.text(t, authorizationResult) == "processed "+tc.want })
			require.False(t, b.access(t))
			require.Empty(t, b.current(t))
			require.NoError(t, b.service.Debit(t.Context(), id), "nothing is debited any more")
		})
	}
}

func TestAuthorizationThatNobodyGave(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pix.mode = "recurring"
	b.listen()
	a := b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan})
	_, err := b.gateways.Sandbox.GWA.RefuseAuthorization(info(a)["gwa_pix_auth_id"].(string))
	require.NoError(t, err)
	b.settle(t)
	b.work(t)
	eventually(t, "it ends, once the gateway was asked", func() bool { return b.status(t, idOf(a)) == "cancelled" })
	require.Equal(t, "pending>cancelled pix_unpaid webhook", b.history(t, idOf(a))[1])
}
