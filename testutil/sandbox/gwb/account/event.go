package account

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"marquee/testutil/sandbox/stage"
)

// mostEvents bounds what GET /v1/events lists.
const mostEvents = 1000

// event is kept as the bytes that were sent: a snapshot of the object at that time.
type event struct {
	ID      string          `json:"id"`
	Type    string          `json:"type"`
	Created int64           `json:"created"`
	Body    json.RawMessage `json:"body"`
}

func (e *event) render() Object {
	o := Object{}
	_ = json.Unmarshal(e.Body, &o)
	return o
}

var eventRoutes = []route{
	{"GET /v1/events", "type types" + pageParams, listEvents},
	{"GET /v1/events/{id}", "", func(q *Request) (Object, error) {
		if e := q.ledger.Events.Get(q.id); e != nil {
			return e.render(), nil
		}
		return nil, missing("event", q.id, "id")
	}},
}

func listEvents(q *Request) (Object, error) {
	types := map[string]bool{}
	for _, t := range append(q.params.list("types"), q.str("type")) {
		if t != "" {
			types[t] = true
		}
	}
	all := q.ledger.Events.Newest(func(e *event) bool { return len(types) == 0 || types[e.Type] })
	return page(q, "/v1/events", all, func(e *event) string { return e.ID }, func(e *event) int64 { return e.Created },
		(*event).render)
}

// emit tells that something happened to an object, with a snapshot of it in the chosen shape. previous is nil or
// holds the old values of what changed.
func (o *Op) emit(eventType string, snapshot, previous Object) string {
	l := o.ledger
	e := &event{ID: NewID("evt"), Type: eventType, Created: l.Now()}
	version := APIVersion
	if l.Shape == PreBasil {
		version = preBasilVersion
	}
	about := Object{"object": snapshot}
	if previous != nil {
		about["previous_attributes"] = previous
	}
	body, err := json.Marshal(Object{
		"id": e.ID, "object": "event", "api_version": version, "created": e.Created, "data": about, "livemode": false,
		"pending_webhooks": 1, "request": Object{"id": orNull(o.requestID), "idempotency_key": orNull(o.Key)},
		"type": eventType,
	})
	if err != nil {
		panic(err) // objects are made of strings, numbers and maps here
	}
	e.Body = body
	l.Events.Put(e.ID, e)
	l.Events.DropOldest(mostEvents)
	l.stage.Emit(o.ctx, stage.Event{ID: e.ID, Type: eventType, Body: body})
	return e.ID
}

// EmitAbout is emit with the present state of the object of this id.
func (o *Op) EmitAbout(eventType, id string) string {
	return o.emit(eventType, o.ledger.Render(id, o.ledger.Shape), nil)
}

// Sign makes the headers of a delivery: Stripe-Signature over "<t>.<body>" with the endpoint's secret.
func (l *Ledger) Sign(body []byte, at time.Time) http.Header {
	l.stage.Lock()
	secret := l.Secret
	l.stage.Unlock()
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.", at.Unix())
	mac.Write(body)
	return http.Header{
		"Stripe-Signature": {fmt.Sprintf("t=%d,v1=%s", at.Unix(), hex.EncodeToString(mac.Sum(nil)))},
		"User-Agent":       {"Stripe/1.0 (+https://stripe.com/docs/webhooks)"},
	}
}
