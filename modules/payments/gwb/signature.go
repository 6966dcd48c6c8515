package gwb

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// tolerance is how far a signature's time may lie from ours, either way.
const tolerance = 5 * time.Minute

// Headers that carry the signature: the gateway's own and the neutral one.
var signatureHeaders = []string{"Stripe-Signature", "Gwb-Signature"}

// Authenticate verifies the signature over the raw body, with any of the
// configured secrets: t=<unix>,v1=<hex>[,v1=…] over "<t>.<body>", or a bare hex
// HMAC-SHA-256 of the body, at will behind "sha256=" (open-shapes, Gateway names).
func (g *Gateway) Authenticate(h http.Header, body []byte, now time.Time) (signature string, ok bool) {
	for _, name := range signatureHeaders {
		for _, value := range h.Values(name) {
			signature = value
			if g.verify(value, body, now) {
				return value, true
			}
		}
	}
	return signature, false
}

func (g *Gateway) verify(value string, body []byte, now time.Time) bool {
	value = strings.TrimSpace(value)
	if !strings.Contains(value, "t=") {
		bare, err := hex.DecodeString(strings.TrimPrefix(value, "sha256="))
		return err == nil && g.matches([][]byte{bare}, body)
	}
	at, proofs := scheme(value)
	sent, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return false
	}
	age := now.Sub(time.Unix(sent, 0))
	return age <= tolerance && age >= -tolerance && g.matches(proofs, []byte(at+"."), body)
}

// scheme takes a timed signature apart; entries other than t and v1 are ignored.
func scheme(value string) (at string, proofs [][]byte) {
	for _, part := range strings.Split(value, ",") {
		key, v, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch key {
		case "t":
			at = v
		case "v1":
			if proof, err := hex.DecodeString(v); err == nil {
				proofs = append(proofs, proof)
			}
		}
	}
	return at, proofs
}

// matches reports whether one of the proofs is the HMAC of the message under one
// of the secrets.
func (g *Gateway) matches(proofs [][]byte, message ...[]byte) bool {
	for _, secret := range g.cfg.WebhookSecrets {
		if secret == "" {
			continue
		}
		mac := hmac.New(sha256.New, []byte(secret))
		for _, m := range message {
			mac.Write(m)
		}
		want := mac.Sum(nil)
		if slices.ContainsFunc(proofs, func(p []byte) bool { return hmac.Equal(p, want) }) {
			return true
		}
	}
	return false
}
