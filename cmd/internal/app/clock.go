package app

import (
	"context"
	"log/slog"
	"time"

	"marquee/platform/clock"
	"marquee/platform/postgres"
)

const (
	// clockEvery is how often a process asks the database for the time, clockTime how long it waits for it.
	clockEvery, clockTime = time.Minute, 10 * time.Second
	// clockWrong is what operators hear of.
	clockWrong = 30 * time.Second
)

// now is the product's clock.
func (a *App) now() clock.Clock {
	if a.moved != nil {
		return a.moved
	}
	return &a.clock
}

// correctClock puts the process's clock right by the database's: leases that processes take over from each other are
// compared with it. An error is the database's.
func (a *App) correctClock(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, clockTime)
	defer cancel()
	ahead, err := a.clock.Correct(func() (time.Time, error) { return postgres.Now(ctx, a.db.health) })
	if err == nil && ahead.Abs() > clockWrong {
		a.log.ErrorContext(ctx, "this machine's clock, or the database's, is wrong: it is corrected by the database's",
			slog.Duration("ahead", ahead))
	}
	return err
}

// keepClock does it every minute until ctx ends.
func (a *App) keepClock(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(clockEvery):
		}
		if err := a.correctClock(ctx); err != nil && ctx.Err() == nil {
			a.log.WarnContext(ctx, "clock not compared with the database's", slog.Any("error", err))
		}
	}
}
