// Package pgtest gives every test a real Postgres database of its own.
//
//	db := pgtest.DB(t)       // a migrated, empty database, and a pool on it
//	url := pgtest.URL(t)     // the same, for code that opens its own connections
//	tx := pgtest.Tx(t)       // a transaction that is rolled back, for pure query tests
//
// The server behind it is the first of these that there is:
//
//  1. TEST_DATABASE_URL: a superuser's (or CREATEDB owner's) connection to any server
//  2. a container, when a Docker engine answers
//  3. a private server in memory, shared by all test processes of this user; it stops
//     and leaves nothing a minute after the last of them has ended (see server_process.go)
//
// The migrations run once, into a template database named by their hash; a test's database
// is a copy of it. One of DB is emptied for the next test (see reuse.go). Databases are not
// dropped by their test, since that costs more than making one: they go in bulk when the next
// test process starts.
//
// The server's own time zone is an odd one, so that code which relies on it fails here and
// not in production; a pool of platform/postgres sets UTC.
//
// See docs/testing.md and docs/decisions/libraries.md.
package pgtest
