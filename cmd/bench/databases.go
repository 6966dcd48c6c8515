package main

import (
	"context"
	"fmt"

	"marquee/testutil/pgbouncer"
)

// benchDatabases is W1 and W5 of a server on Postgres itself, beside one on the same database that has a replica to
// read from, and beside ones through each PgBouncer of this machine in transaction mode. The replica is the primary
// itself, so that what is measured is the choice, and the check of the caller that tells of the last write.
func benchDatabases(ctx context.Context, b *bench) error {
	programs, err := pgbouncer.Find()
	if err != nil {
		return err
	}
	p, err := start(ctx, b.binary, b.full(), b.full())
	if err != nil {
		return err
	}
	defer p.stop()
	if err := p.fill(ctx, 10_000); err != nil {
		return err
	}
	r, err := p.renewals(ctx)
	if err != nil {
		return err
	}
	defer r.close(ctx)
	replica := side{name: "replica"}
	if err := b.besideDirect(ctx, p, replica, r, p.databaseURL, "DATABASE_REPLICA_URL="+p.databaseURL); err != nil {
		return fmt.Errorf("with a replica: %w", err)
	}
	for _, program := range programs {
		if err := b.throughPooler(ctx, p, program, r); err != nil {
			return fmt.Errorf("through PgBouncer %s: %w", program, err)
		}
	}
	if len(programs) == 0 {
		fmt.Println("\nno PgBouncer is installed (apt-get install pgbouncer, make pgbouncer): nothing is measured through one")
	}
	return r.check(ctx)
}

// throughPooler measures a server through a pooler, whose processor time is told with Postgres'.
func (b *bench) throughPooler(ctx context.Context, p *platform, program pgbouncer.Program, r *renewals) error {
	pooler, err := program.Run(p.databaseURL)
	if err != nil {
		return err
	}
	defer pooler.Stop()
	return b.besideDirect(ctx, p, side{name: "PgBouncer " + program.String(), pooler: pooler.ID()}, r, pooler.URL,
		"DATABASE_POOLER=transaction", "DATABASE_DIRECT_URL="+p.databaseURL)
}

// besideDirect measures the platform's own server, and by turns with it another one, of another environment.
func (b *bench) besideDirect(ctx context.Context, p *platform, of side, r *renewals, databaseURL string,
	env ...string,
) error {
	addr, err := freeAddr()
	if err != nil {
		return err
	}
	// What pages link to is the same on both sides.
	beside, err := p.serve(ctx, addr, databaseURL, append(env, "PUBLIC_URL="+p.server.url)...)
	if err != nil {
		return err
	}
	defer p.endLast()
	beside.name, beside.pooler = of.name, of.pooler
	both := &bench{options: b.options, ours: p.side("direct"), beside: beside, report: b.report}
	both.report.heading("direct, and %s, %v a turn", of.name, b.length)
	read := readLoads[0]
	read.clients = []int{8}
	err = both.measureReads(ctx, read, goal{})
	if err == nil {
		err = both.run(ctx, load{name: "W5", what: "renewal by webhook", clients: []int{8, 32}, at: r.deliveries})
	}
	b.report = both.report
	return err
}
