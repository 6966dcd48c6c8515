package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"
	"golang.org/x/sync/errgroup"

	"marquee/migrations/schema"
	"marquee/modules/accounts"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/idempotency"
	"marquee/platform/jobs"
	"marquee/platform/openapi"
	"marquee/platform/postgres"
	"marquee/platform/probe"
	"marquee/platform/telemetry"
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
	repeats  *idempotency.Store // answers of requests with an Idempotency-Key

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
	observed := newObserved()
	db, err := openDatabase(ctx, cfg, log, work, open, observed)
	if err != nil {
		return nil, err
	}
	a := &App{cfg: cfg, log: log, db: db, metrics: observed.registry, observed: observed, moved: parts.Clock}
	if err = a.correctClock(ctx); err == nil {
		err = a.build(work, parts.Password) //nolint:contextcheck // what is registered there runs in the contexts of requests
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

func (a *App) build(work bool, password accounts.PasswordCost) error {
	workers := river.NewWorkers()
	options := jobs.Options{
		Log: a.log, PollOnly: a.cfg.Database.PollOnly, Listen: a.db.listen, Metrics: a.metrics,
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
	c := core{
		cfg: a.cfg, pool: a.db.writes, reads: a.db.reads, jobs: client, clock: a.now(), log: a.log, zone: zone,
		password: password, observed: a.observed,
	}
	if a.modules, err = newModules(c); err != nil {
		return err
	}
	a.repeats = idempotency.New(a.db.writes, c.clock, []byte(a.cfg.Keys.File))
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
	a.api = httpapi.New(httpapi.Config{
		Version: Version(), Auth: a.modules.accounts, Trail: a.modules.accounts, Log: a.log, Metrics: a.metrics,
		LogOneIn:  a.cfg.Platform.LogOneIn,
		PublicURL: a.cfg.HTTP.PublicURL, TrustedProxies: proxies, CORSOrigins: a.cfg.HTTP.CORSOrigins,
		InFlight: a.cfg.HTTP.InFlight, NoThrottle: a.cfg.Throttle.Off, DocsPage: web.DocsPage, Pages: shown,
		Texts: texts, Idempotency: a.repeats,
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

// Close lets go of the database.
func (a *App) Close() { a.db.close() }

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

// Serve is `marquee serve`: the API and, on its own address, the metrics.
func Serve(ctx context.Context, cfg Config, logs io.Writer) error {
	lines := telemetry.NewLineWriter(logs)
	defer func() { _ = lines.Close() }() // behind all that is logged at the end, and in a panic
	a, err := open(ctx, cfg, lines, false)
	if err != nil {
		return err
	}
	defer a.Close()
	listener, err := net.Listen("tcp", cfg.HTTP.Addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if _, err := a.modules.payments.Comparison().RefundsStopped(ctx, a.db.writes); err != nil { // which says so
		return err
	}
	a.log.Info("serving", slog.String("addr", listener.Addr().String()), slog.String("version", Version()))
	drained, stop := a.drain(ctx, cfg.HTTP.DrainDelay)
	defer stop()
	group, running := errgroup.WithContext(drained)
	told, end := context.WithCancel(context.WithoutCancel(ctx)) // operators, while requests under way finish
	group.Go(func() error {
		defer end()
		return a.serveAPI(running, listener, stopTime)
	})
	group.Go(func() error { return a.serveInside(told, cfg.HTTP.MetricsAddr) })
	group.Go(func() error { a.keepClock(told); return nil })
	return group.Wait()
}

// Work is `marquee work`: the jobs and, on an address for operators, the metrics.
func Work(ctx context.Context, cfg Config, logs io.Writer) error {
	a, err := open(ctx, cfg, logs, true)
	if err != nil {
		return err
	}
	defer a.Close()
	if _, err := a.modules.payments.Comparison().RefundsStopped(ctx, a.db.writes); err != nil { // which says so
		return err
	}
	a.log.Info("working", slog.String("version", Version()))
	drained, stop := a.drain(ctx, 0) // nobody routes jobs here
	defer stop()
	group, running := errgroup.WithContext(drained)
	told, end := context.WithCancel(context.WithoutCancel(ctx)) // operators, while jobs under way finish
	group.Go(func() error {
		defer end()
		return a.work(running, stopTime)
	})
	group.Go(func() error {
		err := a.serveInside(told, cfg.HTTP.WorkMetricsAddr)
		if errors.Is(err, syscall.EADDRINUSE) {
			a.log.Error("this process tells operators nothing", slog.Any("error", err))
			return nil
		}
		return err
	})
	return group.Wait()
}

func open(ctx context.Context, cfg Config, logs io.Writer, work bool) (*App, error) {
	log, err := telemetry.NewLog(logs, cfg.Platform.LogLevel)
	if err != nil {
		return nil, err
	}
	standing, err := standingOf(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if n := len(standing.Unknown); n > 0 {
		log.Warn("the database is newer than this program, and is taken to run with it",
			slog.Int("unknown_migrations", n), slog.Int64("newest", slices.Max(standing.Unknown)))
	}
	return New(ctx, cfg, log, work)
}

// standingOf is how the database compares with this program; an error where it does not run on it.
func standingOf(ctx context.Context, cfg Config) (schema.Standing, error) {
	standing, err := schema.Compare(ctx, cmp.Or(cfg.Database.DirectURL, cfg.Database.URL))
	if err != nil {
		return standing, err
	}
	return standing, standing.Err()
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
