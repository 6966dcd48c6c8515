// Package schema runs the goose files of migrations/ and compares them with what a
// database has: River's own versions, so that a plain `goose up` makes everything, a
// baseline a module, and after these one file a purpose.
package schema

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"marquee"
)

// FS holds the goose files, NNNNN_<module>_<what>.sql.
var FS = marquee.Migrations

// Newest is the version of the newest file.
func Newest() int64 {
	files, err := fs.Glob(FS, "*.sql")
	if err != nil {
		panic(err)
	}
	return version(files[len(files)-1])
}

// Status is one migration and whether the database has it.
type Status struct {
	Version int64
	File    string
	Applied bool
}

// Up brings the database to the newest version and returns how many migrations
// it applied. Several processes may call it at once: a session lock lets one do
// the work. A database that the baselines find at the last of the files which they
// replaced is noted as theirs; one at another of these is a ReplacedError. notify hears
// what there is to say to whoever migrates, such as what an administrator has to do.
func Up(ctx context.Context, databaseURL string, notify ...func(sentence string)) (int, error) {
	stamped, err := stampBaselines(ctx, databaseURL)
	if err != nil {
		return 0, err
	}
	if stamped {
		for _, hear := range notify {
			hear(fmt.Sprintf("The database stood at migration %05d: it is as the baselines make it, and noted so.",
				lastReplaced))
		}
	}
	applied := 0
	err = with(ctx, databaseURL, notify, func(p *goose.Provider) error {
		results, err := p.Up(ctx)
		applied = len(results)
		return err
	})
	return applied, err
}

// Down takes back the newest migration and returns its file name.
func Down(ctx context.Context, databaseURL string) (string, error) {
	var file string
	err := with(ctx, databaseURL, nil, func(p *goose.Provider) error {
		result, err := p.Down(ctx)
		if err != nil {
			return err
		}
		file = result.Source.Path
		return nil
	})
	return file, err
}

// List returns every migration in order with its state.
func List(ctx context.Context, databaseURL string) ([]Status, error) {
	var all []Status
	err := with(ctx, databaseURL, nil, func(p *goose.Provider) error {
		list, err := p.Status(ctx)
		for _, s := range list {
			all = append(all, Status{
				Version: s.Source.Version, File: s.Source.Path, Applied: s.State == goose.StateApplied,
			})
		}
		return err
	})
	return all, err
}

// ofRaise is the code of a notice that a migration raises itself; the server's own,
// such as that there was nothing to drop, have others.
const ofRaise = "00000"

func with(ctx context.Context, databaseURL string, notify []func(string), f func(*goose.Provider) error) (err error) {
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		for _, hear := range notify {
			if n.Code == ofRaise {
				hear(n.Message)
			}
		}
	}
	db := stdlib.OpenDB(*config)
	defer func() { _ = db.Close() }()
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return fmt.Errorf("migration lock: %w", err)
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, FS, goose.WithSessionLocker(locker))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	return f(provider)
}
