package histories_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/testutil/soak"
)

// TestFaultsSoak troubles each call to a gateway that each deed makes with each
// fault, once and from then on.
func TestFaultsSoak(t *testing.T) {
	t.Parallel()
	if !soak.On() {
		t.Skip("TestFaults shows a share of it")
	}
	for _, d := range deeds() {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			w, played := newWorld(t), 0
			for _, x := range trials(d, w.cleanRun(t, d)) {
				if played++; played%worldLife == 0 {
					w = newWorld(t)
				}
				w.requireFine(t, x)
			}
		})
	}
}

// cleanRun plays a deed without trouble and returns the calls that it makes.
func (w *world) cleanRun(t *testing.T, d deed) []string {
	t.Helper()
	return w.requireFine(t, trial{deed: d}).made
}

func (w *world) requireFine(t *testing.T, x trial) outcome {
	t.Helper()
	out := w.tryOut(t, x)
	if out.problem != "" {
		t.Errorf("%s: %s\n%s", x, out.problem, strings.Join(out.trace, "\n"))
	}
	return out
}

// trials are all faults at all calls of a deed.
func trials(d deed, made []string) (all []trial) {
	for i := range made {
		for _, f := range faults {
			all = append(all, trial{deed: d, fault: f, at: i + 1})
			if !f.kills() {
				all = append(all, trial{deed: d, fault: f, at: i + 1, lasting: true})
			}
		}
	}
	return all
}

func deeds() []deed { return customerDeeds }

func TestDeedsClean(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, d := range deeds() {
		t.Logf("%s:\n   %s", d, strings.Join(w.cleanRun(t, d), "\n   "))
	}
	require.False(t, t.Failed())
}
