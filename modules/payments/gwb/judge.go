package gwb

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/stripe/stripe-go/v85"

	"marquee/modules/payments/internal/reply"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// judge stands between the client library and the network. An answer passes when
// it is what the path asks for: a list, or the object of the id. The library takes
// any JSON for the object that was wanted, and a proxy's page for its own error.
type judge struct {
	next   http.RoundTripper
	health *reply.Health
}

// kinds are the objects behind the paths.
var kinds = map[string]string{
	"customers": "customer", "payment_methods": "payment_method", "subscriptions": "subscription",
	"invoices":        "invoice",
	"payment_intents": "payment_intent", "refunds": "refund", "disputes": "dispute", "prices": "price",
	"products": "product",
	"coupons":  "coupon",
	"charges":  "charge", "events": "event", "invoice_payments": "invoice_payment", "setup_intents": "setup_intent",
}

// RoundTrip is http.RoundTripper. The error of an odd answer is reply.ErrOdd.
func (j judge) RoundTrip(r *http.Request) (*http.Response, error) {
	if binds(r) {
		postgres.BePatient(r.Context()) // what comes of it has to be written down
	}
	res, err := j.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	raw, err := reply.Body(res.Body)
	_ = res.Body.Close()
	if err != nil {
		return nil, err
	}
	if err := judgeReply(r, res.StatusCode, raw); err != nil {
		return nil, err
	}
	switch {
	case res.StatusCode == http.StatusUnauthorized, res.StatusCode == http.StatusForbidden,
		res.StatusCode == http.StatusTooManyRequests:
	case res.StatusCode < http.StatusInternalServerError:
		j.health.Report(r.Context(), true)
	}
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	return res, nil
}

func judgeReply(r *http.Request, status int, raw []byte) error {
	switch {
	case status >= http.StatusBadRequest:
		var got struct{ Error *struct{ Type string } }
		if json.Unmarshal(raw, &got) != nil || got.Error == nil || got.Error.Type == "" {
			return reply.Odd(fmt.Sprintf("status %d without the gateway's own form of an error", status))
		}
		return nil
	case status < 200 || status > 299:
		return reply.Odd(fmt.Sprintf("status %d", status))
	}
	want, list := wanted(r)
	if list {
		return judgeList(raw)
	}
	var got struct{ Object, ID string }
	if json.Unmarshal(raw, &got) != nil {
		return reply.Odd("it is not the JSON that was expected")
	}
	return reply.Identity{Object: got.Object, ID: got.ID}.Check(want)
}

func judgeList(raw []byte) error {
	var got struct {
		Object string
		Data   []struct{ ID string }
	}
	if json.Unmarshal(raw, &got) != nil || got.Object != "list" || got.Data == nil {
		return reply.Odd("it is no list")
	}
	for i := range got.Data {
		if got.Data[i].ID == "" {
			return reply.Odd("a row of it has no id")
		}
	}
	return nil
}

// binds reports whether the call may move money or what will be charged: a new payer,
// product or price does not, and is found again where nobody has written it down.
func binds(r *http.Request) bool {
	if r.Method == http.MethodGet {
		return false
	}
	made, _ := wanted(r)
	return made.ID != "" || !slices.Contains([]string{"customer", "product", "price"}, made.Object)
}

// wanted is what the path of a call asks for: /v1/{kind}, /v1/{kind}/{id} or
// /v1/{kind}/{id}/{verb}.
func wanted(r *http.Request) (want reply.Identity, list bool) {
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if i := slices.Index(path, "v1"); i >= 0 {
		path = path[i+1:]
	}
	if len(path) == 0 {
		return want, false
	}
	want.Object = kinds[path[0]]
	if len(path) == 1 {
		return want, r.Method == http.MethodGet
	}
	// The gateway's shared test cards are attached under an id of their own.
	if len(path) < 3 || path[2] != "attach" {
		want.ID = path[1]
	}
	return want, false
}

// carries wants our id in the metadata of what we have made.
func carries(m map[string]string, key string, local objectid.ID) error {
	if local != "" && m[key] != local.String() {
		return reply.Odd("it does not carry our reference")
	}
	return nil
}

// isOurs wants an intent to carry our id, under either key, and a status.
func isOurs(intent *stripe.PaymentIntent, local objectid.ID) error {
	switch {
	case intent.Status == "":
		return reply.Odd("it has no status")
	case local != "" && intent.Metadata[metaOrder] != local.String() &&
		intent.Metadata[metaSubscription] != local.String():
		return reply.Odd("it does not carry our reference")
	}
	return nil
}

// notAnothers lets an intent without any of our ids pass: invoices make such.
func notAnothers(intent *stripe.PaymentIntent, local objectid.ID) error {
	if intent.Metadata[metaOrder] == "" && intent.Metadata[metaSubscription] == "" {
		local = ""
	}
	return isOurs(intent, local)
}

// invoiceOf wants the invoice of a subscription to carry that one's id, where it
// carries any.
func invoiceOf(raw []byte, local objectid.ID) error {
	var i invoiceObject
	if json.Unmarshal(raw, &i) != nil || i.Status == "" {
		return reply.Odd("it is no invoice")
	}
	if found := i.reference(); local != "" && found != "" && found != local {
		return reply.Odd("it does not carry our reference")
	}
	return nil
}
