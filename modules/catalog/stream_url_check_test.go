package catalog_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Allowed reports whether a request carries a stream URL that is signed and alive.
func Allowed(r *http.Request, key []byte, now time.Time) bool {
	signed, signature, found := strings.Cut(strings.ToLower(r.Host)+r.URL.RequestURI(), "&signature=")
	if !found {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(signed))
	given, err := hex.DecodeString(signature)
	if err != nil || !hmac.Equal(mac.Sum(nil), given) {
		return false
	}
	// What is signed ends with the only expires that there is.
	at := strings.LastIndex(signed, "expires=")
	expires, err := strconv.ParseInt(signed[at+len("expires="):], 10, 64)
	return err == nil && now.Unix() < expires
}
