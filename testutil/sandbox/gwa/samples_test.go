package gwa_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/testutil/sandbox/gwa/account"
)

func keys(o object) []string {
	out := []string{}
	for k := range o {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// shape is the tree of keys of a body: absent keys must be absent, not null. Lists count by their first element.
func shape(v any) any {
	switch v := v.(type) {
	case object:
		out := object{}
		for k, e := range v {
			out[k] = shape(e)
		}
		return out
	case []any:
		if len(v) == 0 {
			return nil
		}
		return shape(v[0])
	}
	return nil
}

func sample(t *testing.T, name string) object {
	t.Helper()
	raw, err := os.ReadFile("testdata/gwa." + name + ".json")
	require.NoError(t, err)
	var v object
	require.NoError(t, json.Unmarshal(raw, &v))
	return v
}

// story produces an event and names it.
type story struct {
	sample  string
	deliver func(b *bundle) event
}

func last(b *bundle, name string) event {
	b.t.Helper()
	events := b.deliveredEvents()
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].Name == name {
			return events[i]
		}
	}
	require.Fail(b.t, "no event "+name, "%v", names(events))
	return event{}
}

func id(v object) string { return v["id"].(string) }

func (b *bundle) subscribed() (sub, payment string) {
	b.t.Helper()
	s := b.ok("POST", "/v3/subscriptions", subscription(b.customer(), "2035-03-12"))
	return id(s), id(b.newest("/v3/subscriptions/" + id(s) + "/payments"))
}

func (b *bundle) paidPIX(value any) string {
	b.t.Helper()
	p := b.ok("POST", "/v3/payments", pixPayment(b.customer(), value))
	_, err := b.g.Pay(id(p))
	require.NoError(b.t, err)
	return id(p)
}

func authorizationBody(customer string) object {
	return object{
		"customerId": customer, "frequency": "MONTHLY", "contractId": "66f0a1b2c3d4e5f607182a03",
		"startDate": "2035-04-12", "value": 49.90, "description": "Plano Plus mensal",
		"retryPolicy":     "ALLOW_THREE_IN_SEVEN_DAYS",
		"immediateQrCode": object{"originalValue": 49.90, "expirationSeconds": 3600},
	}
}

func (b *bundle) authorized() (authorization, customer string) {
	b.t.Helper()
	c := b.customer()
	a := b.ok("POST", "/v3/pix/automatic/authorizations", authorizationBody(c))
	_, err := b.g.ActivateAuthorization(id(a))
	require.NoError(b.t, err)
	return id(a), c
}

var stories = []story{
	{"PAYMENT_CREATED.card-subscription", func(b *bundle) event {
		b.subscribed()
		return last(b, "PAYMENT_CREATED")
	}},
	{"PAYMENT_CONFIRMED.card-subscription", func(b *bundle) event {
		b.subscribed()
		b.advance(2 * time.Minute)
		return last(b, "PAYMENT_CONFIRMED")
	}},
	{"PAYMENT_CONFIRMED.one-off-external-reference", func(b *bundle) event {
		b.ok("POST", "/v3/payments", cardPayment(b.customer(), 19.90))
		return last(b, "PAYMENT_CONFIRMED")
	}},
	{"PAYMENT_CONFIRMED.pix-automatic-recurring-debit", func(b *bundle) event {
		a, c := b.authorized()
		b.ok("POST", "/v3/payments", merged(pixPayment(c, 49.90), object{
			"pixAutomaticAuthorizationId": a, "dueDate": "2035-03-16",
		}))
		b.advance(4 * day)
		return last(b, "PAYMENT_CONFIRMED")
	}},
	{"PAYMENT_RECEIVED.card-settled-32-days-later", func(b *bundle) event {
		b.subscribed()
		b.advance(33 * day)
		return last(b, "PAYMENT_RECEIVED")
	}},
	{"PAYMENT_RECEIVED.pix-ticket-order", func(b *bundle) event {
		b.paidPIX(240)
		return last(b, "PAYMENT_RECEIVED")
	}},
	{"PAYMENT_RECEIVED.pix-subscription-external-reference", func(b *bundle) event {
		b.paidPIX(149.70)
		return last(b, "PAYMENT_RECEIVED")
	}},
	{"PAYMENT_RECEIVED.pix-automatic-first-payment", func(b *bundle) event {
		b.authorized()
		return last(b, "PAYMENT_RECEIVED")
	}},
	{"PAYMENT_OVERDUE.card-subscription", func(b *bundle) event {
		s, _ := b.subscribed()
		_, err := b.g.FailNextCharge(s)
		require.NoError(b.t, err)
		b.advance(2 * day)
		return last(b, "PAYMENT_OVERDUE")
	}},
	{"PAYMENT_DELETED.card-subscription", func(b *bundle) event {
		s := b.ok("POST", "/v3/subscriptions", subscription(b.customer(), "2035-04-12"))
		b.ok("DELETE", "/v3/subscriptions/"+id(s), nil)
		return last(b, "PAYMENT_DELETED")
	}},
	{"PAYMENT_REFUNDED.card-full", func(b *bundle) event {
		_, p := b.subscribed()
		b.advance(2 * time.Minute)
		b.ok("POST", "/v3/payments/"+p+"/refund", object{"description": "Cliente desistiu"})
		return last(b, "PAYMENT_REFUNDED")
	}},
	{"PAYMENT_REFUNDED.pix-full", func(b *bundle) event {
		b.ok("POST", "/v3/payments/"+b.paidPIX(240)+"/refund", object{"description": "Evento lotado"})
		return last(b, "PAYMENT_REFUNDED")
	}},
	{"PAYMENT_PARTIALLY_REFUNDED.pix-second-partial", func(b *bundle) event {
		p := b.paidPIX(149.70)
		b.ok("POST", "/v3/payments/"+p+"/refund", object{"value": 20, "description": "Cortesia"})
		b.ok("POST", "/v3/payments/"+p+"/refund", object{"value": 29.90, "description": "Cortesia"})
		return last(b, "PAYMENT_PARTIALLY_REFUNDED")
	}},
	{"PAYMENT_CHARGEBACK_REQUESTED.card-subscription", func(b *bundle) event {
		_, p := b.subscribed()
		b.advance(2 * time.Minute)
		_, err := b.g.Chargeback(p, account.ChargebackRequested, "")
		require.NoError(b.t, err)
		return last(b, "PAYMENT_CHARGEBACK_REQUESTED")
	}},
	{"SUBSCRIPTION_CREATED", func(b *bundle) event {
		b.subscribed()
		return last(b, "SUBSCRIPTION_CREATED")
	}},
	{"SUBSCRIPTION_UPDATED", func(b *bundle) event {
		s, _ := b.subscribed()
		b.ok("PUT", "/v3/subscriptions/"+s, object{"nextDueDate": "2035-05-05"})
		return last(b, "SUBSCRIPTION_UPDATED")
	}},
	{"SUBSCRIPTION_UPDATED.iso-dates", func(b *bundle) event {
		_, err := b.g.ChangeSettings(func(s *account.Settings) { s.ISODatesInSubscriptionEvents = true })
		require.NoError(b.t, err)
		s, _ := b.subscribed()
		b.ok("PUT", "/v3/subscriptions/"+s, object{"nextDueDate": "2035-05-05"})
		return last(b, "SUBSCRIPTION_UPDATED")
	}},
	{"SUBSCRIPTION_INACTIVATED", func(b *bundle) event {
		s, _ := b.subscribed()
		b.ok("PUT", "/v3/subscriptions/"+s, object{"status": "INACTIVE"})
		return last(b, "SUBSCRIPTION_INACTIVATED")
	}},
	{"SUBSCRIPTION_DELETED", func(b *bundle) event {
		s, _ := b.subscribed()
		b.ok("DELETE", "/v3/subscriptions/"+s, nil)
		return last(b, "SUBSCRIPTION_DELETED")
	}},
	{"PIX_AUTOMATIC_RECURRING_AUTHORIZATION_CREATED", func(b *bundle) event {
		b.ok("POST", "/v3/pix/automatic/authorizations", authorizationBody(b.customer()))
		return last(b, "PIX_AUTOMATIC_RECURRING_AUTHORIZATION_CREATED")
	}},
	{"PIX_AUTOMATIC_RECURRING_AUTHORIZATION_ACTIVATED", func(b *bundle) event {
		b.authorized()
		return last(b, "PIX_AUTOMATIC_RECURRING_AUTHORIZATION_ACTIVATED")
	}},
	{"PIX_AUTOMATIC_RECURRING_AUTHORIZATION_ACTIVATED.key-as-in-contract", func(b *bundle) event {
		_, err := b.g.ChangeSettings(func(s *account.Settings) { s.AuthorizationKey = "pixAutomaticAuthorization" })
		require.NoError(b.t, err)
		b.authorized()
		return last(b, "PIX_AUTOMATIC_RECURRING_AUTHORIZATION_ACTIVATED")
	}},
	{"PIX_AUTOMATIC_RECURRING_AUTHORIZATION_CANCELLED", func(b *bundle) event {
		a, _ := b.authorized()
		_, err := b.g.CancelAuthorization(a, "")
		require.NoError(b.t, err)
		return last(b, "PIX_AUTOMATIC_RECURRING_AUTHORIZATION_CANCELLED")
	}},
	{"PIX_AUTOMATIC_RECURRING_AUTHORIZATION_REFUSED", func(b *bundle) event {
		b.ok("POST", "/v3/pix/automatic/authorizations", authorizationBody(b.customer()))
		b.advance(2 * time.Hour)
		return last(b, "PIX_AUTOMATIC_RECURRING_AUTHORIZATION_REFUSED")
	}},
	{"PIX_AUTOMATIC_RECURRING_AUTHORIZATION_EXPIRED", func(b *bundle) event {
		a, _ := b.authorized()
		_, err := b.g.ExpireAuthorization(a)
		require.NoError(b.t, err)
		return last(b, "PIX_AUTOMATIC_RECURRING_AUTHORIZATION_EXPIRED")
	}},
}

// TestEventsHaveTheShapeOfTheSamples compares produced events with the samples: the keys all the
// way down, and which of them are null.
func TestEventsHaveTheShapeOfTheSamples(t *testing.T) {
	t.Parallel()
	for _, s := range stories {
		t.Run(s.sample, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			got, want := s.deliver(b), sample(t, s.sample)
			require.Equal(t, shape(want), shape(got.Body))
			require.Equal(t, want["event"], got.Name)
			require.Regexp(t, `^evt_[0-9a-f]{32}&\d+$`, got.ID)
			require.Equal(t, want["id"].(string)[:37], got.ID[:37], "evt_ + md5 of the event's name + &")
			for _, key := range []string{"payment", "subscription", "authorization"} {
				o, _ := want[key].(object)
				for k, v := range o {
					require.Equal(t, v == nil, got.object(key)[k] == nil, "%s is %v", k, got.object(key)[k])
				}
				require.Equal(t, o["status"], got.object(key)["status"])
				require.Equal(t, o["deleted"], got.object(key)["deleted"])
			}
		})
	}
}
