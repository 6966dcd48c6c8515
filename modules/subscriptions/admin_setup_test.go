package subscriptions_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts/accountstest"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
)

// admin calls the API as an admin; every answer is checked against the OpenAPI
// document.
func (b *bundle) admin(t *testing.T) *apitest.Client {
	t.Helper()
	return apitest.New(t, b.serve().api).As(accountstest.Token(t, b.db, accountstest.Admin(t, b.db).Username))
}

// pay begins a subscription at gateway B and has its webhooks delivered.
func (b *bundle) paidGWB(t *testing.T) objectid.ID {
	t.Helper()
	b.listen()
	id := idOf(b.expect(t, 201, "POST", "/gwb/subscribe", gwbCard("pm_card_visa")))
	b.settle(t)
	if b.status(t, id) != "active" {
		replayWaiting(t, b) // on a busy machine the charge's event overtook our own commit, and waits
	}
	require.Equal(t, "active", b.status(t, id))
	return id
}

// paidGWA begins one at gateway A.
func (b *bundle) paidGWA(t *testing.T) objectid.ID {
	t.Helper()
	b.listen()
	id := idOf(b.expect(t, 201, "POST", "/gwa/subscribe", gwaCard("5162306219378829")))
	require.NoError(t, b.gateways.Sandbox.GWA.Advance(time.Minute))
	b.settle(t)
	if b.status(t, id) != "active" {
		replayWaiting(t, b) // on a busy machine the charge's event overtook our own commit, and waits
	}
	require.Equal(t, "active", b.status(t, id))
	return id
}
