package gwa

import (
	"math"
	"net/http"
	"strconv"
	"strings"

	"marquee/testutil/sandbox/gwa/account"
)

// limitWriter lets every 429, planned faults too, say that nothing is left.
type limitWriter struct{ http.ResponseWriter }

// WriteHeader corrects the announcement of a 429.
func (w limitWriter) WriteHeader(status int) {
	if status == http.StatusTooManyRequests {
		w.Header().Set("RateLimit-Remaining", "0")
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (w limitWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// limited announces the limit on every API answer and refuses calls beyond it with 429.
func (g *Gateway) limited(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/v3/") {
			next.ServeHTTP(w, r)
			return
		}
		g.stage.Lock()
		now := g.stage.Clock.Now()
		ok := g.ledger.RateWindow.Count(now)
		window := g.ledger.RateWindow
		g.stage.Unlock()
		h := w.Header()
		h.Set("RateLimit-Limit", strconv.Itoa(account.RateLimit))
		h.Set("RateLimit-Remaining", strconv.Itoa(max(account.RateLimit-window.Used, 0)))
		h.Set("RateLimit-Reset", strconv.Itoa(int(math.Ceil(window.Ends.Sub(now).Seconds()))))
		if !ok {
			refuse(limitWriter{w}, account.ErrTooMany())
			return
		}
		next.ServeHTTP(limitWriter{w}, r)
	})
}
