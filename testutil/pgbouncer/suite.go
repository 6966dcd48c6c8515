package pgbouncer

import (
	"os"
	"os/exec"
	"testing"

	"marquee/testutil/soak"
)

// suiteEnv names the program behind which a run of a package's tests stands.
const suiteEnv = "MARQUEE_TEST_PGBOUNCER"

// Suite runs the other tests of the package once more, whose platforms then stand behind a PgBouncer of each kind: all
// of them in `make soak`, else those that short matches. What skip matches looks at sessions itself.
func Suite(t *testing.T, short, skip string) {
	t.Helper()
	if os.Getenv(suiteEnv) != "" {
		t.Skip("this run stands behind one")
	}
	run := short
	if soak.On() {
		run = "."
	}
	Each(t, func(t *testing.T, program Program) {
		if !soak.Has(kindOf(program)) {
			t.Skip("another share has it")
		}
		c := exec.Command(os.Args[0], "-test.run="+run, "-test.skip="+skip, "-test.timeout=60m", "-test.parallel=4")
		c.Env = append(os.Environ(), suiteEnv+"="+program.Path, "SOAK=")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Errorf("behind PgBouncer %s: %v\n%s", program, err, out)
		}
	})
}

func kindOf(p Program) int {
	if p.Prepares() {
		return 1
	}
	return 0
}

// OfSuite is the program behind which this run of a package's tests stands, if it does.
func OfSuite(t testing.TB) (program Program, ok bool) {
	t.Helper()
	path := os.Getenv(suiteEnv)
	if path == "" {
		return Program{}, false
	}
	program, err := programAt(path)
	if err != nil {
		t.Fatalf("pgbouncer: %v", err)
	}
	return program, true
}
