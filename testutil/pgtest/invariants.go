package pgtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/sql/invariants"
)

// clockSkew is what tests break that move their clock while a sandbox gateway signs
// with its own.
const clockSkew = "no_clock_skew"

// RequireInvariants fails the test when the data break an invariant (sql/invariants),
// except those that are named. An end-to-end test ends with it: at is the instant
// by the test's clock. Those that can find nothing are left out: to plan all costs more than
// most tests.
func RequireInvariants(t testing.TB, db invariants.DB, at time.Time, except ...string) {
	t.Helper()
	results, err := invariants.CheckThese(context.WithoutCancel(t.Context()), plannedAsWritten{db}, at, Breakable(t, db))
	if err != nil {
		t.Errorf("pgtest: %v", err)
		return
	}
	known := map[string]bool{clockSkew: true}
	for _, name := range except {
		known[name] = true
	}
	for _, r := range results {
		if r.Findings == 0 || known[r.Name] {
			continue
		}
		t.Errorf("broken invariant %s (%s) %d times, first by %s: %s", r.Name, r.Meaning, r.Findings, r.Offenders[0].ID,
			r.Offenders[0].Detail)
	}
}

// plannedAsWritten joins in the order of the text: to weigh all orders takes longer than to read what a test has.
type plannedAsWritten struct{ invariants.DB }

func (d plannedAsWritten) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	var all pgx.Batch
	all.Queue(`SELECT set_config('join_collapse_limit', '1', true), set_config('from_collapse_limit', '1', true),
		set_config('enable_mergejoin', 'off', true), set_config('enable_hashjoin', 'off', true)`)
	all.QueuedQueries = append(all.QueuedQueries, b.QueuedQueries...)
	return d.DB.SendBatch(ctx, &all)
}

// Breakable are the invariants that begin from a table with rows, or from none that is known.
func Breakable(t testing.TB, db invariants.DB) []invariants.Invariant {
	t.Helper()
	empty, err := emptyTables(context.WithoutCancel(t.Context()), db)
	if err != nil {
		t.Errorf("pgtest: %v", err)
	}
	return slices.DeleteFunc(invariants.All(), func(inv invariants.Invariant) bool {
		return !slices.ContainsFunc(inv.Tables(), func(table string) bool { return !empty[table] })
	})
}

// emptyTables looks for rows where there is room for some: a table that was emptied keeps its pages.
func emptyTables(ctx context.Context, db invariants.DB) (map[string]bool, error) {
	empty := map[string]bool{}
	var roomy []string
	var sizes pgx.Batch
	sizes.Queue(`SELECT format('%I.%I', relnamespace::regnamespace, relname), pg_relation_size(oid) FROM pg_class
		WHERE relkind = 'r' AND relnamespace::regnamespace::text NOT LIKE 'pg\_%'`).Query(func(rows pgx.Rows) error {
		all, err := numbers(rows)
		for table, size := range all {
			empty[table] = true
			if size > 0 {
				roomy = append(roomy, fmt.Sprintf("SELECT '%[1]s' WHERE EXISTS (SELECT FROM %[1]s)", table))
			}
		}
		return err
	})
	if err := db.SendBatch(ctx, &sizes).Close(); err != nil || len(roomy) == 0 {
		return empty, err
	}
	var rows pgx.Batch
	rows.Queue(strings.Join(roomy, " UNION ALL ")).Query(func(rows pgx.Rows) error {
		tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
		for _, table := range tables {
			empty[table] = false
		}
		return err
	})
	return empty, db.SendBatch(ctx, &rows).Close()
}
