// Package invariants checks what must be true of the data at any moment: SQL that finds what breaks it, one file an
// invariant in sql/<module>/invariants, named as it is, its first line the sentence that it checks, then a query of the
// columns id (what breaks it) and detail (how). $1 is the instant to check at. A file may read the schemas of lower
// modules too, which queries may not (docs/architecture.md), and lies beside the topmost that it reads.
//
// `marquee doctor`, the gauge marquee_invariant_findings and the end-to-end tests run the same files. What a finding means
// and what to do about it is in docs/operations.md.
package invariants

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee"
)

// MaxOffenders bounds the offenders that a Result lists.
const MaxOffenders = 20

// Invariant is one thing that must be true.
type Invariant struct {
	Name    string // of its file, such as one_live_subscription
	Meaning string // a sentence
	query   string
}

// Query is what finds the offenders; $1, where it stands in it, is the instant.
func (inv Invariant) Query() string { return inv.query }

// from finds what a SELECT begins from, and not what IS DISTINCT FROM compares.
var from = regexp.MustCompile(`(?i)(\bDISTINCT\s+)?\bFROM\s+(\w+\.\w+)`)

// Tables are those that an invariant's SELECTs begin from; what they join comes on top. While all
// of them are empty it finds nothing.
func (inv Invariant) Tables() []string {
	var tables []string
	for _, match := range from.FindAllStringSubmatch(inv.query, -1) {
		if match[1] == "" {
			tables = append(tables, match[2])
		}
	}
	return tables
}

// Offender is what breaks an invariant.
type Offender struct {
	ID     string `json:"id"`
	Detail string `json:"detail"`
}

// Result is what a check found.
type Result struct {
	Name      string     `json:"name"`
	Meaning   string     `json:"meaning"`
	Findings  int64      `json:"findings"`
	Offenders []Offender `json:"offenders"` // the first ones, at most MaxOffenders
}

// All returns the invariants by name.
func All() []Invariant { return slices.Clone(all) }

var all = read()

func read() []Invariant {
	files, err := fs.Glob(marquee.Invariants, "sql/*/invariants/*.sql")
	if err != nil {
		panic(err) // embedded
	}
	found := make([]Invariant, 0, len(files))
	for _, file := range files {
		text, err := marquee.Invariants.ReadFile(file)
		if err != nil {
			panic(err) // embedded
		}
		meaning, query, _ := strings.Cut(string(text), "\n")
		found = append(found, Invariant{
			Name: strings.TrimSuffix(path.Base(file), ".sql"), Meaning: strings.TrimPrefix(meaning, "-- "), query: query,
		})
	}
	slices.SortFunc(found, func(a, b Invariant) int { return strings.Compare(a.Name, b.Name) })
	return found
}

// DB is what a check needs: a pool, a connection or a transaction.
type DB interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// Check looks for what breaks the invariants at an instant, in one round trip,
// and returns a result for each of them, by name. It reads whole tables: seconds
// on a large database.
func Check(ctx context.Context, db DB, at time.Time) ([]Result, error) {
	return CheckThese(ctx, db, at, all)
}

// Pause is how long Confirmed waits for what follows upon a transaction, such as the total that is written after a
// refund.
const Pause = 2 * time.Second

// Confirmed is Check for data that is written to meanwhile: what seems broken is looked for again after the pause, and
// of the offenders those count that both checks list. A result whose first check had more offenders than it lists keeps
// all that the second finds.
func Confirmed(ctx context.Context, db DB, at time.Time, pause time.Duration) ([]Result, error) {
	results, err := Check(ctx, db, at)
	if err != nil || len(Broken(results)) == 0 {
		return results, err
	}
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("check invariants again: %w", ctx.Err())
	case <-time.After(pause):
	}
	again, err := Check(ctx, db, at)
	if err != nil {
		return nil, err
	}
	for i := range again {
		again[i].confirm(results[i])
	}
	return again, nil
}

// confirm leaves the offenders that an earlier result lists too.
func (r *Result) confirm(earlier Result) {
	if earlier.Findings > MaxOffenders {
		return
	}
	r.Offenders = slices.DeleteFunc(r.Offenders, func(o Offender) bool {
		return !slices.ContainsFunc(earlier.Offenders, func(e Offender) bool { return e.ID == o.ID })
	})
	r.Findings = int64(len(r.Offenders))
}

// CheckThese is Check for some of the invariants.
func CheckThese(ctx context.Context, db DB, at time.Time, these []Invariant) ([]Result, error) {
	var batch pgx.Batch
	results := make([]Result, len(these))
	for i, inv := range these {
		results[i] = Result{Name: inv.Name, Meaning: inv.Meaning, Offenders: []Offender{}}
		sql, args := inv.statement(at)
		batch.Queue(sql, args...).Query(func(rows pgx.Rows) error { return results[i].take(rows) })
	}
	if err := db.SendBatch(ctx, &batch).Close(); err != nil {
		return nil, fmt.Errorf("check invariants: %w", err)
	}
	return results, nil
}

// statement counts all offenders and lists the first ones.
func (inv Invariant) statement(at time.Time) (sql string, args []any) {
	if strings.Contains(inv.query, "$1") {
		args = []any{at}
	}
	return fmt.Sprintf("SELECT id::text, detail::text, count(*) OVER () FROM (%s) offenders ORDER BY 1, 2 LIMIT %d",
		inv.query, MaxOffenders), args
}

func (r *Result) take(rows pgx.Rows) error {
	for rows.Next() {
		var o Offender
		if err := rows.Scan(&o.ID, &o.Detail, &r.Findings); err != nil {
			return fmt.Errorf("%s: %w", r.Name, err)
		}
		r.Offenders = append(r.Offenders, o)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("%s: %w", r.Name, err)
	}
	return nil
}

// Broken returns the results that have findings.
func Broken(results []Result) []Result {
	return slices.DeleteFunc(slices.Clone(results), func(r Result) bool { return r.Findings == 0 })
}
