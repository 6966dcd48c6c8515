// Package probe answers those who start, stop and route to a process: GET /livez, whether it lives, and GET
// /readyz, whether it is to be given work.
package probe

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"marquee/platform/postgres"
)

const (
	// patience bounds what one answer asks.
	patience = 2 * time.Second
	// fresh is how long an answer stands: whoever asks more often gets it again.
	fresh = time.Second
)

// Status is what GET /readyz says of the process, and of what it stands on.
type Status string

// Statuses of the process: all but Ready are 503.
const (
	Ready    Status = "ready"
	Failing  Status = "failing"  // the database does not answer
	Draining Status = "draining" // it is about to end
)

// Statuses of a check; Failing is one as well.
const (
	OK   Status = "ok"
	Busy Status = "busy" // somebody holds a table that is asked
)

// Check is the least that a check tells.
type Check struct {
	Status Status `json:"status"`
}

// Config is what New needs.
type Config struct {
	Version string
	Log     *slog.Logger
	// Database asks the database in the way in which work asks it. Its error alone makes the process not ready.
	Database func(context.Context) error
	// Details are further checks by name, with what each has to tell, as JSON. They change no status: a process
	// whose replicas, jobs or gateways are away still does what it can.
	Details map[string]func(context.Context) (any, error)
}

// Probe is one process.
type Probe struct {
	cfg      Config
	draining atomic.Bool

	mu    sync.Mutex // held while something is asked: whoever comes meanwhile gets the same answer
	at    time.Time
	last  body
	known bool // last is an answer
}

type body struct {
	Status  Status         `json:"status"`
	Version string         `json:"version"`
	Checks  map[string]any `json:"checks,omitempty"`
}

// New makes the probe of a process that is ready to be asked.
func New(cfg Config) *Probe { return &Probe{cfg: cfg} }

// Drain has GET /readyz answer 503 from now on: the process ends soon.
func (p *Probe) Drain() { p.draining.Store(true) }

// Draining reports whether Drain was called.
func (p *Probe) Draining() bool { return p.draining.Load() }

// Handler answers GET /livez with 200 for as long as the process answers anything, and GET /readyz with 200, or 503
// where the database fails or the process is about to end.
func (p *Probe) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusOK, body{Status: OK, Version: p.cfg.Version})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		answer := p.current(r.Context())
		status := http.StatusOK
		if answer.Status != Ready {
			status = http.StatusServiceUnavailable
		}
		write(w, status, answer)
	})
	return mux
}

// Beside is Handler's two routes, and next for all others. Once the process drains, it asks clients to bring further
// requests over other connections.
func (p *Probe) Beside(next http.Handler) http.Handler {
	mux := http.NewServeMux()
	own := p.Handler()
	mux.Handle("/livez", own)
	mux.Handle("/readyz", own)
	mux.Handle("/", next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.Draining() {
			w.Header().Set("Connection", "close")
		}
		mux.ServeHTTP(w, r)
	})
}

func write(w http.ResponseWriter, status int, b body) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(b) // whoever asked is gone
}

func (p *Probe) current(ctx context.Context) body {
	if p.Draining() {
		return body{Status: Draining, Version: p.cfg.Version}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.known || time.Since(p.at) >= fresh {
		before := p.last.Status
		p.last = p.check(ctx)
		p.at, p.known = time.Now(), true
		if before == Failing && p.last.Status == Ready {
			p.cfg.Log.InfoContext(ctx, "ready again")
		}
	}
	if p.Draining() {
		return body{Status: Draining, Version: p.cfg.Version}
	}
	return p.last
}

// check makes a new answer, for whoever waits for it: that one of them goes away says nothing.
func (p *Probe) check(ctx context.Context) body {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	b := body{Status: Ready, Version: p.cfg.Version, Checks: map[string]any{"database": Check{OK}}}
	if err := p.cfg.Database(ctx); err != nil {
		p.cfg.Log.ErrorContext(ctx, "not ready: the database does not answer", slog.Any("error", err))
		b.Status, b.Checks["database"] = Failing, Check{Failing}
		return b
	}
	for name, check := range p.cfg.Details {
		told, err := check(ctx)
		switch {
		case postgres.IsBusy(err):
			told = Check{Busy}
		case err != nil:
			p.cfg.Log.WarnContext(ctx, "check failed", slog.String("check", name), slog.Any("error", err))
			told = Check{Failing}
		}
		b.Checks[name] = told
	}
	return b
}
