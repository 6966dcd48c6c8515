// Package telemetry sets up the logs and the metrics of a process.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// NewLog returns a JSON logger of the level debug, info, warn or error. Values
// under keys that name a secret are masked, whoever logs them.
func NewLog(w io.Writer, level string) (*slog.Logger, error) {
	l, err := parseLevel(level)
	if err != nil {
		return nil, err
	}
	handler := slog.Handler(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: l, ReplaceAttr: mask}))
	if lines, ok := w.(*LineWriter); ok {
		handler = promptly{handler, lines}
	}
	return slog.New(handler), nil
}

// NewLogFor is NewLog with lines of text where w is a terminal.
func NewLogFor(w io.Writer, level string) (*slog.Logger, error) {
	if !IsTerminal(w) {
		return NewLog(w, level)
	}
	return NewTextLog(w, level)
}

// NewTextLog is NewLog with lines for people to read: the time of day, the level, what happened.
func NewTextLog(w io.Writer, level string) (*slog.Logger, error) {
	l, err := parseLevel(level)
	if err != nil {
		return nil, err
	}
	return slog.New(slog.NewTextHandler(w,
		&slog.HandlerOptions{Level: l, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && a.Key == slog.TimeKey {
				return slog.String(a.Key, a.Value.Time().Format(time.TimeOnly))
			}
			return mask(groups, a)
		}})), nil
}

// IsTerminal says whether somebody looks at what is written there.
func IsTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func parseLevel(level string) (l slog.Level, err error) {
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return l, errors.New("LOG_LEVEL has to be debug, info, warn or error")
	}
	return l, nil
}

var secretKeys = []string{
	"password", "token", "secret", "authorization", "cvv", "ccv", "card_number", "api_key", "signature",
}

func mask(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 {
		switch a.Key {
		case slog.LevelKey:
			if level, ok := a.Value.Any().(slog.Level); ok {
				return slog.String(a.Key, level.String()) // as it is written, without encoding/json
			}
		case slog.TimeKey, slog.MessageKey:
			return a
		}
	}
	key := strings.ToLower(a.Key)
	for _, s := range secretKeys {
		if strings.Contains(key, s) {
			return slog.String(a.Key, "[secret]")
		}
	}
	return a
}

// NewRegistry returns a metrics registry with Go's and the process's own figures.
func NewRegistry() *prometheus.Registry {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return reg
}

// RegisterPool registers the figures of the pool that writes.
func RegisterPool(reg prometheus.Registerer, pool *pgxpool.Pool) {
	gauge := func(name, help string, value func(*pgxpool.Stat) float64) {
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help},
			func() float64 { return value(pool.Stat()) }))
	}
	gauge("marquee_db_connections", "Open connections of the pool.",
		func(s *pgxpool.Stat) float64 { return float64(s.TotalConns()) })
	gauge("marquee_db_connections_used", "Connections that work at this moment.",
		func(s *pgxpool.Stat) float64 { return float64(s.AcquiredConns()) })
	reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "marquee_db_waits_total", Help: "How often a connection had to be waited for.",
	}, func() float64 { return float64(pool.Stat().EmptyAcquireCount()) }))
}

// Pools are the figures of a process's pools of connections, by pool.
type Pools struct{ waited *prometheus.HistogramVec }

// NewPools registers them. What Waited returns hears the waits of a pool; Add tells of its connections.
func NewPools(reg prometheus.Registerer) *Pools {
	p := &Pools{waited: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "marquee_db_wait_seconds",
		Help:    "How long requests and jobs waited for a connection of the pool, whether they got one or not.",
		Buckets: []float64{.0001, .001, .01, .05, .1, .25, .5, 1, 2.5, 10},
	}, []string{"pool"})}
	reg.MustRegister(p.waited)
	return p
}

// Waited returns what is to hear how long connections of a pool are waited for.
func (p *Pools) Waited(pool string) func(time.Duration) {
	histogram := p.waited.WithLabelValues(pool)
	return func(d time.Duration) { histogram.Observe(d.Seconds()) }
}

// Add registers the connections of a pool.
func (*Pools) Add(reg prometheus.Registerer, name string, pool *pgxpool.Pool) {
	for state, count := range map[string]func(*pgxpool.Stat) int32{
		"used": (*pgxpool.Stat).AcquiredConns, "idle": (*pgxpool.Stat).IdleConns, "most": (*pgxpool.Stat).MaxConns,
	} {
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "marquee_db_pool_connections", Help: "Connections of the pool; most is how many it may have.",
			ConstLabels: prometheus.Labels{"pool": name, "state": state},
		}, func() float64 { return float64(count(pool.Stat())) }))
	}
}

// ServeInside answers operators on an address of their own, which is not meant for the public, until ctx ends.
func ServeInside(ctx context.Context, addr string, inside http.Handler) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	server := &http.Server{Handler: inside, ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("metrics: %w", err)
	}
	return nil
}

// Inside is what a process tells its operators alone: GET /metrics, and Go's profiles below
// /debug/pprof/.
func Inside(reg *prometheus.Registry) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("POST /debug/pprof/symbol", pprof.Symbol)
	return mux
}
