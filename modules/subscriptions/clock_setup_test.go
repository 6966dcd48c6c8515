package subscriptions_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/testutil/sandbox"
)

const day = 24 * time.Hour

// goBy has time go by everywhere: at the gateways, in their webhooks and in our sweep,
// in steps that are small enough for every job to be in time.
func (b *bundle) goBy(t *testing.T, by time.Duration) {
	t.Helper()
	for ; by > 0; by -= 5 * day {
		step := min(by, 5*day)
		b.clock.Advance(step)
		b.gateways.Advance(t, step)
		b.settle(t)
		require.NoError(t, b.service.Sweep(t.Context()))
		b.runDueStatusChecks(t)
		b.settle(t)
	}
}

// signLater has gateway B's webhooks be signed by the test's clock: the sandbox signs
// by the machine's, from which its own may be months ahead.
func (b *bundle) signLater(t *testing.T) {
	t.Helper()
	hooks := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		at := strconv.FormatInt(b.clock.Now().Unix(), 10)
		mac := hmac.New(sha256.New, []byte(paymentstest.GWBSecret))
		mac.Write(append([]byte(at+"."), body...))
		req, err := http.NewRequestWithContext(r.Context(), http.MethodPost, b.serve().url+"/webhooks/gwb",
			bytes.NewReader(body))
		if err == nil {
			req.Header.Set("Stripe-Signature", "t="+at+",v1="+hex.EncodeToString(mac.Sum(nil)))
			var res *http.Response
			if res, err = http.DefaultClient.Do(req); err == nil {
				_ = res.Body.Close()
				w.WriteHeader(res.StatusCode)
				return
			}
		}
		w.WriteHeader(http.StatusBadGateway)
	}))
	t.Cleanup(hooks.Close)
	b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{
		GWAURL: b.serve().url + "/webhooks/gwa", GWAToken: paymentstest.GWAToken, GWBURL: hooks.URL,
		GWBSecret: paymentstest.GWBSecret,
	})
}

// runStatusChecks lets time pass, with the checks at both gateways that fall due in it.
func (b *bundle) runStatusChecks(t *testing.T, span time.Duration) {
	t.Helper()
	const step = 5 * time.Second
	for end := b.clock.Now().Add(span); b.clock.Now().Before(end); {
		b.clock.Advance(step)
		b.runDueStatusChecks(t)
	}
}

// runDueStatusChecks does the checks that are due now.
func (b *bundle) runDueStatusChecks(t *testing.T) {
	t.Helper()
	for _, gateway := range []gateway.Name{gateway.GWA, gateway.GWB} {
		require.NoError(t, b.payments.Intents().CheckDue(t.Context(), gateway))
	}
}
