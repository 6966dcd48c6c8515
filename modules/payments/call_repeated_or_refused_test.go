package payments_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/gwa"
	"marquee/modules/payments/gwb"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/clock"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

func TestA_PostIsNeverRepeated(t *testing.T) {
	t.Parallel()
	g := paymentstest.NewGateways(t)
	terms := termsA(t, g, paymentstest.CardApproved)
	st := g.Sandbox.GWA.Stage()
	for _, kind := range []stage.FaultKind{stage.FaultStatus, stage.FaultResetBefore, stage.FaultBadGateway} {
		require.NoError(t, st.Faults.Plan(stage.Fault{Method: "POST", Kind: kind, Times: 1}))
		_, err := g.A.Subscribe(t.Context(), terms)
		require.ErrorIs(t, err, gateway.ErrOutcomeUnknown, kind)
	}
	posted := func() (n int) {
		for _, e := range st.Journal.Entries(stage.EntryCall) {
			if e.Path == "/v3/subscriptions" {
				n++
			}
		}
		return n
	}
	require.Eventually(t, func() bool { return posted() >= 3 }, time.Minute, time.Millisecond)
	require.Equal(t, 3, posted())
}

// TestA_RestsAfter429: the endpoint rests for a minute, whatever the window of the
// account, and then sends one probe. Two endpoints make it the account: checks stop,
// what a customer waits for goes on with a probe a minute.
func TestA_RestsAfter429(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.Header().Set("RateLimit-Reset", "43200")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"errors":[{"code":"too_many_requests","description":"x"}]}`)
	}))
	t.Cleanup(server.Close)
	now := clock.NewFake(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	a := gwa.New(gwa.Config{URL: server.URL, APIKey: "$aact_hmlg_x", Clock: now})
	for range 5 {
		_, err := a.ReadPix(t.Context(), "pay_1", objectid.New())
		require.ErrorIs(t, err, gateway.ErrUnavailable)
	}
	require.EqualValues(t, 1, calls.Load(), "the others did not reach the gateway")
	now.Advance(time.Minute)
	_, err := a.ReadPix(t.Context(), "pay_1", objectid.New())
	require.ErrorIs(t, err, gateway.ErrUnavailable)
	require.EqualValues(t, 2, calls.Load())

	background, subscribe := gateway.Background(t.Context()), gateway.SubscriptionTerms{
		SubscriptionID: objectid.New(), Instrument: paymentstest.Card(paymentstest.CardApproved),
	}
	_, err = a.Subscribe(t.Context(), subscribe)
	require.ErrorIs(t, err, gateway.ErrUnavailable, "nothing was done")
	require.EqualValues(t, 3, calls.Load(), "another endpoint")
	for range 3 {
		now.Advance(time.Minute)
		_, err = a.ReadSubscription(background, "sub_1", objectid.New())
		require.ErrorIs(t, err, gateway.ErrUnavailable)
		_, _ = a.Subscribe(t.Context(), subscribe)
		_, err = a.Subscribe(t.Context(), subscribe)
		require.ErrorIs(t, err, gateway.ErrUnavailable)
	}
	require.EqualValues(t, 6, calls.Load(), "one probe a minute, and no check")
}

// TestA_AnswerThatDoesNotEcho: the gateway drops fields that it does not know without
// a word. What it shows of another amount is undone; without our reference it may be
// anybody's, and is left alone.
func TestA_AnswerThatDoesNotEcho(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, reference, value string
		undone                 bool
	}{{"amount", "ours", "0", true}, {"reference", "", "49.9", false}} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var deleted atomic.Bool
			local := objectid.New()
			reference := "null"
			if tc.reference != "" {
				reference = `"` + local.String() + `"`
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodDelete {
					deleted.Store(true)
					_, _ = io.WriteString(w, `{"deleted":true,"id":"sub_1"}`)
					return
				}
				_, _ = fmt.Fprintf(w,
					`{"object":"subscription","id":"sub_1","status":"ACTIVE","value":%s,"externalReference":%s}`,
					tc.value, reference)
			}))
			t.Cleanup(server.Close)
			a := gwa.New(gwa.Config{URL: server.URL, APIKey: "$aact_hmlg_x"})
			_, err := a.Subscribe(t.Context(), gateway.SubscriptionTerms{
				SubscriptionID: local, Amount: 4990, FirstDue: time.Now(),
				Instrument: paymentstest.Card(paymentstest.CardApproved),
			})
			require.Equal(t, tc.undone, deleted.Load())
			if !tc.undone {
				require.ErrorIs(t, err, gateway.ErrOutcomeUnknown)
				return
			}
			var rejected *gateway.Rejected
			require.ErrorAs(t, err, &rejected)
			require.Equal(t, "not_echoed", rejected.Code)
		})
	}
}

// TestA_Request holds what goes over the wire: exact reais, the day in São Paulo,
// the headers, and no redirect that would carry the key elsewhere.
func TestA_Request(t *testing.T) {
	t.Parallel()
	var body map[string]any
	var header http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header = r.Header.Clone()
		dec := json.NewDecoder(r.Body)
		dec.UseNumber()
		_ = dec.Decode(&body)
		http.Redirect(w, r, "https://elsewhere.example/", http.StatusTemporaryRedirect)
	}))
	t.Cleanup(server.Close)
	now := time.Date(2026, 11, 21, 1, 30, 0, 0, time.UTC) // still the 20th in São Paulo
	a := gwa.New(gwa.Config{URL: server.URL, APIKey: "$aact_hmlg_x", Clock: clock.NewFake(now)})
	id := objectid.New()
	_, err := a.Subscribe(t.Context(), gateway.SubscriptionTerms{
		SubscriptionID: id, Payer: gateway.Payer{GatewayID: "cus_1"}, PlanName: "Plus", Amount: 4990,
		FirstDue:   now,
		Instrument: paymentstest.Card(paymentstest.CardApproved),
	})
	require.ErrorIs(t, err, gateway.ErrOutcomeUnknown)
	require.Equal(t, json.Number("49.90"), body["value"])
	require.Equal(t, "2026-11-20", body["nextDueDate"])
	require.Equal(t, id.String(), body["externalReference"])
	require.Equal(t, "MONTHLY", body["cycle"])
	require.Equal(t, "203.0.113.7", body["remoteIp"])
	require.Equal(t, "$aact_hmlg_x", header.Get("access_token"))
	require.Equal(t, "Marquee", header.Get("User-Agent"))
}

func TestB_OneLostAnswerIsHealedByTheKey(t *testing.T) {
	t.Parallel()
	b := setupB(t, paymentstest.TokenApproved)
	for _, kind := range []stage.FaultKind{stage.FaultResetAfter, stage.FaultBadGateway} {
		require.NoError(t, b.Sandbox.GWB.Stage().Faults.Plan(stage.Fault{
			Method: "POST", Path: "/v1/subscriptions", Kind: kind,
		}))
	}
	sub, err := b.B.Subscribe(t.Context(), b.terms)
	require.NoError(t, err)
	require.Equal(t, gateway.Succeeded, sub.Outcome)
	again, err := b.B.Subscribe(t.Context(), b.terms)
	require.NoError(t, err)
	require.Equal(t, sub.GatewayID, again.GatewayID)
}

// TestB_NoRedirect: none is followed, which would carry the key elsewhere.
func TestB_NoRedirect(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s was asked elsewhere with %q", r.URL, r.Header.Get("Authorization"))
	}))
	t.Cleanup(elsewhere.Close)
	server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	t.Cleanup(server.Close)
	b := gwb.New(gwb.Config{URL: server.URL, SecretKey: "sk_test_x", RetryWait: time.Millisecond})
	_, err := b.ReadSubscription(t.Context(), "sub_1", objectid.New())
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrMissing)
}
