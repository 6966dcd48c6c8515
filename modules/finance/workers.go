package finance

import "github.com/riverqueue/river"

// Workers adds the module's jobs.
func (s *Service) Workers(_ *river.Workers) {}

// Periodic returns the jobs that run by the clock.
func (s *Service) Periodic() []*river.PeriodicJob { return nil }
