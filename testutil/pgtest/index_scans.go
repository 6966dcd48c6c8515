package pgtest

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"
)

// scansEnv names a file to which is added, of each test's database before it is dropped, how often its indexes were
// read. What can be read by an index is, then: the tables of tests are so small that Postgres reads most of them whole.
const scansEnv = "INDEX_SCANS"

// countsScans reports whether this run is to say which indexes it reads.
func countsScans() bool { return os.Getenv(scansEnv) != "" }

// preferIndexes has the sessions of a database read by indexes where they can, and none only because it is smaller than
// its table.
func (s *server) preferIndexes(ctx context.Context, name string) error {
	of := "ALTER DATABASE " + pgx.Identifier{name}.Sanitize()
	_, err := s.admin.Exec(ctx, of+" SET enable_seqscan = off; "+of+" SET enable_indexonlyscan = off")
	return err
}

// writeScansOf is writeScans where they are to be counted. What cannot be read is said, and left out.
func (s *server) writeScansOf(ctx context.Context, name string) {
	if !countsScans() {
		return
	}
	if err := s.writeScans(ctx, name); err != nil {
		fmt.Fprintf(os.Stderr, "pgtest: which indexes %s has read: %v\n", name, err)
	}
}

// writeScans adds to the file how often each index of a database was read that its sessions have left.
func (s *server) writeScans(ctx context.Context, name string) error {
	address, err := s.databaseURL(name)
	if err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	rows, _ := conn.Query(ctx, `
		SELECT i.schemaname || '.' || coalesce(whole.relname, i.indexrelname), i.idx_scan
		FROM pg_stat_user_indexes AS i
		LEFT JOIN pg_inherits AS part ON part.inhrelid = i.indexrelid
		LEFT JOIN pg_class AS whole ON whole.oid = part.inhparent
		WHERE i.idx_scan > 0`)
	var lines strings.Builder
	var index string
	var scans int64
	if _, err := pgx.ForEachRow(rows, []any{&index, &scans}, func() error {
		fmt.Fprintf(&lines, "%s %d\n", index, scans)
		return nil
	}); err != nil {
		return err
	}
	file, err := os.OpenFile(os.Getenv(scansEnv), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := file.WriteString(lines.String()); err != nil { // one write: other processes add theirs
		_ = file.Close()
		return err
	}
	return file.Close()
}

// unread are the indexes of a migrated database, with what they are, of which the file has no scan; those of
// constraints are read by what they forbid, and left out.
func unread(ctx context.Context, conn *pgx.Conn, file string) (indexes []string, err error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	read := map[string]bool{}
	for line := range strings.Lines(string(raw)) {
		index, _, _ := strings.Cut(line, " ")
		read[index] = true
	}
	rows, _ := conn.Query(ctx, `
		SELECT c.relnamespace::regnamespace || '.' || c.relname, pg_get_indexdef(c.oid), EXISTS (
			SELECT FROM pg_constraint AS f
			WHERE f.contype = 'f' AND f.conrelid = x.indrelid AND x.indpred IS NULL
				AND f.conkey = (x.indkey::int2[])[0:cardinality(f.conkey) - 1]
		)
		FROM pg_index AS x
		JOIN pg_class AS c ON c.oid = x.indexrelid
		WHERE NOT x.indisunique AND NOT c.relispartition
			AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = c.oid)
			AND c.relnamespace::regnamespace::text <> ALL ('{jobs,pg_catalog,pg_toast,information_schema}')
		ORDER BY 1`)
	var index, definition string
	var supports bool
	_, err = pgx.ForEachRow(rows, []any{&index, &definition, &supports}, func() error {
		if read[index] {
			return nil
		}
		if supports {
			definition += " (of a foreign key)"
		}
		indexes = append(indexes, index+": "+definition)
		return nil
	})
	return indexes, err
}
