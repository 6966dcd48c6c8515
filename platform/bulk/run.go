package bulk

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/platform/httpapi"
	"marquee/platform/jobadmin"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
)

// RunArgs is the job that does a bulk act, or goes on with it.
type RunArgs struct {
	BulkID objectid.ID `json:"bulk_id"`
}

// Kind names the job.
func (RunArgs) Kind() string { return jobadmin.BulkKind }

// InsertOpts leave one job to an act.
func (RunArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: jobs.WaitingStates}}
}

// PurgeArgs is the job that forgets acts that ended long ago.
type PurgeArgs struct{}

// Kind names the job.
func (PurgeArgs) Kind() string { return "platform_bulk_purge" }

const (
	// turn is how long one run of the job goes on before it makes room for others.
	turn = time.Minute
	// pause is how long it waits where the platform is busy.
	pause = 10 * time.Second
)

// Workers adds the jobs.
func (s *Service) Workers(w *river.Workers) {
	jobs.HandleWithin(w, 2*turn+time.Minute, func(ctx context.Context, a RunArgs) error { return s.run(ctx, a.BulkID) })
	jobs.Handle(w, func(ctx context.Context, _ PurgeArgs) error { return s.purge(ctx) })
}

// Periodic returns the jobs that come by the clock.
func (*Service) Periodic() []jobs.Periodic {
	return []jobs.Periodic{jobs.NewPeriodic(river.PeriodicInterval(time.Hour), PurgeArgs{},
		&river.InsertOpts{MaxAttempts: 1}, &river.PeriodicJobOpts{ID: PurgeArgs{}.Kind(), RunOnStart: true})}
}

func (s *Service) purge(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, "DELETE FROM platform.bulk_acts WHERE ended_at < $1", s.clock.Now().Add(-retention))
	if err != nil {
		return fmt.Errorf("forget bulk acts: %w", err)
	}
	return nil
}

// run does records one by one for a turn. It may run again at any point: see act.Once.
func (s *Service) run(ctx context.Context, id objectid.ID) error {
	a, err := get(ctx, s.pool, id)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && a.State != stateRunning {
		return nil
	}
	if err != nil {
		return err
	}
	act := s.acts[a.Act]
	arguments, err := argumentsOf(a.Arguments)
	if err != nil {
		return err
	}
	for began := time.Now(); time.Since(began) < turn; {
		r, err := next(ctx, s.pool, id)
		if errors.Is(err, pgx.ErrNoRows) {
			_, err = end(ctx, s.pool, id, stateDone, s.clock.Now())
			return err
		}
		if err != nil {
			return fmt.Errorf("read the next record: %w", err)
		}
		later, err := s.do(ctx, act, a, r, arguments)
		if err != nil {
			return err
		}
		if later {
			return river.JobSnooze(pause)
		}
	}
	return river.JobSnooze(0)
}

// do does one record. Later says that the platform is busy: the record stays open.
func (s *Service) do(ctx context.Context, act *Act, a stored, r row, arguments map[string]any) (later bool, err error) {
	if act == nil {
		return false, set(ctx, s.pool, a.ID, r.Position, outcomeFailed, "This version does not know the act.")
	}
	if act.Once {
		if r.Outcome != nil {
			return false, set(ctx, s.pool, a.ID, r.Position, outcomeUnknown, "It was cut off: look at the record.")
		}
		if err := set(ctx, s.pool, a.ID, r.Position, outcomeStarted, ""); err != nil {
			return false, err
		}
	}
	path, body := act.call(r.RecordID, arguments)
	acted, err := httpapi.Act(ctx, s.api, a.Claims, act.method, path, a.ID.String(), body)
	if err == nil && ctx.Err() != nil {
		err = ctx.Err() // it was cut off by ourselves
	}
	if err != nil {
		return false, err
	}
	outcome, reason := outcomeOf(acted)
	if outcome == "" {
		if act.Once { // nothing was begun: busy is answered before that
			_, err = s.pool.Exec(ctx, "UPDATE platform.bulk_rows SET outcome = NULL WHERE bulk_id = $1 AND position = $2",
				a.ID, r.Position)
		}
		return true, err
	}
	if outcome == outcomeFailed && acted.Status >= http.StatusInternalServerError {
		s.log.ErrorContext(ctx, "a record of a bulk act failed", slog.String("bulk_id", a.ID.String()),
			slog.String("record_id", r.RecordID), slog.Int("status", acted.Status))
	}
	return false, set(ctx, s.pool, a.ID, r.Position, outcome, reason)
}

// outcomeOf is what an answer means for a record: what is not there, or stands against the act, is skipped; "" where
// the platform is busy.
func outcomeOf(a httpapi.Acted) (outcome, reason string) {
	switch {
	case a.Refused:
		return outcomeFailed, "Whoever began this may not do it any more, or their sign-in was ended."
	case a.Status == http.StatusServiceUnavailable, a.Status == http.StatusTooManyRequests:
		return "", ""
	case a.Status < http.StatusBadRequest:
		return outcomeDone, ""
	case a.Status == http.StatusNotFound, a.Status == http.StatusConflict:
		return outcomeSkipped, a.Sentence
	case a.Status >= http.StatusInternalServerError:
		return outcomeFailed, "It failed here; the log says why."
	}
	return outcomeFailed, a.Sentence
}
