package attacks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/payments/paymentstest"
	"marquee/testutil/apitest"
	"marquee/testutil/soak"
)

func signedAt(at time.Time, body string) string {
	mac := hmac.New(sha256.New, []byte(paymentstest.GWBSecret))
	fmt.Fprintf(mac, "%d.%s", at.Unix(), body)
	return fmt.Sprintf("t=%d,v1=%s", at.Unix(), hex.EncodeToString(mac.Sum(nil)))
}

func webhook(c *apitest.Client, gateway, header, value, body string) *apitest.Response {
	return from(c, "203.0.113.7").With(header, value).Send(http.MethodPost, "/webhooks/"+gateway, "application/json",
		[]byte(body))
}

// TestAFloodOfForgedWebhooksSoak: 10,000 (in a soak) from the gateway's own address fill
// nothing, and earn the gateway no refusal: every genuine call beside them is 200.
func TestAFloodOfForgedWebhooksSoak(t *testing.T) {
	t.Parallel()
	p := attacked(t)
	_, admin := p.NewAdmin(func(u *accounts.NewUser) { u.Root = true })
	const flooders = 8
	forged, genuine := soak.Rounds(400, 10_000), soak.Rounds(40, 500)
	body := `{"id":"evt_forged","type":"invoice.paid","event":"PAYMENT_CONFIRMED","padding":"` +
		strings.Repeat("x", 8_000) + `"}`
	began := time.Now()
	var all sync.WaitGroup
	for n := range flooders {
		all.Go(func() {
			for i := range forged / flooders {
				a := webhook(p.Guest, "gwa", "asaas-access-token", fmt.Sprint("guess ", n, i), body)
				if i%2 == 0 {
					a = webhook(p.Guest, "gwb", "Stripe-Signature", signedAt(time.Now(), "another body"), body)
				}
				if a.Status != http.StatusUnauthorized {
					t.Errorf("a forged call was answered %d: %s", a.Status, a.Body)
				}
			}
		})
	}
	for i := range genuine {
		event := fmt.Sprintf(`{"id":"evt_%d","type":"unheard.of","event":"UNHEARD_OF","data":{"object":{}}}`, i)
		webhook(p.Guest, "gwa", "asaas-access-token", paymentstest.GWAToken, event).Expect(200)
		webhook(p.Guest, "gwb", "Stripe-Signature", signedAt(time.Now(), event), event).Expect(200)
	}
	all.Wait()
	t.Logf("%d forged and %d genuine calls in %v", forged, 2*genuine, time.Since(began).Round(time.Millisecond))
	stored := p.Count("SELECT count(*) FROM payments.refused_webhooks")
	require.GreaterOrEqual(t, stored, 20)
	require.LessOrEqual(t, stored, 40, "20 of an hour, or of two")
	require.Equal(t, 2*genuine, p.Count("SELECT count(*) FROM payments.webhook_logs"))
	require.Equal(t, 1,
		p.Count("SELECT count(DISTINCT network) FROM payments.refused_webhook_counts WHERE network = '203.0.113.0/24'"))
	stats := admin.Get("/webhook-logs/stats").Expect(200).Map()
	require.InDelta(t, stored+p.Count("SELECT sum(calls) FROM payments.refused_webhook_counts"),
		stats["invalid_signature"], 0)
	require.GreaterOrEqual(t, stats["invalid_signature"], float64(forged))
}

// TestAnOldWebhookSentAgain is refused, and told from a forgery.
func TestAnOldWebhookSentAgain(t *testing.T) {
	t.Parallel()
	p := attacked(t)
	const event = `{"id":"evt_1","type":"unheard.of","data":{"object":{}}}`
	old := signedAt(time.Now().Add(-time.Hour), event)
	webhook(p.Guest, "gwb", "Stripe-Signature", old, event).Expect(401)
	webhook(p.Guest, "gwb", "Stripe-Signature", signedAt(time.Now().Add(-25*time.Hour), event), event).Expect(401)
	require.Equal(t, 1, p.Count("SELECT count(*) FROM payments.refused_webhooks WHERE reason = 'clock_skew'"))
	require.Equal(t, 1, p.Count("SELECT count(*) FROM payments.refused_webhooks WHERE reason = 'signature'"))
	require.Zero(t, p.Count("SELECT count(*) FROM payments.processed_events"))
}
