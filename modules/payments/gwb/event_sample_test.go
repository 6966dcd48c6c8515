package gwb

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/platform/objectid"
)

// sampleKinds says what each sample means; those in both shapes are named
// without their shape.
var sampleKinds = map[string]gateway.EventKind{
	"charge.dispute.created":                             gateway.DisputeOpened,
	"charge.refunded.full":                               gateway.PaymentRefunded,
	"charge.refunded.partial-1":                          gateway.PaymentRefunded,
	"charge.refunded.partial-2-cumulative":               gateway.PaymentRefunded,
	"charge.refunded.ticket-order-same-customer":         gateway.PaymentRefunded,
	"customer.subscription.created.incomplete":           gateway.SubscriptionChanged,
	"customer.subscription.deleted":                      gateway.SubscriptionEnded,
	"customer.subscription.updated.active":               gateway.SubscriptionChanged,
	"customer.subscription.updated.cancel-at-period-end": gateway.SubscriptionChanged,
	"customer.subscription.updated.past_due":             gateway.SubscriptionChanged,
	"invoice.paid.first":                                 gateway.PaymentSettled,
	"invoice.paid.renewal":                               gateway.PaymentSettled,
	"invoice.payment_failed.first-declined":              gateway.PaymentFailed,
	"invoice.payment_failed.renewal":                     gateway.PaymentFailed,
	"payment_intent.payment_failed.card-invoice-not-pix": gateway.Ignored,
	"payment_intent.payment_failed.pix-expired":          gateway.PaymentLost,
	"payment_intent.requires_action.pix-subscription":    gateway.Ignored,
	"payment_intent.succeeded.card-invoice-not-pix":      gateway.Ignored,
	"payment_intent.succeeded.pix-subscription":          gateway.PaymentSettled,
	"payment_intent.succeeded.pix-ticket-order":          gateway.PaymentSettled,
}

func TestEverySampleHasItsMeaning(t *testing.T) {
	t.Parallel()
	g := New(Config{})
	files, err := filepath.Glob("../testdata/webhooks/gwb.*.json")
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "gwb."), ".json")
		for _, shape := range []string{".dahlia", ".pre-basil-2024-06-20"} {
			name = strings.TrimSuffix(name, shape)
		}
		want, known := sampleKinds[name]
		require.True(t, known, name)
		seen[name] = true
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		e, err := g.ReadEvent(raw)
		require.NoError(t, err, file)
		require.Equal(t, want, e.Kind(), file)
		require.False(t, e.CreatedAt.IsZero(), file)
	}
	require.Len(t, seen, len(sampleKinds))
}

func TestRefundSamplesAreCumulative(t *testing.T) {
	t.Parallel()
	g := New(Config{})
	for _, shape := range []string{"dahlia", "pre-basil-2024-06-20"} {
		for name, want := range map[string]int64{"partial-1": 1000, "partial-2-cumulative": 3500, "full": 4990} {
			e, err := g.ReadEvent(sample(t, "charge.refunded."+name+"."+shape))
			require.NoError(t, err)
			require.EqualValues(t, want, e.Payload.(gateway.RefundChange).Report.Total, name)
			require.True(t, e.Payload.(gateway.RefundChange).Report.HasTotal)
			require.Equal(t, "pi_3SVaBbLkdIwHu7ix1ZxCvBnM", e.Payload.(gateway.RefundChange).Report.PaymentID,
				"the key of refunds and disputes")
			require.Equal(t, e.CreatedAt, e.Payload.(gateway.RefundChange).Report.At)
			require.Equal(t, e.ID, e.Payload.(gateway.RefundChange).Report.EventID)
			require.Equal(t, customerID, e.CustomerID)
			require.Empty(t, e.Purpose, "a charge of an invoice tells nothing")
			require.Contains(t, e.Subjects(), e.Payload.(gateway.RefundChange).Report.PaymentID)
		}
	}
}

func TestRefundOfATicketOrderIsTheOrders(t *testing.T) {
	t.Parallel()
	e, err := New(Config{}).ReadEvent(sample(t, "charge.refunded.ticket-order-same-customer.dahlia"))
	require.NoError(t, err)
	require.Equal(t, gateway.ForOrder, e.Purpose)
	require.Equal(t, objectid.ID("66f0a1b2c3d4e5f607182c11"), e.Reference)
	require.EqualValues(t, 24000, e.Payload.(gateway.RefundChange).Report.Total)
}

func TestDisputeSample(t *testing.T) {
	t.Parallel()
	e, err := New(Config{}).ReadEvent(sample(t, "charge.dispute.created"))
	require.NoError(t, err)
	require.Empty(t, e.CustomerID, "a dispute names no customer")
	require.Equal(t, gateway.DisputeReport{
		ID: "du_1SVdSpLkdIwHu7ixDiSpUtE1", PaymentID: "pi_3SVaBbLkdIwHu7ix1ZxCvBnM",
		ChargeID: "ch_3SVaBbLkdIwHu7ix1LkJhGfD", Amount: 4990, Reason: "fraudulent", State: gateway.DisputeOpen,
		NativeStatus: "needs_response", OpenedAt: time.Unix(1795794192, 0).UTC(), At: time.Unix(1795794193, 0).UTC(),
		EventID: "evt_1SVaC26LkdIwHu7ixEv000026", EvidenceDueAt: new(time.Unix(1796398992, 0).UTC()),
	}, e.Payload.(gateway.DisputeChange).Report)
	require.Contains(t, e.Subjects(), "pi_3SVaBbLkdIwHu7ix1ZxCvBnM")
}

// TestDisputeDeadline: null and 0 are none; one that is looked at, or had evidence sent, was answered.
func TestDisputeDeadline(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]struct {
		due  int64
		sent bool
	}{
		`"status":"needs_response","evidence_details":{"due_by":1796398992,"submission_count":0}`: {1796398992, false},
		`"status":"needs_response","evidence_details":{"due_by":1796398992,"submission_count":1}`: {1796398992, true},
		`"status":"under_review","evidence_details":{"due_by":1796398992}`:                        {1796398992, true},
		`"status":"warning_under_review","evidence_details":{"due_by":null}`:                      {0, true},
		`"status":"needs_response","evidence_details":{"due_by":0}`:                               {0, false},
		`"status":"needs_response","evidence_details":null`:                                       {0, false},

		`"status":"needs_response"`: {0, false},
	} {
		e, err := New(Config{}).ReadEvent([]byte(
			`{"id":"evt_1","type":"charge.dispute.updated","created":1,"data":{"object":{"id":"du_1","charge":"ch_1",` + object + `}}}`))
		require.NoError(t, err)
		report := e.Payload.(gateway.DisputeChange).Report
		require.Equal(t, want.sent, report.EvidenceSent, object)
		if want.due == 0 {
			require.Nil(t, report.EvidenceDueAt, object)
			continue
		}
		require.Equal(t, time.Unix(want.due, 0).UTC(), *report.EvidenceDueAt, object)
	}
}

func TestDisputeStates(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]struct {
		state gateway.DisputeState
		kind  gateway.EventKind
	}{
		"warning_needs_response": {gateway.DisputeInquiry, gateway.DisputeOpened},
		"warning_closed":         {gateway.DisputeDismissed, gateway.DisputeClosed},
		"under_review":           {gateway.DisputeOpen, gateway.DisputeOpened},
		"won":                    {gateway.DisputeWon, gateway.DisputeClosed},
		"lost":                   {gateway.DisputeLost, gateway.DisputeClosed},
		"of_some_new_kind":       {gateway.DisputeOpen, gateway.DisputeOpened},
	} {
		e, err := New(Config{}).
			ReadEvent([]byte(`{"id":"evt_1","type":"charge.dispute.closed","created":1,"data":{"object":{"id":"du_1","charge":"ch_1","status":"` + status + `"}}}`))
		require.NoError(t, err)
		require.Equal(t, want.state, e.Payload.(gateway.DisputeChange).Report.State, status)
		require.Equal(t, want.kind, e.Kind(), status)
		require.Equal(t, "ch_1", e.Payload.(gateway.DisputeChange).Report.PaymentID,
			"without a payment intent the charge stands for it")
	}
}

func TestPaymentIntentsOfOurs(t *testing.T) {
	t.Parallel()
	g := New(Config{})
	for name, want := range map[string]struct {
		purpose   gateway.Purpose
		reference objectid.ID
		status    gateway.PaymentStatus
		amount    int64
	}{
		"payment_intent.succeeded.pix-subscription": {
			purpose: gateway.ForSubscription, reference: "66f0a1b2c3d4e5f607182c02",
			status: gateway.PaymentStatusSettled,
			amount: 59880,
		},
		"payment_intent.payment_failed.pix-expired": {
			purpose: gateway.ForSubscription, reference: "66f0a1b2c3d4e5f607182c02", status: gateway.PaymentStatusGone,
			amount: 59880,
		},
		"payment_intent.succeeded.pix-ticket-order": {
			purpose: gateway.ForOrder, reference: "66f0a1b2c3d4e5f607182c11", status: gateway.PaymentStatusSettled,
			amount: 24000,
		},
	} {
		e, err := g.ReadEvent(sample(t, name))
		require.NoError(t, err, name)
		require.Equal(t, want.purpose, e.Purpose, name)
		require.Equal(t, want.reference, e.Reference, name)
		require.Equal(t, want.status, paymentOf(e).Status, name)
		require.Equal(t, gateway.MethodPix, paymentOf(e).Method, name)
		require.EqualValues(t, want.amount, paymentOf(e).Amount, name)
		require.Equal(t, paymentOf(e).PaymentIntentID, paymentOf(e).ID, name)
		require.Empty(t, e.SubscriptionID, name)
		require.Equal(t, want.status == gateway.PaymentStatusSettled, paymentOf(e).SettledAt != nil, name)
	}
}

func TestIntentsOfOthersAreIgnored(t *testing.T) {
	t.Parallel()
	g := New(Config{})
	for _, meta := range []string{
		`{}`, `null`, `{"kind":"subscription_pix"}`, `{"kind":"subscription_pix","local_subscription_id":"x"}`,
		`{"kind":"donation","local_order_id":"66f0a1b2c3d4e5f607182c02"}`,
	} {
		for _, kind := range []string{
			"payment_intent.succeeded", "payment_intent.payment_failed", "payment_intent.canceled",
		} {
			e, err := g.ReadEvent([]byte(`{"id":"evt_1","type":"` + kind +
				`","data":{"object":{"id":"pi_1","metadata":` + meta + `}}}`))
			require.NoError(t, err)
			require.Equal(t, gateway.Ignored, e.Kind(), meta)
			require.Nil(t, e.Payload, meta)
		}
	}
}

// TestAnIntentOfNoKindOfOursThatNamesASubscriptionIsMoney, as reconciliation finds it; unless
// it is an invoice's, which tells itself. What of it fails is nothing of ours.
func TestAnIntentOfNoKindOfOursThatNamesASubscriptionIsMoney(t *testing.T) {
	t.Parallel()
	for event, want := range map[string]gateway.EventKind{
		`"payment_intent.succeeded","data":{"object":{"id":"pi_1"`:                                       gateway.PaymentSettled,
		`"payment_intent.succeeded","data":{"object":{"id":"pi_1","invoice":"in_1"`:                      gateway.Ignored,
		`"payment_intent.succeeded","data":{"object":{"id":"pi_1","description":"Subscription creation"`: gateway.Ignored,
		`"payment_intent.canceled","data":{"object":{"id":"pi_1"`:                                        gateway.Ignored,
	} {
		e, err := New(Config{}).ReadEvent([]byte(`{"id":"evt_1","type":` + event +
			`,"metadata":{"kind":"donation","local_subscription_id":"66f0a1b2c3d4e5f607182c02"}}}}`))
		require.NoError(t, err)
		require.Equal(t, want, e.Kind(), event)
	}
}

func TestCancelledIntentIsLost(t *testing.T) {
	t.Parallel()
	e, err := New(Config{}).
		ReadEvent([]byte(`{"id":"evt_1","type":"payment_intent.canceled","data":{"object":{"id":"pi_1","status":"canceled",
		"metadata":{"kind":"subscription_pix","local_subscription_id":"66f0a1b2c3d4e5f607182c02"}}}}`))
	require.NoError(t, err)
	require.Equal(t, gateway.PaymentLost, e.Kind())
}

func TestSingleRefunds(t *testing.T) {
	t.Parallel()
	g := New(Config{})
	for status, want := range map[string]struct {
		state gateway.RefundStatus
		kind  gateway.EventKind
		at    int64
	}{
		"succeeded": {gateway.RefundStatusDone, gateway.PaymentRefunded, 50},
		"pending":   {gateway.RefundStatusDone, gateway.PaymentRefunded, 50}, // the charge counts it as well
		"failed":    {gateway.RefundStatusFailed, gateway.RefundFailed, 90},
		"canceled":  {gateway.RefundStatusFailed, gateway.RefundFailed, 90},
	} {
		for _, kind := range []string{"refund.created", "refund.updated", "refund.failed", "charge.refund.updated"} {
			e, err := g.ReadEvent([]byte(`{"id":"evt_1","type":"` + kind +
				`","created":90,"data":{"object":{"id":"re_1","amount":1000,"charge":"ch_1",
				"payment_intent":"pi_1","created":50,"status":"` + status +
				`","metadata":{"local_refund_id":"66f0a1b2c3d4e5f607182c02","reason":"A courtesy"}}}}`))
			require.NoError(t, err)
			require.Equal(t, want.kind, e.Kind(), status)
			require.False(t, e.Payload.(gateway.RefundChange).Report.HasTotal, "it tells nothing of the others")
			require.Equal(t, []gateway.SingleRefund{{
				ID: "re_1", RefundID: "66f0a1b2c3d4e5f607182c02", Amount: 1000, Status: want.state,
				Reason: "A courtesy",
				At:     time.Unix(want.at, 0).UTC(),
			}}, e.Payload.(gateway.RefundChange).Report.Singles, status)
		}
	}
}
