package gwb

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/platform/objectid"
)

func sample(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "testdata", "webhooks", "gwb."+name+".json"))
	require.NoError(t, err)
	return raw
}

// Ids that the samples share.
const (
	cardSubscription = "sub_1SVaBcLkdIwHu7ix0aBcDeFg"
	localID          = objectid.ID("66f0a1b2c3d4e5f607182c01")
	customerID       = "cus_RkT2cV8Wm0aBcD"
)

func TestSamplesInBothShapes(t *testing.T) {
	t.Parallel()
	g := New(Config{})
	for _, shape := range []string{"dahlia", "pre-basil-2024-06-20"} {
		for name, want := range map[string]struct {
			kind    gateway.EventKind
			status  gateway.RemoteStatus
			left    gateway.RemoteStatus
			payment gateway.PaymentStatus
			first   bool
		}{
			"invoice.paid.first": {
				kind: gateway.PaymentSettled, payment: gateway.PaymentStatusSettled,
			},
			"invoice.paid.renewal": {
				kind: gateway.PaymentSettled, payment: gateway.PaymentStatusSettled,
			},
			"invoice.payment_failed.first-declined": {
				kind: gateway.PaymentFailed, payment: gateway.PaymentStatusFailed, first: true,
			},
			"invoice.payment_failed.renewal": {
				kind: gateway.PaymentFailed, payment: gateway.PaymentStatusFailed,
			},
			"customer.subscription.created.incomplete": {
				kind: gateway.SubscriptionChanged, status: gateway.RemoteIncomplete,
			},
			"customer.subscription.updated.active": {
				kind: gateway.SubscriptionChanged, status: gateway.RemoteActive, left: gateway.RemoteIncomplete,
			},
			"customer.subscription.updated.past_due": {
				kind: gateway.SubscriptionChanged, status: gateway.RemotePastDue, left: gateway.RemoteActive,
			},
			"customer.subscription.updated.cancel-at-period-end": {
				kind: gateway.SubscriptionChanged, status: gateway.RemoteActive,
			},
			"customer.subscription.resumed": {kind: gateway.SubscriptionChanged, status: gateway.RemoteActive},
			"customer.subscription.deleted": {kind: gateway.SubscriptionEnded, status: gateway.RemoteCanceled},
		} {
			name := name + "." + shape
			e, err := g.ReadEvent(sample(t, name))
			require.NoError(t, err, name)
			require.Equal(t, want.kind, e.Kind(), name)
			require.NotEmpty(t, e.ID, name)
			require.False(t, e.CreatedAt.IsZero(), name)
			if want.kind == gateway.Ignored {
				continue
			}
			require.NotEmpty(t, e.SubscriptionID, name)
			require.NotEmpty(t, e.Reference, name)
			require.NotEmpty(t, e.CustomerID, name)
			if f, failed := e.Payload.(gateway.FailedPayment); failed {
				require.Equal(t, want.first, f.First, name)
				require.Positive(t, f.Attempt, name)
			}
			if want.payment != "" {
				require.Equal(t, want.payment, paymentOf(e).Status, name)
				require.Equal(t, paymentOf(e).InvoiceID, paymentOf(e).ID, name)
				require.EqualValues(t, 4990, paymentOf(e).Amount, name)
			}
			if want.status != "" {
				require.Equal(t, want.status, remoteOf(e).Status, name)
				change, _ := e.Payload.(gateway.SubscriptionChange)
				require.Equal(t, want.left, change.Left, name)
				require.NotNil(t, remoteOf(e).NextBilling, name)
			}
		}
	}
}

func TestWhatTheSamplesTell(t *testing.T) {
	t.Parallel()
	g := New(Config{})
	for _, shape := range []string{"dahlia", "pre-basil-2024-06-20"} {
		e, err := g.ReadEvent(sample(t, "invoice.paid.first."+shape))
		require.NoError(t, err)
		require.Equal(t, cardSubscription, e.SubscriptionID)
		require.Equal(t, localID, e.Reference)
		require.Equal(t, customerID, e.CustomerID)
		require.Equal(t, "in_1SVaBbLkdIwHu7ixQwErTyUi", paymentOf(e).ID)
		require.Equal(t, time.Unix(1795194194, 0).UTC(), *paymentOf(e).SettledAt)
		require.Contains(t, e.Subjects(), cardSubscription)
		require.Contains(t, e.Subjects(), localID.String())

		e, err = g.ReadEvent(sample(t, "customer.subscription.updated.active."+shape))
		require.NoError(t, err)
		require.Equal(t, "2026-12-20T17:03:12Z", remoteOf(e).NextBilling.Format(time.RFC3339))

		e, err = g.ReadEvent(sample(t, "customer.subscription.updated.cancel-at-period-end."+shape))
		require.NoError(t, err)
		require.True(t, remoteOf(e).CancelAtPeriodEnd)
	}
	e, err := g.ReadEvent(sample(t, "invoice.paid.first.pre-basil-2024-06-20"))
	require.NoError(t, err)
	require.NotEmpty(t, paymentOf(e).PaymentIntentID, "the older shape tells it")
}

func TestWhereTheSubscriptionOfAnInvoiceStands(t *testing.T) {
	t.Parallel()
	g := New(Config{})
	for name, object := range map[string]string{
		"parent":               `{"id":"in_1","parent":{"subscription_details":{"subscription":"sub_1"}}}`,
		"parent, expanded":     `{"id":"in_1","parent":{"subscription_details":{"subscription":{"id":"sub_1"}}}}`,
		"older":                `{"id":"in_1","subscription":"sub_1"}`,
		"older, expanded":      `{"id":"in_1","subscription":{"id":"sub_1"}}`,
		"parent goes first":    `{"id":"in_1","subscription":"sub_2","parent":{"subscription_details":{"subscription":"sub_1"}}}`,
		"line":                 `{"id":"in_1","lines":{"data":[{},{"parent":{"subscription_item_details":{"subscription":"sub_1"}}}]}}`,
		"line, older":          `{"id":"in_1","lines":{"data":[{"subscription":"sub_1"}]}}`,
		"with broken metadata": `{"id":"in_1","subscription":"sub_1","subscription_details":{"metadata":{"local_subscription_id":7}}}`,
	} {
		e, err := g.ReadEvent([]byte(`{"id":"evt_1","type":"invoice.paid","data":{"object":` + object + `}}`))
		require.NoError(t, err, name)
		require.Equal(t, "sub_1", e.SubscriptionID, name)
		require.Empty(t, e.Reference, name)
	}
	e, err := g.ReadEvent([]byte(`{"id":"evt_1","type":"invoice.paid","data":{"object":{"id":"in_1","subscription_details":{"metadata":{"local_subscription_id":"` + string(localID) + `"}}}}}`))
	require.NoError(t, err)
	require.Equal(t, gateway.PaymentSettled, e.Kind())
	require.Equal(t, localID, e.Reference)
	e, err = g.ReadEvent([]byte(`{"id":"evt_1","type":"invoice.paid","data":{"object":{"id":"in_1"}}}`))
	require.NoError(t, err)
	require.Equal(t, gateway.Ignored, e.Kind(), "no subscription is behind it")
}

func FuzzReadEvent(f *testing.F) {
	files, err := filepath.Glob("../testdata/webhooks/gwb.*.json")
	require.NoError(f, err)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(raw)
	}
	g := New(Config{})
	f.Fuzz(func(t *testing.T, body []byte) {
		e, err := g.ReadEvent(body)
		if err != nil {
			require.Equal(t, gateway.Ignored, e.Kind())
			return
		}
		switch p := e.Payload.(type) {
		case gateway.RefundChange:
			require.NotEmpty(t, p.Report.PaymentID)
		case gateway.DisputeChange:
			require.NotEmpty(t, p.Report.ID)
			require.NotEmpty(t, p.Report.State)
		case gateway.AuthorizationChange:
			require.NotEmpty(t, p.Authorization.ID)
		case gateway.SettledPayment, gateway.FailedPayment:
			require.NotEmpty(t, e.PaymentID())
			require.NotEmpty(t, e.Subjects())
		case gateway.SubscriptionChange, gateway.SubscriptionEnd:
			require.NotEmpty(t, remoteOf(e).GatewayID)
		}
	})
}

// paymentOf is the payment that an event tells of.
func paymentOf(e gateway.Event) gateway.Payment {
	p, _ := e.Payment()
	return p
}

// remoteOf is the subscription that an event tells of.
func remoteOf(e gateway.Event) gateway.RemoteSubscription {
	switch p := e.Payload.(type) {
	case gateway.SubscriptionChange:
		return p.Subscription
	case gateway.SubscriptionEnd:
		return p.Subscription
	}
	return gateway.RemoteSubscription{}
}
