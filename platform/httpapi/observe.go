package httpapi

import (
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct{ seconds *prometheus.HistogramVec }

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "marquee_http_request_seconds", Help: "Time from the request's head to the end of the answer.",
		Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
	}, []string{"method", "route", "status"})}
	if reg != nil {
		reg.MustRegister(m.seconds)
	}
	return m
}

func (m *metrics) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		next.ServeHTTP(ww, r)
		m.seconds.WithLabelValues(r.Method, pattern(r), strconv.Itoa(statusOf(ww))).Observe(time.Since(start).Seconds())
	})
}

// logRequests writes one line a request, without query and headers: they may
// hold tokens.
func (a *API) logRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		ww, ok := w.(middleware.WrapResponseWriter)
		if !ok {
			ww = middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		}
		next.ServeHTTP(ww, r)
		level := slog.LevelInfo
		if statusOf(ww) >= http.StatusInternalServerError {
			level = slog.LevelError
		}
		if !a.cfg.Log.Enabled(r.Context(), level) {
			return
		}
		a.cfg.Log.LogAttrs(r.Context(), level, "request",
			slog.String("request_id", RequestID(r.Context())), slog.String("method", r.Method), slog.String("route", pattern(r)),
			slog.Int("status", statusOf(ww)), slog.Int("bytes", ww.BytesWritten()),
			slog.Duration("took", time.Since(start)), slog.String("addr", ClientIP(r.Context())))
	})
}

func statusOf(w middleware.WrapResponseWriter) int {
	if w.Status() == 0 {
		return http.StatusOK
	}
	return w.Status()
}

// pattern is the route's template, so that ids neither multiply the metrics nor
// end up in the log.
func pattern(r *http.Request) string {
	if rc := chi.RouteContext(r.Context()); rc != nil && rc.RoutePattern() != "" {
		return rc.RoutePattern()
	}
	return "unknown"
}
