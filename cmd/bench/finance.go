package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// benchFinance is W7, on a platform of its own with as many subscriptions as
// wanted: the dashboards, whose figures have to equal the full scan of the
// ledgers before and after, and the export of 100,000 rows.
func benchFinance(ctx context.Context, _ *platform, o options) error {
	p, err := startFinance(ctx, o)
	if err != nil {
		return err
	}
	defer p.stop()
	p.http.Timeout = 5 * time.Minute // for whole exports
	conn, err := pgx.Connect(ctx, p.DatabaseURL)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	admin, err := p.login(ctx, "admin")
	if err != nil {
		return err
	}
	size, err := countLedgers(ctx, conn)
	if err != nil {
		return err
	}
	fmt.Printf("\nfinance at %s, %v each\n", size, o.length)
	if err := p.dashboards(ctx, conn, admin, o); err != nil {
		return err
	}
	return p.export(ctx, conn, admin)
}

func startFinance(ctx context.Context, o options) (p *platform, err error) {
	if o.data == "" {
		p, err = start(ctx, o.binary)
	} else {
		p, err = startIn(ctx, o.binary, o.data)
	}
	if err != nil {
		return nil, err
	}
	p.kept = o.data != ""
	filled, err := p.filled(ctx)
	if err == nil && !filled {
		err = p.scale(ctx, o)
	}
	if err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

// filled tells whether an earlier run has made the rows.
func (p *platform) filled(ctx context.Context) (is bool, err error) {
	conn, err := pgx.Connect(ctx, p.DatabaseURL)
	if err != nil {
		return false, fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM subscriptions.subscriptions OFFSET 1)`).
		Scan(&is) // the sample customer has one
	return is, err
}

// scale makes the rows by the command that is there for it.
func (p *platform) scale(ctx context.Context, o options) error {
	began := time.Now()
	command := exec.CommandContext(ctx, o.binary, "seed", fmt.Sprintf("--scale=%d", o.subscriptions))
	command.Env = append(os.Environ(), "DATABASE_URL="+p.DatabaseURL)
	var told bytes.Buffer
	command.Stdout, command.Stderr = &told, &told
	if err := command.Run(); err != nil {
		return fmt.Errorf("marquee seed: %w\n%s", err, &told)
	}
	fmt.Printf("\nmarquee seed --scale=%d took %v\n", o.subscriptions, time.Since(began).Round(time.Second))
	return nil
}

func countLedgers(ctx context.Context, conn *pgx.Conn) (string, error) {
	var subscriptions, payments int64
	err := conn.QueryRow(ctx,
		`SELECT (SELECT count(*) FROM subscriptions.subscriptions), (SELECT count(*) FROM payments.payments)`).
		Scan(&subscriptions, &payments)
	if err != nil {
		return "", fmt.Errorf("count: %w", err)
	}
	return fmt.Sprintf("%d subscriptions, %d payments", subscriptions, payments), nil
}

// report is a dashboard's route, with the goal for one answer.
type report struct {
	name, path string
	goal       time.Duration // 0: none in the design
}

var reports = []report{
	{"overview", "/api/v1/admin/finance/overview", 5 * time.Millisecond},
	{"revenue by month", "/api/v1/admin/finance/revenue", 5 * time.Millisecond},
	{"revenue by day", "/api/v1/admin/finance/revenue?period=daily", 5 * time.Millisecond},
	{"churn", "/api/v1/admin/finance/churn", 5 * time.Millisecond},
	{"overdue, first page", "/api/v1/admin/finance/overdue", 5 * time.Millisecond},
	{"subscriptions dashboard", "/api/v1/admin/subscriptions/dashboard", 0},
	{"subscriptions insights", "/api/v1/admin/subscriptions/insights", 0},
	{"customers' tenure", "/api/v1/admin/customers/tenure", 0},
	{"events overview", "/api/v1/admin/events-dashboard/overview", 0},
	{"events, first page", "/api/v1/admin/events-dashboard/events", 0},
	{"events' orders", "/api/v1/admin/events-dashboard/orders", 0},
}

func (p *platform) dashboards(ctx context.Context, conn *pgx.Conn, admin string, o options) error {
	if err := equalScan(ctx, conn); err != nil {
		return err
	}
	fmt.Printf("%-26s %8s %8s %10s %10s %12s   %s\n", "", "clients", "req/s", "p50", "p99", "CPU/request",
		"goal of p50")
	for _, r := range reports {
		clients := []int{1, 8}
		if r.goal == 0 {
			clients = clients[:1]
		}
		for _, n := range clients {
			got, err := p.measureReport(ctx, admin, n, o.length, r)
			if err != nil && r.goal == 0 { // reports of whole lives may be refused when they run too long
				fmt.Printf("%-26s %8d   %.100s\n", r.name, n, err)
				continue
			}
			if err != nil {
				return err
			}
			goal := "-"
			if r.goal > 0 && n == 1 {
				goal = "<= " + r.goal.String() + ", equal to the scan: " + verdict(got.p50 <= r.goal)
			}
			fmt.Printf("%-26s %8d %8.0f %10v %10v %12v   %s\n", r.name, n, got.perSecond,
				got.p50.Round(10*time.Microsecond),
				got.p99.Round(10*time.Microsecond), got.cpu.Round(10*time.Microsecond), goal)
		}
	}
	return equalScan(ctx, conn)
}

func verdict(ok bool) string {
	if ok {
		return "reached"
	}
	return "MISSED"
}

// measureReport measures a report, and holds each answer to what has to hold in any.
func (p *platform) measureReport(ctx context.Context, token string, clients int, length time.Duration,
	r report) (result, error) {
	w := workload{path: func(int) string { return r.path }, right: func(envelope) bool { return true }}
	var raw json.RawMessage
	if err := p.call(ctx, http.MethodGet, r.path, token, "", nil, &raw); err != nil {
		return result{}, err
	}
	if err := adds(raw); err != nil {
		return result{}, fmt.Errorf("%s: %w", r.path, err)
	}
	return p.load(ctx, token, clients, length, w)
}

// adds checks the sums that a report tells of twice.
func adds(raw []byte) error {
	var told struct {
		MRR, MRRGWA, MRRGWB *int64
		Monthly             []struct {
			ActiveStart int64 `json:"active_start"`
			New         int64 `json:"new"`
			Cancelled   int64 `json:"cancelled"`
			ActiveEnd   int64 `json:"active_end"`
		} `json:"monthly"`
		GWA *int64 `json:"mrr_gwa"`
		GWB *int64 `json:"mrr_gwb"`
	}
	if err := json.Unmarshal(raw, &told); err != nil {
		return err
	}
	if told.GWA != nil && *told.MRR != *told.GWA+*told.GWB {
		return fmt.Errorf("MRR %d is not the sum of %d and %d", *told.MRR, *told.GWA, *told.GWB)
	}
	for _, m := range told.Monthly {
		if m.ActiveEnd != m.ActiveStart+m.New-m.Cancelled {
			return fmt.Errorf("a month does not add up: %+v", m)
		}
	}
	return nil
}

// equalScan compares the rollups, from which the reports are read, with the full
// scan of the ledgers, and tells what that costs.
func equalScan(ctx context.Context, conn *pgx.Conn) error {
	began := time.Now()
	rows, err := conn.Query(ctx,
		`SELECT concat_ws(' ', rollup, key, figure, kept, 'instead of', counted) FROM finance.rollup_differences() LIMIT 5`)
	if err != nil {
		return fmt.Errorf("compare with the scan: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("compare with the scan: %w", err)
	}
	if len(found) > 0 {
		return errors.New("differs from the full scan: " + fmt.Sprint(slices.Clip(found)))
	}
	fmt.Printf("equal to the full scan, which takes %v\n", time.Since(began).Round(10*time.Millisecond))
	return nil
}
