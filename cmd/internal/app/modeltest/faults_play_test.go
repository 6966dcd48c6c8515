package modeltest_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// longestResponse is when the server hangs up on a client (App.Serve, WriteTimeout):
// an answer has to be there before.
const longestResponse = 120 * time.Second

// longestJob is when River ends a job (jobs.New), longestReconcile when it ends the
// one that reads lists.
const (
	longestJob       = 2 * time.Minute
	longestReconcile = 6 * time.Hour
)

// trial is a scenario with one of its calls troubled, or without trouble.
type trial struct {
	scenario
	fault   fault
	at      int
	lasting bool
	perhaps bool // the scenario may not make as many calls
}

func (x trial) String() string {
	if x.at == 0 {
		return x.scenario.String()
	}
	lasting := ""
	if x.lasting {
		lasting = ", and from then on"
	}
	return fmt.Sprintf("%s: %s at call %d%s", x.scenario, x.fault, x.at, lasting)
}

// outcome is what became of a trial.
type outcome struct {
	problem problem
	trace   []string
	made    []string // calls, in order
	status  int      // of the answer; 0: none
}

// tryOut plays a trial on a clean slate: the scenario under its fault, everything that
// follows until nothing moves any more, the same request again, and what must hold
// after each of them.
func (w *testPlatform) tryOut(t tester, x trial) (out outcome) {
	t.Helper()
	h := w.begin(t, 0)
	defer func() {
		require.NoError(t, h.gateways.close())
		out.trace = h.trace
		if p := recover(); p != nil {
			known, is := p.(problem)
			if !is {
				panic(p)
			}
			out.problem = known
		}
	}()
	h.calls = &calls{over: true}
	if x.given != nil {
		x.given(h)
	}
	if x.scenario.key {
		h.key = "one-and-only"
	}
	h.logStep("%s", x)
	out.status, out.made = carryOut(h, x)
	checkStep(h)
	h.travel(inOrder)
	checkStep(h)
	if x.after != nil {
		x.after(h)
	}
	if breached(h, x) { // until gateway A is asked again
		h.pass(step{}, 10*time.Hour) // a key is known for a day
	}
	if x.rests > 0 {
		h.pass(step{}, x.rests)
	}
	h.rest()
	checkRest(h)
	if x.lapses && breached(h, x) {
		return out // nothing is left to ask for
	}
	if out.status != 0 || x.kills() {
		repeat(h, x, out.status)
	}
	if x.done != nil && !x.done(h) {
		h.fail("the effect is not there once", "%s", x)
	}
	return out
}

func (x trial) kills() bool { return x.at > 0 && x.fault.kills() && len(x.good) > 0 }

// carryOut does the scenario under the trial's fault and judges the answer.
func carryOut(h *history, x trial) (int, []string) {
	h.calls = &calls{fault: x.fault, at: x.at, lasting: x.lasting}
	h.process = &process{patient: true}
	a := x.do(h)
	h.calls.mu.Lock()
	h.calls.over = true
	h.calls.mu.Unlock()
	h.process = &process{}
	h.inTime(longestResponse)
	if x.at > len(h.calls.made) && !x.perhaps {
		h.fail("a call that is made no more", "call %d of %v", x.at, h.calls.made)
	}
	judge(h, x, a)
	return a.status, h.calls.made
}

// judge compares the answer of a request with what the contract allows (docs/contract/payments.md, Not known).
func judge(h *history, x trial, a response) {
	switch {
	case len(x.good) == 0, a.status == 0 && x.fault.kills(): // a job; nobody is there to be answered
	case x.at == 0 && a.status != x.good[0]:
		h.fail("not the usual answer", "%d %s", a.status, a.body)
	case slices.Contains(x.good, a.status), slices.Contains(x.also, a.status):
	case x.at == 0 || a.status != http.StatusServiceUnavailable:
		h.fail("not the answer to a fault", "%d %s", a.status, a.body)
	case a.header.Get("Retry-After") == "":
		h.fail("503 without Retry-After", "%s", a.body)
	}
}

// breached tells that gateway A has answered 429 at two of its endpoints, so that
// the whole account rests for hours.
func breached(h *history, x trial) bool {
	endpoints := map[string]bool{}
	for _, line := range h.trace {
		if x.fault == tooMany && strings.HasPrefix(line, "  gwa ") && strings.HasSuffix(line, ": 429") {
			endpoints[line] = true
		}
	}
	return len(endpoints) > 1
}

// repeat repeats the request when all is over: it is done now, or was done
// before. Where the first came to nothing and its key only brings the first answer
// again, as an outcome that was not known, the next request has a key of its own.
func repeat(h *history, x trial, first int) {
	h.logStep("again")
	h.calls = &calls{over: true}
	a := x.do(h)
	replayed := a.header.Get("Idempotent-Replayed") != "" && a.status == first
	if !replayed && !slices.Contains(x.good, a.status) && !slices.Contains(x.again, a.status) {
		h.fail("not the answer to a repetition", "%d %s", a.status, a.body)
	}
	h.pass(step{}, time.Hour)
	if x.done != nil && !x.done(h) {
		h.logStep("anew")
		h.key = ""
		do := x.do
		if x.anew != nil {
			do = x.anew
		}
		if a := do(h); !slices.Contains(x.good, a.status) && a.status != http.StatusCreated {
			h.fail("not the answer to a new request", "%d %s", a.status, a.body)
		}
		h.pass(step{}, time.Hour)
	}
	checkInvariants(h, invariantsAtRest)
	checkMoney(h)
	checkRunning(h)
}
