package gwa_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/testutil/sandbox/gwa"
	"marquee/testutil/sandbox/gwa/account"
	"marquee/testutil/sandbox/stage"
)

// attempts waits until so many attempts at deliveries were made in all.
func (b *bundle) attempts(want int) []stage.Delivery {
	b.t.Helper()
	var all []stage.Delivery
	require.Eventually(b.t, func() bool {
		all = b.g.Stage().Webhooks.Deliveries()
		n := 0
		for _, d := range all {
			n += len(d.Attempts)
		}
		return n == want
	}, time.Minute, time.Millisecond)
	return all
}

// transfer tells two events: PAYMENT_CREATED and PAYMENT_RECEIVED.
func (b *bundle) transfer(reais account.Cents) {
	b.t.Helper()
	_, err := b.g.Transfer(reais * 100)
	require.NoError(b.t, err)
}

func TestEnvelope_A10(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.subscribed()
	e := last(b, "SUBSCRIPTION_CREATED")
	require.Equal(t, webhookToken, e.Token, "asaas-access-token")
	require.Regexp(t, `^evt_6561b631fa5580caadd00bbe3b858607&\d+$`, e.ID)
	require.Regexp(t, `^2035-03-12 10:00:\d\d$`, e.Created, "São Paulo, without zone")
	require.Equal(t, "12/04/2035", e.object("subscription")["nextDueDate"])
	require.Equal(t, "12/03/2035", e.object("subscription")["dateCreated"])
}

func TestOnly200IsSuccess_A10(t *testing.T) {
	t.Parallel()
	for _, status := range []int{201, 204, 302, 401, 500} {
		b := setup(t)
		b.hooks.respond(status)
		b.ok("POST", "/v3/payments", pixPayment(b.customer(), 10))
		d := b.attempts(1)[0]
		require.Equal(t, stage.Waiting, d.State, status)
		b.hooks.respond(http.StatusOK)
		b.advance(30 * time.Second)
		events := b.deliveredEvents()
		require.Len(t, events, 2)
		require.Equal(t, events[0].ID, events[1].ID, "the same event again")
	}
}

func TestQueuePausesAfter15Failures_A10(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.hooks.respond(http.StatusInternalServerError)
	b.ok("POST", "/v3/payments", pixPayment(b.customer(), 10))
	ladder := []time.Duration{
		30 * time.Second, time.Minute, 210 * time.Second, 5 * time.Minute, 15 * time.Minute, 25 * time.Minute,
		time.Hour, time.Hour, time.Hour, time.Hour, time.Hour, 2 * time.Hour, 2 * time.Hour, 3 * time.Hour,
	}
	for i, wait := range ladder {
		d := b.attempts(i + 1)[0]
		require.Equal(t, wait, d.NextAt.Sub(d.Attempts[i].At).Round(time.Second))
		b.advance(wait)
	}
	b.attempts(15)
	hook := b.newest("/v3/webhooks")
	require.Equal(t, true, hook["interrupted"])

	b.transfer(10)
	b.hooks.respond(http.StatusOK)
	b.advance(time.Hour)
	require.Len(t, b.deliveredEvents(), 15, "a paused queue collects only")
	b.ok("POST", "/v3/webhooks/"+id(hook)+"/removeBackoff", nil)
	require.Equal(t, []string{"PAYMENT_CREATED", "PAYMENT_CREATED", "PAYMENT_RECEIVED"}, names(b.deliveredEvents()))
	require.Equal(t, false, b.newest("/v3/webhooks")["interrupted"])
}

func TestEventsAreLostAfter14Days_A10(t *testing.T) {
	t.Parallel()
	b := setup(t)
	hook := id(b.newest("/v3/webhooks"))
	b.ok("PUT", "/v3/webhooks/"+hook, object{"interrupted": true})
	b.transfer(10)
	b.advance(15 * day)
	b.transfer(20)
	b.ok("PUT", "/v3/webhooks/"+hook, object{"interrupted": false})
	events := b.deliveredEvents()
	require.Equal(t, []string{"PAYMENT_CREATED", "PAYMENT_RECEIVED"}, names(events))
	require.Equal(t, 20.0, events[0].object("payment")["value"])
}

func TestSequentialQueueIsBlockedByAFailure_A10(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"SEQUENTIALLY", "NON_SEQUENTIALLY"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			hook := id(b.newest("/v3/webhooks"))
			require.Equal(t, mode, b.ok("PUT", "/v3/webhooks/"+hook, object{"sendType": mode})["sendType"])
			b.hooks.respond(http.StatusInternalServerError)
			b.ok("POST", "/v3/payments", pixPayment(b.customer(), 10))
			b.attempts(1)
			b.hooks.respond(http.StatusOK)
			b.ok("POST", "/v3/payments", pixPayment(b.customer(), 20))
			if mode == "NON_SEQUENTIALLY" {
				all := b.attempts(2)
				require.Equal(t, stage.Delivered, all[1].State, "overtakes")
				return
			}
			b.advance(30 * time.Second)
			events := b.deliveredEvents()
			require.Equal(t, 10.0, events[0].object("payment")["value"])
			require.Equal(t, events[0].ID, events[1].ID, "the failed one first")
			require.Equal(t, 20.0, events[2].object("payment")["value"])
		})
	}
}

func TestEventBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.customer()
	b.g.Stage().Webhooks.EarlyNext(1)
	b.ok("POST", "/v3/payments", pixPayment(c, 10))
	b.hooks.mu.Lock()
	defer b.hooks.mu.Unlock()
	require.Equal(t, []string{"PAYMENT_CREATED"}, names(b.hooks.events), "here before the call returned")
}

func TestDuplicatesAndReordering(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.customer()
	b.ok("POST", "/_sandbox/webhooks/duplicate", object{"count": 1})
	b.ok("POST", "/v3/payments", pixPayment(c, 10))
	events := b.deliveredEvents()
	require.Len(t, events, 2)
	require.Equal(t, events[0].ID, events[1].ID)
	b.ok("POST", "/_sandbox/webhooks/reorder", object{"count": 1})
	b.ok("POST", "/v3/payments", cardPayment(c, 10))
	require.Equal(t, []string{"PAYMENT_CONFIRMED", "PAYMENT_CREATED"}, names(b.deliveredEvents()))
}

func TestWebhookIsSetUpByTheAPI_A10(t *testing.T) {
	t.Parallel()
	b := setup(t)
	old := b.newest("/v3/webhooks")
	url := old["url"]
	b.ok("DELETE", "/v3/webhooks/"+id(old), nil)
	b.ok("POST", "/v3/payments", pixPayment(b.customer(), 10))
	body := object{
		"name": "marquee", "url": url, "email": "ops@example.com", "enabled": true, "interrupted": false,
		"apiVersion": 3, "authToken": "another-token-of-more-than-32-characters", "sendType": "NON_SEQUENTIALLY",
		"events": []string{"PAYMENT_CREATED", "PAYMENT_RECEIVED"},
	}
	for field, bad := range map[string]any{"authToken": "short", "url": "nowhere", "sendType": "SOMEHOW"} {
		_, code, _ := b.refused("POST", "/v3/webhooks", merged(body, object{field: bad}))
		require.Equal(t, "invalid_"+field, code)
	}
	hook := b.ok("POST", "/v3/webhooks", body)
	require.NotContains(t, hook, "authToken")
	require.Equal(t, hook, b.ok("GET", "/v3/webhooks/"+id(hook), nil))
	events := b.deliveredEvents()
	require.Equal(t, []string{"PAYMENT_CREATED"}, names(events), "what was collected meanwhile")
	require.Equal(t, "another-token-of-more-than-32-characters", events[0].Token)
	b.subscribed()
	require.Equal(t, []string{"PAYMENT_CREATED"}, names(b.deliveredEvents()), "only the events on the list")
	status, _, _ := b.refused("POST", "/v3/webhooks", body)
	require.Equal(t, 400, status, "this gateway carries one")
}

func TestNamedEvents(t *testing.T) {
	t.Parallel()
	b := setup(t)
	sub, p := b.subscribed()
	a, _ := b.authorized()
	b.deliveredEvents()
	for _, x := range [][2]string{
		{"PAYMENT_CONFIRMED", p}, {"SUBSCRIPTION_UPDATED", sub}, {prefix + "EXPIRED", a}, {"PAYMENT_SOMETHING_NEW", p},
	} {
		b.ok("POST", "/_sandbox/events", object{"event": x[0], "id": x[1]})
		require.Equal(t, []string{x[0]}, names(b.deliveredEvents()))
	}
	require.Error(t, b.g.SendEvent("PAYMENT_CONFIRMED", sub), "the name doesn't fit the object")
	require.Error(t, b.g.SendEvent("PAYMENT_CONFIRMED", "pay_0000000000000000"))
	require.Error(t, b.g.SendEvent("", p))
}

func TestSettingsControl(t *testing.T) {
	t.Parallel()
	b := setup(t)
	before := b.ok("GET", "/_sandbox/settings", nil)
	after := b.ok("PATCH", "/_sandbox/settings", object{"chargeDaysAhead": 14})
	require.Equal(t, merged(before, object{"chargeDaysAhead": 14.0}), after)
	status, _, _ := b.refused("PATCH", "/_sandbox/settings", object{"chargeDaysAhead": 3})
	require.Equal(t, 400, status)
	status, _, _ = b.refused("PATCH", "/_sandbox/settings", object{"nothing": true})
	require.Equal(t, 400, status)
	require.Equal(t, after, b.ok("GET", "/_sandbox/settings", nil))
	_, err := b.g.ChangeSettings(func(s *account.Settings) { s.ChargeDaysAhead = 7 })
	require.NoError(t, err)
}

func TestSetWebhook(t *testing.T) {
	t.Parallel()
	b := setup(t, func(o *gwa.Options) { o.WebhookURL, o.WebhookToken = "", "" })
	b.ok("POST", "/v3/payments", pixPayment(b.customer(), 10))
	require.Empty(t, b.deliveredEvents(), "without an address events wait")
	b.g.SetWebhook(b.hookURL, "a-token")
	events := b.deliveredEvents()
	require.Equal(t, []string{"PAYMENT_CREATED"}, names(events))
	require.Equal(t, "a-token", events[0].Token)
}
