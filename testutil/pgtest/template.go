package pgtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"

	"github.com/jackc/pgx/v5"

	"marquee/migrations/schema"
)

const (
	templatePrefix = "marquee_template_"
	databasePrefix = "marquee_test_"
)

// ensureTemplate returns the name of a database on which all migrations have run. One
// process makes it while the others wait; a half-made one, whose maker was killed, is
// known by not being marked as a template yet.
func (s *server) ensureTemplate(ctx context.Context) (string, error) {
	hash, err := migrationsHash(schema.FS)
	if err != nil {
		return "", err
	}
	name := templatePrefix + hash
	key := lockKey("make " + name)
	if _, err := s.session.Exec(ctx, "SELECT pg_advisory_lock($1)", key); err != nil {
		return "", err
	}
	defer func() { _, _ = s.session.Exec(ctx, "SELECT pg_advisory_unlock($1)", key) }()

	// Others drop templates that nobody claims; from here on somebody does.
	if _, err := s.session.Exec(ctx, "SELECT pg_advisory_lock_shared($1)", lockKey(name)); err != nil {
		return "", err
	}
	var done bool
	err = s.session.QueryRow(ctx, "SELECT datistemplate FROM pg_database WHERE datname = $1", name).Scan(&done)
	if done || (err != nil && !errors.Is(err, pgx.ErrNoRows)) {
		return name, err
	}
	return name, s.makeTemplate(ctx, name)
}

func (s *server) makeTemplate(ctx context.Context, name string) error {
	quoted := pgx.Identifier{name}.Sanitize()
	if _, err := s.session.Exec(ctx, "DROP DATABASE IF EXISTS "+quoted); err != nil {
		return err
	}
	if _, err := s.session.Exec(ctx, "CREATE DATABASE "+quoted); err != nil {
		return err
	}
	address, err := s.databaseURL(name)
	if err != nil {
		return err
	}
	if _, err := schema.Up(ctx, address); err != nil {
		return err
	}
	if err := vacuum(ctx, address); err != nil {
		return err
	}
	// The first session on a database writes down what each of them reads when it begins. It is
	// copied, too.
	if err := connect(ctx, address); err != nil {
		return err
	}
	// Nobody may be connected to what is copied, so nobody may connect.
	_, err = s.session.Exec(ctx, "ALTER DATABASE "+quoted+" WITH IS_TEMPLATE true ALLOW_CONNECTIONS false")
	return err
}

func vacuum(ctx context.Context, address string) error {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, "VACUUM ANALYZE")
	return err
}

func connect(ctx context.Context, address string) error {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// migrationsHash changes with any name or byte of the migrations.
func migrationsHash(fsys fs.FS) (string, error) {
	names, err := fs.Glob(fsys, "*.sql")
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, name := range names { // fs.Glob sorts
		content, err := fs.ReadFile(fsys, name)
		if err != nil {
			return "", err
		}
		sum := sha256.Sum256(content)
		h.Write([]byte(name))
		h.Write(sum[:])
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}
