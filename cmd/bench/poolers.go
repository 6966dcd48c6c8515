package main

import (
	"context"
	"fmt"

	"marquee/testutil/pgbouncer"
)

// benchPoolers is W1 and W5 of a server on Postgres itself, beside one on the same database through each PgBouncer of
// this machine in transaction mode. The pooler's processor time is told with Postgres'.
func benchPoolers(ctx context.Context, b *bench) error {
	programs, err := pgbouncer.Find()
	if err != nil {
		return err
	}
	if len(programs) == 0 {
		fmt.Println("\nno PgBouncer is installed (apt-get install pgbouncer, make pgbouncer): nothing is measured through one")
		return nil
	}
	p, err := start(ctx, b.binary, b.binary)
	if err != nil {
		return err
	}
	defer p.stop()
	const size = 10_000
	if err := p.fill(ctx, size); err != nil {
		return err
	}
	r, err := p.renewals(ctx)
	if err != nil {
		return err
	}
	defer r.close(ctx)
	for _, program := range programs {
		if err := b.throughPooler(ctx, p, program, r, size); err != nil {
			return fmt.Errorf("through PgBouncer %s: %w", program, err)
		}
	}
	return r.check(ctx)
}

// throughPooler measures the platform's own server, and by turns with it one through a pooler.
func (b *bench) throughPooler(ctx context.Context, p *platform, program pgbouncer.Program, r *renewals, size int) error {
	pooler, err := program.Run(p.databaseURL)
	if err != nil {
		return err
	}
	defer pooler.Stop()
	addr, err := freeAddr()
	if err != nil {
		return err
	}
	pooled, err := p.serve(ctx, addr, pooler.URL, "DATABASE_POOLER=transaction", "DATABASE_DIRECT_URL="+p.databaseURL,
		"PUBLIC_URL="+p.server.url) // what pages link to is the same on both sides
	if err != nil {
		return err
	}
	defer p.endLast()
	pooled.name, pooled.pooler = "PgBouncer "+program.String(), pooler.ID()
	both := &bench{options: b.options, ours: p.side("direct"), beside: pooled, report: b.report}
	both.report.heading("direct, and through PgBouncer %s, %v a turn", program, b.length)
	read := readLoads[0]
	read.clients = []int{8}
	err = both.measureReads(ctx, read, size, goal{})
	if err == nil {
		err = both.run(ctx, load{name: "W5", what: "renewal by webhook", clients: []int{8, 32}, at: r.deliveries})
	}
	b.report = both.report
	return err
}
