package gwb

import (
	"net/http"
	"strings"

	"marquee/testutil/sandbox/gwb/account"
)

// serve authorises, matches, validates and runs one call under its idempotency key.
func (g *Gateway) serve(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/pix/") {
		g.servePIX(w, r)
		return
	}
	requestID := account.NewID("req")
	w.Header().Set("Request-Id", requestID)
	w.Header().Set("Stripe-Version", account.APIVersion)
	if e := g.authorise(r); e != nil {
		write(w, e.Status, e.Body())
		return
	}
	q, run, err := g.ledger.Decode(r, requestID)
	if err != nil {
		write(w, err.Status, err.Body())
		return
	}
	if q.Key != "" {
		w.Header().Set("Idempotency-Key", q.Key)
	}
	g.runOnce(w, r, q, run)
}

func (g *Gateway) authorise(r *http.Request) *account.APIError {
	key, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if user, _, ok := r.BasicAuth(); ok {
		key = user
	}
	switch {
	case key == "":
		return &account.APIError{
			Status: http.StatusUnauthorized, Type: account.TypeRequest,
			Message: "You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth.",
		}
	case g.secretKey != "" && key != g.secretKey:
		return &account.APIError{
			Status: http.StatusUnauthorized, Type: account.TypeRequest, Message: "Invalid API Key provided.",
		}
	}
	return nil
}

func write(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) //nolint:gosec // JSON, as its header says
}
