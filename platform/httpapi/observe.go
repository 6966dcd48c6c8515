package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/prometheus/client_golang/prometheus"
)

// statusHungUp is what metrics and log show for a request whose client did not wait for
// the answer, as proxies call it.
const statusHungUp = 499

type metrics struct {
	seconds *prometheus.HistogramVec
	busy    *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "marquee_http_request_seconds",
			Help: "Time from the request's head to the end of the answer, of a stream of events to its beginning; " +
				"status 499: the client hung up.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
		}, []string{"method", "route", "status"}),
		busy: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "marquee_http_busy_total",
			Help: "Requests answered 503 with Retry-After, by what there was not enough of.",
		}, []string{"reason"}),
	}
	if reg != nil {
		reg.MustRegister(m.seconds, m.busy)
	}
	return m
}

func (a *API) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		r, span := a.cfg.Tracer.StartRequest(r, a.cfg.Tracer != nil && a.trusted(peerOf(r)))
		ww := watch(w, r, a.cfg.PieceTime)
		defer func() { // also when a handler breaks the answer off
			method, route, status := methodOf(r), ww.routeOf(r), statusOf(ww, r)
			a.metrics.seconds.WithLabelValues(method, route, strconv.Itoa(status)).Observe(ww.took(start).Seconds())
			span.End(method, route, status)
		}()
		next.ServeHTTP(ww, r)
	})
}

// methodOf is the request's method; one that HTTP does not have counts as "other", so that clients make up no labels.
func methodOf(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions, http.MethodConnect, http.MethodTrace:
		return r.Method
	}
	return "other"
}

// watched is a response writer that knows the status and the size of the answer, and whether the client took it.
type watched struct {
	middleware.WrapResponseWriter
	paced *pacedWriter
	route string // once it was asked for

	headOut time.Time // of a stream of events; zero of every other answer
}

// took is how long the answer has taken since the request began.
func (w *watched) took(began time.Time) time.Duration {
	if !w.headOut.IsZero() {
		return w.headOut.Sub(began)
	}
	return time.Since(began)
}

// HeadIsOut counts the request as done (marquee_http_request_seconds): its answer goes on for as long as there is
// something to tell.
func HeadIsOut(w http.ResponseWriter) {
	for {
		switch above := w.(type) {
		case *watched:
			above.headOut = time.Now()
			return
		case interface{ Unwrap() http.ResponseWriter }:
			w = above.Unwrap()
		default:
			return
		}
	}
}

// routeOf is the pattern of the request's route, to be asked for when it has been found.
func (w *watched) routeOf(r *http.Request) string {
	if w.route == "" {
		w.route = pattern(r)
	}
	return w.route
}

func watch(w http.ResponseWriter, r *http.Request, pieceTime time.Duration) *watched {
	paced := &pacedWriter{ResponseWriter: w, control: http.NewResponseController(w), time: pieceTime}
	return &watched{WrapResponseWriter: middleware.NewWrapResponseWriter(paced, r.ProtoMajor), paced: paced}
}

// logRequests writes one line a request, without query and headers: they may
// hold tokens.
func (a *API) logRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		ww, ok := w.(*watched)
		if !ok {
			ww = watch(w, r, a.cfg.PieceTime)
		}
		defer func() { a.logRequest(ww, r, time.Since(start)) }()
		next.ServeHTTP(ww, r)
	})
}

func (a *API) logRequest(ww *watched, r *http.Request, took time.Duration) {
	status := statusOf(ww, r)
	level := levelOf(status)
	if !a.cfg.Log.Enabled(r.Context(), level) || a.thinner.leavesOut(r, ww.routeOf(r), status) {
		return
	}
	a.cfg.Log.LogAttrs(r.Context(), level, "request",
		slog.String("request_id", RequestID(r.Context())), slog.String("method", r.Method),
		slog.String("route", ww.routeOf(r)),
		slog.Int("status", status), slog.Int("bytes", ww.BytesWritten()),
		slog.Duration("took", took), slog.String("addr", ClientIP(r.Context())))
}

// thinner thins the lines of Frequent operations out.
type thinner struct {
	oneIn    uint64
	frequent map[string]bool // paths of the operations
	requests atomic.Uint64
}

// leavesOut reports whether the request is one of those that go without a line.
func (t *thinner) leavesOut(r *http.Request, route string, status int) bool {
	return t.oneIn > 1 && status < http.StatusBadRequest && reads(r) && t.frequent[route] &&
		t.requests.Add(1)%t.oneIn != 0
}

// levelOf is ERROR for what is ours to mend: what the contract answers with 501 (docs/contract/README.md, Versions) is
// not, and 503 says that there is more to do than can be done.
func levelOf(status int) slog.Level {
	switch {
	case status == http.StatusServiceUnavailable:
		return slog.LevelWarn
	case status >= http.StatusInternalServerError && status != http.StatusNotImplemented:
		return slog.LevelError
	}
	return slog.LevelInfo
}

func statusOf(w *watched, r *http.Request) int {
	switch status := w.Status(); {
	case w.paced.broken, hungUp(r.Context()) && (status == 0 || status >= http.StatusInternalServerError):
		return statusHungUp
	case status == 0:
		return http.StatusOK
	default:
		return status
	}
}

// hungUp reports whether the client of the request has gone.
func hungUp(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// pattern is the route's template, so that ids neither multiply the metrics nor
// end up in the log.
func pattern(r *http.Request) string {
	if rc := chi.RouteContext(r.Context()); rc != nil && rc.RoutePattern() != "" {
		return rc.RoutePattern()
	}
	return "unknown"
}
