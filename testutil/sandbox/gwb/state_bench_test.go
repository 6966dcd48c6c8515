package gwb_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/testutil/sandbox/gwb"
)

// BenchmarkCallWithState is one call, and the time until its event arrives, at a gateway that keeps its state in a
// file and has many subscriptions already.
//
//	go test -run '^$' -bench CallWithState -benchtime 20x ./testutil/sandbox/gwb
func BenchmarkCallWithState(b *testing.B) {
	for _, n := range []int{350, 2000} {
		b.Run(fmt.Sprintf("%d_subscriptions", n), func(b *testing.B) { callWithState(b, n) })
	}
}

func callWithState(b *testing.B, subscriptions int) {
	ids := make(chan string, 100_000)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		ids <- string(body)
	}))
	defer hook.Close()
	g, err := gwb.New(gwb.Options{StateFile: filepath.Join(b.TempDir(), "gwb.json"), WebhookSecret: webhookSecret})
	require.NoError(b, err)
	defer g.Close()
	server := httptest.NewServer(g)
	defer server.Close()
	start := time.Now()
	fillSubscriptions(b, server.URL, subscriptions)
	fill := time.Since(start)
	start = time.Now()
	g.SetWebhook(hook.URL, webhookSecret)
	require.NoError(b, g.Stage().Webhooks.Settle(b.Context()))
	queue := time.Since(start)
	for len(ids) > 0 {
		<-ids
	}
	var toEvent time.Duration
	b.ResetTimer()
	for i := range b.N {
		name := fmt.Sprintf("bench-%d", i)
		began := time.Now()
		form(b, server.URL+"/v1/customers", url.Values{"name": {name}})
		for !strings.Contains(<-ids, name) {
		}
		toEvent += time.Since(began)
	}
	b.StopTimer()
	b.ReportMetric(float64(toEvent.Microseconds())/1000/float64(b.N), "ms/event")
	b.ReportMetric(fill.Seconds(), "s/fill")
	b.ReportMetric(queue.Seconds(), "s/queue")
}

// fillSubscriptions makes customers who subscribe, each with an idempotency key of its own.
func fillSubscriptions(b *testing.B, gateway string, n int) {
	prod := form(b, gateway+"/v1/products", url.Values{"name": {"Plano Plus"}})
	price := form(b, gateway+"/v1/prices", url.Values{
		"product": {prod}, "currency": {"brl"}, "unit_amount": {"4990"}, "recurring[interval]": {"month"},
	})
	for i := range n {
		customer := form(b, gateway+"/v1/customers", url.Values{
			"name":                        {"Ana Souza"},
			"metadata[local_customer_id]": {strconv.Itoa(i)},
		})
		card := form(b, gateway+"/v1/payment_methods/pm_card_visa/attach", url.Values{"customer": {customer}})
		form(b, gateway+"/v1/subscriptions", url.Values{
			"customer": {customer}, "items[0][price]": {price}, "default_payment_method": {card},
			"metadata[local_subscription_id]": {strconv.Itoa(i)}, "expand[0]": {"latest_invoice.payments"},
		})
	}
}

// form posts with a key of its own and returns the id that is answered.
func form(b *testing.B, at string, values url.Values) string {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, at, strings.NewReader(values.Encode()))
	require.NoError(b, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Authorization", "Bearer "+secretKey)
	req.Header.Set("Idempotency-Key", rand.Text())
	resp, err := http.DefaultClient.Do(req)
	require.NoError(b, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(b, err)
	require.Equal(b, http.StatusOK, resp.StatusCode, string(body))
	var made struct{ ID string }
	require.NoError(b, json.Unmarshal(body, &made))
	return made.ID
}
