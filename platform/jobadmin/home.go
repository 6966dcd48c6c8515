package jobadmin

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/platform/home"
	"marquee/platform/postgres"
)

// homeCounts is a row a paused queue, at least one: River has an index of jobs by state.
const homeCounts = `
SELECT j.discarded, q.name, q.paused_at, q.metadata
FROM (SELECT count(*) AS discarded FROM jobs.river_job WHERE state = 'discarded') j
LEFT JOIN jobs.river_queue q ON q.paused_at IS NOT NULL
ORDER BY q.name`

// HomeSource are the queues that are paused, with why, and how many jobs were given up.
func HomeSource(pool postgres.DB) home.Source {
	return home.Source{
		Figures: []home.Figure{
			{Name: "paused_queues", Unit: home.Count, Route: "queue_list"},
			{
				Name: "discarded_jobs", Unit: home.Count, Route: "job_list",
				Parameters: func(time.Time) map[string]string { return map[string]string{"state": "discarded"} },
			},
		},
		Read: func(ctx context.Context) (map[string]home.Reading, error) {
			rows, err := pool.Query(ctx, homeCounts)
			if err != nil {
				return nil, fmt.Errorf("count jobs and queues: %w", err)
			}
			var given, paused home.Reading
			var name *string
			var at *time.Time
			var metadata []byte
			_, err = pgx.ForEachRow(rows, []any{&given.Value, &name, &at, &metadata}, func() error {
				if name == nil {
					return nil
				}
				var p pause
				_ = json.Unmarshal(metadata, &p) // of others than us it says nothing
				paused.Value++
				paused.Items = append(paused.Items, home.FigureItem{Title: *name, Note: p.Reason, At: timeOf(at)})
				return nil
			})
			if err != nil {
				return nil, fmt.Errorf("count jobs and queues: %w", err)
			}
			return map[string]home.Reading{"paused_queues": paused, "discarded_jobs": given}, nil
		},
	}
}
