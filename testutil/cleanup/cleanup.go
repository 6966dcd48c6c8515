// Package cleanup ends what tests begin without holding on to it.
package cleanup

import "testing"

// Add calls end when the test has ended, as t.Cleanup does, and lets go of it then. The testing
// package keeps what t.Cleanup got, with all that it refers to (a platform, its log, a gateway's
// ledger), until the last parallel test of the package has ended.
func Add(t testing.TB, end func()) {
	t.Helper()
	t.Cleanup(func() {
		run := end
		end = nil
		run()
	})
}
