package app_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
	"marquee/modules/accounts"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/testutil/apitest"
	"marquee/testutil/secrettest"
	"marquee/testutil/soak"
)

// How long a soak attacks, how long each of its platforms lives, and how long one set of
// callers does: an attack that succeeds may end an account.
const (
	attackedFor  = 60 * time.Minute
	platformTime = 30 * time.Second
	callersLive  = 3 * time.Second
)

// TestRoutesUnderAttackSoak calls every route, for an hour in a soak, with requests made
// at random of what attackers send (route_fuzz_corpus_test.go): whatever comes, no answer
// is a 5xx but 503 for overload and 501 where the contract has it (docs/contract/README.md, Versions), none tells of
// the inside, nothing panics, and the invariants hold at the end of each platform.
func TestRoutesUnderAttackSoak(t *testing.T) {
	t.Parallel()
	total := time.Duration(soak.Rounds(4, int(attackedFor.Seconds()))) * time.Second
	seed := soak.Seed(t)
	sum := &tally{statuses: map[int]int{}, busy: map[string]int{}, failed: map[string]bool{}}
	began := time.Now()
	for round := 0; time.Since(began) < total; round++ {
		left := total - time.Since(began)
		t.Run(strconv.Itoa(round), func(t *testing.T) {
			f := newRouteFuzz(t, sum, seed+uint64(round)<<8)
			for end := time.Now().Add(min(left, platformTime)); time.Now().Before(end); {
				f.play(min(time.Until(end), callersLive))
			}
			f.requireNoError()
		})
	}
	t.Logf("%d requests in %v: %v; put off: %v", sum.sent, time.Since(began).Round(time.Second), sum.statuses, sum.busy)
	for _, status := range []int{200, 400, 401, 403, 404, 409, 422} {
		if !soak.On() { // a few seconds of a busy machine need not meet all
			break
		}
		require.NotZero(t, sum.statuses[status], "the attack is as wide as it was: %v", sum.statuses)
	}
}

// tally counts over all platforms of a run.
type tally struct {
	mu       sync.Mutex
	sent     int
	statuses map[int]int
	busy     map[string]int  // 503 by their sentence
	failed   map[string]bool // what is reported once: by route and answer
}

// routeFuzz attacks one platform.
type routeFuzz struct {
	*tally
	t       *testing.T
	w       *platformtest.Platform
	log     *secrettest.Log
	address string // host and port
	root    *apitest.Client
	victim  victim
	ids     []string
	events  map[string][][]byte // samples of what the gateways send, by route
	callers map[string][]string // Authorization headers, by who it is
	seed    uint64
	spells  int
}

func newRouteFuzz(t *testing.T, sum *tally, seed uint64) *routeFuzz {
	t.Helper()
	f := &routeFuzz{tally: sum, t: t, seed: seed, log: &secrettest.Log{}}
	f.w = platformtest.NewOf(t, platformtest.Options{
		Gateways: true, Log: slog.New(slog.NewJSONHandler(f.log, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	f.w.Work()
	f.root, f.victim = f.w.Root(), newVictim(t, f.w)
	f.ids = sorted(f.victim.everyID())
	f.events = gatewayEvents(t)
	server := httptest.NewUnstartedServer(f.w.API().Handler())
	server.Config.ErrorLog = slog.NewLogLogger(slog.NewJSONHandler(f.log, nil), slog.LevelWarn)
	server.Start()
	t.Cleanup(server.Close)
	f.address = strings.TrimPrefix(server.URL, "http://")
	return f
}

// gatewayErrors are the routes at which the contract (docs/errors.md, Codes and statuses) answers 500 to what a gateway
// rejects, with the code REFUND_FAILED.
var gatewayErrors = []string{
	"subscription_refund", "admin_gwa_subscription_refund", "admin_gwb_subscription_refund",
	"unapplied_payment_refund", "admin_ticket_order_refund", "admin_ticket_order_cancel",
}

// play attacks for some time, with callers who have just signed in. The first of each
// kind is who loses their session by what they send.
func (f *routeFuzz) play(d time.Duration) {
	f.spells++
	f.callers = map[string][]string{}
	for kind, create := range map[string]func(set ...func(*accounts.NewUser)){
		"root": func(set ...func(*accounts.NewUser)) {
			f.w.NewAdmin(append(set, func(n *accounts.NewUser) { n.Root = true })...)
		},
		"admin":      func(set ...func(*accounts.NewUser)) { f.w.NewAdmin(set...) },
		"customer":   func(set ...func(*accounts.NewUser)) { f.w.NewCustomer(set...) },
		"subscriber": func(set ...func(*accounts.NewUser)) { f.w.NewSubscriber(set...) },
	} {
		for i := range 2 {
			name := fmt.Sprint(kind, f.spells, "_", i)
			create(platformtest.Named(name))
			f.callers[kind] = append(f.callers[kind], "Bearer "+f.w.Token(name))
		}
	}
	var all sync.WaitGroup
	end := time.Now().Add(d)
	for n := range 2 {
		all.Go(func() {
			m := &mischief{rand.New(rand.NewPCG(f.seed, uint64(f.spells)<<8|uint64(n)))}
			for time.Now().Before(end) {
				f.attack(m)
			}
		})
	}
	all.Wait()
}

// attack makes one request, sends it and looks at the answer.
func (f *routeFuzz) attack(m *mischief) {
	routes := f.w.Routes()
	r := routes[m.IntN(len(routes))]
	q := f.request(m, r)
	a, err := q.send(f.address)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent++
	if err != nil {
		if !q.broken && !errors.Is(err, syscall.ECONNRESET) { // answered, and closed before all was read
			f.fail(r, q, fmt.Sprint("no answer: ", err))
		}
		return
	}
	f.statuses[a.status]++
	switch {
	case a.status == http.StatusNotImplemented:
	case a.status == http.StatusServiceUnavailable:
		f.busy[r.Name+": "+string(a.body[:min(len(a.body), 120)])]++
		if !strings.Contains(string(a.body), fault.CodeBusy) && !bytes.Contains(a.body, []byte("The payment gateway")) {
			f.fail(r, q, fmt.Sprintf("%d %s", a.status, a.body))
		}
	case a.status == http.StatusInternalServerError && slices.Contains(gatewayErrors, r.Name) &&
		bytes.Contains(a.body, []byte(fault.CodeRefundFailed)):
	case a.status >= 500:
		f.fail(r, q, fmt.Sprintf("%d %s", a.status, a.body))
	case a.status >= 400 && json.Valid(a.body):
		for _, word := range inner {
			if bytes.Contains(a.body, []byte(word)) && !bytes.Contains(q.body, []byte(word)) {
				f.fail(r, q, fmt.Sprintf("tells of the inside: %d %s", a.status, a.body))
			}
		}
	}
}

// fail reports a request that went wrong, the first of its route and answer.
func (f *routeFuzz) fail(r httpapi.RouteInfo, q *attackRequest, what string) {
	key := r.Name + what[:min(len(what), 60)]
	if f.failed[key] {
		return
	}
	f.failed[key] = true
	f.t.Errorf("%s: %s\n%.3000q\nthe log ends: %s", r.Name, what, q.bytes(), f.logTail())
}

// requireNoError looks for what no answer shows: 5xx to clients that had gone, and panics.
func (f *routeFuzz) requireNoError() {
	f.t.Helper()
	families, err := f.w.Metrics().Gather()
	require.NoError(f.t, err)
	for _, family := range families {
		if family.GetName() != "marquee_http_request_seconds" {
			continue
		}
		for _, metric := range family.GetMetric() {
			labels := map[string]string{}
			for _, pair := range metric.GetLabel() {
				labels[pair.GetName()] = pair.GetValue()
			}
			status := labels["status"]
			refund := strings.HasSuffix(labels["route"], "/refund") // looked at where it was answered
			if status >= "500" && status != "501" && status != "503" && !refund {
				f.t.Errorf("the metrics count %s", labels)
			}
		}
	}
	for line := range strings.SplitSeq(f.log.String(), "\n") {
		if strings.Contains(line, "panic") ||
			strings.Contains(line, `"level":"ERROR"`) && !strings.Contains(line, `"msg":"request"`) && !isKnown(line) {
			f.t.Errorf("logged: %.2000s", line)
		}
	}
}

// isKnown are lines of what the attacked platform is rightly told: its gateways do not know
// the victim's payments, and what is broken is looked at once it has ended. River says at
// ERROR that a client hung up on a commit with a job, which a worker's next poll finds.
func isKnown(line string) bool {
	return strings.Contains(line, `"invariant broken"`) || strings.Contains(line, "suspect") ||
		strings.Contains(line, "Failed to send job insert notification")
}

// request is what the route takes, spoilt in some ways.
func (f *routeFuzz) request(m *mischief, r httpapi.RouteInfo) *attackRequest {
	q := &attackRequest{method: r.Method, header: http.Header{}}
	f.addressOf(m, r, q)
	f.sign(m, r, q)
	switch {
	case r.Auth == httpapi.Gateway:
		f.event(m, r, q)
	case jsonBody(f.w, r) != nil && r.Method != http.MethodGet:
		q.header.Set("Content-Type", "application/json")
		sample := bodyNaming(f.w, r, f.places(m))
		if m.once(2) {
			sample = necessary(f.w, jsonBody(f.w, r), sample)
		}
		q.body = m.body(sample)
	case strings.Contains(r.Name, "upload") || strings.HasSuffix(r.Name, "avatar_post"):
		q.body = m.upload(q.header)
	case r.Name == "token_post":
		q.header.Set("Content-Type", "application/x-www-form-urlencoded")
		q.body = []byte(url.Values{"username": {m.text()}, "password": {m.text()}}.Encode())
	}
	m.headers(q)
	m.framing(q)
	if m.once(60) {
		q.method = pick(m, methods)
	}
	return q
}

// places are ids for each kind of place: most of them right.
func (f *routeFuzz) places(m *mischief) map[string]string {
	ids := f.victim.everyID()
	if m.once(3) {
		ids = maps.Clone(ids)
		for kind := range ids {
			if m.once(3) {
				ids[kind] = pick(m, f.ids)
			}
		}
	}
	return ids
}

// addressOf is the path with its parameters.
func (f *routeFuzz) addressOf(m *mischief, r httpapi.RouteInfo, q *attackRequest) {
	ids := f.places(m)
	naming := naming(f.w, r, ids)
	path, query, _ := strings.Cut(pick(m, naming), "?")
	for _, spot := range placeholder.FindAllString(path, -1) {
		path = strings.Replace(path, spot, pick(m, f.ids), 1)
	}
	if strings.Contains(r.Path, "{") && m.once(6) {
		parts := strings.Split(path, "/")
		parts[len(parts)-1-m.IntN(2)] = m.pathPart()
		path = strings.Join(parts, "/")
	}
	given, _ := url.ParseQuery(query)
	if op := operation(f.w, r); op != nil && m.once(2) {
		for _, p := range op.Parameters {
			if p.In == "query" && p.Name != "token" && m.once(3) {
				given.Set(p.Name, m.parameter(p.Name))
			}
		}
	}
	q.path = path
	if raw := given.Encode(); raw != "" {
		q.path += "?" + raw
	}
	if m.once(20) {
		q.path += pick(m, queryTails)
	}
}

// sign chooses who calls: mostly somebody who may.
func (f *routeFuzz) sign(m *mischief, r httpapi.RouteInfo, q *attackRequest) {
	who := "root"
	if r.Auth == httpapi.Customer || r.Auth != httpapi.Admin && r.Auth != httpapi.Root && m.once(2) {
		who = pick(m, []string{"customer", "subscriber"})
	}
	if m.once(12) {
		who = pick(m, []string{"root", "admin", "customer", "subscriber"})
	}
	which := 1
	if slices.Contains(endsSessions, r.Name) {
		which = 0
	}
	switch {
	case m.once(25):
		q.header.Set("Authorization", pick(m, authorizations))
	case r.Auth != httpapi.Public || m.once(2):
		q.header.Set("Authorization", f.callers[who][which])
	}
}

// endsSessions are the routes that may end what the caller calls with.
var endsSessions = []string{
	"customer_me_delete", "change_password_post", "my_user_put", "refresh_token_post", "customer_confirm_email",
}

// event is a call of a gateway: authentic with odd content, or forged.
func (f *routeFuzz) event(m *mischief, r httpapi.RouteInfo, q *attackRequest) {
	q.header.Set("Content-Type", "application/json")
	var event any
	if err := json.Unmarshal(pick(m, f.events[r.Name]), &event); err != nil {
		panic(err)
	}
	event.(map[string]any)["id"] = "evt_" + strconv.Itoa(m.IntN(1_000_000))
	q.body = m.body(event)
	m.signEvent(r.Name, q)
}

// gatewayEvents are the samples of both gateways, by the route that takes them.
func gatewayEvents(t *testing.T) map[string][][]byte {
	t.Helper()
	all := map[string][][]byte{}
	for _, gateway := range []string{"gwa", "gwb"} {
		files, err := filepath.Glob("../../../modules/payments/testdata/webhooks/" + gateway + ".*.json")
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			all["webhook_"+gateway] = append(all["webhook_"+gateway], raw)
		}
	}
	return all
}
