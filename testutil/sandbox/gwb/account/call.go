package account

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
)

const bodyLimit = 1 << 20 // bytes of a request

// Request is one API call, with its parameters decoded and checked.
type Request struct {
	Op
	params params
	id     string // {id} of the path
	reads  bool   // changes nothing
	err    *APIError
}

// Handler runs with the stage locked.
type Handler func(q *Request) (Object, error)

type route struct {
	pattern string // method and path
	known   string // parameters, dotted, separated by blanks; expand is always known
	run     Handler
}

type routed struct {
	known map[string]bool
	run   Handler
}

// ServeHTTP is never reached: the mux serves for matching only, so that the call's parameters are read once, in serve.
func (routed) ServeHTTP(http.ResponseWriter, *http.Request) {}

func mux() *http.ServeMux {
	mux := http.NewServeMux()
	for _, group := range [][]route{
		customerRoutes, paymentMethodRoutes, setupIntentRoutes, productRoutes, priceRoutes, couponRoutes,
		subscriptionRoutes,
		invoiceRoutes, intentRoutes, chargeRoutes, refundRoutes, disputeRoutes, eventRoutes,
	} {
		for _, r := range group {
			known := map[string]bool{"expand": true}
			for _, name := range strings.Fields(r.known) {
				known[name] = true
			}
			mux.Handle(r.pattern, routed{known: known, run: r.run})
		}
	}
	return mux
}

// Decode reads a call: which route it is of, and its parameters, all of them known to that route.
func (l *Ledger) Decode(r *http.Request, requestID string) (*Request, Handler, *APIError) {
	matched, pattern := l.routes.Handler(r)
	found, known := matched.(routed)
	if pattern == "" || !known {
		return nil, nil, &APIError{
			Status: http.StatusNotFound, Type: TypeRequest,
			Message: "Unrecognized request URL (" + r.Method + ": " + r.URL.Path + ").",
		}
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, bodyLimit))
	if err != nil {
		return nil, nil, invalid("", "", "The request body could not be read.")
	}
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, nil, invalid("", "", "The request body is not form-encoded.")
	}
	for name, all := range r.URL.Query() {
		values[name] = append(values[name], all...)
	}
	p, e := parseParams(values)
	if e == nil {
		e = p.check(found.known)
	}
	if e != nil {
		return nil, nil, e
	}
	q := &Request{
		Op: Op{ledger: l, ctx: r.Context(), requestID: requestID}, params: p, id: pathID(pattern, r.URL.Path),
		reads: r.Method == http.MethodGet,
	}
	if r.Method == http.MethodPost {
		q.Key = r.Header.Get("Idempotency-Key")
	}
	return q, found.run, nil
}

// pathID is the value of {id}, which stands in the third segment of every pattern that has it.
func pathID(pattern, path string) string {
	if parts := strings.Split(path, "/"); strings.Contains(pattern, "{id}") && len(parts) > 3 {
		return parts[3]
	}
	return ""
}

// CarryOut runs the handler and expands its answer; keep says whether the answer belongs to the key from now on.
func (l *Ledger) CarryOut(q *Request, run Handler) (status int, body []byte, keep bool) {
	expand := q.params.list("expand")
	if e := checkDepth(expand); e != nil {
		return e.Status, e.Body(), false
	}
	o, err := run(q)
	if err == nil {
		err = l.expandAll(o, expand)
	}
	if !q.reads {
		l.stage.Changed()
	}
	if err != nil {
		e := (*APIError)(nil)
		if !errors.As(err, &e) {
			e = &APIError{Status: http.StatusInternalServerError, Type: typeAPI, Message: err.Error()}
		}
		return e.Status, e.Body(), e.Executed
	}
	body, err = json.Marshal(o)
	if err != nil {
		e := &APIError{Type: typeAPI, Message: err.Error()}
		return http.StatusInternalServerError, e.Body(), true
	}
	return http.StatusOK, body, true
}

// Fingerprint tells whether two calls ask the same. Card data stays out of it, because it is kept.
func (q *Request) Fingerprint(r *http.Request) string {
	values := url.Values{}
	for k, v := range q.params {
		if k != "card.number" && k != "card.cvc" {
			values.Set(k, v)
		}
	}
	sum := sha256.Sum256([]byte(r.Method + " " + r.URL.Path + "?" + values.Encode()))
	return hex.EncodeToString(sum[:])
}
