package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"
)

// statement is the measure of W5: how often Postgres itself keeps an event of that
// size by one durable statement that refuses repetitions.
type statement struct {
	url     string
	payload string
}

const keepEvent = `INSERT INTO bench.events (event_id, payload, received_at) VALUES ('evt_' || %s, %s, now()) ON CONFLICT DO NOTHING`

func newStatement(ctx context.Context, url string, conn *pgx.Conn, payload string) (statement, error) {
	_, err := conn.Exec(ctx,
		`CREATE SCHEMA IF NOT EXISTS bench; CREATE TABLE bench.events (event_id text PRIMARY KEY, payload jsonb NOT NULL, received_at timestamptz NOT NULL)`)
	if err != nil {
		return statement{}, fmt.Errorf("table for the statement: %w", err)
	}
	return statement{url: url, payload: payload}, nil
}

// besidePostgres tells what Postgres alone does of a statement like a load's at each number of
// clients, and what part of that the platform has done.
func (b *bench) besidePostgres(name string, clients []int, measure func(clients int) (float64, error)) error {
	for _, n := range clients {
		perSecond, err := measure(n)
		if err != nil {
			return err
		}
		row := row{
			Name: name, What: "one durable statement", Clients: n,
			Ours: figures{Name: whoCalls(), PerSecond: []float64{perSecond}},
		}
		fmt.Printf("%-5s %-22s %7d %-10s %9.0f   %s does %.2f of it\n", row.Name, row.What, n, row.Ours.Name, perSecond,
			b.ours.name, b.report.rate(name, n)/perSecond)
		b.report.Rows = append(b.report.Rows, row)
	}
	return nil
}

// whoCalls says what runStatement will use.
func whoCalls() string {
	if findPgbench() != "" {
		return "pgbench"
	}
	return "a loop in Go"
}

// findPgbench looks where Postgres' programs are, newest first.
func findPgbench() string {
	if path, err := exec.LookPath("pgbench"); err == nil {
		return path
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
	slices.Sort(found)
	if len(found) == 0 {
		return ""
	}
	return found[len(found)-1]
}

// run tells how many statements a second so many clients get through. One in five
// repeats an event.
func (s statement) run(ctx context.Context, clients int, length time.Duration) (float64, error) {
	// pgbench takes a colon before a letter for a variable.
	payload := strings.ReplaceAll(strings.ReplaceAll(s.payload, "'", "''"), `":`, `": `)
	script := "\\set n case when random(1, 5) = 1 then 0 else random(1, 1000000000000) end\n" +
		fmt.Sprintf(keepEvent, ":n", "'"+payload+"'") + ";\n"
	return runStatement(ctx, s.url, script, fmt.Sprintf(keepEvent, "$1::bigint", "$2"), func(n int64) []any {
		if n%repeatEvery == 0 {
			n = 0
		}
		return []any{n, s.payload}
	}, clients, length)
}

// runStatement tells how many statements a second so many clients get through: by
// a script of pgbench, or, where there is none, by the same SQL with arguments in a
// loop in Go.
func runStatement(ctx context.Context, url, script, sql string, args func(n int64) []any, clients int,
	length time.Duration,
) (float64, error) {
	if program := findPgbench(); program != "" {
		return runScript(ctx, program, url, script, clients, length)
	}
	return loop(ctx, url, sql, args, clients, length)
}

func runScript(ctx context.Context, program, url, text string, clients int, length time.Duration) (float64, error) {
	script, err := os.CreateTemp("", "marquee-bench-*.sql")
	if err != nil {
		return 0, fmt.Errorf("script of pgbench: %w", err)
	}
	defer func() { _ = os.Remove(script.Name()) }()
	_, err = script.WriteString(text)
	if err = errors.Join(err, script.Close()); err != nil {
		return 0, fmt.Errorf("script of pgbench: %w", err)
	}
	out, err := exec.CommandContext(ctx, program, "--no-vacuum", "--protocol=prepared", "--file="+script.Name(), "--client="+strconv.Itoa(clients), //nolint:gosec // the machine's own
		"--jobs="+strconv.Itoa(min(clients, 2)), "--time="+strconv.Itoa(max(1, int(length.Seconds()))), url).
		CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("pgbench: %w\n%s", err, out)
	}
	found := regexp.MustCompile(`(?m)^tps = ([0-9.]+)`).FindSubmatch(out)
	if found == nil {
		return 0, fmt.Errorf("pgbench told no rate:\n%s", out)
	}
	return strconv.ParseFloat(string(found[1]), 64)
}

func loop(ctx context.Context, url, sql string, args func(n int64) []any, clients int,
	length time.Duration,
) (float64, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return 0, fmt.Errorf("statement: %w", err)
	}
	cfg.MaxConns = int32(clients) //nolint:gosec // a few
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return 0, fmt.Errorf("statement: %w", err)
	}
	defer pool.Close()
	var done, next atomic.Int64
	next.Store(time.Now().UnixNano())
	group, ctx := errgroup.WithContext(ctx)
	began := time.Now()
	for range clients {
		group.Go(func() error {
			for time.Since(began) < length {
				if _, err := pool.Exec(ctx, sql, args(next.Add(1))...); err != nil {
					return fmt.Errorf("statement: %w", err)
				}
				done.Add(1)
			}
			return nil
		})
	}
	err = group.Wait()
	return float64(done.Load()) / time.Since(began).Seconds(), err
}
