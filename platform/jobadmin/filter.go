package jobadmin

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/platform/fault"
	"marquee/platform/query"
	"marquee/platform/resource"
)

// BulkKind is the kind of the job that does a bulk act: no bulk act is done to one, itself among them.
const BulkKind = "platform_bulk_act"

// maxCounted bounds what is counted of the jobs that match: more than a bulk act takes.
const maxCounted = 100_001

// fields are what a filter of a bulk act may name, under the names of the list's parameters.
var fields = &query.Collection{
	DefaultSort: `{"kind":1}`,
	Fields: map[string]query.Field{
		"state": {Expr: `(t.state::text COLLATE "C")`, Kind: query.String},
		"kind":  {Expr: `(t.kind COLLATE "C")`, Kind: query.String},
		"queue": {Expr: `(t.queue COLLATE "C")`, Kind: query.String},
	},
}

// Matching is a statement that selects the numbers, as texts, of all jobs that a filter of state, kind and queue
// matches, with its arguments. Errors: 422 for a filter that is none, or names another field.
func Matching(filter string) (sql string, args []any, err error) {
	compiled, err := query.Compile(fields, filter, 1)
	if err != nil {
		return "", nil, resource.Refused(err)
	}
	if compiled.Unknown > 0 {
		return "", nil, fault.InvalidAt("names a field that jobs do not have", "query", "query")
	}
	return "SELECT t.id::text AS id FROM jobs.river_job t WHERE t.kind <> '" + BulkKind + "' AND (" + compiled.SQL +
		") ORDER BY t.id", compiled.Args, nil
}

// countTx counts the jobs that the list shows and a bulk act may be done to, up to maxCounted.
func countTx(ctx context.Context, tx pgx.Tx, in *listInput) (n int, err error) {
	err = tx.QueryRow(ctx, `SELECT count(*) FROM (SELECT FROM jobs.river_job
		WHERE kind <> $5 AND ($1::text = '' OR state = nullif($1::text, '')::jobs.river_job_state)
			AND ($2::text = '' OR kind = $2) AND ($3::text = '' OR queue = $3) LIMIT $4) found`,
		in.State, in.Kind, in.Queue, maxCounted, BulkKind).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count jobs: %w", err)
	}
	return n, nil
}
