package modeltest_test

import (
	"fmt"
	"strings"

	"marquee/testutil/sandbox/stage"
)

// odds are the answers that are none, by their fault: each of them with status 200,
// 404 and 500, with the effect of the call and without.
var odds = oddFaults()

// oddBefore and oddAfter are the names of odds, in a set order.
var oddBefore, oddAfter = oddNames(stage.FaultOdd), oddNames(stage.FaultOddAfter)

func oddFault(f stage.Fault) fault {
	when := "before"
	if f.Kind == stage.FaultOddAfter {
		when = "after"
	}
	return fault(fmt.Sprintf("%s with %d %s", f.Answer, f.Status, when))
}

func oddFaults() map[fault]stage.Fault {
	all := map[fault]stage.Fault{}
	for _, kind := range []stage.FaultKind{stage.FaultOdd, stage.FaultOddAfter} {
		for _, f := range oddResponses(kind) {
			all[oddFault(f)] = f
		}
	}
	return all
}

func oddNames(kind stage.FaultKind) (all []fault) {
	for _, f := range oddResponses(kind) {
		all = append(all, oddFault(f))
	}
	return all
}

func oddResponses(kind stage.FaultKind) (all []stage.Fault) {
	for _, odd := range stage.OddResponses {
		for _, status := range []int{200, 404, 500} {
			if kind == stage.FaultOddAfter || !odd.NeedsEffect() {
				all = append(all, stage.Fault{Kind: kind, Answer: odd, Status: status})
			}
		}
	}
	return all
}

// oddTrials are the odd answers at one call: a read has no effect, so that before
// and after are the same there.
func oddTrials(d scenario, call string, at int) (all []trial) {
	names := oddAfter
	if !strings.Contains(call, " GET ") {
		names = append(append([]fault{}, oddAfter...), oddBefore...)
	}
	for _, f := range names {
		all = append(all, trial{scenario: d, fault: f, at: at},
			trial{scenario: d, fault: f, at: at, lasting: true})
	}
	return all
}
