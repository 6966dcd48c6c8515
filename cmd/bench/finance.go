package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// benchFinance is W7, on a platform of its own with as many subscriptions as
// wanted: the dashboards, whose figures have to equal the full scan of the
// ledgers before and after, and the export of 100,000 rows.
func benchFinance(ctx context.Context, b *bench) error {
	p, err := startFinance(ctx, b.options)
	if err != nil {
		return err
	}
	defer p.stop()
	conn, err := pgx.Connect(ctx, p.databaseURL)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	admin, err := p.server.login(ctx, "admin")
	if err != nil {
		return err
	}
	size, err := countLedgers(ctx, conn)
	if err != nil {
		return err
	}
	b.report.heading("finance at %s, %v each", size, b.length)
	if err := b.dashboards(ctx, conn, p.side("ours"), admin); err != nil {
		return err
	}
	return p.export(ctx, conn, admin)
}

// startFinance makes the platform, with its jobs worked: they fold what the reports read.
func startFinance(ctx context.Context, o options) (p *platform, err error) {
	if o.data == "" {
		p, err = start(ctx, o.binary, o.full(), o.full())
	} else {
		p, err = startIn(ctx, o.binary, o.full(), o.full(), o.data, true)
	}
	if err != nil {
		return nil, err
	}
	filled, err := p.filled(ctx)
	if err == nil && !filled {
		err = p.scale(ctx, o.subscriptions)
	}
	if err == nil {
		err = p.work(ctx)
	}
	if err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

// filled tells whether an earlier run has made the rows.
func (p *platform) filled(ctx context.Context) (is bool, err error) {
	conn, err := pgx.Connect(ctx, p.databaseURL)
	if err != nil {
		return false, fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM subscriptions.subscriptions OFFSET 1)`).
		Scan(&is) // the sample customer has one
	return is, err
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

// dashboard is the route of a report, with the goal for one answer.
type dashboard struct {
	name, path string
	goal       time.Duration // 0: none in the design
}

var dashboards = []dashboard{
	{"overview", "/api/v1/admin/finance/overview", 5 * time.Millisecond},
	{"revenue by month", "/api/v1/admin/finance/revenue", 5 * time.Millisecond},
	{"revenue by day", "/api/v1/admin/finance/revenue?period=daily", 5 * time.Millisecond},
	{"churn", "/api/v1/admin/finance/churn", 5 * time.Millisecond},
	{"movements", "/api/v1/admin/finance/movements", 5 * time.Millisecond},
	{"overdue, first page", "/api/v1/admin/finance/overdue", 5 * time.Millisecond},
	{"subscriptions dashboard", "/api/v1/admin/subscriptions/dashboard", 0},
	{"subscriptions insights", "/api/v1/admin/subscriptions/insights", 0},
	{"customers' tenure", "/api/v1/admin/customers/tenure", 0},
	{"events overview", "/api/v1/admin/events-dashboard/overview", 0},
	{"events, first page", "/api/v1/admin/events-dashboard/events", 0},
	{"events' orders", "/api/v1/admin/events-dashboard/orders", 0},
}

// dashboards measures the reports; each first answer has to add up.
func (b *bench) dashboards(ctx context.Context, conn *pgx.Conn, s side, admin string) error {
	if err := equalScan(ctx, conn); err != nil {
		return err
	}
	for _, report := range dashboards {
		r := request{Method: http.MethodGet, Path: report.path, Token: admin}
		code, raw, err := s.do(ctx, r)
		if err == nil && code != http.StatusOK {
			err = fmt.Errorf("%d %.100s", code, raw)
		}
		if err == nil {
			err = adds(raw)
		}
		if err != nil && report.goal == 0 { // reports of whole lives may be refused when they run too long
			fmt.Printf("%-5s %-22s %.100s\n", "W7", report.name, err)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", report.path, err)
		}
		l := load{name: "W7", what: report.name, clients: []int{1, 8}, at: func(s side) caller {
			return repeated(s, func(int) request { return r }, func(_, code int, body []byte) error {
				if code != http.StatusOK {
					return fmt.Errorf("%d %.100s", code, body)
				}
				return nil
			})
		}}
		if report.goal == 0 {
			l.clients = l.clients[:1]
		}
		if err := b.alone(ctx, s, l); err != nil {
			return err
		}
		if one := b.report.Rows[len(b.report.Rows)-len(l.clients)]; report.goal > 0 {
			fmt.Printf("%28s p50 at one client <= %v, equal to the scan: %s\n", "", report.goal,
				verdict(median(one.Ours.P50) <= micros(report.goal)))
		}
	}
	return equalScan(ctx, conn)
}

// adds checks the sums that a report tells of twice.
func adds(raw []byte) error {
	var figures struct {
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
	if err := json.Unmarshal(raw, &figures); err != nil {
		return err
	}
	if figures.GWA != nil && *figures.MRR != *figures.GWA+*figures.GWB {
		return fmt.Errorf("MRR %d is not the sum of %d and %d", *figures.MRR, *figures.GWA, *figures.GWB)
	}
	for _, m := range figures.Monthly {
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
