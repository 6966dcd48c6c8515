package archtest

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// development are the packages of testutil that `marquee dev` and `marquee sandbox` run, and who imports them beside tests and cmd/bench:
// packages of testutil, and files of commands that a binary for production is built without.
var development = map[string][]string{
	"film":    {"cmd/internal/app/dev.go"},
	"localpg": {"testutil/pgtest", "cmd/internal/app/dev.go"},
	"sandbox": {"cmd/internal/app/dev.go", "cmd/internal/app/dev_clock.go", "cmd/internal/app/sandbox.go"},
}

// leftOut is how a file begins that a binary for production is built without.
const leftOut = "//go:build !nosandbox\n"

// development reports whether a package is in the table of these.
func (p pkg) development() bool {
	_, listed := development[p.name]
	return p.top == "testutil" && listed
}

// importsDevelopment is for what is neither a test nor of that package itself.
func importsDevelopment(file string, content []byte, to pkg) string {
	importers := development[to.name]
	switch {
	case !slices.Contains(importers, file) && !slices.Contains(importers, path.Dir(file)):
		return to.name + " is for tests, `marquee dev` and `marquee sandbox`"
	case strings.HasPrefix(file, "cmd/") && !bytes.HasPrefix(content, []byte(leftOut)):
		return "a binary built with -tags nosandbox would hold it"
	}
	return ""
}
