package archtest

import (
	"path"
	"slices"
)

// development are the packages of testutil that `marquee dev` runs, and who imports them beside tests: packages of testutil, and files
// of commands.
var development = map[string][]string{
	"localpg": {"testutil/pgtest", "cmd/internal/app/dev.go"},
	"sandbox": {"cmd/internal/app/dev.go", "cmd/internal/app/dev_clock.go"},
}

// development reports whether a package is in the table of these.
func (p pkg) development() bool {
	_, listed := development[p.name]
	return p.top == "testutil" && listed
}

// importsDevelopment is for what is neither a test nor of that package itself.
func importsDevelopment(file string, to pkg) string {
	importers := development[to.name]
	if slices.Contains(importers, file) || slices.Contains(importers, path.Dir(file)) {
		return ""
	}
	return to.name + " is for tests and `marquee dev`"
}
