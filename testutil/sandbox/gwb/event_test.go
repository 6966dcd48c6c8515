package gwb_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v85"

	"marquee/testutil/sandbox/gwb"
	"marquee/testutil/sandbox/gwb/account"
)

// story brings about one kind of event in the way the sample's name tells.
type story struct {
	eventType string
	deliver   func(b *bundle)
}

func paidIntent(b *bundle, s *stripe.Subscription) string { return b.intentOf(s).ID }

var stories = map[string]story{
	"customer.subscription.created.incomplete": {
		"customer.subscription.created",
		func(b *bundle) { b.subscribe("pm_card_visa") },
	},
	"customer.subscription.updated.active": {
		"customer.subscription.updated",
		func(b *bundle) { b.subscribe("pm_card_visa") },
	},
	"customer.subscription.updated.past_due": {"customer.subscription.updated", func(b *bundle) {
		failRenewal(b)
	}},
	"customer.subscription.updated.cancel-at-period-end": {"customer.subscription.updated", func(b *bundle) {
		s := b.subscribe("pm_card_visa")
		_, err := b.sc.V1Subscriptions.Update(b.t.Context(), s.ID,
			&stripe.SubscriptionUpdateParams{CancelAtPeriodEnd: stripe.Bool(true)})
		require.NoError(b.t, err)
	}},
	"customer.subscription.deleted": {"customer.subscription.deleted", func(b *bundle) {
		_, err := b.sc.V1Subscriptions.Cancel(b.t.Context(), b.subscribe("pm_card_visa").ID, nil)
		require.NoError(b.t, err)
	}},
	"invoice.paid.first": {"invoice.paid", func(b *bundle) { b.subscribe("pm_card_visa") }},
	"invoice.paid.renewal": {
		"invoice.paid",
		func(b *bundle) { require.NoError(b.t, b.g.Renew(b.subscribe("pm_card_visa").ID)) },
	},
	"invoice.payment_failed.renewal": {"invoice.payment_failed", failRenewal},
	"invoice.payment_failed.first-declined": {
		"invoice.payment_failed",
		func(b *bundle) { b.subscribe("pm_card_chargeCustomerFail") },
	},
	"charge.refunded.full": {"charge.refunded", func(b *bundle) { refundSubscription(b, nil) }},
	"charge.refunded.partial-1": {
		"charge.refunded",
		func(b *bundle) { refundSubscription(b, stripe.Int64(1000)) },
	},
	"charge.refunded.partial-2-cumulative": {
		"charge.refunded",
		func(b *bundle) { refundSubscription(b, stripe.Int64(1000)) },
	},
	"charge.refunded.ticket-order-same-customer": {"charge.refunded", func(b *bundle) {
		p, err := b.buy("pm_card_visa", nil)
		require.NoError(b.t, err)
		_, err = b.sc.V1Refunds.Create(b.t.Context(), &stripe.RefundCreateParams{
			PaymentIntent: &p.ID, Amount: stripe.Int64(100),
		})
		require.NoError(b.t, err)
	}},
	"charge.dispute.created": {"charge.dispute.created", func(b *bundle) {
		_, err := b.g.OpenDispute(paidIntent(b, b.subscribe("pm_card_visa")), "", false)
		require.NoError(b.t, err)
	}},
	"payment_intent.requires_action.pix-subscription": {
		"payment_intent.requires_action",
		func(b *bundle) { b.pix("fill_never@example.com") },
	},
	"payment_intent.succeeded.pix-subscription": {"payment_intent.succeeded", func(b *bundle) {
		require.NoError(b.t, b.g.PayPIX(b.pix("fill_never@example.com").ID))
	}},
	"payment_intent.succeeded.pix-ticket-order": {"payment_intent.succeeded", func(b *bundle) {
		require.NoError(b.t, b.g.PayPIX(b.pix("fill_never@example.com").ID))
	}},
	"payment_intent.payment_failed.pix-expired": {"payment_intent.payment_failed", func(b *bundle) {
		require.NoError(b.t, b.g.ExpirePIX(b.pix("fill_never@example.com").ID))
	}},
	"payment_intent.succeeded.card-invoice-not-pix": {
		"payment_intent.succeeded",
		func(b *bundle) { b.subscribe("pm_card_visa") },
	},
	"payment_intent.payment_failed.card-invoice-not-pix": {
		"payment_intent.payment_failed",
		func(b *bundle) { b.subscribe("pm_card_chargeCustomerFail") },
	},
}

func failRenewal(b *bundle) {
	s := b.subscribe("pm_card_visa")
	require.NoError(b.t, b.g.SetOutcome(s.DefaultPaymentMethod.ID, "pm_card_chargeCustomerFail"))
	require.NoError(b.t, b.g.Renew(s.ID))
}

func refundSubscription(b *bundle, amount *int64) {
	intent := paidIntent(b, b.subscribe("pm_card_visa"))
	_, err := b.sc.V1Refunds.Create(b.t.Context(), &stripe.RefundCreateParams{PaymentIntent: &intent, Amount: amount})
	require.NoError(b.t, err)
}

// keys lists all keys of a document by path. Metadata and previous_attributes hold what the case chooses, so their
// keys don't count.
func keys(path string, v any, into map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for k, child := range v {
			if path == ".data" && k == "previous_attributes" {
				continue
			}
			into[path+"."+k] = true
			if k != "metadata" {
				keys(path+"."+k, child, into)
			}
		}
	case []any:
		for _, child := range v {
			keys(path+"[]", child, into)
		}
	}
}

func keysOf(t *testing.T, raw []byte) []string {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal(raw, &v))
	set := map[string]bool{}
	keys("", v, set)
	out := make([]string, 0, len(set))
	for k := range set {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// TestEventsHaveTheShapeOfTheSamples compares the keys of each produced event with those of the recorded sample, in
// both shapes.
func TestEventsHaveTheShapeOfTheSamples(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/events/*.json")
	require.NoError(t, err)
	require.Len(t, files, 32)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			which := strings.TrimSuffix(name, ".dahlia")
			if old, isOld := strings.CutSuffix(name, ".pre-basil-2024-06-20"); isOld {
				which = old
				require.NoError(t, b.g.SetShape(account.PreBasil))
			}
			chosen, known := stories[which]
			require.True(t, known, which)
			chosen.deliver(b)
			b.last(chosen.eventType)
			sample, err := os.ReadFile(file)
			require.NoError(t, err)
			if diff := cmp.Diff(keysOf(t, sample), keysOf(t, b.lastRaw(chosen.eventType))); diff != "" {
				t.Errorf("keys differ (-sample +produced):\n%s", diff)
			}
		})
	}
}

func (b *bundle) lastRaw(eventType string) []byte {
	b.events.mu.Lock()
	defer b.events.mu.Unlock()
	for i := len(b.events.got) - 1; i >= 0; i-- {
		if string(b.events.got[i].Type) == eventType {
			return b.events.raw[i]
		}
	}
	return nil
}

func TestOldShapeNamesSubscriptionAndPeriodDirectly(t *testing.T) {
	t.Parallel()
	b := setup(t)
	status, _ := b.control("PUT", "/_sandbox/shape", map[string]string{"shape": "pre-basil"})
	require.Equal(t, 200, status)
	status, _ = b.control("PUT", "/_sandbox/shape", map[string]string{"shape": "cubist"})
	require.Equal(t, 400, status)
	s := b.subscribe("pm_card_visa")
	inv := b.last("invoice.paid")
	require.Equal(t, "2024-06-20", inv.APIVersion)
	require.Equal(t, s.ID, inv.Data.Object["subscription"])
	require.Nil(t, inv.Data.Object["parent"])
	require.EqualValues(t, s.Items.Data[0].CurrentPeriodEnd,
		b.last("customer.subscription.updated").Data.Object["current_period_end"])
}

func TestEventsAreListedAndFetched(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.subscribe("pm_card_visa")
	want := b.last("invoice.paid")
	events := b.sc.V1Events.List(t.Context(), &stripe.EventListParams{Type: stripe.String("invoice.paid")}).Data()
	require.Len(t, events, 1)
	require.Equal(t, want.ID, events[0].ID)
	got, err := b.sc.V1Events.Retrieve(t.Context(), want.ID, nil)
	require.NoError(t, err)
	require.Equal(t, want.Created, got.Created)
}

func TestNamedEventForAnObject(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.subscribe("pm_card_visa")
	b.forget()
	status, body := b.control("POST", "/_sandbox/events", map[string]string{
		"type": "invoice.payment_failed", "object": s.LatestInvoice.ID,
	})
	require.Equal(t, 200, status)
	require.Equal(t, body["id"], b.last("invoice.payment_failed").ID)
	status, _ = b.control("POST", "/_sandbox/events", map[string]string{"type": "invoice.paid", "object": "in_unknown"})
	require.Equal(t, 404, status)
}

func TestUndeliveredEventsAreRetriedThenGivenUp(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.events.respond(500)
	b.customer()
	b.settle()
	d := b.g.Stage().Webhooks.Deliveries()[0]
	require.Len(t, d.Attempts, 4)
	require.EqualValues(t, "failed", d.State)
	require.Equal(t, 500, d.LastStatus())
	b.events.respond(0)
	_, err := b.g.Stage().Webhooks.Redeliver(d.ID)
	require.NoError(t, err)
	require.Equal(t, d.EventID, b.last("customer.created").ID)
}

func TestWebhookEndpointIsSetLater(t *testing.T) {
	t.Parallel()
	g, err := gwb.New(gwb.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.Close()) })
	url := newServer(t, g)
	events := &receiver{t: t}
	b := &bundle{t: t, g: g, url: url, sc: client(url, "sk_test_any"), events: events}
	b.customer()
	require.Empty(t, b.types())
	status, _ := b.control("PUT", "/_sandbox/webhooks/endpoint", map[string]string{
		"url": newServer(t, events), "secret": webhookSecret,
	})
	require.Equal(t, 200, status)
	require.Equal(t, []string{"customer.created"}, b.types())
}

func TestControlsAreListedWithMethodPathAndBody(t *testing.T) {
	t.Parallel()
	b := setup(t)
	listed := map[string]bool{}
	for _, c := range b.g.Stage().Controls() {
		require.NotEmpty(t, c.About, c.Path)
		listed[c.Method+" "+c.Path] = true
	}
	for _, want := range []string{
		"POST /_sandbox/payment_intents/{id}/pay", "POST /_sandbox/payment_intents/{id}/expire",
		"POST /_sandbox/subscriptions/{id}/renew", "POST /_sandbox/faults", "PUT /_sandbox/webhooks/delay",
		"POST /_sandbox/webhooks/duplicate", "POST /_sandbox/webhooks/reorder", "POST /_sandbox/webhooks/hold",
		"POST /_sandbox/events", "POST /_sandbox/intents/{id}/authenticate",
		"POST /_sandbox/intents/{id}/fail-authentication", "POST /_sandbox/clock/advance", "GET /_sandbox/journal",
	} {
		require.True(t, listed[want], want)
	}
}

func TestJournalHoldsNoCardData(t *testing.T) {
	t.Parallel()
	b := setup(t)
	status, _ := b.control("POST", "/_sandbox/payment_methods", map[string]any{
		"number": "4242424242424242", "cvc": "987", "exp_month": 4, "exp_year": 2035,
	})
	require.Equal(t, 200, status)
	resp, _ := b.raw("POST", "/v1/payment_methods", "type=card&card[number]=4000000000000341&card[cvc]=987", "card-key")
	require.Equal(t, 200, resp.StatusCode)
	raw, err := json.Marshal(b.g.Stage().Journal.Entries(""))
	require.NoError(t, err)
	require.Contains(t, string(raw), "card-key")
	for _, secret := range []string{"4242424242424242", "4000000000000341", "987\""} {
		require.NotContains(t, string(raw), secret)
	}
}

func TestMonthEndsDoNotDrift(t *testing.T) {
	t.Parallel()
	b := setup(t)
	now := b.g.Stage().Clock.Now()
	// Go to the 31st of the next January, subscribe, and look at the ends of the periods.
	target := time.Date(now.Year()+1, time.January, 31, 12, 0, 0, 0, time.UTC)
	_, err := b.g.Stage().Clock.AdvanceTo(target)
	require.NoError(t, err)
	s := b.subscribe("pm_card_visa")
	for _, month := range []time.Month{time.February, time.March, time.April, time.May} {
		end := time.Unix(b.subscription(s.ID).Items.Data[0].CurrentPeriodEnd, 0).UTC()
		last := time.Date(end.Year(), month+1, 0, 0, 0, 0, 0, time.UTC).Day()
		require.Equal(t, month, end.Month())
		require.Equal(t, min(31, last), end.Day())
		_, err := b.g.Stage().Clock.AdvanceTo(end.Add(time.Minute))
		require.NoError(t, err)
	}
}
