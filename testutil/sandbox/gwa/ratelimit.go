package gwa

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Limits (docs/gateway-facts.md, A1): requests per window and account.
const (
	rateLimit  = 25000
	rateLength = 12 * time.Hour
)

// rateWindow counts the calls of the running window of the gateway's clock.
type rateWindow struct {
	Used int       `json:"used"`
	Ends time.Time `json:"ends,omitzero"`
}

// count counts one call and tells whether it is within the limit.
func (w *rateWindow) count(now time.Time) bool {
	if !now.Before(w.Ends) {
		*w = rateWindow{Ends: now.Add(rateLength)}
	}
	if w.Used >= rateLimit {
		return false
	}
	w.Used++
	return true
}

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
		ok := g.RateWindow.count(now)
		window := g.RateWindow
		g.stage.Unlock()
		h := w.Header()
		h.Set("RateLimit-Limit", strconv.Itoa(rateLimit))
		h.Set("RateLimit-Remaining", strconv.Itoa(max(rateLimit-window.Used, 0)))
		h.Set("RateLimit-Reset", strconv.Itoa(int(math.Ceil(window.Ends.Sub(now).Seconds()))))
		if !ok {
			errTooMany().write(limitWriter{w})
			return
		}
		next.ServeHTTP(limitWriter{w}, r)
	})
}

func errTooMany() *apiError {
	return &apiError{
		http.StatusTooManyRequests, "too_many_requests",
		"Limite de requisições atingido. Aguarde para realizar novas requisições.",
	}
}

// exhaust uses up the limit until reset has passed on the gateway's clock.
func (g *Gateway) exhaust(reset time.Duration, now time.Time) {
	g.RateWindow = rateWindow{Used: rateLimit, Ends: now.Add(reset)}
}
