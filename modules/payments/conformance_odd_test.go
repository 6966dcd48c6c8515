package payments_test

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/gwa"
	"marquee/modules/payments/gwb"
	"marquee/testutil/sandbox/stage"
	"marquee/testutil/soak"
)

// oddly passes an adapter's calls on and has those of one name answered oddly.
type oddly struct {
	stage *stage.Stage

	mu    sync.Mutex
	named string // method and path without ids; "": none
	fault stage.Fault
	made  []string
}

// anID is a part of a path that names one object.
var anID = regexp.MustCompile(`/[^/]*[0-9_-][^/]*`)

func (o *oddly) RoundTrip(r *http.Request) (*http.Response, error) {
	version, path, _ := strings.Cut(r.URL.Path[1:], "/")
	name := r.Method + " /" + version + anID.ReplaceAllStringFunc("/"+path, func(part string) string {
		switch part {
		case "/payment_methods", "/payment_intents", "/invoice_payments":
			return part
		}
		return "/{id}"
	})
	o.mu.Lock()
	defer o.mu.Unlock()
	o.made = append(o.made, name)
	if name == o.named {
		if err := o.stage.Faults.Plan(o.fault); err != nil {
			return nil, err
		}
	}
	return http.DefaultTransport.RoundTrip(r)
}

// calls starts anew and returns the names of the calls so far, each once.
func (o *oddly) calls(named string, fault stage.Fault) (names []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	seen := map[string]bool{}
	for _, name := range o.made {
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	o.made, o.named, o.fault = nil, named, fault
	return names
}

// eachOddGateway gives the adapters a transport of their own before the sandbox.
func eachOddGateway(t *testing.T, run func(t *testing.T, g *oddGateway)) {
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		odd := &oddGateway{gatewayUnderTest: g, all: g.all, oddly: &oddly{stage: g.stage}, clean: g.Gateway}
		const wait = time.Millisecond
		if g.Name() == gateway.GWA {
			g.Gateway = gwa.New(gwa.Config{
				URL: g.all.Sandbox.GWAURL(), APIKey: "$aact_hmlg_sandbox", Clock: g.all.Clock(), RetryWait: wait, Transport: odd.oddly,
			})
		} else {
			g.Gateway = gwb.New(gwb.Config{
				URL: g.all.Sandbox.GWBURL(), SecretKey: "sk_test_sandbox", Clock: g.all.Clock(), RetryWait: wait, Transport: odd.oddly,
			})
		}
		run(t, odd)
	})
}

// TestOddAnswers has each call of each use of both adapters answered by everything
// that is no answer, with status 200, 404 and 500, with and without the call's
// effect. A read is not known, or as right as without; a call that may act is not
// known, never refused, never done when it was not, and never done twice.
func TestOddAnswers(t *testing.T) {
	t.Parallel()
	eachOddGateway(t, func(t *testing.T, g *oddGateway) {
		turn := 0
		for _, a := range slices.Concat(uses, pauseUses) {
			if a.gateways != "" && a.gateways != g.Name() {
				continue
			}
			u := a.prepare(t, g)
			g.oddly.calls("", stage.Fault{})
			clean, err := u.do(t.Context())
			require.NoError(t, err, a.name)
			for _, call := range g.oddly.calls("", stage.Fault{}) {
				for _, f := range oddFaults() {
					if turn++; !soak.On() && turn%8 != 0 || !soak.Has(turn) {
						continue
					}
					if !a.reads {
						u = a.prepare(t, g)
					}
					g.oddly.calls(call, f)
					got, err := u.do(t.Context())
					g.oddly.calls("", stage.Fault{})
					g.stage.Faults.Clear()
					what := fmt.Sprintf("%s: %s answered with %s, %s, %d", a.name, call, f.Kind, f.Answer, f.Status)
					if a.lists && f.Answer == stage.OddForeign {
						continue // rows of no row of ours: who acts on one reads it first
					}
					if a.reads {
						requireNotKnownOr(t, clean, got, err, what)
						continue
					}
					requireReported(t, u.happened(t), err, what)
				}
			}
		}
	})
}

// oddFaults are all odd answers.
func oddFaults() (all []stage.Fault) {
	for _, odd := range stage.OddResponses {
		for _, status := range []int{200, 404, 500} {
			all = append(all, stage.Fault{Kind: stage.FaultOddAfter, Answer: odd, Status: status})
			if !odd.NeedsEffect() {
				all = append(all, stage.Fault{Kind: stage.FaultOdd, Answer: odd, Status: status})
			}
		}
	}
	return all
}

func requireNotKnownOr(t *testing.T, clean, got any, err error, what string) {
	t.Helper()
	if err == nil {
		require.Equal(t, clean, got, what)
		return
	}
	require.ErrorIs(t, err, gateway.ErrUnavailable, what)
	require.NotErrorIs(t, err, gateway.ErrMissing, what)
}

// requireReported compares what the adapter says with how often it has happened.
func requireReported(t *testing.T, happened int, err error, what string) {
	t.Helper()
	require.LessOrEqual(t, happened, 1, "%s: %v", what, err)
	var declined *gateway.Declined
	var rejected *gateway.Rejected
	switch {
	case err == nil:
		require.NotEqual(t, 0, happened, "%s: it says that it is done", what)
	case errors.Is(err, gateway.ErrOutcomeUnknown):
	case errors.Is(err, gateway.ErrUnavailable):
		require.NotEqual(t, 1, happened, "%s: it says that nothing was done: %v", what, err)
	default:
		t.Errorf("%s: %v", what, err)
	}
	require.False(t, errors.As(err, &declined) || errors.As(err, &rejected), "%s: %v", what, err)
	require.NotErrorIs(t, err, gateway.ErrMissing, what)
}
