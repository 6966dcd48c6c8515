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

	"marquee/modules/payments/gateway"
)

// tolerance is how far a signature's time may lie from ours, either way. maxSkew is
// up to where a call is read at all: a clock that is wrong is found by it.
const (
	tolerance = 5 * time.Minute
	maxSkew   = 24 * time.Hour
)

// Headers that carry the signature: the gateway's own and the neutral one.
var signatureHeaders = []string{"Stripe-Signature", "Gwb-Signature"}

// Authenticates reports whether one of the headers is a signature of the last or next 24
// hours, or one without time.
func (g *events) Authenticates(h http.Header, now time.Time) (signature string, ok bool) {
	for _, name := range signatureHeaders {
		for _, value := range h.Values(name) {
			signature = value
			if readSignature(value).within(now, maxSkew) {
				return value, true
			}
		}
	}
	return signature, false
}

// Authenticate verifies the signature over the raw body, with any of the
// configured secrets: t=<unix>,v1=<hex>[,v1=…] over "<t>.<body>", or a bare hex
// HMAC-SHA-256 of the body, at will behind "sha256=" (docs/contract/payments.md, Webhooks).
func (g *events) Authenticate(h http.Header, body []byte, now time.Time) (signature string, proof gateway.Proof) {
	for _, name := range signatureHeaders {
		for _, value := range h.Values(name) {
			if proof == gateway.Forged {
				signature = value
			}
			switch r := readSignature(value); {
			case !r.within(now, maxSkew) || !g.matches(r.proofs, []byte(r.prefix), body):
			case r.within(now, tolerance):
				return value, gateway.Genuine
			default:
				signature, proof = value, gateway.Skewed
			}
		}
	}
	return signature, proof
}

// reading is a signature that can be read; without proofs it cannot.
type reading struct {
	timed  bool
	sent   time.Time
	prefix string // stands before the body in what is signed
	proofs [][]byte
}

// readSignature takes a header apart as far as it can be read.
func readSignature(value string) reading {
	value = strings.TrimSpace(value)
	if !strings.Contains(value, "t=") {
		bare, err := hex.DecodeString(strings.TrimPrefix(value, "sha256="))
		if err != nil || len(bare) != sha256.Size {
			return reading{}
		}
		return reading{proofs: [][]byte{bare}}
	}
	at, proofs := scheme(value)
	sent, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return reading{}
	}
	return reading{timed: true, sent: time.Unix(sent, 0), prefix: at + ".", proofs: proofs}
}

// within reports whether it was made no further than so long before or after now, as
// far as it tells.
func (r reading) within(now time.Time, far time.Duration) bool {
	if len(r.proofs) == 0 {
		return false
	}
	age := now.Sub(r.sent)
	return !r.timed || age <= far && age >= -far
}

// scheme takes a timed signature apart; entries other than t and v1 are ignored.
func scheme(value string) (at string, proofs [][]byte) {
	for _, part := range strings.Split(value, ",") {
		key, v, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch key {
		case "t":
			at = v
		case "v1":
			if proof, err := hex.DecodeString(v); err == nil && len(proof) == sha256.Size {
				proofs = append(proofs, proof)
			}
		}
	}
	return at, proofs
}

// matches reports whether one of the proofs is the HMAC of the message under one
// of the secrets.
func (g *events) matches(proofs [][]byte, message ...[]byte) bool {
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
