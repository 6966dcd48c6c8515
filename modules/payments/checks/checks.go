// Package checks is the job of the checks: a turn of them at each gateway every 5 s (package intent).
package checks

import (
	"context"
	"log/slog"
	"time"

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

// Kind names the job.
func (turnArgs) Kind() string { return "payments_intents_look" }

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
		next, err := paymentsdb.New().IntentGetNextCheck(ctx, t.Pool,
			paymentsdb.IntentGetNextCheckParams{Gateway: a.Gateway, Now: now})
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
