// Package archtest holds the tree to the architecture: who may import whom, and whose
// schema a piece of SQL may name. Check reads sources and compiles nothing, so that code
// behind build tags counts too. Everything is closed by default: a module, a folder or a direction
// that the tables here do not list is a violation.
//
// The rules, by the names that violations carry:
//
//	place      every package lies in a folder that the tables know
//	import     its imports are those that the tables permit; tests may import testutil and
//	           the fixture packages (<m>test) of the modules they may use as well
//	           a module divided into rooms lists who of them may import whom
//	           the sandbox gateways, the private Postgres and the sample film are imported by tests, and by
//	           files that are listed, which of a command begin with //go:build !nosandbox
//	query      a room calls the queries of the SQL files that the table gives it
//	gateway    which gateway it is, the adapters alone ask, and the files that are listed
//	limit      a package has at most 25 files, and a type 40 methods, also one of tests; the door of
//	           payments and the life of an order to a gateway have limits of their own
//	platform   a test of a command has the platform from cmd/internal/app/platformtest
//	generated  code made by sqlc lies in modules/<m>/internal/<m>db alone
//	migration  files are named NNNNN_<module>_<what>.sql, each number once
//	schema     SQL names the schema of its module and platform, in queries, in migrations and in
//	           the sources of views and functions; foreign keys may point to lower modules,
//	           and finance reads across; an invariant reads what is below its module, too
//
// One more needs types, and has the tree compiled: a gateway is asked to do something as a
// step of an operation, and elsewhere in the places alone that acts_test.go lists.
//
// Its tests also hold what needs no table: how services and handlers are written (form_test.go).
//
// See docs/architecture.md.
package archtest
