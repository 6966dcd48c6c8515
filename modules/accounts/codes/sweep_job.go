package codes

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// SweepCodesArgs is the job that removes codes, code requests and counts of
// failures that no longer say anything. Expired codes are kept for a day, so that whoever types one
// learns that it expired.
type SweepCodesArgs struct{}

// Kind names the job.
func (SweepCodesArgs) Kind() string { return "accounts_sweep_codes" }

const codeRetention = 24 * time.Hour

type sweepWorker struct {
	river.WorkerDefaults[SweepCodesArgs]
	s *Codes
}

// NewSweepWorker makes the worker that removes them.
func NewSweepWorker(s *Codes) river.Worker[SweepCodesArgs] { return &sweepWorker{s: s} }

// Work removes what is over of all kinds.
func (w *sweepWorker) Work(ctx context.Context, _ *river.Job[SweepCodesArgs]) error {
	now := w.s.deps.Clock.Now()
	if _, err := w.s.db.CodeDeleteExpired(ctx, w.s.deps.Pool, now.Add(-codeRetention)); err != nil {
		return err
	}
	since := now.Add(-codeRetention - w.s.deps.Config.Cooldown)
	if _, err := w.s.db.CodeRequestDeleteOld(ctx, w.s.deps.Pool, since); err != nil {
		return err
	}
	if _, err := w.s.db.EmailChangeDeleteOld(ctx, w.s.deps.Pool, now); err != nil {
		return err
	}
	return w.s.deps.Sessions.ForgetOld(ctx)
}
