package gwb

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/stripe/stripe-go/v85"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/reply"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// errBroken is an answer with 5xx. The gateway keeps it for the call's idempotency
// key, and gives it again for a day (docs/gateway-facts.md, B2).
var errBroken = errors.New("the gateway failed")

// errKeyReused is the refusal of a key that another call has used: what that call
// did is not told.
var errKeyReused = errors.New("the idempotency key has been used with other parameters")

// read makes a call that changes nothing.
func read[T any](ctx context.Context, g *client, f func(ctx context.Context) (T, error)) (T, error) {
	out, _, err := attempt(ctx, g, f)
	if err != nil {
		return out, translated(err, false)
	}
	return out, nil
}

// write makes a call that carries an idempotency key, or whose repetition is
// harmless.
func write[T any](ctx context.Context, g *client, f func(ctx context.Context) (T, error)) (T, error) {
	out, uncertain, err := attempt(ctx, g, f)
	if err != nil {
		return out, translated(err, uncertain)
	}
	return out, nil
}

// remake makes something that moves no money and is looked for first, by its own
// key. When the gateway has failed it is looked for once more and made with
// another key, since the first would bring the failure again for a day. In the
// worst case it is there twice, which does no harm.
func remake[T any](key string, find func() (made T, ok bool, err error),
	create func(key string) (T, error),
) (T, error) {
	made, err := create(key)
	if !errors.Is(err, errBroken) {
		return made, err
	}
	if found, ok, again := find(); again != nil || ok {
		return found, again
	}
	return create(key + "-" + objectid.New().String())
}

// attempt repeats a call while that may help and time is left. Uncertain tells
// that one of the tries may have had its effect.
func attempt[T any](ctx context.Context, g *client,
	f func(ctx context.Context) (T, error),
) (out T, uncertain bool, err error) {
	err = reply.Repeat(ctx, g.cfg.RetryWait, func() (again bool, err error) {
		if out, err = f(ctx); err == nil {
			return false, nil
		}
		again, mayHaveActed := judged(err)
		uncertain = uncertain || mayHaveActed
		return again, err
	})
	return out, uncertain, err
}

// judged says whether a failed call is worth repeating and whether it may have
// acted (docs/gateway-facts.md, B2).
func judged(err error) (again, mayHaveActed bool) {
	var se *stripe.Error
	if !errors.As(err, &se) {
		return true, !neverConnected(err)
	}
	switch {
	case se.HTTPStatusCode == http.StatusConflict:
		return true, true // the same call is still running
	case se.HTTPStatusCode == http.StatusTooManyRequests:
		return true, false
	case se.HTTPStatusCode >= http.StatusInternalServerError:
		return true, true
	case se.HTTPStatusCode == http.StatusNotFound && se.Code != stripe.ErrorCodeResourceMissing:
		return false, true // it does not say what is missing: perhaps only the way back
	}
	return false, false
}

// neverConnected reports whether no connection came about, so that the gateway knows
// nothing of the call.
func neverConnected(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// translated puts an error in the words of payments.Gateway, without anything
// secret that the client's errors hold.
func translated(err error, uncertain bool) error {
	var se *stripe.Error
	if !errors.As(err, &se) {
		return fmt.Errorf("%w: %w", reply.Failure(uncertain), withoutURL(err))
	}
	code := string(se.Code)
	if code == "" {
		code = string(se.Type)
	}
	switch {
	case se.Type == stripe.ErrorTypeCard && se.HTTPStatusCode == http.StatusPaymentRequired:
		return &gateway.Declined{Code: declineCode(se), Message: se.Msg}
	case se.HTTPStatusCode == http.StatusNotFound && se.Code == stripe.ErrorCodeResourceMissing:
		return fmt.Errorf("%w: %s (request %s)", gateway.ErrMissing, code, se.RequestID)
	case se.Type == stripe.ErrorTypeIdempotency && se.HTTPStatusCode == http.StatusBadRequest:
		return fmt.Errorf("%w: %w (request %s)", gateway.ErrOutcomeUnknown, errKeyReused, se.RequestID)
	case uncertain && se.HTTPStatusCode >= http.StatusInternalServerError:
		return fmt.Errorf("%w: %w: status %d, %s (request %s)", gateway.ErrOutcomeUnknown, errBroken, se.HTTPStatusCode,
			code, se.RequestID)
	case uncertain:
		return fmt.Errorf("%w: status %d, %s (request %s)", gateway.ErrOutcomeUnknown, se.HTTPStatusCode, code,
			se.RequestID)
	case se.HTTPStatusCode == http.StatusBadRequest:
		return &gateway.Rejected{Code: code, Message: se.Msg}
	}
	return fmt.Errorf("%w: status %d, %s (request %s)", gateway.ErrUnavailable, se.HTTPStatusCode, code, se.RequestID)
}

// withoutURL drops the address of a failed call, whose query may name people.
func withoutURL(err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		return ue.Err
	}
	if errors.Is(err, reply.ErrOdd) {
		return err
	}
	return errors.New("the answer is not JSON")
}

// declineCode is the bank's reason where there is one, else the error's code.
func declineCode(se *stripe.Error) string {
	if se.DeclineCode != "" {
		return string(se.DeclineCode)
	}
	return string(se.Code)
}

// isCode reports whether err is a rejection with the code.
func isCode(err error, code stripe.ErrorCode) bool {
	var r *gateway.Rejected
	return errors.As(err, &r) && r.Code == string(code)
}

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
