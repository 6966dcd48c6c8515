package pgbouncer

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// Program is a PgBouncer of this machine.
type Program struct {
	Path         string
	Major, Minor int
}

// Prepares reports whether it keeps prepared statements.
func (p Program) Prepares() bool { return p.Major > 1 || p.Minor >= 21 }

// String is its version.
func (p Program) String() string { return fmt.Sprintf("%d.%d", p.Major, p.Minor) }

// kinds are what is tried, and how it is had.
var kinds = []struct {
	name, had string
	prepares  bool
}{
	{"before 1.21", "Debian 12's, by apt-get install pgbouncer", false},
	{"since 1.21", "by make pgbouncer", true},
}

// Each runs a subtest with a PgBouncer of each kind, and leaves out, in words, what is not on this machine.
func Each(t *testing.T, f func(t *testing.T, program Program)) {
	t.Helper()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			all, err := Find()
			if err != nil {
				t.Fatalf("pgbouncer: %v", err)
			}
			for _, program := range all {
				if program.Prepares() == kind.prepares {
					f(t, program)
					return
				}
			}
			t.Skipf("no PgBouncer %s is installed (%s): this was not tried behind one", kind.name, kind.had)
		})
	}
}

// Find lists those of the tree that the working directory is in, and of the system.
func Find() (all []Program, err error) {
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	for root != "/" && !exists(filepath.Join(root, "go.mod")) {
		root = filepath.Dir(root)
	}
	paths := []string{filepath.Join(root, "bin/pgbouncer"), "/usr/sbin/pgbouncer"} // which need not be in PATH
	if path, err := exec.LookPath("pgbouncer"); err == nil {
		paths = append(paths, path)
	}
	for _, path := range paths {
		if !exists(path) {
			continue
		}
		p, err := programAt(path)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(all, func(other Program) bool { return other.String() == p.String() }) {
			all = append(all, p)
		}
	}
	return all, nil
}

// programAt asks the program at a path for its version.
func programAt(path string) (Program, error) {
	p := Program{Path: path}
	out, err := exec.Command(path, "--version").Output() //nolint:gosec // the path is that of whoever runs the tests
	if err == nil {
		_, err = fmt.Sscanf(string(out), "PgBouncer %d.%d", &p.Major, &p.Minor)
	}
	if err != nil {
		return p, fmt.Errorf("%s does not tell its version: %w: %s", path, err, out)
	}
	return p, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
