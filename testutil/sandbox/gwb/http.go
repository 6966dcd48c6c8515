package gwb

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
)

const bodyLimit = 1 << 20 // bytes of a request

// request is one API call, with its parameters decoded and checked.
type request struct {
	op
	params params
	id     string // {id} of the path
	reads  bool   // changes nothing
	err    *apiError
}

// handler runs with the stage locked.
type handler func(q *request) (object, error)

type route struct {
	pattern string // method and path
	known   string // parameters, dotted, separated by blanks; expand is always known
	run     handler
}

type routed struct {
	known map[string]bool
	run   handler
}

// ServeHTTP is never reached: the mux serves for matching only, so that the call's parameters are read once, in serve.
func (routed) ServeHTTP(http.ResponseWriter, *http.Request) {}

func (g *Gateway) mux() *http.ServeMux {
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

// serve authorises, matches, validates and runs one call under its idempotency key.
func (g *Gateway) serve(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/pix/") {
		g.servePIX(w, r)
		return
	}
	requestID := newID("req")
	w.Header().Set("Request-Id", requestID)
	w.Header().Set("Stripe-Version", APIVersion)
	if e := g.authorise(r); e != nil {
		write(w, e.Status, e.body())
		return
	}
	q, found, err := g.decode(r, requestID)
	if err != nil {
		write(w, err.Status, err.body())
		return
	}
	if q.key != "" {
		w.Header().Set("Idempotency-Key", q.key)
	}
	g.runOnce(w, r, q, found.run)
}

func (g *Gateway) authorise(r *http.Request) *apiError {
	key, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if user, _, ok := r.BasicAuth(); ok {
		key = user
	}
	switch {
	case key == "":
		return &apiError{
			Status: http.StatusUnauthorized, Type: typeRequest,
			Message: "You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth.",
		}
	case g.opts.SecretKey != "" && key != g.opts.SecretKey:
		return &apiError{Status: http.StatusUnauthorized, Type: typeRequest, Message: "Invalid API Key provided."}
	}
	return nil
}

func (g *Gateway) decode(r *http.Request, requestID string) (*request, routed, *apiError) {
	matched, pattern := g.routes.Handler(r)
	found, known := matched.(routed)
	if pattern == "" || !known {
		return nil, routed{}, &apiError{
			Status: http.StatusNotFound, Type: typeRequest,
			Message: "Unrecognized request URL (" + r.Method + ": " + r.URL.Path + ").",
		}
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, bodyLimit))
	if err != nil {
		return nil, routed{}, invalid("", "", "The request body could not be read.")
	}
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, routed{}, invalid("", "", "The request body is not form-encoded.")
	}
	for name, all := range r.URL.Query() {
		values[name] = append(values[name], all...)
	}
	p, e := parseParams(values)
	if e == nil {
		e = p.check(found.known)
	}
	if e != nil {
		return nil, routed{}, e
	}
	q := &request{
		op: op{g: g, ctx: r.Context(), requestID: requestID}, params: p, id: pathID(pattern, r.URL.Path),
		reads: r.Method == http.MethodGet,
	}
	if r.Method == http.MethodPost {
		q.key = r.Header.Get("Idempotency-Key")
	}
	return q, found, nil
}

// pathID is the value of {id}, which stands in the third segment of every pattern that has it.
func pathID(pattern, path string) string {
	if parts := strings.Split(path, "/"); strings.Contains(pattern, "{id}") && len(parts) > 3 {
		return parts[3]
	}
	return ""
}

// carryOut runs the handler and expands its answer; keep says whether the answer belongs to the key from now on.
func (g *Gateway) carryOut(q *request, run handler) (status int, body []byte, keep bool) {
	expand := q.params.list("expand")
	if e := checkDepth(expand); e != nil {
		return e.Status, e.body(), false
	}
	o, err := run(q)
	if err == nil {
		err = g.expandAll(o, expand)
	}
	if !q.reads {
		g.stage.Changed()
	}
	if err != nil {
		e := (*apiError)(nil)
		if !errors.As(err, &e) {
			e = &apiError{Status: http.StatusInternalServerError, Type: typeAPI, Message: err.Error()}
		}
		return e.Status, e.body(), e.Executed
	}
	body, err = json.Marshal(o)
	if err != nil {
		e := &apiError{Type: typeAPI, Message: err.Error()}
		return http.StatusInternalServerError, e.body(), true
	}
	return http.StatusOK, body, true
}

func write(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) //nolint:gosec // JSON, as its header says
}
