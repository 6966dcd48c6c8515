package intent

import (
	"context"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/jobs"
)

// turnEvery is how often there is a turn of looks, turnStays how long one waits for
// looks that fall due before the next: the next one is not inserted while it works.
const turnEvery, turnStays = 5 * time.Second, 4 * time.Second

// turnTime bounds a turn: it may have a whole outage to catch up with.
const turnTime = 10 * time.Minute

// lookArgs is a turn of looks at one gateway.
type lookArgs struct {
	Gateway string `json:"gateway"`
}

// Kind names the job.
func (lookArgs) Kind() string { return "payments_intents_look" }

// InsertOpts: one turn a gateway at a time.
func (lookArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: jobs.QueueGateway, MaxAttempts: 1, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRunning, rivertype.JobStateRetryable, rivertype.JobStateScheduled,
	}}}
}

type lookWorker struct {
	river.WorkerDefaults[lookArgs]
	s *Service
}

// Work makes a turn, and stays for what falls due before the next one, so that the
// pauses of seconds are what they are meant to be. What fails in it comes with the next,
// so that nobody has to look at a job that was given up.
func (w *lookWorker) Work(ctx context.Context, job *river.Job[lookArgs]) error {
	ctx, cancel := context.WithTimeout(ctx, turnTime-time.Minute)
	defer cancel()
	for until := time.Now().Add(turnStays); ; {
		if err := w.s.LookDue(ctx, job.Args.Gateway); err != nil {
			w.s.deps.Log.WarnContext(ctx, "a turn of looks failed", "gateway", job.Args.Gateway, "error", err)
			return nil
		}
		wait, soon := w.s.nextLook(ctx, job.Args.Gateway)
		if !soon || wait > time.Until(until) {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// nextLook is in how long the next look of the gateway falls due.
func (s *Service) nextLook(ctx context.Context, gateway string) (in time.Duration, ok bool) {
	now := s.deps.Clock.Now()
	at, err := s.db.IntentNextLook(ctx, s.deps.Pool, paymentsdb.IntentNextLookParams{Gateway: gateway, Now: now})
	return at.Sub(now), err == nil
}

// Timeout bounds a turn.
func (*lookWorker) Timeout(*river.Job[lookArgs]) time.Duration { return turnTime }

// Workers adds the job.
func (s *Service) Workers(w *river.Workers) { river.AddWorker(w, &lookWorker{s: s}) }

// Periodic returns a turn of looks every 5 s for each of the gateways.
func (*Service) Periodic(gateways ...string) []jobs.Periodic {
	var periodic []jobs.Periodic
	for _, g := range gateways {
		periodic = append(periodic, jobs.NewPeriodic(river.PeriodicInterval(turnEvery), func() (river.JobArgs, *river.InsertOpts) {
			return lookArgs{Gateway: g}, nil
		}, &river.PeriodicJobOpts{RunOnStart: true}))
	}
	return periodic
}
