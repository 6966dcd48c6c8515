package stage

import (
	"errors"
	"net/http"
	"strconv"
	"time"
)

type countBody struct {
	Count int `json:"count"`
}

// registerControls adds the controls that every gateway has.
func (s *Stage) registerControls() {
	s.registerClock()
	s.registerFaults()
	s.registerWebhooks()
	s.Control(Control{
		Method: "GET", Path: "/_sandbox/journal",
		About: "List what happened, oldest first; ?kind=call|event|delivery|control selects.",
		Do:    func(r *http.Request) (any, error) { return s.Journal.Entries(r.URL.Query().Get("kind")), nil },
	})
	s.Control(Control{
		Method: "DELETE", Path: "/_sandbox/journal", About: "Forget what happened.",
		Do: func(*http.Request) (any, error) { s.Journal.Clear(); return nil, nil },
	})
}

func (s *Stage) registerClock() {
	type advance struct {
		By Duration   `json:"by,omitempty"`
		To *time.Time `json:"to,omitempty"`
	}
	now := func(t time.Time, err error) (any, error) { return map[string]time.Time{"now": t}, err }
	s.Control(Control{
		Method: "GET", Path: "/_sandbox/clock", About: "Show the gateway's clock (UTC).",
		Do: func(*http.Request) (any, error) { return now(s.Clock.Now(), nil) },
	})
	s.Control(Control{
		Method: "POST", Path: "/_sandbox/clock/advance",
		About: "Move the clock forward by a duration (90s, 24h, 32d) or to a time; what falls due on the way happens in order.",
		Body:  map[string]string{"by": "24h"},
		Do: func(r *http.Request) (any, error) {
			var b advance
			if err := Decode(r, &b); err != nil {
				return nil, err
			}
			if b.To != nil {
				return now(s.Clock.AdvanceTo(*b.To))
			}
			return now(s.Clock.Advance(time.Duration(b.By)))
		},
	})
}

func (s *Stage) registerFaults() {
	s.Control(Control{
		Method: "GET", Path: "/_sandbox/faults", About: "List the planned faults.",
		Do: func(*http.Request) (any, error) { return s.Faults.Planned(), nil },
	})
	s.Control(Control{
		Method: "POST", Path: "/_sandbox/faults",
		About: "Make the next matching calls fail. kind: status, status_after, timeout_before, timeout_after, reset_before, reset_after, bad_gateway, delay, odd, odd_after. After any of the _after kinds the Idempotency-Key of the call stays taken where the gateway has keys: a repeat with it has no second effect. Odd answers: empty, object, null, list, html, foreign, error, truncated, huge; foreign and truncated with odd_after alone.",
		Body:  Fault{Method: "POST", Path: "/", Kind: FaultStatus, Status: 500, Times: 1},
		Do: func(r *http.Request) (any, error) {
			var f Fault
			if err := Decode(r, &f); err != nil {
				return nil, err
			}
			return nil, s.Faults.Plan(f)
		},
	})
	s.Control(Control{
		Method: "DELETE", Path: "/_sandbox/faults", About: "Take all planned faults back.",
		Do: func(*http.Request) (any, error) { s.Faults.Clear(); return nil, nil },
	})
}

func (s *Stage) registerWebhooks() {
	q := s.Webhooks
	status := func() (any, error) { return q.Status(), nil }
	s.Control(Control{
		Method: "GET", Path: "/_sandbox/webhooks", About: "Show the webhook queue: address, mode, pause, switches.",
		Do: func(*http.Request) (any, error) { return status() },
	})
	s.Control(Control{
		Method: "GET", Path: "/_sandbox/webhooks/deliveries",
		About: "List deliveries with their attempts, in queue order.",
		Do:    func(*http.Request) (any, error) { return q.Deliveries(), nil },
	})
	s.Control(Control{
		Method: "POST", Path: "/_sandbox/webhooks/deliveries/{id}/redeliver",
		About: "Send the event of a delivery again, with the same event id.",
		Do: func(r *http.Request) (any, error) {
			id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64)
			again, err := q.Redeliver(id)
			if errors.Is(err, ErrNoDelivery) {
				return nil, NotFound("delivery", r.PathValue("id"))
			}
			return map[string]int64{"id": again}, err
		},
	})
	s.Control(Control{
		Method: "PUT", Path: "/_sandbox/webhooks/mode", About: "Choose whether a failing event blocks those behind it.",
		Body: map[string]bool{"sequential": true},
		Do: func(r *http.Request) (any, error) {
			var b struct {
				Sequential bool `json:"sequential"`
			}
			if err := Decode(r, &b); err != nil {
				return nil, err
			}
			q.SetSequential(b.Sequential)
			return status()
		},
	})
	s.Control(Control{
		Method: "PUT", Path: "/_sandbox/webhooks/delay",
		About: "Send each later event only after this time; 0s ends it.", Body: map[string]string{"by": "2s"},
		Do: func(r *http.Request) (any, error) {
			var b struct {
				By Duration `json:"by"`
			}
			if err := Decode(r, &b); err != nil {
				return nil, err
			}
			q.Delay(time.Duration(b.By))
			return status()
		},
	})
	s.registerCount("duplicate", "Send each of the next events twice.", q.DuplicateNext)
	s.registerCount("reorder", "Exchange the order within each of the next pairs of events.", q.SwapNext)
	s.registerCount("drop", "Never send the next events.", q.DropNext)
	s.registerCount("early", "Send the events of the next calls before the calls are answered.", q.EarlyNext)
	s.Control(Control{
		Method: "POST", Path: "/_sandbox/webhooks/hold",
		About: "Hold events back, all or those of the given types (\"invoice.*\" is a prefix).",
		Body:  map[string][]string{"types": {"*"}},
		Do: func(r *http.Request) (any, error) {
			var b struct {
				Types []string `json:"types"`
			}
			if err := Decode(r, &b); err != nil {
				return nil, err
			}
			q.Hold(b.Types...)
			return status()
		},
	})
	s.Control(Control{
		Method: "POST", Path: "/_sandbox/webhooks/release", About: "Send what was held back.",
		Do: func(*http.Request) (any, error) { q.Release(); return status() },
	})
	s.Control(Control{
		Method: "POST", Path: "/_sandbox/webhooks/remove-backoff",
		About: "End a pause and try all waiting deliveries now.",
		Do:    func(*http.Request) (any, error) { q.RemoveBackoff(); return status() },
	})
}

func (s *Stage) registerCount(name, about string, turn func(n int)) {
	s.Control(Control{
		Method: "POST", Path: "/_sandbox/webhooks/" + name, About: about, Body: countBody{Count: 1},
		Do: func(r *http.Request) (any, error) {
			b := countBody{Count: 1}
			if err := Decode(r, &b); err != nil {
				return nil, err
			}
			turn(b.Count)
			return s.Webhooks.Status(), nil
		},
	})
}
