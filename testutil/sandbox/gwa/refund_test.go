package gwa_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/testutil/sandbox/gwa"
	"marquee/testutil/sandbox/gwa/account"
)

func TestFullRefundOfPIX_A7(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.paidPIX(240)
	b.deliveredEvents()
	got := b.ok("POST", "/v3/payments/"+p+"/refund", nil)
	require.Equal(t, "REFUNDED", got["status"])
	require.Nil(t, got["pixTransaction"])
	refunds := got["refunds"].([]any)
	require.Len(t, refunds, 1)
	refund := refunds[0].(object)
	require.Equal(t, 240.0, refund["value"])
	require.Equal(t, "DONE", refund["status"])
	require.Regexp(t, `^D19540550203503121300[A-Za-z0-9]{11}$`, refund["endToEndIdentifier"])
	require.Regexp(t, `^2035-03-12 10:00:\d\d$`, refund["dateCreated"])
	require.Equal(t, []string{"PAYMENT_REFUNDED"}, names(b.deliveredEvents()))
	require.Equal(t, 1.0, b.ok("GET", "/v3/payments/"+p+"/refunds", nil)["totalCount"])
	status, code, _ := b.refused("POST", "/v3/payments/"+p+"/refund", nil)
	require.Equal(t, 400, status)
	require.Equal(t, "invalid_action", code)
}

func TestPartialRefunds_A7(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.paidPIX(149.70)
	b.deliveredEvents()
	for _, value := range []float64{20, 29.90} {
		got := b.ok("POST", "/v3/payments/"+p+"/refund", object{"value": value, "description": "Cortesia"})
		require.Equal(t, "RECEIVED", got["status"], "unchanged")
	}
	events := b.deliveredEvents()
	require.Equal(t, []string{"PAYMENT_PARTIALLY_REFUNDED", "PAYMENT_PARTIALLY_REFUNDED"}, names(events))
	require.Len(t, events[1].object("payment")["refunds"], 2, "the event repeats all refunds")
	status, code, _ := b.refused("POST", "/v3/payments/"+p+"/refund", object{"value": 99.81})
	require.Equal(t, 400, status, "the sum stays within the value")
	require.Equal(t, "invalid_value", code)
	require.Equal(t, "REFUNDED", b.ok("POST", "/v3/payments/"+p+"/refund", nil)["status"], "the rest")
}

func TestRefundNeedsBalanceForTheFee_A7(t *testing.T) {
	t.Parallel()
	b := setup(t, func(o *gwa.Options) { o.BalanceCents = -1 })
	p := b.paidPIX(240)
	status, code, description := b.refused("POST", "/v3/payments/"+p+"/refund", nil)
	require.Equal(t, 400, status)
	require.Equal(t, "invalid_action", code)
	require.Equal(t, "Saldo insuficiente para realizar a operação.", description)
	b.ok("POST", "/v3/payments/"+p+"/refund", object{"value": 100})
	b.g.SetBalance(14_000)
	b.ok("POST", "/v3/payments/"+p+"/refund", nil)

	other := b.paidPIX(10)
	b.ok("PATCH", "/_sandbox/settings", object{"refundsNeedBalance": false})
	b.ok("POST", "/v3/payments/"+other+"/refund", nil)
}

func TestRefundOfCardFromConfirmed_A7(t *testing.T) {
	t.Parallel()
	b := setup(t, func(o *gwa.Options) { o.BalanceCents = -1 })
	sub, p := b.subscribed()
	status, code, _ := b.refused("POST", "/v3/payments/"+p+"/refund", nil)
	require.Equal(t, 400, status, "not paid yet")
	require.Equal(t, "invalid_action", code)
	b.advance(day)
	got := b.ok("POST", "/v3/payments/"+p+"/refund", nil)
	require.Equal(t, "REFUNDED", got["status"])
	require.Nil(t, got["refunds"].([]any)[0].(object)["endToEndIdentifier"])
	require.Equal(t, "ACTIVE", b.ok("GET", "/v3/subscriptions/"+sub, nil)["status"], "the subscription goes on")
	b.deliveredEvents()
	b.advance(33 * day)
	require.NotContains(t, names(b.deliveredEvents()), "PAYMENT_RECEIVED", "refunded money does not settle")
}

func TestRefundInProgress_A7(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.g.ChangeSettings(func(s *account.Settings) { s.RefundsInProgress = true })
	require.NoError(t, err)
	p := b.paidPIX(240)
	b.deliveredEvents()
	got := b.ok("POST", "/v3/payments/"+p+"/refund", nil)
	require.Equal(t, "REFUND_IN_PROGRESS", got["status"])
	require.Equal(t, "PENDING", got["refunds"].([]any)[0].(object)["status"])
	got = b.ok("POST", "/_sandbox/payments/"+p+"/refund/deny", nil)
	require.Equal(t, "RECEIVED", got["status"])
	b.ok("POST", "/v3/payments/"+p+"/refund", nil)
	got = b.ok("POST", "/_sandbox/payments/"+p+"/refund/complete", nil)
	require.Equal(t, "REFUNDED", got["status"])
	require.Equal(t, []string{
		"PAYMENT_REFUND_IN_PROGRESS", "PAYMENT_REFUND_DENIED", "PAYMENT_REFUND_IN_PROGRESS", "PAYMENT_REFUNDED",
	}, names(b.deliveredEvents()))
}
