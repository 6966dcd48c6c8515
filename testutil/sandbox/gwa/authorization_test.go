package gwa_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/testutil/sandbox/gwa/account"
	"marquee/testutil/sandbox/stage"
)

const (
	authorizations = "/v3/pix/automatic/authorizations"
	instructions   = "/v3/pix/automatic/paymentInstructions"
	prefix         = "PIX_AUTOMATIC_RECURRING_AUTHORIZATION_"
	orders         = "PIX_AUTOMATIC_RECURRING_PAYMENT_INSTRUCTION_"
)

func TestAuthorization_A8(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.customer()
	a := b.ok("POST", authorizations, authorizationBody(c))
	require.Regexp(t, `^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`, a["id"])
	require.Regexp(t, `^RN1954055020350312[A-Za-z0-9]{11}$`, a["endToEndIdentifier"])
	require.ElementsMatch(t, []string{
		"id", "endToEndIdentifier", "status", "customerId", "contractId", "frequency", "startDate", "finishDate",
		"value", "minLimitValue", "description", "originType", "paymentCreationMode", "retryPolicy", "subscriptionId",
		"cancellationDate", "cancellationReason", "payload", "encodedImage", "immediateQrCode",
	}, keys(a))
	require.Equal(t, "CREATED", a["status"])
	require.Equal(t, "2035-04-12", a["startDate"])
	require.Equal(t, "MANUAL", a["paymentCreationMode"], "the default")
	require.NoError(t, stage.CheckBRCode(a["payload"].(string)), "at the root")
	qr := a["immediateQrCode"].(object)
	require.Regexp(t, `^2035-03-12 11:00:\d\d$`, qr["expirationDate"])
	require.Equal(t, []string{prefix + "CREATED"}, names(b.deliveredEvents()))

	b.ok("POST", "/_sandbox/pix/pay", object{"payload": a["payload"]})
	events := b.deliveredEvents()
	require.Equal(t, []string{"PAYMENT_CREATED", "PAYMENT_RECEIVED", prefix + "ACTIVATED"}, names(events))
	first := events[1].object("payment")
	require.NotEqual(t, c, first["customer"], "a payer customer of the gateway's own making")
	require.Nil(t, first["externalReference"])
	require.NotContains(t, first, "subscription")
	require.Equal(t, qr["conciliationIdentifier"], first["pixQrCodeId"], "the only way to find it")
	active := events[2].object("authorization")
	require.Equal(t, "12/04/2035", active["startDate"], "slashed in events")
	require.Regexp(t, `^12/03/2035 11:00:\d\d$`, active["immediateQrCode"].(object)["expirationDate"])
	require.Equal(t, "66f0a1b2c3d4e5f607182a03", active["contractId"])
	require.Equal(t, "ACTIVE", b.ok("GET", authorizations+"/"+id(a), nil)["status"])
	require.Equal(t, 1.0, b.ok("GET", authorizations+"?status=ACTIVE&customerId="+c, nil)["totalCount"])
}

func TestAuthorizationOfACent_A8(t *testing.T) {
	t.Parallel()
	b := setup(t)
	body := authorizationBody(b.customer())
	body["immediateQrCode"] = object{"originalValue": 0.01, "expirationSeconds": 60}
	b.ok("POST", authorizations, body)
}

func TestRefusedAuthorizations_A8(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.customer()
	for name, x := range map[string]refusal{
		"customer, not customerId": {object{"customerId": nil, "customer": c}, "invalid_customer"},
		"YEARLY":                   {object{"frequency": "YEARLY"}, "invalid_frequency"},
		"no contract":              {object{"contractId": ""}, "invalid_contractId"},
		"long contract": {
			object{"contractId": "123456789012345678901234567890123456"}, "invalid_contractId",
		},
		"no start":        {object{"startDate": nil}, "invalid_startDate"},
		"no code":         {object{"immediateQrCode": nil}, "invalid_immediateQrCode"},
		"value and limit": {object{"minLimitValue": 1}, "invalid_object"},
		"long description": {
			object{"description": "123456789012345678901234567890123456"}, "invalid_description",
		},
		"policy":                 {object{"retryPolicy": "ALWAYS"}, "invalid_retryPolicy"},
		"SUBSCRIPTION, no value": {object{"paymentCreationMode": "SUBSCRIPTION", "value": nil}, "invalid_value"},
	} {
		status, code, _ := b.refused("POST", authorizations, merged(authorizationBody(c), x.change))
		require.Equal(t, 400, status, name)
		require.Equal(t, x.code, code, name)
	}
	b.ok("POST", authorizations, merged(authorizationBody(c), object{"frequency": "ANNUALLY"}))
}

func TestQRCodeOfAuthorizationRunsOut_A8(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.ok("POST", authorizations, authorizationBody(b.customer()))
	b.advance(59 * time.Minute)
	require.Equal(t, []string{prefix + "CREATED"}, names(b.deliveredEvents()))
	b.advance(2 * time.Minute)
	require.Equal(t, []string{prefix + "REFUSED"}, names(b.deliveredEvents()))
	_, err := b.g.ActivateAuthorization(id(a))
	require.Error(t, err)
}

func TestAuthorizationEnds_A8(t *testing.T) {
	t.Parallel()
	b := setup(t)
	byPayer, c := b.authorized()
	_, err := b.g.CancelAuthorization(byPayer, "")
	require.NoError(t, err)
	cancelled := last(b, prefix+"CANCELLED").object("authorization")
	require.Equal(t, "CANCELLED_BY_PAYER", cancelled["cancellationReason"])
	require.Regexp(t, `^12/03/2035 10:00:\d\d$`, cancelled["cancellationDate"])

	byMerchant, _ := b.authorized()
	res := b.ok("DELETE", authorizations+"/"+byMerchant, nil)
	require.Equal(t, "CANCELLED", res["status"])
	require.Regexp(t, `^2035-03-12 10:00:\d\d$`, res["cancellationDate"])
	status, _, _ := b.refused("DELETE", authorizations+"/"+byMerchant, nil)
	require.Equal(t, 400, status)

	body := merged(authorizationBody(c), object{"finishDate": "2035-05-12"})
	finite := id(b.ok("POST", authorizations, body))
	_, err = b.g.ActivateAuthorization(finite)
	require.NoError(t, err)
	b.deliveredEvents()
	b.advance(62 * day)
	require.Equal(t, "2035-05-13 03:00", last(b, prefix+"EXPIRED").Created[:16])
}

func debit(customer, authorization, due string) object {
	return merged(pixPayment(customer, 49.90), object{"pixAutomaticAuthorizationId": authorization, "dueDate": due})
}

func TestRecurringDebit_A8(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a, c := b.authorized()
	b.deliveredEvents()
	p := b.ok("POST", "/v3/payments", debit(c, a, "2035-03-16"))
	b.advance(time.Hour)
	require.Equal(t, []string{"PAYMENT_CREATED", orders + "CREATED", orders + "SCHEDULED"}, names(b.deliveredEvents()))
	order := b.newest(instructions + "?paymentId=" + id(p))
	require.Equal(t, "SCHEDULED", order["status"])
	require.Equal(t, order, b.ok("GET", instructions+"/"+id(order), nil))
	b.advance(4 * day)
	events := b.deliveredEvents()
	require.Equal(t, []string{"PAYMENT_CONFIRMED", "PAYMENT_RECEIVED"}, names(events))
	require.Equal(t, a, events[0].object("payment")["pixAutomaticAuthorizationId"])
	require.Equal(t, "2035-03-16", events[0].object("payment")["confirmedDate"])
	require.Equal(t, "DONE", b.ok("GET", instructions+"/"+id(order), nil)["status"])
}

func TestFailedDebitAndItsRepetition_A8(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a, c := b.authorized()
	p := b.ok("POST", "/v3/payments", debit(c, a, "2035-03-15"))
	b.ok("POST", "/_sandbox/payments/"+id(p)+"/fail-debit", nil)
	b.deliveredEvents()
	b.advance(4*day + 12*time.Hour)
	require.Equal(t, []string{orders + "SCHEDULED", orders + "REFUSED", "PAYMENT_OVERDUE"}, names(b.deliveredEvents()))
	order := b.newest(instructions)
	require.NotNil(t, order["refusalReason"])

	retries := instructions + "/" + id(order) + "/retries"
	status, _, _ := b.refused("POST", retries, object{"dueDate": "2035-03-23"})
	require.Equal(t, 400, status, "more than seven days")
	require.Equal(t, 1.0, b.ok("POST", retries, object{"dueDate": "2035-03-20"})["retryAttempt"])
	b.advance(4 * day)
	require.Equal(t, []string{orders + "SCHEDULED", "PAYMENT_CONFIRMED", "PAYMENT_RECEIVED"},
		names(b.deliveredEvents()))
}

func TestRulesOfDebits_A1AndA8(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a, c := b.authorized()
	for name, x := range map[string]struct {
		body object
		code string
	}{
		"tomorrow":        {debit(c, a, "2035-03-13"), "invalid_dueDate"},
		"in three weeks":  {debit(c, a, "2035-04-02"), "invalid_dueDate"},
		"other customer":  {debit(b.customer(), a, "2035-03-16"), "invalid_customer"},
		"unknown consent": {debit(c, "7d1f0c62-4b7e-4f0b-9a4c-5b6c7d8e9f01", "2035-03-16"), "invalid_object"},
	} {
		_, code, _ := b.refused("POST", "/v3/payments", x.body)
		require.Equal(t, x.code, code, name)
	}
	waiting := b.ok("POST", authorizations, authorizationBody(c))
	_, code, description := b.refused("POST", "/v3/payments", debit(c, id(waiting), "2035-03-16"))
	require.Equal(t, "invalid_object", code)
	require.Equal(t, "A autorização deve estar ativa para criar uma instrução de pagamento automático.", description)
}

func TestGatewayMakesTheDebits_A8(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.customer()
	a := b.ok("POST", authorizations, merged(authorizationBody(c), object{"paymentCreationMode": "SUBSCRIPTION"}))
	require.Nil(t, a["subscriptionId"])
	_, err := b.g.ActivateAuthorization(id(a))
	require.NoError(t, err)
	sub := b.ok("GET", authorizations+"/"+id(a), nil)["subscriptionId"].(string)
	b.advance(32 * day)
	paid := last(b, "PAYMENT_CONFIRMED").object("payment")
	require.Equal(t, sub, paid["subscription"])
	require.Equal(t, "2035-04-12", paid["dueDate"])
	_, err = b.g.CancelAuthorization(id(a), "")
	require.NoError(t, err)
	require.Equal(t, "INACTIVE", b.ok("GET", "/v3/subscriptions/"+sub, nil)["status"])
}

func TestKeyOfAuthorizationEvents_A10(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ok("PATCH", "/_sandbox/settings", object{"authorizationKey": "pixAutomaticAuthorization"})
	b.ok("POST", authorizations, authorizationBody(b.customer()))
	e := last(b, prefix+"CREATED")
	require.NotNil(t, e.object("pixAutomaticAuthorization"))
	require.NotContains(t, e.Body, "authorization")
	_, err := b.g.ChangeSettings(func(s *account.Settings) { s.AuthorizationKey = "x" })
	require.Error(t, err)
}

func TestRemovedDebitIsNotCollected_A8(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a, c := b.authorized()
	p := b.ok("POST", "/v3/payments", debit(c, a, "2035-03-16"))
	b.advance(time.Hour)
	b.deliveredEvents()
	b.ok("DELETE", "/v3/payments/"+id(p), nil)
	require.Equal(t, []string{"PAYMENT_DELETED", orders + "CANCELLED"}, names(b.deliveredEvents()))

	b.ok("POST", "/v3/payments", debit(c, a, "2035-03-16"))
	b.advance(time.Hour)
	b.deliveredEvents()
	_, err := b.g.CancelAuthorization(a, "MUDEI_DE_IDEIA")
	require.NoError(t, err)
	events := b.deliveredEvents()
	require.Equal(t, []string{prefix + "CANCELLED", orders + "CANCELLED"}, names(events))
	require.Equal(t, "AUTHORIZATION_ENDED", events[1].object("paymentInstruction")["cancellationReason"])
	b.advance(7 * day)
	require.Equal(t, []string{"PAYMENT_OVERDUE"}, names(b.deliveredEvents()))
}

func TestRefuseControl(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.ok("POST", authorizations, authorizationBody(b.customer()))
	b.ok("POST", "/_sandbox/authorizations/"+id(a)+"/refuse", nil)
	require.Equal(t, []string{prefix + "CREATED", prefix + "REFUSED"}, names(b.deliveredEvents()))
}
