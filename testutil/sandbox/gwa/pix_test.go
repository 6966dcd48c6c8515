package gwa_test

import (
	"bytes"
	"encoding/base64"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/testutil/sandbox/gwa/account"
	"marquee/testutil/sandbox/stage"
)

func TestPixQRCode_A6(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.ok("POST", "/v3/payments", merged(pixPayment(b.customer(), 240), object{"dueDate": "2035-03-20"}))
	qr := b.ok("GET", "/v3/payments/"+id(p)+"/pixQrCode", nil)
	require.ElementsMatch(t, []string{"success", "encodedImage", "payload", "expirationDate", "description"}, keys(qr))
	require.Equal(t, true, qr["success"])
	require.Equal(t, "2036-03-20 23:59:59", qr["expirationDate"], "due date + 1 year")
	require.NoError(t, stage.CheckBRCode(qr["payload"].(string)))
	require.Contains(t, qr["payload"], "5406240.00")
	raw, err := base64.StdEncoding.DecodeString(qr["encodedImage"].(string))
	require.NoError(t, err, "no data: prefix")
	_, err = png.Decode(bytes.NewReader(raw))
	require.NoError(t, err)
	require.Equal(t, qr, b.ok("GET", "/v3/payments/"+id(p)+"/pixQrCode", nil), "the same code again")

	b.ok("POST", "/_sandbox/pix/pay", object{"payload": qr["payload"]})
	paid := b.ok("GET", "/v3/payments/"+id(p), nil)
	require.Equal(t, "RECEIVED", paid["status"])
	for _, date := range []string{"paymentDate", "clientPaymentDate", "confirmedDate", "creditDate"} {
		require.Equal(t, "2035-03-12", paid[date], date)
	}
	require.NotEmpty(t, paid["pixQrCodeId"])
	require.NotEmpty(t, paid["pixTransaction"])
	require.Equal(t, []string{"PAYMENT_CREATED", "PAYMENT_RECEIVED"}, names(b.deliveredEvents()), "no CONFIRMED")
	_, err = b.g.PayPIX(qr["payload"].(string))
	require.Error(t, err, "can be paid once")
}

func TestQRCodeNeedsAPixKey_A1(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.ok("POST", "/v3/payments", pixPayment(b.customer(), 10))
	_, err := b.g.ChangeSettings(func(s *account.Settings) { s.PixKey = false })
	require.NoError(t, err)
	status, _, description := b.refused("GET", "/v3/payments/"+id(p)+"/pixQrCode", nil)
	require.Equal(t, 400, status)
	require.Equal(t, "Chave Pix não encontrada.", description)
}

func TestQRCodeLivesAYear_A6(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.ok("POST", "/v3/payments", pixPayment(b.customer(), 10))
	late := b.ok("POST", "/v3/payments", pixPayment(b.customer(), 10))
	b.advance(366 * day)
	_, err := b.g.Pay(id(p))
	require.NoError(t, err)
	b.advance(2 * day)
	_, err = b.g.Pay(id(late))
	require.Error(t, err)
}

func TestExpirePIXControl(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.ok("POST", "/v3/payments", pixPayment(b.customer(), 10))
	b.ok("POST", "/_sandbox/payments/"+id(p)+"/expire", nil)
	require.Equal(t, []string{"PAYMENT_CREATED", "PAYMENT_OVERDUE"}, names(b.deliveredEvents()))
	_, err := b.g.Pay(id(p))
	require.Error(t, err)
	status, _, _ := b.refused("POST", "/_sandbox/payments/pay_0000000000000000/expire", nil)
	require.Equal(t, 404, status)
}

func TestStrangeMoneyMakesPaymentEventsToo_A10(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ok("POST", "/_sandbox/pix/transfer", object{"value": 12.5})
	events := b.deliveredEvents()
	require.Equal(t, []string{"PAYMENT_CREATED", "PAYMENT_RECEIVED"}, names(events))
	require.Equal(t, 12.5, events[1].object("payment")["value"])
	require.Nil(t, events[1].object("payment")["externalReference"])
}

func TestQRCodeOfOtherPayments_A6(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.customer()
	for want, p := range map[int]string{
		400: id(b.ok("POST", "/v3/payments", cardPayment(c, 10))),
		404: "pay_0000000000000000",
	} {
		status, _, _ := b.refused("GET", "/v3/payments/"+p+"/pixQrCode", nil)
		require.Equal(t, want, status)
	}
	status, code, _ := b.refused("GET", "/v3/payments/"+b.paidPIX(10)+"/pixQrCode", nil)
	require.Equal(t, 400, status)
	require.Equal(t, "invalid_action", code)
	open := b.ok("POST", "/v3/payments", merged(pixPayment(c, 10), object{"billingType": "UNDEFINED"}))
	qr := b.ok("GET", "/v3/payments/"+id(open)+"/pixQrCode", nil)
	_, err := b.g.PayPIX(qr["payload"].(string))
	require.NoError(t, err)
	require.Equal(t, "PIX", b.ok("GET", "/v3/payments/"+id(open), nil)["billingType"])
	_, err = b.g.PayPIX("00020101021226")
	require.Error(t, err)
}
