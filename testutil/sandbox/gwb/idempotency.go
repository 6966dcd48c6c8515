package gwb

import (
	"encoding/json"
	"net/http"
	"time"

	"marquee/testutil/sandbox/gwb/account"
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
func (g *Gateway) runOnce(w http.ResponseWriter, r *http.Request, q *account.Request, run account.Handler) {
	fingerprint := q.Fingerprint(r)
	g.stage.Lock()
	stored, e := g.takeKey(q.Key, fingerprint)
	g.stage.Unlock()
	if e != nil {
		write(w, e.Status, e.Body())
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
func (g *Gateway) respond(q *account.Request, run account.Handler, fault *stage.Fault,
	fingerprint string,
) (status int, body []byte) {
	g.stage.Lock()
	defer g.stage.Unlock()
	stored := storedResponse{Fingerprint: fingerprint}
	keep := false
	defer func() { g.storeResponse(q.Key, stored, keep) }() // also when the handler panics: the key must not stay taken
	if fault == nil || fault.Kind != stage.FaultStatus {
		status, body, keep = g.ledger.CarryOut(q, run)
		stored.Status, stored.Body = status, body
	}
	if fault == nil || fault.Kind == stage.FaultDelay {
		return status, body
	}
	status, body = fault.Status, []byte(fault.Body)
	if len(body) == 0 {
		body = account.FaultBody(status)
	}
	if json.Valid(body) {
		stored.Status, stored.Body = status, body
		keep = keep || status >= http.StatusInternalServerError
	}
	return status, body
}

// takeKey returns the kept answer, or takes the key for a new call.
func (g *Gateway) takeKey(key, fingerprint string) (*storedResponse, *account.APIError) {
	if key == "" {
		return nil, nil
	}
	stored := g.keys.Get(key)
	switch {
	case stored == nil || g.ledger.Now()-stored.At >= int64(keyLife/time.Second):
		g.keys.Put(key, &storedResponse{Fingerprint: fingerprint, At: g.ledger.Now()})
		return nil, nil
	case stored.Fingerprint != fingerprint:
		return nil, &account.APIError{
			Status: http.StatusBadRequest, Type: account.TypeIdempotency,
			Message: "Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '" + key + "' if you meant to execute a different request.",
		}
	case stored.Status == 0:
		return nil, &account.APIError{
			Status: http.StatusConflict, Type: account.TypeIdempotency, Code: "idempotency_key_in_use",
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
		g.keys.Remove(key)
		return
	}
	stored.At = g.ledger.Now()
	g.keys.Put(key, &stored)
	g.keys.DropOldest(mostKeys)
	g.stage.Changed()
}

// forgetRunning frees the keys of calls that a crash cut off.
func (g *Gateway) forgetRunning() {
	var running []string
	for key, stored := range g.keys.All() {
		if stored.Status == 0 {
			running = append(running, key)
		}
	}
	for _, key := range running {
		g.keys.Remove(key)
	}
}
