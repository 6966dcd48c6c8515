package finance

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/platform/clock"
	"marquee/platform/jobs"
	"marquee/platform/postgres"
	"marquee/sql/invariants"
)

const (
	// invariantsEvery is how often the invariants are checked, invariantsTime how
	// long that may take.
	invariantsEvery, invariantsTime = 15 * time.Minute, 10 * time.Minute
)

// InvariantMonitor checks the invariants by the clock and keeps what it found, so
// that every process can show it.
type InvariantMonitor struct {
	pool  postgres.Pool
	clock clock.Clock
	log   *slog.Logger
}

// NewInvariantMonitor makes it.
func NewInvariantMonitor(pool postgres.Pool, clk clock.Clock, log *slog.Logger) *InvariantMonitor {
	return &InvariantMonitor{pool: pool, clock: clk, log: log}
}

// invariantsArgs checks all invariants.
type invariantsArgs struct{}

// Kind names the job.
func (invariantsArgs) Kind() string { return "finance_invariants" }

// Workers adds the job.
func (m *InvariantMonitor) Workers(w *river.Workers) {
	jobs.HandleWithin(w, invariantsTime, func(ctx context.Context, _ invariantsArgs) error { return m.Check(ctx) })
}

// Periodic returns when the job runs.
func (*InvariantMonitor) Periodic() []jobs.Periodic {
	return []jobs.Periodic{
		jobs.NewPeriodic(river.PeriodicInterval(invariantsEvery), invariantsArgs{},
			&river.InsertOpts{MaxAttempts: 1}, &river.PeriodicJobOpts{RunOnStart: true}),
	}
}

// Check looks at all invariants, logs what breaks them, and keeps the result in
// the place of the one before.
func (m *InvariantMonitor) Check(ctx context.Context) error {
	now := m.clock.Now()
	results, err := invariants.Confirmed(ctx, m.pool, now, invariants.Pause)
	if err != nil {
		return err
	}
	for _, r := range invariants.Broken(results) {
		m.log.ErrorContext(ctx, "invariant broken", slog.String("invariant", r.Name), slog.String("meaning", r.Meaning),
			slog.Int64("findings", r.Findings), slog.String("first", r.Offenders[0].ID),
			slog.String("detail", r.Offenders[0].Detail))
	}
	return postgres.InTx(ctx, m.pool, func(tx pgx.Tx) error { return keepResultsTx(ctx, tx, results, now) })
}

const keepResultSQL = `INSERT INTO finance.invariant_results (name, findings, offenders, checked_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (name) DO UPDATE SET findings = excluded.findings, offenders = excluded.offenders, checked_at = excluded.checked_at`

func keepResultsTx(ctx context.Context, tx pgx.Tx, results []invariants.Result, at time.Time) error {
	var batch pgx.Batch
	for _, r := range results {
		offenders, err := json.Marshal(r.Offenders)
		if err != nil {
			return err
		}
		batch.Queue(keepResultSQL, r.Name, r.Findings, json.RawMessage(offenders), at)
	}
	// Of invariants that this version does not know.
	batch.Queue(`DELETE FROM finance.invariant_results WHERE checked_at < $1`, at)
	if err := tx.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("keep results of invariants: %w", err)
	}
	return nil
}
