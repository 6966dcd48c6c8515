// Package pgbouncer starts PgBouncer for tests, in transaction mode before the tests' Postgres, as an account without
// rights: PgBouncer refuses root. Two kinds of it are tried: those before 1.21, which know nothing of prepared
// statements, such as Debian 12's (apt-get install pgbouncer), and those since, such as `make pgbouncer` builds.
//
//	pgbouncer.Each(t, func(t *testing.T, program pgbouncer.Program) {
//		url := program.Start(t, pgtest.URL(t))
//		…
//	})
package pgbouncer
