package jobs

import "github.com/riverqueue/river"

// Periodic is work that comes by the clock.
type Periodic struct {
	Schedule river.PeriodicSchedule
	New      func() (river.JobArgs, *river.InsertOpts)
	Opts     *river.PeriodicJobOpts
}

// NewPeriodic makes it; opts may be nil.
func NewPeriodic(s river.PeriodicSchedule, job func() (river.JobArgs, *river.InsertOpts),
	opts *river.PeriodicJobOpts) Periodic {
	return Periodic{Schedule: s, New: job, Opts: opts}
}

// rivers are the same as River wants them.
func rivers(periodic []Periodic) []*river.PeriodicJob {
	out := make([]*river.PeriodicJob, len(periodic))
	for i, p := range periodic {
		out[i] = river.NewPeriodicJob(p.Schedule, p.New, p.Opts)
	}
	return out
}

// AddPeriodic has the client insert them by the machine's clock. Before it starts.
func AddPeriodic(client *Client, periodic []Periodic) {
	client.PeriodicJobs().AddMany(rivers(periodic))
}
