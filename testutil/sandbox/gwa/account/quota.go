package account

import (
	"net/http"
	"time"
)

// Limits (docs/gateway-facts.md, A1): requests per window and account.
const (
	RateLimit  = 25000
	RateLength = 12 * time.Hour
)

// RateWindow counts the calls of the running window of the gateway's clock.
type RateWindow struct {
	Used int       `json:"used"`
	Ends time.Time `json:"ends,omitzero"`
}

// Count counts one call and tells whether it is within the limit.
func (w *RateWindow) Count(now time.Time) bool {
	if !now.Before(w.Ends) {
		*w = RateWindow{Ends: now.Add(RateLength)}
	}
	if w.Used >= RateLimit {
		return false
	}
	w.Used++
	return true
}

// Exhaust uses up the limit until reset has passed on the gateway's clock.
func (l *Ledger) Exhaust(reset time.Duration, now time.Time) {
	l.RateWindow = RateWindow{Used: RateLimit, Ends: now.Add(reset)}
}

// ErrTooMany is 429.
func ErrTooMany() *APIError {
	return &APIError{
		http.StatusTooManyRequests, "too_many_requests",
		"Limite de requisições atingido. Aguarde para realizar novas requisições.",
	}
}
