package jobadmin

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"marquee/platform/query"
	"marquee/platform/resource"
)

// BulkKind is the kind of the job that does a bulk act: no bulk act is done to one, itself among them.
const BulkKind = "platform_bulk_act"

// maxCounted bounds what is counted of the jobs that match: more than a bulk act takes.
const maxCounted = 100_001

var states = []string{
	"available", "cancelled", "completed", "discarded", "pending", "retryable", "running", "scheduled",
}

// listed is what a list of jobs can be filtered and sorted by: not what only root users read, nor max_attempts, whose
// name is that of a count which no filter may ask for. A job's _id is its number
// in the form of an id.
var listed = resource.New(resource.Definition{
	Name: "jobs", Singular: "Job", Schema: "ListedJob", Table: "jobs.river_job", PageSize: 25,
	From: `(SELECT lpad(to_hex(j.id), 24, '0') COLLATE "C" AS id, j.id AS number, j.state AS river_state,
			j.state::text COLLATE "C" AS state, j.kind COLLATE "C" AS kind, j.queue COLLATE "C" AS queue, j.attempt,
			j.created_at, j.scheduled_at, j.attempted_at, j.finalized_at, NULL::text AS document_created_by_id,
			j.created_at AS register_date,
			coalesce(j.finalized_at, j.attempted_at, j.created_at) AS register_update_date
		FROM jobs.river_job j) t`,
	DefaultSort: `{"id":-1}`,
	Fields: []resource.Field{
		{Name: "id", Column: "number", Kind: query.Int, Write: resource.ReadOnly},
		{Name: "kind", Kind: query.String, Write: resource.ReadOnly},
		{Name: "queue", Kind: query.String, Write: resource.ReadOnly},
		{Name: "state", Kind: query.String, Write: resource.ReadOnly, Rule: resource.Rule{Enum: states}},
		{Name: "attempt", Kind: query.Int, Write: resource.ReadOnly},
		{Name: "created_at", Kind: query.Date, Write: resource.ReadOnly},
		{Name: "scheduled_at", Kind: query.Date, Write: resource.ReadOnly},
		{Name: "attempted_at", Kind: query.Date, Nullable: true, Write: resource.ReadOnly},
		{Name: "finalized_at", Kind: query.Date, Nullable: true, Write: resource.ReadOnly},
	},
})

// creation is what no job has of the fields that each record carries.
var creation = []string{"document_created_by_id", "register_date", "register_update_date"}

// notActs leaves out the jobs that do bulk acts.
const notActs = "t.kind <> '" + BulkKind + "'"

// views are a list with a condition, by the one state that is asked for: River's indexes are by the state, and not by
// its name. Of "" it is that of all.
type views map[string]*resource.View

func viewsOf(base string) views {
	all := views{"": listed.Restrict(base, creation...)}
	for _, state := range states {
		narrowed := "t.river_state = '" + state + "'"
		if base != "" {
			narrowed += " AND " + base
		}
		all[state] = listed.Restrict(narrowed, creation...)
	}
	return all
}

// visible are the jobs that staff see, acted those that bulk acts may be done to.
var visible, acted = viewsOf(""), viewsOf(notActs)

// by is the view by which a filter is read: that of the one state that it asks for, if it does.
func (v views) by(filter string) *resource.View {
	var asked struct {
		State any               `json:"state"`
		And   []json.RawMessage `json:"$and"`
	}
	if json.Unmarshal([]byte(filter), &asked) != nil {
		return v[""]
	}
	if state, ok := asked.State.(string); ok && v[state] != nil {
		return v[state]
	}
	for _, part := range asked.And {
		if narrowed := v.by(string(part)); narrowed != v[""] {
			return narrowed
		}
	}
	return v[""]
}

// Matching is a statement that selects the numbers, as texts, of all jobs that a filter matches and a bulk act may be
// done to, with its arguments. Errors: 422 for a filter that is none, or names another field.
func Matching(filter string) (sql string, args []any, err error) {
	sql, args, err = acted.by(filter).Matching("t.number::text", filter)
	return sql + " ORDER BY id", args, err
}

// countTx counts the jobs that a filter matches and a bulk act may be done to, up to maxCounted.
func countTx(ctx context.Context, tx pgx.Tx, filter string) (int, error) {
	list, err := acted.by(filter).Prepare(resource.Params{Query: filter, Size: 1})
	if err != nil {
		return 0, err
	}
	if err := list.Run(ctx, tx); err != nil {
		return 0, err
	}
	return min(list.Page().Total, maxCounted), nil
}
