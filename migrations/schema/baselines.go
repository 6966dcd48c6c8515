package schema

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/pressly/goose/v3/lock"
)

// The baselines replaced this many files, River's not counted, up to the last of them.
const (
	replacedFiles = 144
	lastReplaced  = 921
)

// ReplacedError says that a database stands at one of the files that the baselines
// replaced, and not at the last: no file leads on from there any more.
type ReplacedError struct {
	Version int64 // the newest migration that it has
}

func (e *ReplacedError) Error() string {
	return fmt.Sprintf("the database stands at migration %05d, and the files that lead on from there are gone: "+
		"baselines took their place, for databases that are empty or at %05d. "+
		"Bring it there with an older program, or begin afresh with an empty database", e.Version, lastReplaced)
}

// stampBaselines has a database that stands at the last of the replaced files noted as one
// that the baselines have made, which is the same, and reports whether it was one. Any other
// that stands at one of these files is a ReplacedError, and nothing changes.
func stampBaselines(ctx context.Context, databaseURL string) (bool, error) {
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return false, fmt.Errorf("the database does not answer: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if err := lockMigrations(ctx, conn); err != nil {
		return false, fmt.Errorf("migration lock: %w", err)
	}
	tx, err := conn.Begin(ctx)
	if err != nil {
		return false, fmt.Errorf("stamp the baselines: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	applied, err := versions(ctx, conn) // in the transaction
	if err != nil {
		return false, err
	}
	files, err := fs.Glob(FS, "*.sql")
	if err != nil {
		return false, fmt.Errorf("read migrations: %w", err)
	}
	replaced := maps.Clone(applied)
	maps.DeleteFunc(replaced, func(v int64, _ bool) bool { return v > lastReplaced })
	var baselines []int64
	for _, file := range files {
		delete(replaced, version(file)) // River's
		if strings.HasSuffix(file, "_baseline.sql") {
			baselines = append(baselines, version(file))
		}
	}
	if len(replaced) == 0 {
		return false, nil
	}
	newest := slices.Max(slices.Collect(maps.Keys(applied)))
	if newest != lastReplaced || len(replaced) != replacedFiles {
		return false, &ReplacedError{Version: newest}
	}
	forgotten := slices.Collect(maps.Keys(replaced))
	if _, err := tx.Exec(ctx, "DELETE FROM goose_db_version WHERE version_id = ANY ($1)", forgotten); err != nil {
		return false, fmt.Errorf("stamp the baselines: %w", err)
	}
	const insert = "INSERT INTO goose_db_version (version_id, is_applied) SELECT v, true FROM unnest($1::bigint[]) v"
	if _, err := tx.Exec(ctx, insert, baselines); err != nil {
		return false, fmt.Errorf("stamp the baselines: %w", err)
	}
	if err := tx.Commit(ctx); err != nil {
		return false, fmt.Errorf("stamp the baselines: %w", err)
	}
	return true, nil
}

// lockMigrations takes goose's own lock until the connection is closed: nobody migrates meanwhile.
func lockMigrations(ctx context.Context, conn *pgx.Conn) error {
	for {
		// A statement that waits holds a snapshot, for which a CREATE INDEX CONCURRENTLY of whoever migrates would
		// wait in turn: a deadlock. So the lock is tried.
		var locked bool
		if err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", lock.DefaultLockID).Scan(&locked); err != nil {
			return err
		}
		if locked {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}
