package paymentstest

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Permutations are all orders of the words.
func Permutations(words ...string) [][]string {
	if len(words) < 2 {
		return [][]string{words}
	}
	var all [][]string
	for i, first := range words {
		rest := append(append([]string{}, words[:i]...), words[i+1:]...)
		for _, p := range Permutations(rest...) {
			all = append(all, append([]string{first}, p...))
		}
	}
	return all
}

// RefundAtGWB gives all of a payment at gateway B back as its dashboard does, of which
// nobody here knows.
func (g *Gateways) RefundAtGWB(t testing.TB, intent string) {
	t.Helper()
	g.RefundPartAtGWB(t, intent, "")
}

// RefundPartAtGWB is RefundAtGWB of so many cents, and answers the refund's id.
func (g *Gateways) RefundPartAtGWB(t testing.TB, intent, amount string) string {
	t.Helper()
	form := url.Values{"payment_intent": {intent}}
	if amount != "" {
		form.Set("amount", amount)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.Sandbox.GWBURL()+"/v1/refunds",
		strings.NewReader(form.Encode()))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer sk_test_sandbox")
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	var refund struct {
		ID string `json:"id"`
	}
	require.NoError(t, json.NewDecoder(res.Body).Decode(&refund))
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusOK, res.StatusCode)
	return refund.ID
}

// DeliverGWA delivers the event of a type about a payment that waits at gateway A, to
// the API at an address, and returns the answer.
func (g *Gateways) DeliverGWA(t testing.TB, to, eventType, payment string) string {
	t.Helper()
	for _, d := range g.Sandbox.GWA.Stage().Webhooks.Deliveries() {
		if d.Type == eventType && bytes.Contains(d.Body, []byte(payment)) {
			return deliver(t, to+"/webhooks/gwa", "Asaas-Access-Token", GWAToken, d.Body)
		}
	}
	t.Fatalf("no %s of %s", eventType, payment)
	return ""
}

// DeliverGWB delivers the event of a type about a payment that waits at gateway B, to
// the API at an address, and returns the answer.
func (g *Gateways) DeliverGWB(t testing.TB, to, eventType, intent string) string {
	t.Helper()
	for _, d := range g.Sandbox.GWB.Stage().Webhooks.Deliveries() {
		if d.Type != eventType || !bytes.Contains(d.Body, []byte(intent)) {
			continue
		}
		sum := hmac.New(sha256.New, []byte(GWBSecret))
		sum.Write(d.Body)
		return deliver(t, to+"/webhooks/gwb", "Gwb-Signature", hex.EncodeToString(sum.Sum(nil)), d.Body)
	}
	t.Fatalf("no %s of %s", eventType, intent)
	return ""
}

// deliver posts an event with what proves it, and returns the answer.
func deliver(t testing.TB, to, header, proof string, body []byte) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, to, bytes.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(header, proof)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.StatusCode, "%s", raw)
	return string(raw)
}
