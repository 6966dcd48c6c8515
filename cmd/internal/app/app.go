package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"

	"marquee/modules/accounts"
	"marquee/platform/bulk"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/idempotency"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/platform/openapi"
	"marquee/platform/postgres"
	"marquee/platform/probe"
	"marquee/platform/stream"
	"marquee/web"
)

// stopTime is how long requests and jobs under way may take to finish.
const stopTime = 20 * time.Second

// refusedTime is how long a process that stops tries to write what it refused.
const refusedTime = 5 * time.Second

// What GET /health has for itself; it asks for the tables of two checks.
const (
	healthConns    = 2
	healthLockWait = 100 * time.Millisecond
)

// controlRoot is where `marquee dev` has its controls, beside the API; no other command mounts them.
const controlRoot = "/_dev"

// App is one process of the platform: every module, built once.
type App struct {
	cfg      Config
	log      *slog.Logger
	db       *database
	jobs     *jobs.Client
	api      *httpapi.API
	metrics  *prometheus.Registry
	observed observed
	modules  modules
	probe    *probe.Probe       // whether it lives and is ready
	endBy    atomic.Value       // a time.Time, from the end of draining on: until when all has to be done
	repeats  *idempotency.Store // answers of requests with an Idempotency-Key
	bulk     *bulk.Service      // what staff do to many records at once
	streams  *stream.Streams    // of events

	periodic []jobs.Periodic // the jobs that come by the clock, where the process works any
	clock    clock.Corrected // the product's, by the database's
	moved    *clock.Moved    // the product's clock in development; nil: the one above
	controls http.Handler    // below controlRoot, in development alone; nil: none
}

// Parts are what a process may be given in the place of its own; nil is its own.
type Parts struct {
	Clock    *clock.Moved // of development
	OpenPool func(ctx context.Context, url string, o postgres.Options) (*pgxpool.Pool, error)
	Password accounts.PasswordCost // of tests, whose hashes are to cost next to nothing
	Service  string                // the name of the process in traces; one without is not traced
	Streams  stream.Config         // of tests, which wait for no minute
}

// New opens the database and builds every module. With work, its job client
// also works jobs once StartWorkers is called.
func New(ctx context.Context, cfg Config, log *slog.Logger, work bool) (*App, error) {
	return NewOf(ctx, cfg, log, work, Parts{})
}

// NewOf is New with parts of the caller's.
func NewOf(ctx context.Context, cfg Config, log *slog.Logger, work bool, parts Parts) (*App, error) {
	open := parts.OpenPool
	if open == nil {
		open = postgres.NewPool
	}
	observed, err := newObserved(cfg, parts.Service, log)
	if err != nil {
		return nil, err
	}
	log = observed.tracer.Log(log)
	a := &App{cfg: cfg, log: log, metrics: observed.registry, observed: observed, moved: parts.Clock}
	if a.db, err = openDatabase(ctx, cfg, log, work, open, observed); err != nil {
		a.flush()
		return nil, err
	}
	if err = a.correctClock(ctx); err == nil {
		err = a.build(work, parts) //nolint:contextcheck // what is registered there runs in the contexts of requests
	}
	if err == nil {
		err = a.modules.finance.UseReportZone(ctx)
	}
	if err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

func (a *App) build(work bool, parts Parts) error {
	workers := river.NewWorkers()
	options := jobs.Options{
		Log: a.log, PollOnly: a.cfg.Database.PollOnly, Listen: a.db.listen, Metrics: a.metrics,
		Middleware: a.observed.tracer.Jobs(),
	}
	if a.moved != nil {
		options.Ahead = a.moved.Ahead
	}
	if work {
		options.Workers = workers // filled below, before the client starts
	}
	client, err := jobs.New(a.db.pooled, options)
	if err != nil {
		return err
	}
	a.jobs = client
	zone, err := a.cfg.location()
	if err != nil {
		return fmt.Errorf("REPORT_TZ: %w", err)
	}
	sender, templates, err := newMail(a.cfg, a.observed)
	if err != nil {
		return err
	}
	parts.Streams.Log, parts.Streams.Metrics = a.log, a.metrics
	a.streams = stream.New(parts.Streams)
	c := core{
		cfg: a.cfg, pool: a.db.writes, lists: a.db.lists, reads: a.db.reads, jobs: client, clock: a.now(), log: a.log,
		zone: zone, password: parts.Password, streams: a.streams, observed: a.observed, sender: sender,
		templates: templates,
	}
	if a.modules, err = newModules(c); err != nil {
		return err
	}
	a.repeats = idempotency.New(a.db.writes, c.clock, []byte(a.cfg.Keys.File))
	a.bulk = bulk.New(a.db.writes, client, c.clock, a.log, a.streams)
	if work {
		a.addWorkers(workers)
	}
	return a.newAPI()
}

func (a *App) newAPI() error {
	proxies, err := a.cfg.trustedProxies()
	if err != nil {
		return err
	}
	shown, err := a.cfg.pages()
	if err != nil {
		return err
	}
	texts, err := openapi.ReadTexts(web.OpenAPI())
	if err != nil {
		return err
	}
	var stillWrites func(context.Context, objectid.ID) error
	if a.cfg.Database.writesRemembered() > 0 {
		stillWrites = a.modules.accounts.StillWrites
	}
	a.api = httpapi.New(httpapi.Config{
		Version: Version(), Auth: a.modules.accounts, Trail: a.modules.accounts, Log: a.log, Metrics: a.metrics,
		Tracer: a.observed.tracer, LogOneIn: a.cfg.Platform.LogOneIn,
		PublicURL: a.cfg.HTTP.PublicURL, TrustedProxies: proxies, CORSOrigins: a.cfg.HTTP.CORSOrigins,
		StillWrites: stillWrites, InFlight: a.cfg.HTTP.InFlight, NoThrottle: a.cfg.Throttle.Off,
		DocsPage: web.DocsPage, Pages: shown, Texts: texts, Idempotency: a.repeats, TestMode: a.cfg.testMode(),
	})
	a.api.AddCheck("database", func(ctx context.Context) error { return ping(ctx, a.db.health) })
	a.api.AddCheck("jobs", func(ctx context.Context) error {
		return postgres.InTx(ctx, a.db.health, func(tx pgx.Tx) error {
			_, err := a.jobs.JobListTx(ctx, tx, river.NewJobListParams().First(1))
			return err
		})
	})
	a.api.AddCheck("gateways", func(ctx context.Context) error {
		suspect, err := a.modules.payments.Intents().Health().Suspect(ctx, a.db.health)
		if err == nil && len(suspect) > 0 {
			return httpapi.Warning("suspect: " + strings.Join(suspect, ", "))
		}
		return err
	})
	a.registerMetrics()
	a.addRoutes()
	a.probe = a.newProbe()
	return nil
}

// Close delivers the last spans, and lets go of the database.
func (a *App) Close() {
	if a.streams != nil {
		a.streams.Close()
	}
	a.flush()
	a.db.close()
}

// StartWorkers has the job client of a process that works jobs begin; each job ends with ctx.
func (a *App) StartWorkers(ctx context.Context) error { return a.jobs.Start(ctx) }

// StopWorkers takes on no more jobs, and lets those under way finish until ctx ends.
func (a *App) StopWorkers(ctx context.Context) error { return a.jobs.Stop(ctx) }

// API is what the process serves.
func (a *App) API() *httpapi.API { return a.api }

// handler is the API with the probes beside it, in development with the controls too.
func (a *App) handler() http.Handler {
	if a.controls == nil {
		return a.probe.Beside(a.API().Handler())
	}
	mux := http.NewServeMux()
	mux.Handle(controlRoot+"/", a.controls)
	mux.Handle("/", a.API().Handler())
	return a.probe.Beside(mux)
}

// serveAPI answers on the listener until ctx ends, then lets requests under way
// finish within grace.
func (a *App) serveAPI(ctx context.Context, listener net.Listener, grace time.Duration) error {
	server := &http.Server{
		Handler:           a.handler(),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       60 * time.Second,
		WriteTimeout:      120 * time.Second, // longer than a request may take
		IdleTimeout:       120 * time.Second,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(a.log.Handler(), slog.LevelWarn),
	}
	server.RegisterOnShutdown(a.streams.Drain)
	defer roomBesideHashes()()
	defer a.keepRefused(ctx, min(grace, refusedTime))()
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		stopped <- server.Shutdown(ctx)
	})
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	if err := <-stopped; err != nil {
		_ = server.Close()
		return fmt.Errorf("requests were cut off after %v: %w", grace, err)
	}
	return nil
}

// keepRefused writes what refused webhooks could not write themselves, until the returned
// function is called, which waits for the last of it.
func (a *App) keepRefused(ctx context.Context, grace time.Duration) (end func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.modules.payments.KeepRefused(ctx, grace)
	}()
	return func() {
		cancel()
		<-ended
	}
}

// roomBesideHashes fits Go's scheduler and collector to password hashes, until the
// returned function is called. They may hold as many processors as there are cores,
// each for some 30 ms: what else is asked for would wait behind them until Go cuts
// them off, while on twice as many it runs on threads of its own, among which the
// system divides the cores. And each takes 19 MiB for its time, which by the default
// would have the small heap that lives on collected with every other login. An
// operator's GOMAXPROCS and GOGC stand.
func roomBesideHashes() (undo func()) {
	processors, percent := runtime.GOMAXPROCS(0), -1
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(2 * processors)
	}
	if os.Getenv("GOGC") == "" {
		percent = debug.SetGCPercent(400)
	}
	return func() {
		runtime.GOMAXPROCS(processors)
		if percent >= 0 {
			debug.SetGCPercent(percent)
		}
	}
}

// work works jobs until ctx ends, then lets those under way finish within grace.
func (a *App) work(ctx context.Context, grace time.Duration) error {
	living, die := context.WithCancel(context.WithoutCancel(ctx))
	defer die() // once no job is under way
	if err := jobs.Watch(living, a.db.writes, a.jobs.ID(), a.log, jobs.Pace{}); err != nil {
		return err
	}
	go a.keepClock(living)
	if err := a.StartWorkers(living); err != nil {
		return fmt.Errorf("start workers: %w", err)
	}
	<-ctx.Done()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := a.StopWorkers(ctx); err != nil {
		return a.jobs.StopAndCancel(context.WithoutCancel(ctx))
	}
	return nil
}

// Version is the module's version or the commit that the binary was built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return s.Value[:12]
		}
	}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}
