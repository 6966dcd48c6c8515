package gwa_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/testutil/sandbox/gwa/account"
)

func TestPendingPayment_A5(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.ok("POST", "/v3/payments", pixPayment(b.customer(), 240))
	require.Regexp(t, `^pay_[a-z0-9]{16}$`, p["id"])
	require.Equal(t, "PENDING", p["status"])
	require.Equal(t, 238.01, p["netValue"])
	require.ElementsMatch(t, []string{
		"object", "id", "dateCreated", "customer", "checkoutSession", "paymentLink", "value", "netValue",
		"originalValue", "interestValue", "description", "billingType", "pixTransaction", "status", "dueDate",
		"originalDueDate", "paymentDate", "clientPaymentDate", "installmentNumber", "invoiceUrl", "invoiceNumber",
		"externalReference", "deleted", "anticipated", "anticipable", "creditDate", "estimatedCreditDate",
		"transactionReceiptUrl", "nossoNumero", "bankSlipUrl", "lastInvoiceViewedDate", "lastBankSlipViewedDate",
		"discount", "fine", "interest", "postalService", "escrow", "refunds",
	}, keys(p), "no subscription, creditCard, confirmedDate, pixQrCodeId")
	require.Equal(t, object{"status": "PENDING"}, b.ok("GET", "/v3/payments/"+id(p)+"/status", nil))
	require.Equal(t, p, b.ok("GET", "/v3/payments/"+id(p), nil))
}

func TestCardIsDecidedWithinTheCall_A5(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.customer()
	p := b.ok("POST", "/v3/payments", cardPayment(c, 19.90))
	require.Equal(t, "CONFIRMED", p["status"])
	require.Equal(t, "2035-03-12", p["confirmedDate"])
	require.Equal(t, "2035-03-12", p["clientPaymentDate"])
	require.Nil(t, p["paymentDate"])
	require.Equal(t, "2035-04-13", p["creditDate"], "32 days later")
	require.Equal(t, 18.81, p["netValue"], "0.49 + 2.99 %")
	events := b.deliveredEvents()
	require.Equal(t, []string{"PAYMENT_CREATED", "PAYMENT_CONFIRMED"}, names(events))
	require.Equal(t, "CONFIRMED", events[0].object("payment")["status"], "CREATED already says so")

	status, code, _ := b.refused("POST", "/v3/payments", merged(cardPayment(c, 19.90), card("4916561358240741")))
	require.Equal(t, http.StatusBadRequest, status)
	require.Equal(t, "invalid_action", code)
	require.Equal(t, 1.0, b.ok("GET", "/v3/payments", nil)["totalCount"], "no payment exists")
}

func TestCardSettles32DaysLater_A5AndA11(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.ok("POST", "/v3/payments", cardPayment(b.customer(), 19.90))
	b.deliveredEvents()
	b.advance(31 * day)
	require.Empty(t, b.deliveredEvents())
	b.advance(day)
	events := b.deliveredEvents()
	require.Equal(t, []string{"PAYMENT_RECEIVED"}, names(events))
	require.Equal(t, p["id"], events[0].object("payment")["id"])
	require.Equal(t, "2035-04-13", events[0].object("payment")["paymentDate"])
	require.Equal(t, "2035-03-12", events[0].object("payment")["confirmedDate"])
}

func TestTokenBelongsToOneCustomer_A3(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ana, bia := b.customer(), b.customer()
	p := b.ok("POST", "/v3/payments", cardPayment(ana, 10))
	token := p["creditCard"].(object)["creditCardToken"]
	withToken := func(customer string) object {
		return merged(pixPayment(customer, 10), object{
			"billingType": "CREDIT_CARD", "creditCardToken": token, "remoteIp": "203.0.113.7",
		})
	}
	require.Equal(t, "CONFIRMED", b.ok("POST", "/v3/payments", withToken(ana))["status"])
	_, code, description := b.refused("POST", "/v3/payments", withToken(bia))
	require.Equal(t, "invalid_creditCard", code)
	require.Equal(t, "CreditCardToken "+token.(string)+" não encontrado.", description)
}

func TestMinimumOfPIX_A1AndA5(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.customer()
	_, code, description := b.refused("POST", "/v3/payments", pixPayment(c, 0.01))
	require.Equal(t, "invalid_object", code)
	require.Equal(t,
		"O valor da cobrança (R$ 0,01) menos o valor do desconto (R$ 0,00) não pode ser menor que R$ 5,00.",
		description)
	discounted := merged(pixPayment(c, 5), object{"discount": object{"value": 1, "type": "FIXED"}})
	_, code, _ = b.refused("POST", "/v3/payments", discounted)
	require.Equal(t, "invalid_object", code)
	b.ok("POST", "/v3/payments", pixPayment(c, 5))
	b.ok("POST", "/v3/payments", cardPayment(c, 1))
}

func TestBoletoKeys_A5(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.ok("POST", "/v3/payments", merged(pixPayment(b.customer(), 50), object{"billingType": "BOLETO"}))
	require.Equal(t, true, p["canBePaidAfterDueDate"])
	require.NotNil(t, p["bankSlipUrl"])
}

func TestDeletePayment_A5(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.ok("POST", "/v3/payments", pixPayment(b.customer(), 10))
	require.Equal(t, object{"deleted": true, "id": p["id"]}, b.ok("DELETE", "/v3/payments/"+id(p), nil))
	got := b.ok("GET", "/v3/payments/"+id(p), nil)
	require.Equal(t, true, got["deleted"])
	require.Equal(t, "PENDING", got["status"])
	require.Equal(t, []string{"PAYMENT_CREATED", "PAYMENT_DELETED"}, names(b.deliveredEvents()))
	_, err := b.g.Pay(id(p))
	require.Error(t, err)
	status, code, _ := b.refused("DELETE", "/v3/payments/"+b.paidPIX(10), nil)
	require.Equal(t, 400, status)
	require.Equal(t, "invalid_action", code)
}

func TestRiskAnalysis_A5(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.customer()
	_, err := b.g.ChangeSettings(func(s *account.Settings) { s.RiskAnalysis = true })
	require.NoError(t, err)
	approved := b.ok("POST", "/v3/payments", cardPayment(c, 20))
	require.Equal(t, "AWAITING_RISK_ANALYSIS", approved["status"])
	require.NotContains(t, approved, "confirmedDate")
	require.Equal(t, []string{"PAYMENT_CREATED", "PAYMENT_AWAITING_RISK_ANALYSIS"}, names(b.deliveredEvents()))
	b.ok("POST", "/_sandbox/payments/"+id(approved)+"/risk/approve", nil)
	require.Equal(t, []string{"PAYMENT_APPROVED_BY_RISK_ANALYSIS", "PAYMENT_CONFIRMED"}, names(b.deliveredEvents()))
	reproved := b.ok("POST", "/v3/payments", cardPayment(c, 20))
	b.ok("POST", "/_sandbox/payments/"+id(reproved)+"/risk/reprove", nil)
	require.Contains(t, names(b.deliveredEvents()), "PAYMENT_REPROVED_BY_RISK_ANALYSIS")
}

func TestVendorHelpers_A9(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.customer()
	p := b.ok("POST", "/v3/payments", pixPayment(c, 10))
	require.Equal(t, "RECEIVED", b.ok("POST", "/v3/sandbox/payment/"+id(p)+"/confirm", nil)["status"])
	p = b.ok("POST", "/v3/payments", pixPayment(c, 10))
	overdue := b.ok("POST", "/v3/sandbox/payment/"+id(p)+"/overdue", nil)
	require.Equal(t, "OVERDUE", overdue["status"])
	require.Equal(t, "2035-03-11", overdue["dueDate"], "moved back")
	require.Equal(t, "2035-03-12", overdue["originalDueDate"], "kept")
	b.deliveredEvents()
	_, err := b.g.Pay(id(p))
	require.NoError(t, err)
	require.Equal(t, []string{"PAYMENT_RECEIVED"}, names(b.deliveredEvents()), "late PIX: CREATED > OVERDUE > RECEIVED")
}

func TestChargebackStories_A11(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.customer()
	steps := func(payment string, steps ...account.ChargebackStep) []string {
		b.deliveredEvents()
		for _, step := range steps {
			b.ok("POST", "/_sandbox/payments/"+payment+"/chargeback", object{"step": step})
		}
		return names(b.deliveredEvents())
	}
	lost := id(b.ok("POST", "/v3/payments", cardPayment(c, 20)))
	require.Equal(t, []string{"PAYMENT_CHARGEBACK_REQUESTED", "PAYMENT_CHARGEBACK_DISPUTE", "PAYMENT_REFUNDED"},
		steps(lost, account.ChargebackRequested, account.ChargebackDisputed, account.ChargebackLost))
	p := b.ok("GET", "/v3/payments/"+lost, nil)
	require.Equal(t, "REFUNDED", p["status"])
	require.Nil(t, p["refunds"])

	won := id(b.ok("POST", "/v3/payments", cardPayment(c, 20)))
	require.Equal(t, []string{
		"PAYMENT_CHARGEBACK_REQUESTED", "PAYMENT_AWAITING_CHARGEBACK_REVERSAL", "PAYMENT_CONFIRMED",
	},
		steps(won, account.ChargebackRequested, account.ChargebackWon))
	b.advance(33 * day)
	require.Equal(t, []string{"PAYMENT_RECEIVED"}, names(b.deliveredEvents()))
	require.Equal(t, []string{
		"PAYMENT_CHARGEBACK_REQUESTED", "PAYMENT_AWAITING_CHARGEBACK_REVERSAL", "PAYMENT_RECEIVED",
	},
		steps(won, account.ChargebackRequested, account.ChargebackWon))
	_, err := b.g.Chargeback(won, account.ChargebackLost, "")
	require.Error(t, err, "none is running")
}

func TestCardDataIsChecked_A3(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.customer()
	change := func(part, field string, v any) object {
		body := cardPayment(c, 10)
		body[part].(object)[field] = v
		return body
	}
	for name, x := range map[string]struct {
		body object
		code string
	}{
		"expired":      {change("creditCard", "expiryYear", "2034"), "invalid_creditCard"},
		"month":        {change("creditCard", "expiryMonth", "13"), "invalid_creditCard"},
		"short year":   {change("creditCard", "expiryYear", "49"), "invalid_creditCard"},
		"ccv":          {change("creditCard", "ccv", "1"), "invalid_creditCard"},
		"name":         {change("creditCard", "holderName", " "), "invalid_creditCard"},
		"number":       {change("creditCard", "number", "123"), "invalid_creditCard"},
		"holder":       {change("creditCardHolderInfo", "phone", ""), "invalid_creditCardHolderInfo"},
		"postal code":  {change("creditCardHolderInfo", "postalCode", ""), "invalid_creditCardHolderInfo"},
		"holder's CPF": {change("creditCardHolderInfo", "cpfCnpj", "52998224724"), "invalid_object"},
	} {
		status, code, _ := b.refused("POST", "/v3/payments", x.body)
		require.Equal(t, 400, status, name)
		require.Equal(t, x.code, code, name)
	}
	require.Equal(t, 0.0, b.ok("GET", "/v3/payments", nil)["totalCount"])
	numbers := change("creditCard", "expiryYear", 2049)
	require.Equal(t, "CONFIRMED", b.ok("POST", "/v3/payments", numbers)["status"], "numbers are taken for texts")
}

func TestBrokenBody_A1(t *testing.T) {
	t.Parallel()
	b := setup(t)
	status, code, _ := b.refused("POST", "/v3/payments", []int{1})
	require.Equal(t, 400, status)
	require.Equal(t, "invalid_object", code)
}
