package gwb

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"marquee/testutil/sandbox/stage"
)

const (
	keyLife  = 24 * time.Hour // virtual time that an answer is kept for its idempotency key
	mostKeys = 1000           // each holds an answer
)

// storedResponse is what an idempotency key replays. Status 0: the call is still running.
type storedResponse struct {
	Fingerprint string          `json:"fingerprint"`
	Status      int             `json:"status"`
	Body        json.RawMessage `json:"body"`
	At          int64           `json:"at"`
}

// runOnce carries the call out, or replays its kept answer. Injected faults of the gateway's own kinds come while the
// key is taken.
func (g *Gateway) runOnce(w http.ResponseWriter, r *http.Request, q *request, run handler) {
	fingerprint := q.fingerprint(r)
	g.stage.Lock()
	stored, e := g.takeKey(q.key, fingerprint)
	g.stage.Unlock()
	if e != nil {
		write(w, e.Status, e.body())
		return
	}
	if stored != nil {
		w.Header().Set("Idempotent-Replayed", "true")
		write(w, stored.Status, stored.Body)
		return
	}
	fault := stage.FaultOf(r.Context())
	if fault != nil && fault.Delay > 0 {
		g.stage.Sleep(r.Context(), time.Duration(fault.Delay))
	}
	if fault != nil && fault.Kind != stage.FaultDelay {
		for k, v := range fault.Header {
			w.Header().Set(k, v)
		}
	}
	status, body := g.respond(q, run, fault, fingerprint)
	write(w, status, body)
}

// respond is the call's effect and the record of its key in one step, so that no saved state holds the one without
// the other. What a fault answers is what the key replays; a page that is no JSON comes from a proxy in front, and
// the key replays the gateway's own answer. Without an effect only a 5xx is kept.
func (g *Gateway) respond(q *request, run handler, fault *stage.Fault, fingerprint string) (status int, body []byte) {
	g.stage.Lock()
	defer g.stage.Unlock()
	stored := storedResponse{Fingerprint: fingerprint}
	keep := false
	defer func() { g.storeResponse(q.key, stored, keep) }() // also when the handler panics: the key must not stay taken
	if fault == nil || fault.Kind != stage.FaultStatus {
		status, body, keep = g.carryOut(q, run)
		stored.Status, stored.Body = status, body
	}
	if fault == nil || fault.Kind == stage.FaultDelay {
		return status, body
	}
	status, body = fault.Status, []byte(fault.Body)
	if len(body) == 0 {
		body = faultBody(status)
	}
	if json.Valid(body) {
		stored.Status, stored.Body = status, body
		keep = keep || status >= http.StatusInternalServerError
	}
	return status, body
}

// takeKey returns the kept answer, or takes the key for a new call.
func (g *Gateway) takeKey(key, fingerprint string) (*storedResponse, *apiError) {
	if key == "" {
		return nil, nil
	}
	stored := g.data.Keys.Get(key)
	switch {
	case stored == nil || g.now()-stored.At >= int64(keyLife/time.Second):
		g.data.Keys.Put(key, &storedResponse{Fingerprint: fingerprint, At: g.now()})
		return nil, nil
	case stored.Fingerprint != fingerprint:
		return nil, &apiError{
			Status: http.StatusBadRequest, Type: typeIdempotency,
			Message: "Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '" + key + "' if you meant to execute a different request.",
		}
	case stored.Status == 0:
		return nil, &apiError{
			Status: http.StatusConflict, Type: typeIdempotency, Code: "idempotency_key_in_use",
			Message: "There is currently another in-progress request using this idempotency key.",
		}
	}
	return stored, nil
}

func (g *Gateway) storeResponse(key string, stored storedResponse, keep bool) {
	if key == "" {
		return
	}
	if !keep {
		g.data.Keys.Remove(key)
		return
	}
	stored.At = g.now()
	g.data.Keys.Put(key, &stored)
	g.data.Keys.DropOldest(mostKeys)
	g.stage.Changed()
}

// forgetRunning frees the keys of calls that a crash cut off.
func (g *Gateway) forgetRunning() {
	var running []string
	for key, stored := range g.data.Keys.All() {
		if stored.Status == 0 {
			running = append(running, key)
		}
	}
	for _, key := range running {
		g.data.Keys.Remove(key)
	}
}

// fingerprint tells whether two calls ask the same. Card data stays out of it, because it is kept.
func (q *request) fingerprint(r *http.Request) string {
	values := url.Values{}
	for k, v := range q.params {
		if k != "card.number" && k != "card.cvc" {
			values.Set(k, v)
		}
	}
	sum := sha256.Sum256([]byte(r.Method + " " + r.URL.Path + "?" + values.Encode()))
	return hex.EncodeToString(sum[:])
}
