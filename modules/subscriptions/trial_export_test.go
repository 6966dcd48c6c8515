package subscriptions

import "github.com/riverqueue/river"

// TrialUses is the job that keeps the trials by tax id.
func TrialUses() river.JobArgs { return trialUsesArgs{} }
