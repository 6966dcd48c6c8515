// Package localpg runs a private Postgres for `marquee dev`, `make run` and the tests.
//
// It finds installed binaries, else fetches them, makes a cluster, starts it on the
// loopback address with a generated password and stops it with the process that
// asked for it, however that process ends.
//
// One data directory holds everything of one server:
//
//	postgres/      the cluster itself, owned by the account the server runs as
//	password       of the superuser "postgres", readable by the owner only
//	port           of the last start, taken again when it is free
//	postgres.log   what the server said since its last start (.1: the start before)
//	lock           held for as long as a process owns the server, with its process id
//
// The owner of a data directory is whoever holds the lock. A second Start on the same
// data gets a RunningError and leaves the first one's server alone. When nobody owns the
// data but a server runs on it (started by hand, with pg_ctl say), Start adopts it.
//
// See docs/development.md, Data.
package localpg
