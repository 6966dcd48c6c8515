package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/objectid"
)

// paidGWB begins a subscription at gateway B and has its webhooks delivered.
func (b *bundle) paidGWB(t *testing.T) objectid.ID {
	t.Helper()
	b.listen()
	id := idOf(b.expect(t, 201, "POST", "/gwb/subscribe", gwbCard("pm_card_visa")))
	b.settle(t)
	requireOpened(t, b, id)
	return id
}

// paidGWA begins one at gateway A.
func (b *bundle) paidGWA(t *testing.T) objectid.ID {
	t.Helper()
	b.listen()
	id := idOf(b.expect(t, 201, "POST", "/gwa/subscribe", gwaCard("5162306219378829")))
	require.NoError(t, b.gateways.Sandbox.GWA.Advance(time.Minute))
	b.settle(t)
	requireOpened(t, b, id)
	return id
}

// requireOpened requires that a card's first payment has opened its subscription.
func requireOpened(t *testing.T, b *bundle, id objectid.ID) {
	t.Helper()
	if b.status(t, id) != "active" {
		replayWaiting(t, b) // on a busy machine the charge's event overtook our own commit, and waits
	}
	require.Equal(t, "active", b.status(t, id))
}

// paidPixGWA begins one by a PIX of gateway A.
func (b *bundle) paidPixGWA(t *testing.T) objectid.ID {
	t.Helper()
	b.listen()
	id := idOf(b.expect(t, 201, "POST", "/gwa/subscribe/pix", object{"plan_id": plan}))
	_, err := b.gateways.Sandbox.GWA.Pay(column[string](t, b, id, "pix_payment_id"))
	require.NoError(t, err)
	b.settle(t)
	require.Equal(t, "active", b.status(t, id))
	return id
}

// authorized begins an automatic PIX whose first code is paid.
func (b *bundle) authorized(t *testing.T) (id objectid.ID, auth string) {
	t.Helper()
	b.listen()
	a := b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix-automatico", object{"plan_id": plan})
	id, auth = idOf(a), info(a)["gwa_pix_auth_id"].(string)
	require.NotEmpty(t, info(a)["pix"].(object)["payload"])
	require.Equal(t, 49.9, info(a)["amount"])
	_, err := b.gateways.Sandbox.GWA.ActivateAuthorization(auth)
	require.NoError(t, err)
	b.settle(t)
	require.Equal(t, "active", b.status(t, id))
	return id, auth
}

// debited is authorized with the debit of the next cycle ordered.
func (b *bundle) debited(t *testing.T) (id objectid.ID, auth, debit string) {
	t.Helper()
	id, auth = b.authorized(t)
	next := column[time.Time](t, b, id, "next_billing_date")
	b.clock.Advance(next.AddDate(0, 0, -6).Sub(b.clock.Now()))
	require.NoError(t, b.gateways.Sandbox.GWA.Advance(next.AddDate(0, 0, -6).Sub(b.gateways.Sandbox.GWA.Now())))
	require.NoError(t, b.service.Debit(t.Context(), id))
	return id, auth, b.text(t, "SELECT gateway_payment_id FROM subscriptions.debits")
}
