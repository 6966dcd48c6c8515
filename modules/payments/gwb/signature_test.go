package gwb

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v85/webhook"

	"marquee/modules/payments/gateway"
)

const (
	oldSecret = "whsec_old_0123456789012345678901234567"
	newSecret = "whsec_new_0123456789012345678901234567"
)

var signedAt = time.Date(2026, 11, 20, 17, 3, 12, 0, time.UTC)

func v1(secret, message string) string {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(message))
	return hex.EncodeToString(h.Sum(nil))
}

func timed(secret string, at time.Time, body string) string {
	return fmt.Sprintf("t=%d,v1=%s", at.Unix(), v1(secret, fmt.Sprintf("%d.%s", at.Unix(), body)))
}

func TestSignatureForms(t *testing.T) {
	t.Parallel()
	const body = `{"id":"evt_1"}`
	g := New(Config{WebhookSecrets: []string{newSecret, "", oldSecret}})
	good := timed(newSecret, signedAt, body)
	proof := strings.TrimPrefix(good, fmt.Sprintf("t=%d,", signedAt.Unix()))
	for name, c := range map[string]struct {
		value string
		ok    bool
	}{
		"timed":                     {good, true},
		"timed with the old secret": {timed(oldSecret, signedAt, body), true},
		"timed with spaces":         {strings.ReplaceAll(good, ",", ", "), true},
		"several v1, one good":      {good + ",v1=" + v1("x", body), true},
		"several v1, last good":     {fmt.Sprintf("t=%d,v1=%s,%s", signedAt.Unix(), v1("x", body), proof), true},
		"unknown schemes beside":    {good + ",v0=abc,x", true},
		"upper-case hex": {
			strings.Replace(timed(newSecret, signedAt, body), proof[3:], strings.ToUpper(proof[3:]), 1), true,
		},
		"bare hex":                     {v1(newSecret, body), true},
		"bare hex with the old secret": {v1(oldSecret, body), true},
		"sha256=":                      {"sha256=" + v1(newSecret, body), true},
		"5 minutes old":                {timed(newSecret, signedAt.Add(-5*time.Minute), body), true},
		"5 minutes ahead":              {timed(newSecret, signedAt.Add(5*time.Minute), body), true},

		"over 5 minutes old":       {timed(newSecret, signedAt.Add(-5*time.Minute-time.Second), body), false},
		"over 5 minutes ahead":     {timed(newSecret, signedAt.Add(5*time.Minute+time.Second), body), false},
		"another secret":           {timed("whsec_x", signedAt, body), false},
		"the empty secret":         {timed("", signedAt, body), false},
		"bare with another secret": {v1("whsec_x", body), false},
		"bare of the timed text":   {v1(newSecret, fmt.Sprintf("%d.%s", signedAt.Unix(), body)), false},
		"timed without v1":         {fmt.Sprintf("t=%d", signedAt.Unix()), false},
		"v1 without time":          {proof, false},
		"v0 alone":                 {strings.Replace(good, "v1=", "v0=", 1), false},
		"no number":                {"t=now," + proof, false},
		"time shifted": {
			strings.Replace(good, strconv.FormatInt(signedAt.Unix(), 10), strconv.FormatInt(signedAt.Unix()+1, 10), 1),
			false,
		},
		"cut":          {good[:len(good)-2], false},
		"empty":        {"", false},
		"sha256 alone": {"sha256=", false},
		"nonsense":     {"t=,v1=", false},
		"absurd time":  {"t=99999999999999999999," + proof, false},
		"time at the end of time": {
			"t=9223372036854775807,v1=" + v1(newSecret, "9223372036854775807."+body), false,
		},
	} {
		for _, header := range signatureHeaders {
			h := http.Header{}
			h.Set(header, c.value)
			signature, proof := g.Authenticate(h, []byte(body), signedAt)
			require.Equal(t, c.ok, proof == gateway.Genuine, "%s in %s", name, header)
			require.Equal(t, c.value, signature)
			_, accepted := g.Authenticates(h, signedAt)
			require.True(t, accepted || proof == gateway.Forged, "%s: what is genuine is read", name)
			_, proof = g.Authenticate(h, []byte(body+" "), signedAt)
			require.Equal(t, gateway.Forged, proof, "%s: the body was changed", name)
		}
	}
	_, proofOf := g.Authenticate(http.Header{}, []byte(body), signedAt)
	require.Equal(t, gateway.Forged, proofOf)
	h := http.Header{}
	h.Set("Stripe-Signature", good)
	_, proofOf = New(Config{}).Authenticate(h, []byte(body), signedAt)
	require.Equal(t, gateway.Forged, proofOf, "without a secret nothing is authentic")
}

// TestEveryDigitOfASignatureCounts: a digest that differs in one digit, wherever that
// stands, proves nothing.
func TestEveryDigitOfASignatureCounts(t *testing.T) {
	t.Parallel()
	const body = `{"id":"evt_1"}`
	g := New(Config{WebhookSecrets: []string{newSecret}})
	good := timed(newSecret, signedAt, body)
	for at := len(good) - 2*sha256.Size; at < len(good); at++ {
		digit := "0"
		if good[at] == '0' {
			digit = "1"
		}
		_, proof := g.Authenticate(http.Header{"Stripe-Signature": {good[:at] + digit + good[at+1:]}}, []byte(body),
			signedAt)
		require.Equal(t, gateway.Forged, proof, "digit %d", at)
	}
}

// TestWhatIsReadAtAll: what cannot be genuine whatever the body is refused before it,
// and a clock that is wrong by less than a day is told from a forgery.
func TestWhatIsReadAtAll(t *testing.T) {
	t.Parallel()
	const body = `{"id":"evt_1"}`
	g := New(Config{WebhookSecrets: []string{newSecret}})
	for name, c := range map[string]struct {
		values   []string
		accepted bool
		proof    gateway.Proof
	}{
		"6 minutes old": {
			values: []string{timed(newSecret, signedAt.Add(-6*time.Minute), body)}, accepted: true,
			proof: gateway.Skewed,
		},
		"6 minutes ahead": {
			values: []string{timed(newSecret, signedAt.Add(6*time.Minute), body)}, accepted: true,
			proof: gateway.Skewed,
		},
		"24 hours old": {
			values: []string{timed(newSecret, signedAt.Add(-24*time.Hour), body)}, accepted: true,
			proof: gateway.Skewed,
		},
		"24 hours ahead": {
			values: []string{timed(newSecret, signedAt.Add(24*time.Hour), body)}, accepted: true, proof: gateway.Skewed,
		},
		"6 minutes old, of another": {
			values: []string{timed("whsec_x", signedAt.Add(-6*time.Minute), body)}, accepted: true,
			proof: gateway.Forged,
		},
		"now, of another": {
			values: []string{timed("whsec_x", signedAt, body)}, accepted: true, proof: gateway.Forged,
		},
		"bare, of another": {values: []string{v1("whsec_x", body)}, accepted: true, proof: gateway.Forged},
		"a day and a second old": {
			values: []string{timed(newSecret, signedAt.Add(-24*time.Hour-time.Second), body)}, accepted: false,
			proof: gateway.Forged,
		},
		"a day and a second ahead": {
			values: []string{timed(newSecret, signedAt.Add(24*time.Hour+time.Second), body)}, accepted: false,
			proof: gateway.Forged,
		},
		"none":     {values: nil, accepted: false, proof: gateway.Forged},
		"nonsense": {values: []string{"hello"}, accepted: false, proof: gateway.Forged},
		"half a digest": {
			values: []string{v1(newSecret, body)[:32]}, accepted: false, proof: gateway.Forged,
		},
		"without time": {
			values: []string{"t=,v1=" + v1(newSecret, body)}, accepted: false, proof: gateway.Forged,
		},
		"without digest": {
			values: []string{fmt.Sprintf("t=%d", signedAt.Unix())}, accepted: false, proof: gateway.Forged,
		},
		"a skewed one before one of now": {
			values:   []string{timed(newSecret, signedAt.Add(-time.Hour), body), timed(newSecret, signedAt, body)},
			accepted: true, proof: gateway.Genuine,
		},
		"a skewed one before nonsense": {
			values: []string{timed(newSecret, signedAt.Add(-time.Hour), body), "hello"}, accepted: true,
			proof: gateway.Skewed,
		},
		"the beginning of time, as of then": {
			values:   []string{"t=-9223372036854775808,v1=" + v1(newSecret, "-9223372036854775808."+body)},
			accepted: false, proof: gateway.Forged,
		},
	} {
		h := http.Header{"Stripe-Signature": c.values}
		_, accepted := g.Authenticates(h, signedAt)
		require.Equal(t, c.accepted, accepted, name)
		_, proof := g.Authenticate(h, []byte(body), signedAt)
		require.Equal(t, c.proof, proof, name)
	}
}

func TestSignatureOfTheOfficialClient(t *testing.T) {
	t.Parallel()
	p := webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{
		Payload: []byte(`{"id":"evt_1"}`), Secret: newSecret, Timestamp: signedAt,
	})
	h := http.Header{}
	h.Set("Stripe-Signature", p.Header)
	_, proof := New(Config{WebhookSecrets: []string{newSecret}}).Authenticate(h, p.Payload, signedAt)
	require.Equal(t, gateway.Genuine, proof)
}

func FuzzSignature(f *testing.F) {
	f.Add(timed(newSecret, signedAt, "{}"), []byte("{}"))
	f.Add("sha256="+v1(newSecret, "{}"), []byte("{}"))
	f.Add("t=1,v1=,v1=zz", []byte{})
	g := New(Config{WebhookSecrets: []string{newSecret}})
	f.Fuzz(func(t *testing.T, value string, body []byte) {
		h := http.Header{"Stripe-Signature": {value}}
		if _, proof := g.Authenticate(h, body, signedAt); proof != gateway.Forged &&
			!strings.Contains(strings.ToLower(value), v1(newSecret, string(body))) {
			at, _ := scheme(strings.TrimSpace(value))
			require.Contains(t, strings.ToLower(value), v1(newSecret, at+"."+string(body)))
		}
	})
}
