package app

import (
	"context"
	"fmt"
	"time"

	"marquee/platform/postgres"
	"marquee/sql/invariants"
)

// doctorTime bounds the checking of one database.
const doctorTime = 10 * time.Minute

// CheckInvariants is `marquee doctor`: it needs the database alone.
func CheckInvariants(ctx context.Context, cfg Config) ([]invariants.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, doctorTime)
	defer cancel()
	if _, err := standingOf(ctx, cfg); err != nil {
		return nil, err
	}
	pool, err := cfg.Database.openSession(ctx,
		postgres.Options{MaxConns: 1, ApplicationName: "marquee doctor"})
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	now, err := postgres.Now(ctx, pool)
	if err != nil {
		return nil, fmt.Errorf("doctor: %w", err)
	}
	results, err := invariants.Confirmed(ctx, pool, now, invariants.Pause)
	if err != nil {
		return nil, fmt.Errorf("doctor: %w", err)
	}
	return results, nil
}
