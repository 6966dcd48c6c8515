package subscriptions_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/testutil/sandbox/stage"
)

// subscribedAtB subscribes the customer by card at gateway B.
func subscribedAtB(t *testing.T, b *bundle) objectid.ID {
	t.Helper()
	id := idOf(b.expect(t, http.StatusCreated, http.MethodPost, "/gwb/subscribe", gwbCard("pm_card_visa")))
	require.Equal(t, "active", b.status(t, id))
	return id
}

// remoteStatus is what gateway B says of the subscription.
func remoteStatus(t *testing.T, b *bundle, id objectid.ID) string {
	t.Helper()
	remote, err := b.gateways.B.ReadSubscription(t.Context(), column[string](t, b, id, "gwb_subscription_id"), id)
	require.NoError(t, err)
	return string(remote.Status)
}

func TestBillingStopsOnceTheGatewayHasConfirmed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := subscribedAtB(t, b)
	faults := b.gateways.Sandbox.GWB.Stage().Faults
	require.NoError(t, faults.Plan(stage.Fault{Method: "DELETE", Kind: stage.FaultStatus, Status: 503, Times: 50}))
	require.NoError(t, b.accounts.DeleteCustomer(t.Context(), b.customer.ID, b.customer.ID))
	for range 2 {
		require.Error(t, b.service.StopBilling(t.Context(), b.customer.ID), "the gateway has not confirmed")
		require.Equal(t, "active", remoteStatus(t, b, id))
	}
	faults.Clear()
	require.NoError(t, b.service.StopBilling(t.Context(), b.customer.ID))
	require.Equal(t, "canceled", remoteStatus(t, b, id))
	require.Equal(t, "cancelled", b.status(t, id))
	require.NoError(t, b.service.StopBilling(t.Context(), b.customer.ID), "again is no error")
}

func TestBillingOfAPendingPixStops(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := idOf(b.expect(t, http.StatusCreated, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan}))
	require.NoError(t, b.service.StopBilling(t.Context(), b.customer.ID))
	require.Equal(t, "cancelled", b.status(t, id))
	require.NoError(t, postgres.InTx(t.Context(), b.db, func(tx pgx.Tx) error {
		return b.service.ErasePersonalDataTx(t.Context(), tx, b.customer.ID)
	}))
	require.Nil(t, column[*string](t, b, id, "pix_payload"))
}

func TestNothingToStop(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NoError(t, b.service.StopBilling(t.Context(), b.customer.ID))
	require.NoError(t, b.service.SyncSubscription(t.Context(), b.customer.ID))
	buyers, err := b.service.CustomersWithPurchases(t.Context(), []objectid.ID{b.customer.ID})
	require.NoError(t, err)
	require.Empty(t, buyers)
}

// The webhook is lost; the next login tells.
func TestSyncLearnsOfAnEndAtTheGateway(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := subscribedAtB(t, b)
	require.NoError(t, b.service.SyncSubscription(t.Context(), b.customer.ID))
	require.Equal(t, "active", b.status(t, id), "nothing has changed")
	require.NoError(t, b.gateways.B.CancelSubscription(t.Context(), column[string](t, b, id, "gwb_subscription_id"),
		id))
	require.NoError(t, b.service.SyncSubscription(t.Context(), b.customer.ID))
	require.Equal(t, "cancelled", b.status(t, id))
	require.Nil(t, column[*time.Time](t, b, id, "last_event_at"), "a later event is not held to be older")
}

func TestSyncOpensWhatTheGatewayHoldsActiveUnlessDisputed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := subscribedAtB(t, b)
	suspend := func(disputed bool) {
		b.forged()
		_, err := b.db.Exec(t.Context(),
			`UPDATE subscriptions.subscriptions SET status = 'suspended', payment_failures = 3, has_chargeback = $2 WHERE id = $1`, id, disputed)
		require.NoError(t, err)
		require.NoError(t, b.service.SyncSubscription(t.Context(), b.customer.ID))
	}
	suspend(true)
	require.Equal(t, "suspended", b.status(t, id))
	suspend(false)
	require.Equal(t, "active", b.status(t, id))
	require.Zero(t, column[int](t, b, id, "payment_failures"))
}

func TestSyncSettlesAPixWhoseWebhookWasLost(t *testing.T) {
	t.Parallel()
	b := setup(t)
	res := b.expect(t, http.StatusCreated, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan})
	require.NoError(t, b.service.SyncSubscription(t.Context(), b.customer.ID))
	require.Equal(t, "pending", b.status(t, idOf(res)))
	_, err := b.gateways.Sandbox.GWA.PayPIX(info(res)["pix"].(object)["payload"].(string))
	require.NoError(t, err)
	require.NoError(t, b.service.SyncSubscription(t.Context(), b.customer.ID))
	require.Equal(t, "active", b.status(t, idOf(res)))
}

func TestSyncGivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	b := setup(t)
	subscribedAtB(t, b)
	require.NoError(t, b.gateways.Sandbox.GWB.Stage().Faults.Plan(stage.Fault{
		Method: "GET", Kind: stage.FaultTimeoutBefore, Times: 50,
	}))
	took := time.Hour
	for try := 0; took >= 5*time.Second && try < 3; try++ { // unless the machine stood still
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		start := time.Now()
		require.Error(t, b.service.SyncSubscription(ctx, b.customer.ID))
		took = time.Since(start)
		cancel()
	}
	require.Less(t, took, 5*time.Second)
}

func TestPersonalDataShowSubscriptions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := subscribedAtB(t, b)
	data, err := b.service.PersonalData(t.Context(), b.db, b.customer.ID, true)
	require.NoError(t, err)
	raw, err := json.Marshal(data)
	require.NoError(t, err)
	var docs []object
	require.NoError(t, json.Unmarshal(raw, &docs))
	require.Len(t, docs, 1)
	require.Equal(t, id.String(), docs[0]["_id"])
	payments, err := b.payments.PersonalData(t.Context(), b.db, b.customer.ID, true)
	require.NoError(t, err)
	raw, err = json.Marshal(payments)
	require.NoError(t, err)
	require.Contains(t, string(raw), `"amount_cents":4990`)
}
