// Package marquee holds files of the tree that lie where no Go may: those of migrations/, where goose's own command
// works too (the package migrations/schema runs them), and the invariants beside the queries of their modules (the
// package sql/invariants checks them).
package marquee

import (
	"archive/zip"
	"bytes"
	"embed"
	"io/fs"
)

//go:embed migrations/files.zip
var archived []byte

// Migrations holds the goose files, migrations/NNNNN_<module>_<what>.sql, without the folder's name. The binary has
// them compressed: `make generate` makes the archive.
var Migrations = func() fs.FS {
	archive, err := zip.NewReader(bytes.NewReader(archived), int64(len(archived)))
	if err != nil {
		panic(err) // only for an archive that is none
	}
	return archive
}()

// Invariants holds what must be true of the data, sql/<module>/invariants/<name>.sql.
//
//go:embed sql/*/invariants/*.sql
var Invariants embed.FS
