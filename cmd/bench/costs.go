package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/cmd/bench/busiest"
	"marquee/cmd/bench/wire"
)

// cost is what a request of a route costs, one after the other. Processor times are in
// microseconds.
type cost struct {
	Route      string  `json:"route"`
	Requests   int     `json:"requests"`
	Server     float64 `json:"server_cpu_us"`
	Postgres   float64 `json:"postgres_cpu_us"`
	Trips      float64 `json:"round_trips"`
	Statements float64 `json:"statements"`
	Rows       float64 `json:"rows"` // -1: Postgres has no counters
	WAL        float64 `json:"wal_bytes"`
}

// counted are sums of everything behind the server.
type counted struct {
	usage
	wire.Count
	rows, wal int64
}

// benchCosts tells what a request of the busiest routes costs. Its server is one of its own,
// which speaks to Postgres through a counter of round trips.
func benchCosts(ctx context.Context, b *bench) error {
	p := b.ours.platform
	f, err := p.fixture(ctx)
	if err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, p.databaseURL)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	_, err = conn.Exec(ctx, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
	counts := err == nil
	proxy, url, err := wire.Listen(p.databaseURL)
	if err != nil {
		return err
	}
	defer func() { _ = proxy.Close() }()
	addr, err := freeAddr()
	if err != nil {
		return err
	}
	if counts {
		url += "&options=-c%20pg_stat_statements.track%3Dtop"
	}
	s, err := p.serve(ctx, addr, url)
	if err != nil {
		return err
	}
	fmt.Printf("\na request of the busiest routes, one after the other, %v each\n%-34s %8s %8s %8s %8s %10s %8s %10s\n", b.length,
		"", "CPU µs", "server", "Postgres", "trips", "statements", "rows", "WAL bytes")
	for _, route := range busiest.Routes(f) {
		c, err := s.cost(ctx, route, b.length, func() (c counted, err error) {
			c.usage, c.Count = s.used(), proxy.Count()
			if counts {
				err = conn.QueryRow(ctx, "SELECT coalesce(sum(rows), 0)::bigint FROM pg_stat_statements").Scan(&c.rows)
			}
			if err == nil {
				err = conn.QueryRow(ctx, "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint").Scan(&c.wal)
			}
			return c, err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", route.Name, err)
		}
		if !counts {
			c.Rows = -1
		}
		b.report.Costs = append(b.report.Costs, c)
		fmt.Printf("%-34s %8.0f %8.0f %8.0f %8.1f %10.1f %8.1f %10.0f\n", c.Route, c.Server+c.Postgres, c.Server, c.Postgres, c.Trips,
			c.Statements, c.Rows, c.WAL)
	}
	return nil
}

// cost asks for one route until the time is up, after a warm-up.
func (s side) cost(ctx context.Context, route busiest.Route, length time.Duration,
	count func() (counted, error),
) (cost, error) {
	sent := 0
	send := func(length time.Duration) (n int, err error) {
		for until := time.Now().Add(length); time.Now().Before(until); n++ {
			sent++
			code, body, err := s.do(ctx, route.Request(sent))
			if err == nil && code != http.StatusOK {
				err = fmt.Errorf("%d %s", code, body)
			}
			if err != nil {
				return n, err
			}
		}
		return n, nil
	}
	if _, err := send(length / 3); err != nil {
		return cost{}, err
	}
	before, err := count()
	if err != nil {
		return cost{}, err
	}
	n, err := send(length)
	if err != nil {
		return cost{}, err
	}
	after, err := count()
	used, said := after.usage.each(before.usage, n), after.Count.Sub(before.Count)
	each := func(sum int64) float64 { return float64(sum) / float64(n) }
	return cost{
		Route: route.Name, Requests: n, Server: micros(used.server), Postgres: micros(used.postgres),
		Trips: each(said.Trips), Statements: each(said.Statements), Rows: each(after.rows - before.rows), WAL: each(after.wal - before.wal),
	}, err
}

// fixture is what the requests of the busiest routes are about.
func (p *platform) fixture(ctx context.Context) (f busiest.Fixture, err error) {
	if err := p.fill(ctx, 1000); err != nil {
		return f, err
	}
	shop, err := p.openShop(ctx, 1, plenty, nil)
	if err != nil {
		return f, err
	}
	defer shop.close(ctx)
	r, err := p.renewals(ctx)
	if err != nil {
		return f, err
	}
	defer r.close(ctx)
	err = r.conn.QueryRow(ctx, `SELECT coalesce(max(substr(event_id, length('evt_bench_') + 1)::bigint), 0)
		FROM payments.processed_events WHERE event_id LIKE 'evt\_bench\_%'`).Scan(&f.Before)
	if err != nil {
		return f, err
	}
	// Each URL of a stream begins a play of its own.
	if _, err := r.conn.Exec(ctx, "UPDATE subscriptions.plans SET max_streams = NULL"); err != nil {
		return f, fmt.Errorf("lift the bound of streams: %w", err)
	}
	ids, err := p.someIDs(ctx, shop.token)
	if err != nil {
		return f, err
	}
	var bought struct {
		Order struct {
			TicketIDs []string `json:"ticket_ids"`
		} `json:"order"`
	}
	if err := p.server.call(ctx, shop.request(0), &bought); err != nil {
		return f, err
	}
	var tokens struct {
		AccessToken  string `json:"access_token"`
		RefreshToken string `json:"refresh_token"`
	}
	if err := p.server.call(ctx, p.signIn("customer"), &tokens); err != nil {
		return f, err
	}
	f.Username, f.Password = p.Users["migrated_flagged"].Username, p.Users["migrated_flagged"].Password
	f.Access, f.Refresh = tokens.AccessToken, tokens.RefreshToken
	f.Video, f.Event, f.Ticket = ids[0], shop.events[0], bought.Order.TicketIDs[0]
	f.Gateway, f.Renewed = r.Gateway, r.subs
	return f, nil
}
