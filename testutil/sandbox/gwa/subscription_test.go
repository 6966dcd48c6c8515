package gwa_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/testutil/sandbox/gwa"
	"marquee/testutil/sandbox/gwa/account"
)

func TestSubscription_A4(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.customer()
	s := b.ok("POST", "/v3/subscriptions", subscription(c, "2035-03-12"))
	require.Regexp(t, `^sub_[a-z0-9]{16}$`, s["id"])
	require.Equal(t, "2035-04-12", s["nextDueDate"], "already one cycle on")
	require.Equal(t, "ACTIVE", s["status"])
	require.Equal(t, 49.9, s["value"])
	require.Equal(t, object{
		"creditCardNumber": "8829", "creditCardBrand": "MASTERCARD",
		"creditCardToken": s["creditCard"].(object)["creditCardToken"],
	}, s["creditCard"])
	require.ElementsMatch(t, []string{
		"object", "id", "dateCreated", "customer", "paymentLink", "value", "nextDueDate", "cycle", "description",
		"billingType", "deleted", "status", "externalReference", "checkoutSession", "sendPaymentByPostalService",
		"fine",
		"interest", "split", "creditCard",
	}, keys(s))

	charges := b.ok("GET", "/v3/subscriptions/"+id(s)+"/payments", nil)
	require.Equal(t, 1.0, charges["totalCount"], "the first charge is made at once")
	first := charges["data"].([]any)[0].(object)
	require.Equal(t, "PENDING", first["status"], "and not charged within the call")
	require.Equal(t, "2035-03-12", first["dueDate"])
	require.Equal(t, s["externalReference"], first["externalReference"])
	require.Equal(t, s["description"], first["description"])
	require.Equal(t, []string{"PAYMENT_CREATED", "SUBSCRIPTION_CREATED"}, names(b.deliveredEvents()))

	b.advance(time.Minute)
	events := b.deliveredEvents()
	require.Equal(t, []string{"PAYMENT_CONFIRMED"}, names(events), "the result comes by webhook")
	require.Equal(t, id(s), events[0].object("payment")["subscription"])
	require.Equal(t, "CONFIRMED", b.ok("GET", "/v3/payments/"+id(first)+"/status", nil)["status"])
	require.Equal(t, 1.0, b.ok("GET", "/v3/subscriptions/"+id(s)+"/payments?status=CONFIRMED", nil)["totalCount"])
	require.Equal(t, 1.0,
		b.ok("GET", "/v3/subscriptions?externalReference=66f0a1b2c3d4e5f607182a01", nil)["totalCount"])
}

func TestChargeFollowsTheAnswerByItself_A4(t *testing.T) {
	t.Parallel()
	b := setup(t, func(o *gwa.Options) { o.ChargeDelay = 20 * time.Millisecond })
	s := b.ok("POST", "/v3/subscriptions", subscription(b.customer(), "2035-03-12"))
	require.Eventually(t, func() bool {
		return b.newest("/v3/subscriptions/" + id(s) + "/payments")["status"] == "CONFIRMED"
	}, time.Minute, 10*time.Millisecond)
	require.Equal(t, []string{"PAYMENT_CREATED", "SUBSCRIPTION_CREATED", "PAYMENT_CONFIRMED"},
		names(b.deliveredEvents()))
}

func TestDeclinedCardLeavesNoSubscription_A1AndA3(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.customer()
	for _, number := range []string{"5184019740373151", "4916561358240741"} {
		status, code, description := b.refused("POST", "/v3/subscriptions",
			merged(subscription(c, "2035-03-12"), card(number)))
		require.Equal(t, 400, status)
		require.Equal(t, "invalid_action", code)
		require.Equal(t, "Transação não autorizada. Verifique os dados do cartão de crédito e tente novamente.",
			description)
	}
	require.Equal(t, 0.0, b.ok("GET", "/v3/subscriptions", nil)["totalCount"])
	require.Equal(t, 0.0, b.ok("GET", "/v3/payments", nil)["totalCount"])
	require.Empty(t, b.deliveredEvents())
}

func TestRefusedSubscriptions_A4(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.customer()
	for name, x := range map[string]refusal{
		"no customer":      {object{"customer": "cus_000000000000"}, "invalid_customer"},
		"billing type":     {object{"billingType": "CASH"}, "invalid_billingType"},
		"value":            {object{"value": 0}, "invalid_value"},
		"past":             {object{"nextDueDate": "2035-03-11"}, "invalid_dueDate"},
		"date":             {object{"nextDueDate": "12/03/2035"}, "invalid_dueDate"},
		"cycle":            {object{"cycle": "ANNUALLY"}, "invalid_cycle"},
		"no card":          {object{"creditCard": nil}, "invalid_creditCard"},
		"no holder":        {object{"creditCardHolderInfo": nil}, "invalid_creditCardHolderInfo"},
		"no payer address": {object{"remoteIp": nil}, "invalid_remoteIp"},
		"unknown token":    {object{"creditCardToken": "0f6f1b52-66b2-4f2c-8f50-6c1f2f0a9b11"}, "invalid_creditCard"},
		"not Luhn":         {card("5162306219378820"), "invalid_creditCard"},
	} {
		_, code, description := b.refused("POST", "/v3/subscriptions", merged(subscription(c, "2035-03-12"), x.change))
		require.Equal(t, x.code, code, name)
		require.NotEmpty(t, description)
	}
	_, err := b.g.ChangeSettings(func(s *account.Settings) { s.CardsApproved = false })
	require.NoError(t, err)
	_, code, _ := b.refused("POST", "/v3/subscriptions", subscription(c, "2035-03-12"))
	require.Equal(t, "invalid_billingType", code)
	b.ok("POST", "/v3/sandbox/myAccount/approve", nil)
	b.ok("POST", "/v3/subscriptions", subscription(c, "2035-03-12"))
}

func TestTodayIsTheDateInSaoPaulo_A4(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.advance(12 * time.Hour) // 22:00 in São Paulo, 01:00 UTC of the next day
	s := b.ok("POST", "/v3/subscriptions", subscription(b.customer(), "2035-03-12"))
	require.Equal(t, "2035-03-12", s["dateCreated"])
	b.advance(time.Minute)
	require.Contains(t, names(b.deliveredEvents()), "PAYMENT_CONFIRMED")
}

func TestFutureSubscriptionIsChargedOnTheDueDate_A4(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ok("POST", "/v3/subscriptions", subscription(b.customer(), "2035-04-11"))
	require.Equal(t, []string{"PAYMENT_CREATED", "SUBSCRIPTION_CREATED"}, names(b.deliveredEvents()))
	b.advance(29 * day)
	require.NotContains(t, names(b.deliveredEvents()), "PAYMENT_CONFIRMED")
	b.advance(day)
	confirmed := last(b, "PAYMENT_CONFIRMED")
	require.Equal(t, "2035-04-11", confirmed.object("payment")["confirmedDate"])
}

func TestChargesAreMade40DaysAhead_A4(t *testing.T) {
	t.Parallel()
	b := setup(t)
	body := merged(subscription(b.customer(), "2035-03-12"), object{"cycle": "QUARTERLY"})
	s := b.ok("POST", "/v3/subscriptions", body)
	require.Equal(t, "2035-06-12", s["nextDueDate"])
	b.advance(2 * time.Minute)
	b.deliveredEvents()

	b.advance(50 * day) // 1 May: 42 days ahead
	require.Equal(t, []string{"PAYMENT_RECEIVED"}, names(b.deliveredEvents()), "only the settlement of the first")
	b.advance(2 * day) // 3 May: 40 days ahead
	events := b.deliveredEvents()
	require.Equal(t, []string{"PAYMENT_CREATED", "SUBSCRIPTION_UPDATED"}, names(events))
	require.Equal(t, "2035-06-12", events[0].object("payment")["dueDate"])
	require.Equal(t, "2035-05-03", events[0].object("payment")["dateCreated"])
	require.Equal(t, "12/09/2035", events[1].object("subscription")["nextDueDate"], "the charge after the open one")
	b.advance(40 * day)
	require.Equal(t, []string{"PAYMENT_CONFIRMED"}, names(b.deliveredEvents()))
}

func TestMonthEndsAreKept_A4(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.ok("POST", "/v3/subscriptions", subscription(b.customer(), "2035-03-31"))
	require.Equal(t, "2035-04-30", s["nextDueDate"])
	b.advance(10 * day)
	require.Equal(t, "2035-04-30", b.newest("/v3/payments")["dueDate"])
	require.Equal(t, "2035-05-31", b.ok("GET", "/v3/subscriptions/"+id(s), nil)["nextDueDate"])
}

func TestRefusedRenewal_A11(t *testing.T) {
	t.Parallel()
	b := setup(t)
	sub, _ := b.subscribed()
	b.advance(2 * time.Minute)
	b.deliveredEvents()
	_, err := b.g.FailNextCharge(sub)
	require.NoError(t, err)
	b.advance(31 * day) // 12 April, a Thursday
	delivered := names(b.deliveredEvents())
	require.Contains(t, delivered, "PAYMENT_CREDIT_CARD_CAPTURE_REFUSED")
	require.NotContains(t, delivered, "PAYMENT_CONFIRMED")
	b.advance(day)
	overdue := last(b, "PAYMENT_OVERDUE")
	require.Equal(t, "2035-04-13 03:01", overdue.Created[:16], "about 03:00 on the next business day")
	require.Equal(t, object{"creditCardNumber": nil, "creditCardBrand": nil}, overdue.object("payment")["creditCard"])
	require.Equal(t, "ACTIVE", b.ok("GET", "/v3/subscriptions/"+sub, nil)["status"])
}

func TestOverdueWaitsForBusinessDays_A11(t *testing.T) {
	t.Parallel()
	b := setup(t)
	sunday := merged(pixPayment(b.customer(), 10), object{"dueDate": "2035-03-18"})
	require.Equal(t, "2035-03-18", b.ok("POST", "/v3/payments", sunday)["dueDate"], "weekends are accepted unchanged")
	b.advance(9 * day)
	require.Equal(t, "2035-03-20 03:01", last(b, "PAYMENT_OVERDUE").Created[:16],
		"as in the sample: due on a Sunday, overdue on Tuesday")
}

func TestRenewControl(t *testing.T) {
	t.Parallel()
	b := setup(t)
	sub, _ := b.subscribed()
	b.advance(2 * time.Minute)
	b.deliveredEvents()
	b.ok("POST", "/_sandbox/subscriptions/"+sub+"/renew", nil)
	require.Equal(t, []string{"PAYMENT_CREATED", "SUBSCRIPTION_UPDATED", "PAYMENT_CONFIRMED"},
		names(b.deliveredEvents()))
	b.ok("POST", "/_sandbox/subscriptions/"+sub+"/renew", object{"fail": true})
	require.Contains(t, names(b.deliveredEvents()), "PAYMENT_CREDIT_CARD_CAPTURE_REFUSED")
	require.Equal(t, 2.0, b.ok("GET", "/v3/subscriptions/"+sub+"/payments?status=CONFIRMED", nil)["totalCount"])
}

func TestDeleteSubscription_A4(t *testing.T) {
	t.Parallel()
	b := setup(t)
	sub, paid := b.subscribed()
	b.advance(2 * day) // the first is paid, the second made
	open := id(b.newest("/v3/subscriptions/" + sub + "/payments"))
	require.NotEqual(t, paid, open)
	b.deliveredEvents()
	require.Equal(t, object{"deleted": true, "id": sub}, b.ok("DELETE", "/v3/subscriptions/"+sub, nil))
	events := b.deliveredEvents()
	require.ElementsMatch(t, []string{"SUBSCRIPTION_DELETED", "PAYMENT_DELETED"}, names(events))
	require.Equal(t, open, events[1].object("payment")["id"])
	p := b.ok("GET", "/v3/payments/"+open, nil)
	require.Equal(t, true, p["deleted"])
	require.Equal(t, "PENDING", p["status"], "there is no cancelled status")
	require.Equal(t, "CONFIRMED", b.ok("GET", "/v3/payments/"+paid, nil)["status"])
	require.Equal(t, true, b.ok("GET", "/v3/subscriptions/"+sub, nil)["deleted"])
	require.Equal(t, 0.0, b.ok("GET", "/v3/subscriptions", nil)["totalCount"])
	status, _, _ := b.refused("DELETE", "/v3/subscriptions/"+sub, nil)
	require.Equal(t, 404, status)
	b.advance(60 * day)
	require.NotContains(t, names(b.deliveredEvents()), "PAYMENT_CREATED", "nothing is charged any more")
}

func TestUpdateSubscription_A4(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.ok("POST", "/v3/subscriptions", subscription(b.customer(), "2035-03-20"))
	path := "/v3/subscriptions/" + id(s)
	charge := "/v3/payments/" + id(b.newest(path+"/payments"))
	require.Equal(t, 59.9, b.ok("PUT", path, object{"value": 59.90})["value"])
	require.Equal(t, 49.9, b.ok("GET", charge, nil)["value"], "only future charges")
	b.ok("PUT", path, object{"value": 59.90, "updatePendingPayments": true})
	require.Equal(t, 59.9, b.ok("GET", charge, nil)["value"])
	b.deliveredEvents()

	require.Equal(t, "INACTIVE", b.ok("PUT", path, object{"status": "INACTIVE"})["status"])
	require.Equal(t, []string{"SUBSCRIPTION_INACTIVATED"}, names(b.deliveredEvents()))
	status, _, _ := b.refused("PUT", path, object{"status": "ACTIVE"})
	require.Equal(t, 400, status, "to resume nextDueDate is needed")
	resumed := b.ok("PUT", path, object{"status": "ACTIVE", "nextDueDate": "2035-05-20"})
	require.Equal(t, "2035-05-20", resumed["nextDueDate"])
}

func TestChangeCard_A4(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.ok("POST", "/v3/subscriptions", subscription(b.customer(), "2035-03-20"))
	path := "/v3/subscriptions/" + id(s)
	status, code, _ := b.refused("PUT", path+"/creditCard", card("5184019740373151"))
	require.Equal(t, 400, status)
	require.Equal(t, "invalid_action", code)
	b.deliveredEvents()
	changed := b.ok("PUT", path+"/creditCard", card("4444444444444448"))
	require.Equal(t, "4448", changed["creditCard"].(object)["creditCardNumber"])
	require.Equal(t, "VISA", changed["creditCard"].(object)["creditCardBrand"])
	require.NotContains(t, names(b.deliveredEvents()), "PAYMENT_CONFIRMED", "no charge")
	b.advance(9 * day)
	confirmed := last(b, "PAYMENT_CONFIRMED").object("payment")
	require.Equal(t, "4448", confirmed["creditCard"].(object)["creditCardNumber"], "pending charges included")
}

func TestDeclinedCardUnderASubscription(t *testing.T) {
	t.Parallel()
	b := setup(t)
	sub, _ := b.subscribed()
	_, err := b.g.DeclineCard(sub, true)
	require.NoError(t, err)
	b.advance(2 * time.Minute)
	require.Contains(t, names(b.deliveredEvents()), "PAYMENT_CREDIT_CARD_CAPTURE_REFUSED")
}

func TestSubscriptionEnds_A4(t *testing.T) {
	t.Parallel()
	b := setup(t)
	body := merged(subscription(b.customer(), "2035-03-12"), object{"maxPayments": 2})
	s := b.ok("POST", "/v3/subscriptions", body)
	b.advance(100 * day)
	require.Equal(t, 2.0, b.ok("GET", "/v3/subscriptions/"+id(s)+"/payments", nil)["totalCount"])
	require.Equal(t, "EXPIRED", b.ok("GET", "/v3/subscriptions/"+id(s), nil)["status"])
}

func TestRefusedUpdates_A4(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.ok("POST", "/v3/subscriptions", subscription(b.customer(), "2035-03-20"))
	path := "/v3/subscriptions/" + id(s)
	for code, change := range map[string]object{
		"invalid_status":      {"status": "EXPIRED"},
		"invalid_cycle":       {"cycle": "DAILY"},
		"invalid_value":       {"value": -1},
		"invalid_billingType": {"billingType": "CASH"},
		"invalid_dueDate":     {"nextDueDate": "2035-03-01"},
		"invalid_endDate":     {"endDate": "soon"},
		"invalid_object":      {"billingType": "PIX", "value": 4},
	} {
		status, got, _ := b.refused("PUT", path, change)
		require.Equal(t, 400, status, code)
		require.Equal(t, code, got)
	}
	require.Equal(t, s, b.ok("GET", path, nil), "unchanged")
	status, _, _ := b.refused("PUT", "/v3/subscriptions/sub_0000000000000000", object{"value": 10})
	require.Equal(t, 404, status)
	changed := b.ok("PUT", path, object{
		"cycle": "YEARLY", "endDate": "2040-03-20", "description": "Anual", "externalReference": "x", "value": 490,
	})
	require.Equal(t, "YEARLY", changed["cycle"])
	require.Equal(t, "2040-03-20", changed["endDate"])
}

func TestPixSubscriptionIsPaidByItsPayer_A4(t *testing.T) {
	t.Parallel()
	b := setup(t)
	body := merged(subscription(b.customer(), "2035-03-12"), object{"billingType": "PIX", "cycle": "WEEKLY"})
	s := b.ok("POST", "/v3/subscriptions", body)
	require.NotContains(t, s, "creditCard")
	require.Equal(t, "2035-03-19", s["nextDueDate"])
	b.advance(time.Hour)
	require.Equal(t, []string{"PAYMENT_CREATED", "SUBSCRIPTION_CREATED"}, names(b.deliveredEvents()))
	b.ok("POST", "/_sandbox/subscriptions/"+id(s)+"/renew", nil)
	require.Equal(t, []string{"PAYMENT_RECEIVED"}, names(b.deliveredEvents()), "the open charge first")
	b.ok("POST", "/_sandbox/subscriptions/"+id(s)+"/renew", object{"fail": true})
	require.Equal(t, []string{"PAYMENT_CREATED", "SUBSCRIPTION_UPDATED", "PAYMENT_OVERDUE"}, names(b.deliveredEvents()))
}
