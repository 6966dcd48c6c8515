package gwa

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/platform/money"
	"marquee/platform/objectid"
)

const authorized = "PIX_AUTOMATIC_RECURRING_AUTHORIZATION_"

var sampleKinds = map[string]gateway.EventKind{
	"PAYMENT_CHARGEBACK_REQUESTED.card-subscription":       gateway.DisputeOpened,
	"PAYMENT_CONFIRMED.card-subscription":                  gateway.PaymentSettled,
	"PAYMENT_CONFIRMED.one-off-external-reference":         gateway.PaymentSettled,
	"PAYMENT_CONFIRMED.pix-automatic-recurring-debit":      gateway.PaymentSettled,
	"PAYMENT_CREATED.card-subscription":                    gateway.Ignored,
	"PAYMENT_DELETED.card-subscription":                    gateway.PaymentDeleted,
	"PAYMENT_OVERDUE.card-subscription":                    gateway.PaymentFailed,
	"PAYMENT_PARTIALLY_REFUNDED.pix-second-partial":        gateway.PaymentRefunded,
	"PAYMENT_RECEIVED.card-settled-32-days-later":          gateway.PaymentSettled,
	"PAYMENT_RECEIVED.pix-automatic-first-payment":         gateway.PaymentSettled,
	"PAYMENT_RECEIVED.pix-subscription-external-reference": gateway.PaymentSettled,
	"PAYMENT_RECEIVED.pix-ticket-order":                    gateway.PaymentSettled,
	"PAYMENT_REFUNDED.card-full":                           gateway.PaymentRefunded,
	"PAYMENT_REFUNDED.pix-full":                            gateway.PaymentRefunded,
	authorized + "ACTIVATED":                               gateway.AuthorizationActivated,
	authorized + "ACTIVATED.key-as-in-contract":            gateway.AuthorizationActivated,
	authorized + "CANCELLED":                               gateway.AuthorizationCancelled,
	authorized + "CREATED":                                 gateway.Ignored,
	authorized + "EXPIRED":                                 gateway.AuthorizationExpired,
	authorized + "REFUSED":                                 gateway.AuthorizationRefused,
	"SUBSCRIPTION_CREATED":                                 gateway.Ignored,
	"SUBSCRIPTION_DELETED":                                 gateway.SubscriptionEnded,
	"SUBSCRIPTION_INACTIVATED":                             gateway.SubscriptionEnded,
	"SUBSCRIPTION_UPDATED.iso-dates":                       gateway.RecurrenceMoved,
	"SUBSCRIPTION_UPDATED":                                 gateway.RecurrenceMoved,
}

func TestEverySampleHasItsMeaning(t *testing.T) {
	t.Parallel()
	g := New(Config{})
	files, err := filepath.Glob("../testdata/webhooks/gwa.*.json")
	require.NoError(t, err)
	require.Len(t, files, len(sampleKinds))
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "gwa."), ".json")
		want, known := sampleKinds[name]
		require.True(t, known, name)
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		e, err := g.ReadEvent(raw)
		require.NoError(t, err, file)
		require.Equal(t, want, e.Kind(), file)
		require.False(t, e.CreatedAt.IsZero(), file)
		if want != gateway.Ignored {
			require.NotEmpty(t, e.Subjects(), file)
		}
	}
}

func TestRefundSamples(t *testing.T) {
	t.Parallel()
	g := New(Config{})
	for name, want := range map[string]money.Cents{
		"PAYMENT_REFUNDED.card-full":                    4990,
		"PAYMENT_REFUNDED.pix-full":                     24000,
		"PAYMENT_PARTIALLY_REFUNDED.pix-second-partial": 4990, // 20.00 + 29.90: each event repeats all of them
	} {
		e, err := g.ReadEvent(sample(t, name))
		require.NoError(t, err, name)
		require.Equal(t, want, e.Payload.(gateway.RefundChange).Report.Total, name)
		require.True(t, e.Payload.(gateway.RefundChange).Report.HasTotal, name)
		require.Equal(t, paymentOf(e).ID, e.Payload.(gateway.RefundChange).Report.PaymentID, name)
		require.Equal(t, e.CreatedAt, e.Payload.(gateway.RefundChange).Report.At, name)
		require.True(t, e.Payload.(gateway.RefundChange).Report.Listed, name)
		for _, single := range e.Payload.(gateway.RefundChange).Report.Singles {
			require.Empty(t, single.RefundID, "none of them is ours: %s", name)
		}
	}
}

// refundEvent is an event about a payment of 49.90 with the refunds.
func refundEvent(t *testing.T, name, rest string) gateway.Event {
	t.Helper()
	e, err := New(Config{}).
		ReadEvent([]byte(`{"id":"evt_1&2","event":"` + name +
			`","dateCreated":"2026-11-24 18:20:49","payment":{"id":"pay_1","value":49.90,` + rest + `}}`))
	require.NoError(t, err)
	return e
}

func TestWhatCountsAsRefunded(t *testing.T) {
	t.Parallel()
	for rest, want := range map[string]money.Cents{
		`"status":"RECEIVED","refunds":[{"status":"DONE","value":20.0},{"status":"PENDING","value":5}]`:                                                   2000,
		`"status":"RECEIVED","refunds":[{"status":"DONE","value":20.0},{"status":"CANCELLED","value":5},{"status":"DONE","value":0.1}]`:                   2010,
		`"status":"REFUND_IN_PROGRESS","refunds":[{"status":"AWAITING_CRITICAL_ACTION_AUTHORIZATION","value":20.0},{"status":"OF_A_NEW_KIND","value":1}]`: 0,
		`"status":"REFUNDED"`:                4990,
		`"status":"REFUNDED","refunds":null`: 4990,
		`"status":"REFUNDED","refunds":[]`:   4990,
		`"status":"RECEIVED"`:                0,
	} {
		require.Equal(t, want,
			refundEvent(t, "PAYMENT_PARTIALLY_REFUNDED", rest).Payload.(gateway.RefundChange).Report.Total, rest)
	}
}

func TestOurRefundIsKnownByItsMark(t *testing.T) {
	t.Parallel()
	id := objectid.New()
	e := refundEvent(t, "PAYMENT_REFUND_IN_PROGRESS", `"refunds":[{"status":"DONE","value":10,"description":"Cortesia"},
		{"status":"PENDING","value":20,"dateCreated":"2026-11-24 18:20:41","description":"`+marked("A courtesy", id)+
		`"}]`)
	require.Equal(t, gateway.RefundPending, e.Kind())
	require.EqualValues(t, 1000, e.Payload.(gateway.RefundChange).Report.Total)
	require.Len(t, e.Payload.(gateway.RefundChange).Report.Singles, 2)
	require.Equal(t, "Cortesia", e.Payload.(gateway.RefundChange).Report.Singles[0].Reason)
	require.Equal(t, []gateway.SingleRefund{{
		RefundID: id, Amount: 2000, Status: gateway.RefundStatusPending, Reason: "A courtesy",
		At: time.Date(2026, 11, 24, 21, 20, 41, 0, time.UTC),
	}}, e.Payload.(gateway.RefundChange).Report.Singles[1:])
	e = refundEvent(t, "PAYMENT_REFUND_DENIED",
		`"status":"RECEIVED","refunds":[{"status":"CANCELLED","value":20,"description":"`+marked("", id)+`"}]`)
	require.Equal(t, gateway.RefundFailed, e.Kind())
	require.Equal(t, gateway.RefundStatusFailed, e.Payload.(gateway.RefundChange).Report.Singles[0].Status)
	require.Zero(t, e.Payload.(gateway.RefundChange).Report.Total)
}

func TestMarkSurvivesALongReason(t *testing.T) {
	t.Parallel()
	id := objectid.New()
	for _, reason := range []string{"", "x", strings.Repeat("ã", 500), "[ref 66f0a1b2c3d4e5f607182a01]"} {
		text := marked(reason, id)
		require.LessOrEqual(t, len([]rune(text)), 140)
		_, got := unmarked(text)
		require.Equal(t, id, got, reason)
	}
	_, got := unmarked("Cortesia [ref 66f0a1b2c3d4e5f607182a0]")
	require.Empty(t, got)
}

func TestLostChargebackIsNoRefund(t *testing.T) {
	t.Parallel()
	e := refundEvent(t, "PAYMENT_REFUNDED",
		`"status":"REFUNDED","refunds":null,"chargeback":{"status":"DONE","reason":"FRAUD"}`)
	require.Equal(t, gateway.DisputeClosed, e.Kind())
	require.Equal(t, gateway.DisputeLost, e.Payload.(gateway.DisputeChange).Report.State)
	require.IsType(t, gateway.DisputeChange{}, e.Payload)
}

func TestDisputeSample(t *testing.T) {
	t.Parallel()
	e, err := New(Config{}).ReadEvent(sample(t, "PAYMENT_CHARGEBACK_REQUESTED.card-subscription"))
	require.NoError(t, err)
	require.Equal(t, "sub_k3v9x1m7q2t8w4z6", e.SubscriptionID)
	require.Equal(t, "pay_a1b2c3d4e5f6g7h8", e.Payload.(gateway.DisputeChange).Report.ID)
	require.Equal(t, "ABSENCE_OF_PRINT", e.Payload.(gateway.DisputeChange).Report.Reason)
	require.EqualValues(t, 4990, e.Payload.(gateway.DisputeChange).Report.Amount)
	require.Equal(t, gateway.DisputeOpen, e.Payload.(gateway.DisputeChange).Report.State)
}

func TestNextDueDateInBothForms(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"SUBSCRIPTION_UPDATED", "SUBSCRIPTION_UPDATED.iso-dates"} {
		e, err := New(Config{}).ReadEvent(sample(t, name))
		require.NoError(t, err)
		require.Equal(t, "2027-01-05T03:00:00Z",
			e.Payload.(gateway.RecurrenceMove).Subscription.NextBilling.Format(time.RFC3339), name)
		require.Equal(t, "sub_k3v9x1m7q2t8w4z6", e.SubscriptionID)
		require.Equal(t, objectid.ID("66f0a1b2c3d4e5f607182a01"), e.Reference)
	}
	e, err := New(Config{}).
		ReadEvent([]byte(`{"id":"evt_1&2","event":"SUBSCRIPTION_UPDATED","subscription":{"id":"sub_1","nextDueDate":"next week"}}`))
	require.NoError(t, err, "a form that fits none fails no event")
	require.Nil(t, e.Payload.(gateway.RecurrenceMove).Subscription.NextBilling)
}

func TestAuthorizationUnderEitherKey(t *testing.T) {
	t.Parallel()
	const id = "7d1f0c62-4b7e-4f0b-9a4c-5b6c7d8e9f01"
	for _, object := range []string{
		`"authorization":{"id":"` + id + `"}`, `"authorization":"` + id + `"`,
		`"pixAutomaticAuthorization":{"id":"` + id + `"}`, `"pixAutomaticAuthorization":"` + id + `"`,
		`"authorization":null,"pixAutomaticAuthorization":"` + id + `"`,
	} {
		e, err := New(Config{}).ReadEvent([]byte(`{"id":"evt_1&2","event":"` + authorized + `REFUSED",` + object + `}`))
		require.NoError(t, err, object)
		require.Equal(t, id, e.AuthorizationID, object)
		require.Equal(t, gateway.AuthorizationStatusRefused,
			e.Payload.(gateway.AuthorizationChange).Authorization.Status)
	}
	_, err := New(Config{}).ReadEvent([]byte(`{"id":"evt_1&2","event":"` + authorized + `REFUSED"}`))
	require.Error(t, err)
}

func TestAuthorizationSample(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ACTIVATED", "ACTIVATED.key-as-in-contract"} {
		e, err := New(Config{}).ReadEvent(sample(t, authorized+name))
		require.NoError(t, err)
		require.Equal(t, objectid.ID("66f0a1b2c3d4e5f607182a03"), e.Reference, "the contract")
		require.Equal(t, "CINEPLAYLTDA0000000000000161305ASA", e.ConciliationID)
		require.Equal(t, gateway.AuthorizationStatusActive,
			e.Payload.(gateway.AuthorizationChange).Authorization.Status)
	}
	e, err := New(Config{}).ReadEvent(sample(t, authorized+"CANCELLED"))
	require.NoError(t, err)
	require.Equal(t, "CANCELLED_BY_PAYER", e.Payload.(gateway.AuthorizationChange).Authorization.Reason)
}

func TestOverdueAndRefusedCardAreOneAttempt(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]gateway.PaymentStatus{
		"PAYMENT_OVERDUE":                     gateway.PaymentStatusFailed,
		"PAYMENT_CREDIT_CARD_CAPTURE_REFUSED": gateway.PaymentStatusFailed,
	} {
		e, err := New(Config{}).ReadEvent([]byte(`{"id":"evt_1&2","event":"` + name +
			`","payment":{"id":"pay_1","status":"OVERDUE","billingType":"CREDIT_CARD","subscription":"sub_1"}}`))
		require.NoError(t, err)
		require.Equal(t, gateway.PaymentFailed, e.Kind())
		require.Equal(t, 1, e.Payload.(gateway.FailedPayment).Attempt)
		require.Equal(t, status, paymentOf(e).Status)
	}
	e, err := New(Config{}).
		ReadEvent([]byte(`{"id":"evt_1&2","event":"PAYMENT_OVERDUE","payment":{"id":"pay_1","status":"OVERDUE","billingType":"PIX"}}`))
	require.NoError(t, err)
	require.Equal(t, gateway.PaymentStatusPending, paymentOf(e).Status, "an overdue PIX can still be paid")
}

func TestReadersFailNoStrangeObject(t *testing.T) {
	t.Parallel()
	g := New(Config{})
	types := 0
	for _, m := range allMeanings {
		for name := range m.read {
			types++
			for _, object := range []string{`null`, `7`, `"x"`, `[]`, `{}`, `{"id":7}`} {
				body := `{"id":"evt_1&2","event":"` + name + `","payment":` + object + `,"subscription":` + object +
					`,"authorization":` + object + `,"paymentInstruction":` + object + `}`
				e, err := g.ReadEvent([]byte(body))
				if err != nil {
					require.Equal(t, gateway.Ignored, e.Kind(), body)
					require.Equal(t, "evt_1&2", e.ID, "it is logged under its id")
				}
			}
		}
	}
	require.GreaterOrEqual(t, types, 22)
}
