package film

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"regexp"
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

var (
	inside  = regexp.MustCompile(`^/_s/([0-9]{1,12})/([0-9a-f]{64})((?:/[^/]+){2,16})$`)
	misread = regexp.MustCompile(`(?i)/\.|\\|%(2[5ef]|5c|00)`) // by a server that decodes once more, or climbs
)

// Inside reports whether a request is for a file of a directory that is signed and alive, and returns the file's path.
func Inside(r *http.Request, key []byte, now time.Time) (path string, allowed bool) {
	m := inside.FindStringSubmatch(r.URL.EscapedPath())
	if m == nil || misread.MatchString(m[3]) {
		return "", false
	}
	expires, _ := strconv.ParseInt(m[1], 10, 64)
	given, _ := hex.DecodeString(m[2])
	// The directory is one of those that the file lies in; the root is never signed.
	for end := strings.LastIndex(m[3], "/"); end > 0; end = strings.LastIndex(m[3][:end], "/") {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(strings.ToLower(r.Host) + "/_s/" + m[1] + m[3][:end+1]))
		if hmac.Equal(mac.Sum(nil), given) {
			return m[3], now.Unix() < expires
		}
	}
	return "", false
}
