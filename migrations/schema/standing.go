package schema

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Standing is how a database compares with the migrations of this program.
type Standing struct {
	Missing []string // files that the database has not
	Unknown []int64  // what the database has and this program does not know: it is newer
	// Broken are the migrations among Unknown with which this program does not run, and
	// what a program has to know to run with them.
	Broken []Mark
}

// Mark is the line `-- breaks: <needs>` of a migration: programs that do not know the
// migration Needs, or one after it, do not run once a database has Version.
type Mark struct{ Version, Needs int64 }

// Err says why this program does not run on the database, and what to do; nil where it does.
func (s Standing) Err() error {
	switch n := len(s.Missing); n {
	case 0:
	case 1:
		return fmt.Errorf("the database is older than this program: 1 migration is missing, %s. Run: marquee migrate up", s.Missing[0])
	default:
		return fmt.Errorf("the database is older than this program: %d migrations are missing, the first is %s. Run: marquee migrate up", n, s.Missing[0])
	}
	if len(s.Broken) > 0 {
		m := s.Broken[0]
		return fmt.Errorf("the database is newer than this program, which does not run with its migration %05d: that needs a program which knows %05d. Start a newer one", m.Version, m.Needs)
	}
	return nil
}

// Compare reads which migrations the database has. It changes nothing.
func Compare(ctx context.Context, databaseURL string) (Standing, error) {
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return Standing{}, errors.New("this is no Postgres connection string") // the cause may hold the password
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // a pooler need not keep what is prepared
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return Standing{}, fmt.Errorf("the database does not answer: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	applied, err := versions(ctx, conn)
	if err != nil {
		return Standing{}, err
	}
	files, err := fs.Glob(FS, "*.sql")
	if err != nil {
		return Standing{}, fmt.Errorf("read migrations: %w", err)
	}
	var s Standing
	var newest int64
	for _, file := range files {
		newest = version(file)
		if !applied[newest] {
			s.Missing = append(s.Missing, file)
		}
		delete(applied, newest)
	}
	for unknown := range applied {
		s.Unknown = append(s.Unknown, unknown)
	}
	if len(s.Unknown) == 0 {
		return s, nil
	}
	rows, err := conn.Query(ctx,
		"SELECT version, needs FROM platform.breaking_migrations WHERE needs > $1 ORDER BY needs DESC, version", newest)
	if err == nil {
		s.Broken, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Mark])
	}
	if err != nil && !missing(err) {
		return s, fmt.Errorf("read what breaks older programs: %w", err)
	}
	return s, nil
}

// versions lists what goose has noted as applied; nothing in a database that it never saw.
func versions(ctx context.Context, conn *pgx.Conn) (map[int64]bool, error) {
	rows, err := conn.Query(ctx, "SELECT version_id FROM goose_db_version WHERE is_applied AND version_id > 0")
	var all []int64
	if err == nil {
		all, err = pgx.CollectRows(rows, pgx.RowTo[int64])
	}
	if err != nil && !missing(err) {
		return nil, fmt.Errorf("read the database's migrations: %w", err)
	}
	applied := map[int64]bool{}
	for _, v := range all {
		applied[v] = true
	}
	return applied, nil
}

// missing reports whether a table is not there.
func missing(err error) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && (pgErr.Code == "42P01" || pgErr.Code == "3F000")
}

var number = regexp.MustCompile(`^\d+`)

func version(file string) int64 {
	v, _ := strconv.ParseInt(number.FindString(file), 10, 64)
	return v
}
