package modeltest_test

import (
	"context"
	"errors"
	"reflect"
	"time"
	"unsafe"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/require"
)

// worker is what River makes of a job: it decodes the arguments and works.
type worker struct{ unit reflect.Value }

// workerOf finds the worker of a job as River's own executor does. River offers
// no way to work one job now and to wait for it, which is what a history that can
// be run again needs; hence the look at a field that it does not export.
func workerOf(workers *river.Workers, job *rivertype.JobRow) (worker, bool) {
	kinds := exposed(reflect.ValueOf(workers).Elem().FieldByName("workersMap"))
	found := kinds.MapIndex(reflect.ValueOf(job.Kind))
	if !found.IsValid() {
		return worker{}, false
	}
	info := reflect.New(found.Type()).Elem()
	info.Set(found)
	made := exposed(info.FieldByName("workUnitFactory")).MethodByName("MakeUnit").
		Call([]reflect.Value{reflect.ValueOf(job)})
	return worker{made[0]}, true
}

func exposed(field reflect.Value) reflect.Value {
	return reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem() //nolint:gosec // see workerOf
}

func (w worker) work(ctx context.Context) error {
	if err, _ := w.unit.MethodByName("UnmarshalJob").Call(nil)[0].Interface().(error); err != nil {
		return err
	}
	err, _ := w.unit.MethodByName("Work").Call([]reflect.Value{reflect.ValueOf(ctx)})[0].Interface().(error)
	return err
}

const (
	// finishedFor is how long River keeps a finished job, by which it tells unique ones.
	finishedFor = 24 * time.Hour
	// rescueAfter is when River takes a job for lost whose process died.
	rescueAfter = time.Hour
	// mostJobs bounds the jobs of one instant: more is a job that begets itself.
	mostJobs = 500
)

const (
	dueJobSQL = `SELECT id, kind, args, attempt, max_attempts, queue FROM jobs.river_job
		WHERE state IN ('available', 'scheduled', 'retryable') AND scheduled_at <= $1 ORDER BY priority, scheduled_at, id LIMIT 1`
	finishJobSQL = `UPDATE jobs.river_job SET state = $2::jobs.river_job_state, finalized_at = $3, attempt = $4, scheduled_at = coalesce($5, scheduled_at) WHERE id = $1`
)

// workJobs works all jobs that are due, one after the other.
func (h *history) workJobs(t tester, p *process) {
	t.Helper()
	for range mostJobs {
		job, ok := h.dueJob(t)
		if !ok {
			return
		}
		h.workJob(t, p, job)
	}
	require.Fail(t, "jobs without end")
}

// forgetJobs removes what River would have removed by now.
func (h *history) forgetJobs() {
	_, err := h.db.Exec(context.Background(), `DELETE FROM jobs.river_job WHERE finalized_at < $1`,
		h.now().Add(-finishedFor))
	require.NoError(h.t, err)
}

func (h *history) dueJob(t tester) (*rivertype.JobRow, bool) {
	t.Helper()
	var job rivertype.JobRow
	err := h.db.QueryRow(context.Background(), dueJobSQL, h.now()).Scan(&job.ID, &job.Kind, &job.EncodedArgs,
		&job.Attempt, &job.MaxAttempts, &job.Queue)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, false
	}
	require.NoError(t, err)
	job.Attempt++
	return &job, true
}

// workJob works a job and keeps its state as River does.
func (h *history) workJob(t tester, p *process, job *rivertype.JobRow) {
	t.Helper()
	w, known := workerOf(h.workers, job)
	require.True(t, known, "no worker of %s", job.Kind)
	var failed error
	ended := p.run(context.Background(), func(ctx context.Context) { failed = w.work(ctx) })
	h.inTime(longestJob)
	state, now := rivertype.JobStateCompleted, h.now()
	finished, again := &now, (*time.Time)(nil)
	var snoozed *rivertype.JobSnoozeError
	switch {
	case !ended:
		state, finished, again = rivertype.JobStateRetryable, nil, new(now.Add(rescueAfter))
	case errors.As(failed, &snoozed):
		state, finished, again = rivertype.JobStateScheduled, nil, new(now.Add(snoozed.Duration))
	case failed != nil && job.Attempt >= job.MaxAttempts:
		state = rivertype.JobStateDiscarded
	case failed != nil:
		n := min(job.Attempt, 10)
		state, finished, again = rivertype.JobStateRetryable, nil, new(now.Add(time.Duration(n*n*n*n)*time.Second))
	}
	h.logStep("job %s %s: %s %v", job.Kind, job.EncodedArgs, state, failed)
	_, err := h.db.Exec(context.Background(), finishJobSQL, job.ID, string(state), finished, job.Attempt, again)
	require.NoError(t, err)
}
