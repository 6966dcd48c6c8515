package modeltest_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/testutil/soak"
)

// TestFaultsSoak troubles each call to a gateway that each scenario makes with each
// fault, once and from then on. `make test` tries a few of them, a share of soak every
// so manieth one of each scenario.
func TestFaultsSoak(t *testing.T) {
	t.Parallel()
	if !soak.On() {
		tryShare(t)
		return
	}
	for n, d := range scenarios() {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			w, began, played := newTestPlatform(t), time.Now(), 0
			all := trials(d, w.cleanRun(t, d))
			for i, x := range all {
				if !soak.Has(n + i) { // scenarios of few trials begin at different shares
					continue
				}
				if played++; played%storiesPerDatabase == 0 {
					w = newTestPlatform(t)
				}
				w.requireFine(t, x)
			}
			t.Logf("%d of %d trials in %v", played, len(all), time.Since(began).Round(time.Millisecond))
		})
	}
}

// every so manieth scenario is played in `make test`.
const every = 3

// tryShare tries each fault at calls of several scenarios.
func tryShare(t *testing.T) {
	t.Helper()
	w := newTestPlatform(t)
	for i, d := range scenarios() {
		if testing.Short() && i%5 > 0 {
			continue
		}
		if i%every == 0 {
			f := faults[i/every%len(faults)]
			if d.beside && f.kills() {
				f = timeoutAfter
			}
			w.requireFine(t, trial{
				scenario: d, fault: f, at: 1 + i%2, lasting: !f.kills() && i%2 == 0, perhaps: true,
			})
			continue
		}
		// Each scenario of the others meets one odd answer.
		all := oddAfter
		if i%2 == 0 {
			all = oddBefore
		}
		w.requireFine(t, trial{scenario: d, fault: all[i*7%len(all)], at: 1 + i%3, lasting: i%4 < 2, perhaps: true})
	}
}

// cleanRun plays a scenario without trouble and returns the calls that it makes.
func (w *testPlatform) cleanRun(t *testing.T, d scenario) []string {
	t.Helper()
	made := w.requireFine(t, trial{scenario: d}).made
	require.NotEmpty(t, made, "%s asks no gateway", d)
	return made
}

func (w *testPlatform) requireFine(t *testing.T, x trial) outcome {
	t.Helper()
	out := w.tryOut(t, x)
	if out.problem != "" {
		t.Errorf("%s: %s\n%s", x, out.problem, strings.Join(out.trace, "\n"))
	}
	return out
}

// trials are all faults at all calls of a scenario.
func trials(d scenario, made []string) (all []trial) {
	for i, call := range made {
		all = append(all, oddTrials(d, call, i+1)...)
		for _, f := range faults {
			if d.beside && f.kills() {
				continue
			}
			all = append(all, trial{scenario: d, fault: f, at: i + 1})
			if !f.kills() {
				all = append(all, trial{scenario: d, fault: f, at: i + 1, lasting: true})
			}
		}
	}
	return all
}

// scenarios are all of them.
func scenarios() []scenario {
	return slices.Concat(customerScenarios, adminScenarios, ticketScenarios, jobScenarios, signupScenarios)
}

// TestEveryRouteAndJobIsAScenarioOrQuiet: whoever adds a route or a job says whether it
// asks a gateway, and thereby has its calls troubled.
func TestEveryRouteAndJobIsAScenarioOrQuiet(t *testing.T) {
	t.Parallel()
	w := newTestPlatform(t)
	covered := map[string]bool{}
	for _, d := range scenarios() {
		covered[d.name] = true
	}
	check := func(kind string, all, quiet []string) {
		for _, name := range all {
			if covered[name] == slices.Contains(quiet, name) {
				t.Errorf("%s %s has to be either a scenario or quiet", kind, name)
			}
		}
		for _, name := range quiet {
			require.Contains(t, all, name, "a quiet %s that is no more", kind)
		}
	}
	var routes, kinds []string
	for _, r := range w.routes.Routes() {
		routes = append(routes, r.Name)
	}
	for _, kind := range exposed(reflect.ValueOf(w.workers).Elem().FieldByName("workersMap")).MapKeys() {
		kinds = append(kinds, kind.String())
	}
	check("route", routes, quietRoutes)
	check("job", kinds, quietJobs)
	for name := range covered {
		require.Contains(t, slices.Concat(routes, kinds), name, "a scenario of nothing")
	}
}
