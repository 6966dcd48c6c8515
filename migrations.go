// Package marquee holds the files of migrations/, where only SQL lies, so that goose's
// own command works on that folder too. The package migrations/schema runs them.
package marquee

import "embed"

// Migrations holds the goose files, migrations/NNNNN_<module>_<what>.sql.
//
//go:embed migrations/*.sql
var Migrations embed.FS
