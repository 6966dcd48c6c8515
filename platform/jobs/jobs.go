// Package jobs sets up River: work that must follow a commit is a job inserted
// in that commit, and every job may run more than once.
package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"marquee/platform/postgres"
)

// Schema is where River's tables live.
const Schema = "jobs"

// Client inserts jobs, and works them when it was made with workers.
type Client = river.Client[pgx.Tx]

// InsertTx inserts a job, of which the caller does not need the row. An error is the database's, and names its kind.
func InsertTx(ctx context.Context, c *Client, tx pgx.Tx, args river.JobArgs, o *river.InsertOpts) error {
	if _, err := c.InsertTx(ctx, tx, args, o); err != nil {
		return fmt.Errorf("queue %s: %w", args.Kind(), err)
	}
	return nil
}

// InsertLaterTx inserts a job that is not unique as InsertTx of the client does, with the next statement of a
// transaction of postgres.InTx (postgres.Later).
func InsertLaterTx(ctx context.Context, c *Client, within pgx.Tx, args river.JobArgs, o *river.InsertOpts) error {
	if later, ok := postgres.Later(within).(pgx.Tx); ok {
		within = later
	}
	_, err := c.InsertManyFastTx(ctx, within, []river.InsertManyParams{{Args: args, InsertOpts: o}})
	return err
}

// Queues, each with its own number of workers, so that slow gateways never hold
// up mails.
const (
	QueueDefault = river.QueueDefault
	QueueMail    = "mail"
	QueueGateway = "gateway"
	QueueExport  = "export"
)

// queues are all of them.
var queues = map[string]river.QueueConfig{
	QueueDefault: {MaxWorkers: 10}, QueueMail: {MaxWorkers: 4}, QueueGateway: {MaxWorkers: 8},
	QueueExport: {MaxWorkers: 2},
}

// Queues are the names of all of them, sorted.
func Queues() []string { return slices.Sorted(maps.Keys(queues)) }

// WaitingStates are those in which a job still has its work before it.
var WaitingStates = []rivertype.JobState{
	rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRunning, rivertype.JobStateRetryable,
	rivertype.JobStateScheduled,
}

// Options say what a client works; without Workers it only inserts.
type Options struct {
	Workers  *river.Workers
	Periodic []Periodic
	Log      *slog.Logger
	// PollOnly does without LISTEN.
	PollOnly bool
	// Metrics registers what becomes of the jobs that are worked; nil: nobody counts.
	Metrics prometheus.Registerer
	// Listen is a pool for LISTEN, where the client's own stands behind a pooler; nil: the client's own.
	Listen *pgxpool.Pool
	// Middleware stands around the inserting and the working of jobs, the first outermost.
	Middleware []rivertype.Middleware
	// Ahead is how far the product's clock is ahead of the machine's, where it can be moved; nil: it can't.
	Ahead func() time.Duration
}

// New makes a client on the pool.
func New(pool *pgxpool.Pool, o Options) (*Client, error) {
	cfg := &river.Config{
		Schema: Schema, Logger: withoutCounts(o.Log), PollOnly: o.PollOnly, Middleware: slices.Clone(o.Middleware),
	}
	if o.Ahead != nil {
		cfg.Hooks = []rivertype.Hook{earlier(o.Ahead)}
	}
	if o.Workers != nil {
		cfg.Workers = o.Workers
		cfg.PeriodicJobs = rivers(o.Periodic)
		cfg.ErrorHandler = &errorHandler{log: o.Log}
		cfg.Middleware = append(cfg.Middleware, river.WorkerMiddlewareFunc(asJob))
		if o.Metrics != nil {
			cfg.Middleware = append(cfg.Middleware, river.WorkerMiddlewareFunc(newMetrics(o.Metrics).work))
		}
		cfg.JobTimeout = 2 * time.Minute // a gateway may take one for a card
		cfg.FetchCooldown = 50 * time.Millisecond
		cfg.FetchPollInterval = 500 * time.Millisecond
		cfg.Queues = queues
	}
	var client *Client
	var err error
	if d := riverpgxv5.New(pool); o.Listen == nil {
		client, err = river.NewClient(d, cfg)
	} else {
		client, err = river.NewClient(listening{d, riverpgxv5.New(o.Listen)}, cfg)
	}
	if err != nil {
		return nil, fmt.Errorf("job client: %w", err)
	}
	return client, nil
}

// listening is a driver whose LISTEN another one does.
type listening struct {
	*riverpgxv5.Driver
	by *riverpgxv5.Driver
}

// GetListener implements riverdriver.Driver.
func (d listening) GetListener(p *riverdriver.GetListenenerParams) riverdriver.Listener {
	return d.by.GetListener(p)
}

// withoutCounts is the log without River's lines of information, which it writes every 5 s, unless it is one for
// debugging.
func withoutCounts(log *slog.Logger) *slog.Logger {
	if log == nil {
		return nil
	}
	return slog.New(warnings{log.Handler()})
}

type warnings struct{ slog.Handler }

// Enabled lets warnings and errors through, and everything where the log is one for debugging.
func (h warnings) Enabled(ctx context.Context, l slog.Level) bool {
	return h.Handler.Enabled(ctx, l) && (l >= slog.LevelWarn || h.Handler.Enabled(ctx, slog.LevelDebug))
}

// WithAttrs and WithGroup keep to that.
func (h warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{h.Handler.WithAttrs(attrs)}
}

// WithGroup is as WithAttrs.
func (h warnings) WithGroup(name string) slog.Handler { return warnings{h.Handler.WithGroup(name)} }

// asJob has a job wait for connections and locks as long as its own time, and leave
// some connections to requests where one process does both.
func asJob(ctx context.Context, _ *rivertype.JobRow, work func(context.Context) error) error {
	return work(postgres.As(ctx, postgres.Job, "jobs"))
}

// errorHandler logs failures by kind and attempt; River keeps and retries the
// job. Arguments are not logged.
type errorHandler struct{ log *slog.Logger }

func (h *errorHandler) HandleError(ctx context.Context, job *rivertype.JobRow, err error) *river.ErrorHandlerResult {
	h.log.WarnContext(ctx, "job failed", slog.String("kind", job.Kind), slog.Int64("job_id", job.ID),
		slog.Int("attempt", job.Attempt), slog.Int("max_attempts", job.MaxAttempts), slog.Any("error", err))
	return nil
}

func (h *errorHandler) HandlePanic(ctx context.Context, job *rivertype.JobRow, panicked any,
	trace string,
) *river.ErrorHandlerResult {
	h.log.ErrorContext(ctx, "job panicked", slog.String("kind", job.Kind), slog.Int64("job_id", job.ID),
		slog.Any("panic", panicked), slog.String("stack", trace))
	return nil
}

// Handle has a kind of job worked by a function of its arguments.
func Handle[T river.JobArgs](w *river.Workers, work func(ctx context.Context, args T) error) {
	HandleWithin(w, 0, work)
}

// HandleWithin is Handle for a job that may take longer than others; 0: as long as they.
func HandleWithin[T river.JobArgs](w *river.Workers, limit time.Duration,
	work func(ctx context.Context, args T) error,
) {
	river.AddWorker(w, &worker[T]{limit: limit, work: work})
}

type worker[T river.JobArgs] struct {
	river.WorkerDefaults[T]
	limit time.Duration
	work  func(ctx context.Context, args T) error
}

func (w *worker[T]) Work(ctx context.Context, job *river.Job[T]) error { return w.work(ctx, job.Args) }

func (w *worker[T]) Timeout(*river.Job[T]) time.Duration { return w.limit }

// Periodic is work that comes by the clock.
type Periodic struct {
	Schedule river.PeriodicSchedule
	New      func() (river.JobArgs, *river.InsertOpts)
	Opts     *river.PeriodicJobOpts
}

// NewPeriodic makes it; insert and opts may be nil.
func NewPeriodic(s river.PeriodicSchedule, args river.JobArgs, insert *river.InsertOpts,
	opts *river.PeriodicJobOpts,
) Periodic {
	return Periodic{Schedule: s, New: func() (river.JobArgs, *river.InsertOpts) { return args, insert }, Opts: opts}
}

// rivers are the same as River wants them.
func rivers(periodic []Periodic) []*river.PeriodicJob {
	out := make([]*river.PeriodicJob, len(periodic))
	for i, p := range periodic {
		out[i] = river.NewPeriodicJob(p.Schedule, p.New, p.Opts)
	}
	return out
}

// AddPeriodic has the client insert them by the machine's clock. Before it starts.
func AddPeriodic(client *Client, periodic []Periodic) {
	client.PeriodicJobs().AddMany(rivers(periodic))
}
