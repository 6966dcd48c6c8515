package app

import (
	"context"
	"fmt"
	"io"
	"time"

	"marquee/cmd/internal/app/scale"
	"marquee/modules/subscriptions"
	"marquee/platform/clock"
	"marquee/platform/postgres"
	"marquee/platform/telemetry"
)

// Seed fills the database with the sample plans and catalogue; what is there
// already stays as it is.
func Seed(ctx context.Context, cfg Config, logs io.Writer) error {
	log, err := telemetry.NewLog(logs, cfg.Platform.LogLevel)
	if err != nil {
		return err
	}
	a, err := New(ctx, cfg, log, false)
	if err != nil {
		return err
	}
	defer a.Close()
	return a.seed(ctx)
}

func (a *App) seed(ctx context.Context) error {
	if err := subscriptions.SeedPlans(ctx, a.db.writes, clock.System{}.Now()); err != nil {
		return fmt.Errorf("seed plans: %w", err)
	}
	if err := a.modules.catalog.Seed(ctx); err != nil {
		return fmt.Errorf("seed catalogue: %w", err)
	}
	return nil
}

// SeedScale fills the database with made-up subscriptions and all that hangs on
// them, telling of its progress. It needs the database alone.
func SeedScale(ctx context.Context, cfg Config, count int, progress io.Writer) error {
	pool, err := cfg.Database.openSession(ctx, postgres.Options{MaxConns: 1, ApplicationName: "marquee seed"})
	if err != nil {
		return err
	}
	defer pool.Close()
	now := clock.System{}.Now()
	if err := subscriptions.SeedPlans(ctx, pool, now); err != nil {
		return err
	}
	err = scale.Fill(ctx, pool, scale.Options{
		Subscriptions: count, Now: now, Samples: []string{sampleCustomer, migratedUser, migratedFlaggedUser},
		Progress: func(part string, rows int64, took time.Duration) {
			_, _ = fmt.Fprintf(progress, "%-42s %9d rows %10v\n", part, rows, took.Round(time.Millisecond))
		},
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(progress, "done in %v\n", clock.System{}.Now().Sub(now).Round(time.Second))
	return err
}

// sampleCustomer subscribes through the API at each start of `marquee dev`.
const sampleCustomer = "customer"

// The migrated users of `marquee dev`: one whose password is a placeholder that
// nobody knows, and one who has a password and still carries the flag.
const (
	migratedUser        = "migrated"
	migratedFlaggedUser = "migrated_flagged"
)
