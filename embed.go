// Package marquee holds files of the tree that lie where no Go may: those of migrations/, where goose's own command
// works too (the package migrations/schema runs them), and the invariants beside the queries of their modules (the
// package sql/invariants checks them).
package marquee

import "embed"

// Migrations holds the goose files, migrations/NNNNN_<module>_<what>.sql.
//
//go:embed migrations/*.sql
var Migrations embed.FS

// Invariants holds what must be true of the data, sql/<module>/invariants/<name>.sql.
//
//go:embed sql/*/invariants/*.sql
var Invariants embed.FS
