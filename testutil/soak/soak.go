// Package soak sizes the tests that gain from more rounds: few in `make test`, so
// that it stays quick, the full number in `make soak`.
package soak

import "os"

// On tells whether this run is `make soak`.
func On() bool { return os.Getenv("SOAK") == "1" }

// Rounds is the number of rounds of this run.
func Rounds(inTest, inSoak int) int {
	if On() {
		return inSoak
	}
	return inTest
}
