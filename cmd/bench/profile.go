package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile"
	"github.com/jackc/pgx/v5"
)

// spent is where a request's processor time goes, in microseconds, by a turn with a profile of the server.
type spent struct {
	Server     map[string]float64 `json:"server_us"`
	Postgres   float64            `json:"postgres_us"`
	Statements []statementCost    `json:"statements"` // the dearest first
}

// statementCost is what Postgres spends on a statement, a request. Times are in microseconds.
type statementCost struct {
	Calls   float64 `json:"calls"`
	Planned float64 `json:"plan_us"`
	Run     float64 `json:"run_us"`
	SQL     string  `json:"sql"`
}

// places are where time goes: a sample is of the first place, from its leaf up, whose packages begin so. Encoders, locks
// and memory are so of whoever needs them.
var places = []struct {
	name     string
	prefixes []string
}{
	{"argon2id", []string{"golang.org/x/crypto/argon2", "golang.org/x/crypto/blake2b"}},
	{"log", []string{"log/slog", "marquee/platform/telemetry"}},
	{"metrics", []string{"github.com/prometheus/"}},
	{"tokens", []string{"github.com/golang-jwt/", "crypto/"}},
	{"pgx", []string{"github.com/jackc/"}},
	{"modules", []string{"marquee/modules/"}},
	{"lists, queries, batches", []string{
		"marquee/platform/resource", "marquee/platform/query", "marquee/platform/batch", "marquee/platform/postgres",
	}},
	{"routing and middleware", []string{
		"marquee/platform/", "marquee/cmd/", "github.com/danielgtaylor/huma/", "github.com/go-chi/",
	}},
	{"net/http", []string{"net/http", "net/textproto"}},
	{"garbage collection", []string{"runtime.gcBgMarkWorker", "runtime.bgsweep", "runtime.bgscavenge"}},
}

const elsewhere = "scheduler and the rest"

func placeOf(s *profile.Sample) string {
	for _, location := range s.Location {
		for _, line := range location.Line {
			for _, place := range places {
				isOf := func(prefix string) bool { return strings.HasPrefix(line.Function.Name, prefix) }
				if slices.ContainsFunc(place.prefixes, isOf) {
					return place.name
				}
			}
		}
	}
	return elsewhere
}

// profile measures a load in a turn more, at which the server is profiled and Postgres counts, and keeps the profile,
// its flame graph and the plans of a request in the folder of -profiles.
func (b *bench) profile(ctx context.Context, l load, clients int, s side) (*spent, error) {
	conn, err := pgx.Connect(ctx, s.platform.databaseURL)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if err := count(ctx, conn, "ALTER SYSTEM SET pg_stat_statements.track = 'all'",
		"ALTER SYSTEM SET pg_stat_statements.track_planning = on"); err != nil {
		return nil, err
	}
	length := max(b.length, profiledFor)
	raw := make(chan []byte, 1)
	go func() { raw <- s.fetchProfile(ctx, length) }()
	r, err := drive(ctx, s, clients, length, l.at)
	if err != nil {
		return nil, err
	}
	sampled, err := profile.ParseData(<-raw)
	if err != nil {
		return nil, fmt.Errorf("profile of %s: %w", s.name, err)
	}
	cost := &spent{Server: map[string]float64{}, Postgres: micros(r.cpu.postgres)}
	total := 0.0
	for _, sample := range sampled.Sample {
		total += float64(sample.Value[1])
		cost.Server[placeOf(sample)] += float64(sample.Value[1])
	}
	for place := range cost.Server {
		cost.Server[place] *= micros(r.cpu.server) / total
	}
	if cost.Statements, err = statementCosts(ctx, conn, int(r.perSecond*length.Seconds())); err != nil {
		return nil, err
	}
	name := filepath.Join(b.profiles, strings.ToLower(l.name)+"-"+s.name)
	plans, err := s.plans(ctx, conn, l)
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	if err := sampled.Write(&packed); err != nil {
		return nil, fmt.Errorf("keep a profile: %w", err)
	}
	for suffix, content := range map[string][]byte{
		".pprof": packed.Bytes(), ".svg": flameGraph(sampled), ".plans.txt": plans,
	} {
		if err := os.WriteFile(name+suffix, content, 0o644); err != nil { //nolint:gosec // to be read
			return nil, fmt.Errorf("keep a profile: %w", err)
		}
	}
	return cost, nil
}

// A load is profiled at so many clients, for long enough to have thousands of samples.
const profiledClients, profiledFor = 8, 15 * time.Second

// profileBoth profiles the platform, and another binary beside it; the bare server has no profiles.
func (b *bench) profileBoth(ctx context.Context, l load, clients int) error {
	if b.profiles == "" || clients != profiledClients {
		return nil
	}
	sides := []side{b.ours}
	if !b.isLimit() {
		sides = append(sides, b.beside)
	}
	row := &b.report.Rows[len(b.report.Rows)-1]
	for _, s := range sides {
		cost, err := b.profile(ctx, l, clients, s)
		if err != nil {
			return err
		}
		row.Spent = append(row.Spent, cost)
	}
	printSpent(l.name, clients, row.Spent...)
	return nil
}

// count empties the counters of statements, with settings of Postgres changed first.
func count(ctx context.Context, conn *pgx.Conn, settings ...string) error {
	for _, sql := range append(settings, "SELECT pg_reload_conf()", "CREATE EXTENSION IF NOT EXISTS pg_stat_statements",
		"SELECT pg_stat_statements_reset()", "SELECT pg_sleep(0.1)") {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}

// fetchProfile is the server's profile of so long; nil when there is none.
func (s side) fetchProfile(ctx context.Context, length time.Duration) []byte {
	url := fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", s.metrics, max(int(length.Seconds()), 1))
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil
	}
	defer res.Body.Close()
	raw, _ := io.ReadAll(res.Body)
	return raw
}

func statementCosts(ctx context.Context, conn *pgx.Conn, requests int) ([]statementCost, error) {
	rows, err := conn.Query(ctx, `SELECT calls / $1::float8, total_plan_time * 1000 / $1, total_exec_time * 1000 / $1,
			left(regexp_replace(query, '\s+', ' ', 'g'), 90)
		FROM pg_stat_statements WHERE query !~ 'pg_stat_statements|pg_sleep|pg_reload_conf|ALTER SYSTEM' AND toplevel
		ORDER BY total_exec_time + total_plan_time DESC LIMIT 12`, float64(max(requests, 1)))
	if err != nil {
		return nil, fmt.Errorf("costs of statements: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[statementCost])
}

// plans are those of one request or few, as Postgres logs them with auto_explain.
func (s side) plans(ctx context.Context, conn *pgx.Conn, l load) ([]byte, error) {
	log := filepath.Join(s.platform.dir, "postgres.log")
	if err := count(ctx, conn, "ALTER SYSTEM SET pg_stat_statements.track = 'none'",
		"ALTER SYSTEM SET auto_explain.log_min_duration = 0", "ALTER SYSTEM SET auto_explain.log_analyze = on",
		"ALTER SYSTEM SET auto_explain.log_nested_statements = on"); err != nil {
		return nil, err
	}
	before, err := os.ReadFile(log)
	if err != nil {
		return nil, fmt.Errorf("the log of Postgres: %w", err)
	}
	if _, err := drive(ctx, s, 1, 5*time.Millisecond, l.at); err != nil {
		return nil, err
	}
	if err := count(ctx, conn, "ALTER SYSTEM RESET auto_explain.log_min_duration"); err != nil {
		return nil, err
	}
	after, err := os.ReadFile(log)
	if err != nil {
		return nil, fmt.Errorf("the log of Postgres: %w", err)
	}
	return after[len(before):], nil
}

// printSpent tells where the time of a request goes, on one side or on two.
func printSpent(name string, clients int, sides ...*spent) {
	var all []string
	for _, s := range sides {
		all = append(all, slices.Collect(maps.Keys(s.Server))...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(sides[0].Server[b], sides[0].Server[a]) })
	line := func(place string, of func(*spent) float64) {
		fmt.Printf("      %-26s", place)
		for _, s := range sides {
			fmt.Printf(" %9.1f", of(s))
		}
		fmt.Println()
	}
	fmt.Printf("%-5s where the CPU of a request goes at %d clients, µs\n", name, clients)
	for _, place := range all {
		line(place, func(s *spent) float64 { return s.Server[place] })
	}
	line("Postgres", func(s *spent) float64 { return s.Postgres })
	for _, statement := range sides[0].Statements {
		fmt.Printf("      %6.2f calls, %6.1f µs to plan, %7.1f to run: %s\n",
			statement.Calls, statement.Planned, statement.Run, statement.SQL)
	}
}
