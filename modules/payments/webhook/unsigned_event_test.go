package webhook_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/webhook"
)

// TestWhatCountsUnsigned: money of an id that was told here counts at once, as does a charge of a recurrence for about
// today; of all else that nothing signs the gateway is asked.
func TestWhatCountsUnsigned(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	day := func(n int) *time.Time { return new(now.AddDate(0, 0, n)) }
	paid := func(p gateway.Payment) gateway.Event {
		return gateway.Event{Payload: gateway.SettledPayment{Payment: p}}
	}
	firstCode := paid(gateway.Payment{SettledAt: day(0)})
	firstCode.ConciliationID = "qr_1"
	of := func(status gateway.AuthorizationStatus) gateway.Event {
		return gateway.Event{
			Payload: gateway.AuthorizationChange{Authorization: gateway.PixAuthorization{Status: status}},
		}
	}
	for _, c := range []struct {
		name     string
		event    gateway.Event
		unproven bool
		counts   bool
	}{
		{"a code of an id that was told here", paid(gateway.Payment{SettledAt: day(0)}), false, true},
		{"the same, of a day far ahead: its id proves it", paid(gateway.Payment{SettledAt: day(9)}), false, true},
		{"a charge of a recurrence", paid(gateway.Payment{SettledAt: day(0), DueDate: day(0)}), true, true},
		{"one that was due long ago", paid(gateway.Payment{SettledAt: day(-90), DueDate: day(-90)}), true, true},
		{"one that was made as far ahead as they are", paid(gateway.Payment{DueDate: day(40)}), true, true},
		{"one that says it is due still later", paid(gateway.Payment{DueDate: day(60)}), true, false},
		{"one that says it will be paid", paid(gateway.Payment{SettledAt: day(4)}), true, false},
		{"the first code of an automatic PIX", firstCode, true, false},
		{"a failure of a code that was told here", gateway.Event{Payload: gateway.FailedPayment{}}, false, true},
		{"a failure of a charge", gateway.Event{Payload: gateway.FailedPayment{}}, true, false},
		{"a refund", gateway.Event{Payload: gateway.RefundChange{}}, false, false},
		{"a dispute", gateway.Event{Payload: gateway.DisputeChange{}}, false, false},
		{"an authorization that opens", of(gateway.AuthorizationStatusActive), false, false},
		{"one that ends, which its applier has asked for", of(gateway.AuthorizationStatusCancelled), false, true},
	} {
		require.Equal(t, c.counts, webhook.CountsUnsigned(c.event, gateway.Result{Unproven: c.unproven}, now), c.name)
	}
}
