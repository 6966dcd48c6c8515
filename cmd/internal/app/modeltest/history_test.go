package modeltest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
)

// tester is a test, or one try of a generated one.
type tester interface {
	require.TestingT
	Helper()
}

// person is a customer of a history; gone once the account is deleted.
type person struct {
	id    objectid.ID
	name  string
	token string
	gone  bool
}

const people = 2

// starts are beginnings of histories: days around which months are counted in
// more than one way, in São Paulo at noon.
var starts = []time.Time{
	time.Date(2083, 3, 10, 15, 0, 0, 0, time.UTC),
	time.Date(2083, 1, 31, 15, 0, 0, 0, time.UTC),
	time.Date(2084, 2, 29, 15, 0, 0, 0, time.UTC),
	time.Date(2083, 10, 31, 2, 30, 0, 0, time.UTC), // still the 30th in São Paulo
	time.Date(2083, 12, 31, 15, 0, 0, 0, time.UTC),
}

// history is one run of a story.
type history struct {
	*testPlatform
	t        tester
	gateways *gateways
	persons  []person
	months   int    // that one PIX payment buys now
	pixMode  string // of PIX subscriptions: manual or recurring
	process  *process
	step     step
	trouble  int    // calls that the step's trouble still has to meet
	nested   bool   // others act while a gateway is called
	calls    *calls // watches and troubles single calls (faults_test.go)
	key      string // Idempotency-Key of requests
	trace    []string
	touched  map[string]bool // ids whose dates somebody set by hand or hurried
}

func (w *testPlatform) begin(t tester, start int) *history {
	t.Helper()
	at := starts[start%len(starts)]
	w.clean(t, at)
	w.at.Store(at.UnixMilli())
	h := &history{testPlatform: w, t: t, months: 1, pixMode: "manual", process: &process{}, touched: map[string]bool{}}
	h.gateways = newGateways(t, at)
	w.current = h
	w.adapters[gateway.GWA].renew(w.newGWA())
	w.adapters[gateway.GWB].renew(w.newGWB())
	for range people {
		w.people++
		h.persons = append(h.persons, w.newPerson(t, w.people))
	}
	return h
}

func (h *history) now() time.Time { return h.testPlatform.Now() }

// logStep keeps what happened, for the report of a failure.
func (h *history) logStep(format string, args ...any) {
	h.trace = append(h.trace, fmt.Sprintf(format, args...))
}

// fail reports a problem. The headline is the same for the same kind of problem,
// by which shrinking knows it; the rest is in the trace.
func (h *history) fail(headline, format string, args ...any) {
	h.t.Helper()
	h.logStep("PROBLEM "+headline+": "+format, args...)
	panic(problem(headline))
}

type problem string

// play runs the steps, lets everything come to rest, and checks. The problem is ""
// when everything holds.
func (w *testPlatform) play(t tester, s story) (found problem, h *history) {
	t.Helper()
	h = w.begin(t, s.Start)
	defer func() {
		require.NoError(t, h.gateways.close())
		if p := recover(); p != nil {
			known, is := p.(problem)
			if !is {
				panic(p)
			}
			found = known
		}
	}()
	for i, one := range s.Steps {
		h.logStep("%d %#v at %s", i, one, h.now().Format(time.DateTime))
		if h.take(one) {
			checkStep(h)
		}
	}
	h.rest()
	checkRest(h)
	return "", h
}

// take does a step and lets its webhooks travel and its jobs be worked. It tells
// whether anything happened.
func (h *history) take(s step) bool {
	traced, began := len(h.trace), h.now()
	h.step, h.process, h.trouble = s, &process{dieAt: s.Die}, 0
	if s.Trouble != "" {
		h.trouble = 1 + s.Tries
	}
	action, known := actionsByName[s.Do]
	require.True(h.t, known, "no action %q", s.Do)
	action.act(h, s)
	h.trouble, h.step.During = 0, ""
	h.travel(s.Mail)
	checkConnections(h)
	return len(h.trace) > traced || h.now().After(began)
}

// nextTrouble is the trouble of the next call that changes something; odd answers
// meet calls that read, too.
func (h *history) nextTrouble(acts bool) string {
	_, odd := odds[fault(h.step.Trouble)]
	if h.trouble == 0 || h.nested || !acts && !odd {
		return ""
	}
	h.trouble--
	return h.step.Trouble
}

// meanwhile lets others act while a gateway is called.
func (h *history) meanwhile() {
	if h.nested || h.step.During == "" {
		return
	}
	during := h.step.During
	h.step.During, h.nested = "", true
	current := h.process
	h.process = &process{}
	h.logStep("  meanwhile %s", during)
	actionsByName[during].act(h, step{Do: during, Who: h.step.Who, Pick: h.step.Pick})
	current.deadlock += h.process.deadlock
	current.called += h.process.called
	h.process, h.nested = current, false
}

// travel brings the webhooks of a step on their way and works the jobs.
func (h *history) travel(mail string) {
	h.gateways.collect()
	if mail == later {
		return
	}
	for range 20 {
		all := h.gateways.waiting()
		if len(all) == 0 {
			break
		}
		if mail == reverse {
			for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
				all[i], all[j] = all[j], all[i]
			}
		}
		for _, d := range all {
			h.deliver(d)
			if mail == twice {
				h.deliver(d)
			}
			if mail == unheard {
				d.taken = false
			}
		}
		if mail == unheard {
			break
		}
		h.gateways.collect()
	}
	h.workJobs(h.t, h.process)
	h.gateways.collect()
}

// deliver hands an event over. Only the process' death keeps it from 200.
func (h *history) deliver(d *delivery) {
	r := httptest.NewRequest(http.MethodPost, "http://api/webhooks/"+string(d.gateway), bytes.NewReader(d.body))
	header, value := d.proof(h.now())
	r.Header.Set(header, value)
	r.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	h.process.webhook = true
	ended := h.process.run(context.Background(),
		func(ctx context.Context) { h.api.ServeHTTP(recorder, r.WithContext(ctx)) })
	h.process.webhook = false
	h.logStep("webhook %s %s: %d %s", d.gateway, d.kind, recorder.Code, strings.TrimSpace(recorder.Body.String()))
	if !ended {
		return
	}
	if recorder.Code != http.StatusOK {
		h.fail("a webhook was not taken", "%s: %d %s", d.body, recorder.Code, recorder.Body)
	}
	d.taken = true
}

// response is the platform's; status 0: the process died.
type response struct {
	status int
	header http.Header
	body   []byte
}

func (a response) text(t tester, field string) string {
	t.Helper()
	var o object
	require.NoError(t, json.Unmarshal(a.body, &o))
	return str(o, field)
}

// send calls the platform.
func (w *testPlatform) send(ctx context.Context, method, path, token string, body any) response {
	contentType, raw, err := apitest.Encode(body)
	if err != nil {
		panic(err)
	}
	r := httptest.NewRequestWithContext(ctx, method, "http://api"+httpapi.Prefix+path, bytes.NewReader(raw))
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if w.current != nil && w.current.key != "" {
		r.Header.Set("Idempotency-Key", w.current.key)
	}
	recorder := httptest.NewRecorder()
	w.api.ServeHTTP(recorder, r)
	return response{recorder.Code, recorder.Header(), recorder.Body.Bytes()}
}

// request calls the platform in the step's process. An answer that nobody is to
// get is a problem.
func (h *history) request(method, path, token string, body any) response {
	var a response
	if !h.process.run(context.Background(), func(ctx context.Context) { a = h.send(ctx, method, path, token, body) }) {
		a = response{}
	}
	h.logStep("%s %s: %d %.300s", method, path, a.status, a.body)
	internal := a.status == http.StatusInternalServerError && !bytes.Contains(a.body, []byte("REFUND_FAILED"))
	if internal || a.status == http.StatusUnauthorized {
		h.fail("the platform's own fault", "%s %s: %d %s", method, path, a.status, a.body)
	}
	return a
}
