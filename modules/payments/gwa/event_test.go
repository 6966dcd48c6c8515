package gwa

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
)

func sample(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "testdata", "webhooks", "gwa."+name+".json"))
	require.NoError(t, err)
	return raw
}

func TestWhatTheSamplesTell(t *testing.T) {
	t.Parallel()
	g := New(Config{})
	type expected struct {
		subscription, authorization, conciliation, reference, payment, native, settled string
		method                                                                         gateway.Method
		cents                                                                          int64
	}
	for name, want := range map[string]expected{
		"PAYMENT_CONFIRMED.card-subscription": {
			subscription: "sub_k3v9x1m7q2t8w4z6", reference: "66f0a1b2c3d4e5f607182a01",
			payment: "pay_a1b2c3d4e5f6g7h8",
			native:  "CONFIRMED", method: gateway.MethodCard, cents: 4990, settled: "2026-11-20T17:03:12Z",
		},
		"PAYMENT_RECEIVED.card-settled-32-days-later": {
			subscription: "sub_k3v9x1m7q2t8w4z6", reference: "66f0a1b2c3d4e5f607182a01",
			payment: "pay_a1b2c3d4e5f6g7h8",
			native:  "RECEIVED", method: gateway.MethodCard, cents: 4990, settled: "2026-11-20T03:00:00Z",
		},
		"PAYMENT_CONFIRMED.pix-automatic-recurring-debit": {
			authorization: "7d1f0c62-4b7e-4f0b-9a4c-5b6c7d8e9f01", reference: "66f0a1b2c3d4e5f607182a03",
			payment: "pay_f6g7h8i9j0k1l2m3", native: "CONFIRMED", method: gateway.MethodPix, cents: 4990,
			settled: "2026-12-20T10:14:09Z",
		},
		"PAYMENT_RECEIVED.pix-automatic-first-payment": {
			conciliation: "CINEPLAYLTDA0000000000000161305ASA", payment: "pay_e5f6g7h8i9j0k1l2", native: "RECEIVED",
			method: gateway.MethodPix, cents: 4990, settled: "2026-11-20T19:05:44Z",
		},
	} {
		e, err := g.ReadEvent(sample(t, name))
		require.NoError(t, err, name)
		require.Equal(t, gateway.PaymentSettled, e.Kind(), name)
		require.Equal(t, gateway.PaymentStatusSettled, paymentOf(e).Status, name)
		require.Equal(t, want, expected{
			subscription: e.SubscriptionID, authorization: e.AuthorizationID, conciliation: e.ConciliationID,
			reference: e.Reference.String(), payment: paymentOf(e).ID, native: paymentOf(e).NativeStatus,
			settled: paymentOf(e).SettledAt.Format(time.RFC3339), method: paymentOf(e).Method,
			cents: int64(paymentOf(e).Amount),
		}, name)
		require.Contains(t, e.Subjects(), want.payment, name)
	}
}

func TestReferenceIsTold(t *testing.T) {
	t.Parallel()
	g := New(Config{})
	const ref = "66f0a1b2c3d4e5f607182a01"
	for payment, want := range map[string]string{
		`{"id":"pay_1","externalReference":"` + ref + `"}`:                        ref,
		`{"id":"pay_1","externalReference":"` + strings.ToUpper(ref) + `"}`:       ref,
		`{"id":"pay_1","subscription":null,"externalReference":"` + ref + `"}`:    ref,
		`{"id":"pay_1","subscription":"sub_1","externalReference":"` + ref + `"}`: ref,
		`{"id":"pay_1","externalReference":"order 7"}`:                            "",
		`{"id":"pay_1","externalReference":null}`:                                 "",
		`{"id":"pay_1"}`: "",
		`{"id":"pay_1","subscription":{"id":"sub_1"},"externalReference":"` + ref + `"}`: ref,
	} {
		e, err := g.ReadEvent([]byte(`{"id":"evt_1&2","event":"PAYMENT_RECEIVED","payment":` + payment + `}`))
		require.NoError(t, err, payment)
		require.Equal(t, want, e.Reference.String(), payment)
		require.Equal(t, "evt_1&2", e.ID, "kept whole")
	}
}

func TestOtherEventsAreWithoutConsequence(t *testing.T) {
	t.Parallel()
	g := New(Config{})
	files, err := filepath.Glob("../testdata/webhooks/gwa.*.json")
	require.NoError(t, err)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		e, err := g.ReadEvent(raw)
		require.NoError(t, err, file)
		settles := e.Type == "PAYMENT_CONFIRMED" || e.Type == "PAYMENT_RECEIVED"
		require.Equal(t, settles, e.Kind() == gateway.PaymentSettled, file)
		require.False(t, e.CreatedAt.IsZero(), file)
	}
}

func TestToken(t *testing.T) {
	t.Parallel()
	g := New(Config{WebhookTokens: []string{
		"", "the-new-token-0123456789012345678901", "the-old-token-0123456789012345678901",
	}})
	for token, want := range map[string]bool{
		"the-new-token-0123456789012345678901":  true,
		"the-old-token-0123456789012345678901":  true,
		"the-new-token-012345678901234567890":   false,
		"the-new-token-01234567890123456789012": false,
		"THE-NEW-TOKEN-0123456789012345678901":  false,
		"":                                      false,
	} {
		for _, name := range []string{"asaas-access-token", "Gwa-Access-Token"} {
			h := http.Header{}
			h.Set(name, token)
			signature, ok := g.Authenticates(h, time.Now())
			require.Equal(t, want, ok, "%q in %s", token, name)
			require.Empty(t, signature, "the token is never shown")
			_, proof := g.Authenticate(h, nil, time.Now())
			require.Equal(t, want, proof == gateway.Genuine)
		}
	}
	_, ok := New(Config{}).Authenticates(http.Header{}, time.Now())
	require.False(t, ok)
}

func FuzzReadEvent(f *testing.F) {
	files, err := filepath.Glob("../testdata/webhooks/gwa.*.json")
	require.NoError(f, err)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(raw)
	}
	g := New(Config{})
	f.Fuzz(func(t *testing.T, body []byte) {
		e, err := g.ReadEvent(body)
		if err != nil {
			require.Equal(t, gateway.Ignored, e.Kind())
			return
		}
		switch p := e.Payload.(type) {
		case gateway.RefundChange:
			require.NotEmpty(t, p.Report.PaymentID)
		case gateway.DisputeChange:
			require.NotEmpty(t, p.Report.ID)
			require.NotEmpty(t, p.Report.State)
		case gateway.AuthorizationChange:
			require.NotEmpty(t, p.Authorization.ID)
		case gateway.SettledPayment:
			require.NotEmpty(t, p.Payment.ID)
		}
	})
}

func FuzzParseDate(f *testing.F) {
	for _, s := range []string{"2026-11-20", "2026-11-20 14:03:12", "20/12/2026", "20/11/2026 17:00:10", "x"} {
		f.Add(s)
	}
	zone := saoPaulo()
	f.Fuzz(func(t *testing.T, s string) {
		if at, ok := parseDate(s, zone); ok {
			again, ok := parseDate(at.In(zone).Format(time.DateTime), zone)
			require.True(t, ok)
			require.Less(t, at.Sub(again).Abs(), time.Second+time.Hour) // an hour is ambiguous when summer time ended
		}
	})
}

// paymentOf is the payment that an event tells of.
func paymentOf(e gateway.Event) gateway.Payment {
	p, _ := e.Payment()
	return p
}
