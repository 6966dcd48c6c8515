package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/platform/postgres"
	"marquee/platform/replica"
	"marquee/platform/resource"
)

// transactionPooler is DATABASE_POOLER where there is one.
const transactionPooler = "transaction"

// hasSessions reports whether some address is that of Postgres itself.
func (d Database) hasSessions() bool { return d.Pooler == "" || d.DirectURL != "" }

// SessionURL is the address of Postgres itself, for what needs a session of its own: migrations, whose lock is one's,
// LISTEN, and the commands of operators. The error says what is missing.
func (d Database) SessionURL() (string, error) {
	if !d.hasSessions() {
		return "", errors.New("DATABASE_DIRECT_URL is missing: " +
			"this needs a session of Postgres itself, and DATABASE_POOLER says that DATABASE_URL is a pooler's")
	}
	return cmp.Or(d.DirectURL, d.URL), nil
}

// openSession is a pool of the commands of operators.
func (d Database) openSession(ctx context.Context, o postgres.Options) (*pgxpool.Pool, error) {
	url, err := d.SessionURL()
	if err != nil {
		return nil, err
	}
	return postgres.NewPool(ctx, url, o)
}

type openPool func(ctx context.Context, url string, o postgres.Options) (*pgxpool.Pool, error)

// database are the pools of a process.
type database struct {
	open     openPool
	observed observed
	pools    []*pgxpool.Pool // all of them, to be closed

	pooled *pgxpool.Pool // of the job client, which knows no limits
	listen *pgxpool.Pool // of the job client's LISTEN, on Postgres itself; nil: pooled
	writes postgres.Pool
	lists  postgres.Pool // for lists that may not lag, with a bound on each statement
	reads  *replica.Set  // for lists that may: the replicas, or else lists
	health postgres.Pool // for GET /health, which asks also when all others stand behind a lock
}

// openDatabase opens the pools. With work, LISTEN has one where a pooler stands before the others.
func openDatabase(ctx context.Context, cfg Config, log *slog.Logger, work bool, open openPool,
	observed observed,
) (*database, error) {
	d := &database{open: open, observed: observed}
	err := d.openPools(ctx, cfg, log)
	if err == nil && work && cfg.Database.Pooler != "" && cfg.Database.DirectURL != "" {
		d.listen, _, err = d.pool(ctx, "listener", cfg.Database.DirectURL,
			postgres.Options{MaxConns: 1, ApplicationName: "marquee listener"})
		if err != nil {
			err = fmt.Errorf("DATABASE_DIRECT_URL: %w", err)
		}
	}
	if err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

func (d *database) openPools(ctx context.Context, cfg Config, log *slog.Logger) error {
	url := cfg.Database.URL
	pooler, err := cfg.Database.pooler(ctx, url, log)
	if err != nil {
		return err
	}
	d.pooled, d.writes, err = d.pool(ctx, "main", url, postgres.Options{
		MaxConns: cfg.Database.MaxConns, ApplicationName: "marquee",
		Gate: d.observed.gate("main", cfg.gate()), Pooler: pooler,
	})
	if err != nil {
		return err
	}
	if _, d.lists, err = d.pool(ctx, "lists", url, d.listOptions(cfg, "lists", pooler)); err != nil {
		return err
	}
	_, d.health, err = d.pool(ctx, "health", url, postgres.Options{
		MaxConns: healthConns, ApplicationName: "marquee health", Gate: &postgres.Gate{LockWait: healthLockWait},
		Pooler: pooler, Lazy: true,
	})
	if err != nil {
		return err
	}
	return d.openReplicas(ctx, cfg, pooler, log)
}

// listOptions are those of a pool for lists.
func (d *database) listOptions(cfg Config, name string, pooler postgres.Pooler) postgres.Options {
	return postgres.Options{
		MaxConns: cfg.Database.MaxConns, ApplicationName: "marquee lists", StatementTimeout: resource.StatementTimeout,
		Gate: d.observed.gate(name, cfg.listGate()), Pooler: pooler, Lazy: true,
	}
}

// pool opens one more, of which the metrics tell by its name.
func (d *database) pool(ctx context.Context, name, url string, o postgres.Options,
) (*pgxpool.Pool, postgres.Pool, error) {
	pool, limited, err := d.unobserved(ctx, url, o)
	if err == nil {
		d.observed.pools.Add(d.observed.registry, name, pool)
	}
	return pool, limited, err
}

// unobserved opens one of which no metric tells.
func (d *database) unobserved(ctx context.Context, url string, o postgres.Options,
) (*pgxpool.Pool, postgres.Pool, error) {
	o.Tracer = d.observed.tracer.Database()
	pool, err := d.open(ctx, url, o)
	if err != nil {
		return nil, nil, err
	}
	d.pools = append(d.pools, pool)
	return pool, postgres.Limited(pool, o), nil
}

// pooler is what stands before an address, where the configuration says that something may.
func (d Database) pooler(ctx context.Context, url string, log *slog.Logger) (postgres.Pooler, error) {
	if d.Pooler == "" {
		return postgres.NoPooler, nil
	}
	found, err := postgres.FindPooler(ctx, url)
	if err == nil {
		log.InfoContext(ctx, "the pooler before the database", slog.String("pooler", found.String()))
	}
	return found, err
}

func (d *database) close() {
	if d.reads != nil {
		d.reads.Close()
	}
	for _, pool := range d.pools {
		pool.Close()
	}
}

// ping reports whether the database answers.
func ping(ctx context.Context, db postgres.DB) error {
	var one int
	return db.QueryRow(ctx, "SELECT 1").Scan(&one)
}
