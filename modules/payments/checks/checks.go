// Package checks is the job of the checks: a turn of them at each gateway every 5 s (package intent).
package checks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/clock"
	"marquee/platform/jobs"
	"marquee/platform/postgres"
)

const (
	// turnEvery is how often there is a turn, turnStays how long one waits for what falls due
	// before the next.
	turnEvery, turnStays = 5 * time.Second, 4 * time.Second
	// turnTime bounds a turn, which may have a whole outage to catch up with.
	turnTime = 10 * time.Minute
)

// Turns make the checks that are due.
type Turns struct {
	Pool    postgres.Pool
	Clock   clock.Clock
	Log     *slog.Logger
	Intents *intent.Service
}

// turnArgs is a turn at one gateway.
type turnArgs struct {
	Gateway gateway.Name `json:"gateway"`
}

// Kind is the job's.
const Kind = "payments_intents_look"

// Kind names the job.
func (turnArgs) Kind() string { return Kind }

// InsertOpts: one turn a gateway at a time.
func (turnArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{
		Queue: jobs.QueueGateway, MaxAttempts: 1,
		UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: jobs.WaitingStates},
	}
}

// make stays for what falls due before the next turn, so that the pauses of seconds are
// what they are meant to be. What fails in it is no error: it comes with the next, and
// nobody has to look at a job that was given up.
func (t *Turns) make(ctx context.Context, a turnArgs) error {
	ctx, cancel := context.WithTimeout(ctx, turnTime-time.Minute)
	defer cancel()
	for until := time.Now().Add(turnStays); ; {
		if err := t.Intents.CheckDue(ctx, a.Gateway); err != nil {
			t.Log.WarnContext(ctx, "a turn of checks failed", "gateway", a.Gateway, "error", err)
			return nil
		}
		now := t.Clock.Now()
		next, err := t.next(ctx, a.Gateway, now)
		if err != nil || next.Sub(now) > time.Until(until) {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(next.Sub(now)):
		}
	}
}

// next is when the next check of a gateway falls due after an instant; pgx.ErrNoRows when none waits.
func (t *Turns) next(ctx context.Context, g gateway.Name, now time.Time) (time.Time, error) {
	return paymentsdb.New().IntentGetNextCheck(ctx, t.Pool, paymentsdb.IntentGetNextCheckParams{Gateway: g, Now: now})
}

// Next is when the next check of any gateway falls due after an instant; ok is false when none waits. An error is the
// database's.
func (t *Turns) Next(ctx context.Context, now time.Time) (at time.Time, ok bool, err error) {
	for _, g := range gateway.Names() {
		next, err := t.next(ctx, g, now)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
		case err != nil:
			return at, false, fmt.Errorf("when the next check is due: %w", err)
		case !ok || next.Before(at):
			at, ok = next, true
		}
	}
	return at, ok, nil
}

// MakeAll is a turn at each gateway that does not stay for what falls due after it, for a clock that stands. Errors
// are those of intent.Service.CheckDue.
func (t *Turns) MakeAll(ctx context.Context) (failed error) {
	for _, g := range gateway.Names() {
		failed = errors.Join(failed, t.Intents.CheckDue(ctx, g))
	}
	return failed
}

// Workers adds the job.
func (t *Turns) Workers(w *river.Workers) { jobs.HandleWithin(w, turnTime, t.make) }

// Periodic returns a turn every 5 s for each of the gateways.
func Periodic(gateways ...gateway.Name) []jobs.Periodic {
	var periodic []jobs.Periodic
	for _, g := range gateways {
		periodic = append(periodic, jobs.NewPeriodic(river.PeriodicInterval(turnEvery), turnArgs{Gateway: g}, nil,
			&river.PeriodicJobOpts{RunOnStart: true}))
	}
	return periodic
}
