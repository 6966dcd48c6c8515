package gwa_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestInactiveStopsNewChargesOnly_A4(t *testing.T) {
	t.Parallel()
	b := setup(t)
	sub, _ := b.subscribed()
	path := "/v3/subscriptions/" + sub
	b.advance(2 * day) // the first is paid, the one of April made
	require.Equal(t, "2035-04-12", b.newest(path + "/payments?status=PENDING")["dueDate"])
	b.deliveredEvents()
	require.Equal(t, "INACTIVE", b.ok("PUT", path, object{"status": "INACTIVE"})["status"])
	require.Equal(t, []string{"SUBSCRIPTION_INACTIVATED"}, names(b.deliveredEvents()))
	b.ok("PUT", path, object{"status": "INACTIVE"})
	require.NotContains(t, names(b.deliveredEvents()), "SUBSCRIPTION_INACTIVATED", "it was before")
	b.advance(32 * day)
	require.Contains(t, names(b.deliveredEvents()), "PAYMENT_CONFIRMED", "what was made ahead is collected")
	b.advance(60 * day)
	require.NotContains(t, names(b.deliveredEvents()), "PAYMENT_CREATED", "and nothing more is made")
	require.Equal(t, 2.0, b.ok("GET", path+"/payments", nil)["totalCount"])
}

func TestAPauseIsInactiveWithoutPendingCharges_A4(t *testing.T) {
	t.Parallel()
	b := setup(t)
	sub, _ := b.subscribed()
	path := "/v3/subscriptions/" + sub
	b.advance(2 * day)
	b.ok("PUT", path, object{"status": "INACTIVE"})
	b.deliveredEvents()
	open := id(b.newest(path + "/payments?status=PENDING"))
	b.ok("DELETE", "/v3/payments/"+open, nil)
	require.Equal(t, []string{"PAYMENT_DELETED"}, names(b.deliveredEvents()))
	b.advance(60 * day) // 13 May
	require.NotContains(t, names(b.deliveredEvents()), "PAYMENT_CONFIRMED")
	require.Equal(t, 1.0, b.ok("GET", path+"/payments", nil)["totalCount"])

	resumed := b.ok("PUT", path, object{"status": "ACTIVE", "nextDueDate": "2035-05-14"})
	require.Equal(t, "ACTIVE", resumed["status"])
	require.Equal(t, []string{"SUBSCRIPTION_UPDATED"}, names(b.deliveredEvents())[:1])
	b.advance(2*day + time.Hour)
	require.Contains(t, names(b.deliveredEvents()), "PAYMENT_CONFIRMED", "charged again from that day on")
}

func TestThePayersBankTakesAPIXBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.paidPIX(100)
	b.deliveredEvents()
	b.ok("POST", "/_sandbox/payments/"+p+"/take-back", object{"value": 30})
	require.Equal(t, []string{"PAYMENT_PARTIALLY_REFUNDED"}, names(b.deliveredEvents()))
	b.ok("POST", "/_sandbox/payments/"+p+"/take-back", nil)
	delivered := b.deliveredEvents()
	require.Equal(t, []string{"PAYMENT_REFUNDED"}, names(delivered))
	refunds := delivered[0].object("payment")["refunds"].([]any)
	require.Len(t, refunds, 2)
	require.Equal(t, 70.0, refunds[1].(object)["value"])
	require.Nil(t, refunds[1].(object)["description"], "nobody here asked for it")
	status, _, _ := b.refused("POST", "/_sandbox/payments/"+p+"/take-back", nil)
	require.Equal(t, 400, status)
}
