package gwa_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// refused is a debit due on Thursday 15 March that the bank has refused for good on each of the next days, as of 22:00
// of the day after.
func (b *bundle) refusedDebit(reason string, times int) (payment string, order object) {
	b.t.Helper()
	a, c := b.authorized()
	payment = id(b.ok("POST", "/v3/payments", debit(c, a, "2035-03-15")))
	b.ok("POST", "/_sandbox/payments/"+payment+"/fail-debit", object{"reason": reason, "times": times})
	b.advance(4*day + 12*time.Hour)
	return payment, b.newest(instructions + "?paymentId=" + payment)
}

func (b *bundle) retried(order object, due string) string {
	b.t.Helper()
	status, _, text := b.refused("POST", instructions+"/"+id(order)+"/retries", object{"dueDate": due})
	require.Equal(b.t, 400, status)
	return text
}

func TestRefusalIsFinalInTheEvening_A8(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a, c := b.authorized()
	p := id(b.ok("POST", "/v3/payments", debit(c, a, "2035-03-15")))
	b.ok("POST", "/_sandbox/payments/"+p+"/fail-debit", nil)
	b.advance(3*day + 9*time.Hour + 30*time.Minute)
	require.Equal(t, "SCHEDULED", b.newest(instructions)["status"], "the bank goes on trying on its day")
	b.advance(time.Hour)
	order := b.newest(instructions)
	require.Equal(t, "REFUSED", order["status"])
	require.Equal(t, "INSUFFICIENT_FUNDS", order["refusalReason"])
}

func TestThreeRetriesOnThreeDays_A8(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p, order := b.refusedDebit("MAXIMUM_AMOUNT_EXCEEDED", 4)
	require.Equal(t, "MAXIMUM_AMOUNT_EXCEEDED", order["refusalReason"])
	retries := instructions + "/" + id(order) + "/retries"
	require.Contains(t, b.retried(order, "2035-03-16"), "23h59", "today is too late")
	for n, due := range []string{"2035-03-17", "2035-03-18", "2035-03-22"} {
		require.Equal(t, float64(n+1), b.ok("POST", retries, object{"dueDate": due})["retryAttempt"])
		require.Contains(t, b.retried(order, "2035-03-22"), "recusadas", "one at a time")
		if b.advance(day); due == "2035-03-22" {
			b.advance(3 * day)
		}
		require.Equal(t, "REFUSED", b.newest(instructions)["status"], due)
	}
	require.Contains(t, b.retried(order, "2035-03-22"), "política", "three are enough")
	b.ok("POST", "/_sandbox/payments/"+p+"/pay", nil)
}

func TestRetryTooLate_A8(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, order := b.refusedDebit("", 1)
	require.Contains(t, b.retried(order, "2035-03-23"), "7 dias")
	require.Contains(t, b.retried(order, ""), "23h59")
}

func TestRetryBeforeTheNextCycleOnly_A8(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.customer()
	a := b.ok("POST", authorizations, merged(authorizationBody(c), object{"frequency": "WEEKLY"}))
	_, err := b.g.ActivateAuthorization(id(a))
	require.NoError(t, err)
	p := id(b.ok("POST", "/v3/payments", debit(c, id(a), "2035-03-15")))
	b.ok("POST", "/_sandbox/payments/"+p+"/fail-debit", nil)
	b.advance(4 * day)
	order := b.newest(instructions)
	require.Contains(t, b.retried(order, "2035-03-22"), "próximo ciclo")
	b.ok("POST", instructions+"/"+id(order)+"/retries", object{"dueDate": "2035-03-21"})
}

func TestNoRetryAfterAPermanentReason_A8(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"ACCOUNT_CLOSED", "PAYER_CPF_CNPJ_MISMATCH"} {
		b := setup(t)
		_, order := b.refusedDebit(reason, 1)
		require.Contains(t, b.retried(order, "2035-03-18"), "motivo", reason)
	}
}

func TestOtherValueIsAMismatch_A8(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a, c := b.authorized()
	b.deliveredEvents()
	b.ok("POST", "/v3/payments", merged(debit(c, a, "2035-03-16"), object{"value": 50}))
	b.advance(time.Hour)
	events := b.deliveredEvents()
	require.Equal(t, []string{"PAYMENT_CREATED", orders + "CREATED", orders + "REFUSED"}, names(events))
	require.Equal(t, "AMOUNT_MISMATCH", events[2].object("paymentInstruction")["refusalReason"])
	require.Contains(t, b.retried(b.newest(instructions), "2035-03-17"), "motivo")
}

func TestPayerTakesADebitBack_A8(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a, c := b.authorized()
	first := id(b.ok("POST", "/v3/payments", debit(c, a, "2035-03-15")))
	second := id(b.ok("POST", "/v3/payments", debit(c, a, "2035-03-16")))
	b.advance(2*day + 13*time.Hour + 50*time.Minute) // 23:50 of the day before the first
	b.deliveredEvents()
	b.ok("POST", "/_sandbox/payments/"+first+"/cancel-debit", nil)
	events := b.deliveredEvents()
	require.Equal(t, []string{orders + "CANCELLED"}, names(events))
	require.Equal(t, "REQUESTED_BY_PAYER_USER", events[0].object("paymentInstruction")["cancellationReason"])
	require.Equal(t, "ACTIVE", b.ok("GET", authorizations+"/"+a, nil)["status"])
	b.advance(day + 11*time.Minute)
	_, err := b.g.CancelDebit(second, "")
	require.ErrorContains(t, err, "23:59")
	b.advance(day)
	require.Equal(t, "RECEIVED", b.ok("GET", "/v3/payments/"+second, nil)["status"])
	require.Equal(t, "OVERDUE", b.ok("GET", "/v3/payments/"+first, nil)["status"])
	b.ok("POST", "/_sandbox/payments/"+first+"/pay", nil)
}

func TestReceiverTakesADebitBackUntilTen_A8(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a, c := b.authorized()
	p := id(b.ok("POST", "/v3/payments", debit(c, a, "2035-03-15")))
	b.advance(2*day + 12*time.Hour + time.Minute)
	_, _, text := b.refused("DELETE", "/v3/payments/"+p, nil)
	require.Contains(t, text, "22h")
	later := id(b.ok("POST", "/v3/payments", debit(c, a, "2035-03-19")))
	b.ok("DELETE", "/v3/payments/"+later, nil)
}

func TestDebitPaidByItsCodeBefore_A8(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a, c := b.authorized()
	p := id(b.ok("POST", "/v3/payments", debit(c, a, "2035-03-16")))
	code := b.ok("GET", "/v3/payments/"+p+"/pixQrCode", nil)
	b.advance(day)
	b.deliveredEvents()
	b.ok("POST", "/_sandbox/pix/pay", object{"payload": code["payload"]})
	events := b.deliveredEvents()
	require.Equal(t, []string{"PAYMENT_RECEIVED", orders + "CANCELLED"}, names(events))
	require.Equal(t, "PAYMENT_RECEIVED", events[1].object("paymentInstruction")["cancellationReason"])
	b.advance(7 * day)
	require.Empty(t, b.deliveredEvents())
}

// Carnival of 2036 is on 25 and 26 February.
func TestBankHolidaysInTheWindow_A8(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a, c := b.authorized()
	b.advance(347 * day) // Friday 22 February 2036
	_, code, _ := b.refused("POST", "/v3/payments", debit(c, a, "2036-02-27"))
	require.Equal(t, "invalid_dueDate", code)
	b.ok("POST", "/v3/payments", debit(c, a, "2036-02-28"))
}
