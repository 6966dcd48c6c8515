package codes

import (
	"context"
	"time"
)

// SweepCodesArgs is the job that removes codes, code requests, counts of failures, sessions and challenges that no
// longer say anything. Expired codes are kept for a day, so that whoever types one learns that it expired.
type SweepCodesArgs struct{}

// Kind names the job.
func (SweepCodesArgs) Kind() string { return "accounts_sweep_codes" }

const codeRetention = 24 * time.Hour

// Sweep removes what is over of all kinds.
func (s *Codes) Sweep(ctx context.Context, _ SweepCodesArgs) error {
	now := s.deps.Clock.Now()
	if _, err := s.db.CodeDeleteExpired(ctx, s.deps.Pool, now.Add(-codeRetention)); err != nil {
		return err
	}
	since := now.Add(-codeRetention - s.deps.Config.Cooldown)
	if _, err := s.db.CodeRequestDeleteOld(ctx, s.deps.Pool, since); err != nil {
		return err
	}
	if _, err := s.db.EmailChangeDeleteOld(ctx, s.deps.Pool, now); err != nil {
		return err
	}
	if err := s.deps.Factors.Sweep(ctx); err != nil {
		return err
	}
	return s.deps.Sessions.ForgetOld(ctx)
}
