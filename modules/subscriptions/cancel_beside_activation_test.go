package subscriptions_test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
)

// TestCancelBesideAnActivation: what a customer has ended and an admin opens again while the gateway is asked to end
// it goes on, and the customer hears that alone.
func TestCancelBesideAnActivation(t *testing.T) {
	t.Parallel()
	paid := map[string]func(*bundle, *testing.T) objectid.ID{"gwa": (*bundle).paidGWA, "gwb": (*bundle).paidGWB}
	for name, c := range map[string]struct {
		begin  func(t *testing.T, b *bundle, gateway string) objectid.ID
		called string // whether the call is under way
	}{
		"paid": {
			func(t *testing.T, b *bundle, gateway string) objectid.ID {
				t.Helper()
				return paid[gateway](b, t)
			},
			"SELECT count(*) FROM subscriptions.subscriptions WHERE id = $1 AND status = 'cancelled'",
		},
		"unpaid PIX": {
			func(t *testing.T, b *bundle, gateway string) objectid.ID {
				t.Helper()
				return idOf(b.expect(t, 201, http.MethodPost, "/"+gateway+"/subscribe/pix", object{"plan_id": plan}))
			},
			"SELECT count(*) FROM payments.intents WHERE subject_id = $1 AND state = 'open' AND kind = 'end'",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			paymentstest.EachGateway(t, func(t *testing.T, gateway string) {
				b := setup(t)
				id, admin := c.begin(t, b, gateway), b.admin(t)
				b.settle(t)
				held := stages[gateway](b)
				held.Lock() // no call is answered
				release := sync.OnceFunc(held.Unlock)
				defer release()
				var status int
				var body object
				done := make(chan struct{})
				go func() {
					defer close(done)
					status, body = b.call(t, http.MethodDelete, subscriptionPath, nil) //nolint:testifylint // a step of the story
				}()
				eventually(t, "the gateway is asked", func() bool { return b.count(t, c.called, id) == 1 })
				activated := admin.Post("/admin/subscriptions/"+id.String()+"/activate", object{"reason": "as agreed"})
				release()
				<-done
				require.Equal(t, 200, activated.Status)
				require.Equal(t, 409, status)
				require.Equal(t, "Your subscription was activated at the same time, and goes on.", body["detail"])
				require.Equal(t, "active", b.status(t, id))
			})
		})
	}
}
