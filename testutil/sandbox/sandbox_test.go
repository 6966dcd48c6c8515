package sandbox_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v85/webhook"

	"marquee/testutil/sandbox"
	"marquee/testutil/sandbox/stage"
)

func start(t *testing.T, o sandbox.Options) *sandbox.Sandbox {
	t.Helper()
	s, err := sandbox.Start(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func get(t *testing.T, req *http.Request) (int, string) {
	t.Helper()
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(raw)
}

func TestStartServesBothGatewaysAndTheirControls(t *testing.T) {
	t.Parallel()
	s := start(t, sandbox.Options{StateDir: t.TempDir()})
	require.True(t, strings.HasPrefix(s.GWAURL(), "http://127.0.0.1:") && strings.HasSuffix(s.GWAURL(), "/v3"),
		s.GWAURL())
	for _, base := range []string{strings.TrimSuffix(s.GWAURL(), "/v3"), s.GWBURL()} {
		req, err := http.NewRequest(http.MethodGet, base+"/_sandbox", nil)
		require.NoError(t, err)
		status, body := get(t, req)
		require.Equal(t, 200, status)
		require.Contains(t, body, "/_sandbox/clock/advance")
	}
}

func TestStartRefusesOtherThanLoopback(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:80", "example.com:80", "127.0.0.1"} {
		_, err := sandbox.Start(sandbox.Options{GWBAddr: addr})
		require.Error(t, err, addr)
		_, err = sandbox.Start(sandbox.Options{GWAAddr: addr})
		require.Error(t, err, addr)
	}
}

func TestOtherHostNamesAreRefused(t *testing.T) {
	t.Parallel()
	s := start(t, sandbox.Options{})
	req, err := http.NewRequest(http.MethodGet, s.GWBURL()+"/_sandbox", nil)
	require.NoError(t, err)
	req.Host = "evil.example:80"
	status, _ := get(t, req)
	require.Equal(t, http.StatusMisdirectedRequest, status)
}

func TestAdvanceMovesBothClocks(t *testing.T) {
	t.Parallel()
	s := start(t, sandbox.Options{})
	require.NoError(t, s.Advance(48*time.Hour))
	for _, now := range []time.Time{s.GWA.Stage().Clock.Now(), s.GWB.Stage().Clock.Now()} {
		require.WithinDuration(t, time.Now().Add(48*time.Hour), now, time.Minute)
	}
}

func TestSetWebhooksDirectsBothGateways(t *testing.T) {
	t.Parallel()
	proof := make(chan http.Header, 10)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { proof <- r.Header }))
	t.Cleanup(hook.Close)
	s := start(t, sandbox.Options{})
	s.SetWebhooks(sandbox.Webhooks{GWAURL: hook.URL, GWAToken: "token-of-a", GWBURL: hook.URL, GWBSecret: "whsec_of_b"})

	s.GWA.Stage().Emit(t.Context(), stage.Event{ID: "evt_1", Type: "PAYMENT_RECEIVED", Body: []byte("{}")})
	require.Equal(t, "token-of-a", (<-proof).Get("asaas-access-token"))
	s.GWB.Stage().Emit(t.Context(), stage.Event{ID: "evt_2", Type: "invoice.paid", Body: []byte("{}")})
	require.NoError(t, webhook.ValidatePayload([]byte("{}"), (<-proof).Get("Stripe-Signature"), "whsec_of_b"))
	require.NoError(t, s.Settle(t.Context()))
}

// TestCloseEndsHangingCalls: a call that is not ended is waited for, for 2 s each time; a machine that stands still
// for as long does so now and then.
func TestCloseEndsHangingCalls(t *testing.T) {
	t.Parallel()
	took := time.Hour
	for try := 0; took >= time.Second && try < 5; try++ {
		took = closeWithAHangingCall(t)
	}
	require.Less(t, took, time.Second)
}

func closeWithAHangingCall(t *testing.T) (took time.Duration) {
	t.Helper()
	s, err := sandbox.Start(sandbox.Options{})
	require.NoError(t, err)
	faults := s.GWB.Stage().Faults
	require.NoError(t, faults.Plan(stage.Fault{Kind: stage.FaultTimeoutBefore}))
	ended := make(chan error, 1)
	go func() {
		resp, err := http.Get(s.GWBURL() + "/v1/customers")
		if err == nil {
			resp.Body.Close()
		}
		ended <- err
	}()
	require.Eventually(t, func() bool { return len(faults.Planned()) == 0 }, time.Minute, time.Millisecond)
	begun := time.Now()
	require.NoError(t, s.Close())
	took = time.Since(begun)
	require.Error(t, <-ended)
	return took
}
