package main_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v85/webhook"

	"marquee/testutil/sandbox"
)

// sandboxReady is the line that `marquee sandbox --json` prints.
type sandboxReady struct {
	Sandbox  struct{ GWA, GWB string }
	Keys     struct{ GWA, GWB string }
	Webhooks struct {
		GWAToken  string `json:"gwa_token"`
		GWBSecret string `json:"gwb_secret"`
	}
}

// TestSandboxIsForAnyonesTests: the command runs both gateways with public keys, the README of testutil/sandbox says
// what they do, their events come with the public proofs, and SIGTERM ends it.
func TestSandboxIsForAnyonesTests(t *testing.T) {
	t.Parallel()
	var ofA, ofB, forged atomic.Int64
	hooks := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		switch {
		case err != nil:
			forged.Add(1)
		case r.URL.Path == "/a" && r.Header.Get("asaas-access-token") == sandbox.GWAToken:
			ofA.Add(1)
		case r.URL.Path == "/b" &&
			webhook.ValidatePayload(body, r.Header.Get("Stripe-Signature"), sandbox.GWBSecret) == nil:
			ofB.Add(1)
		default:
			forged.Add(1)
		}
	}))
	t.Cleanup(hooks.Close)
	dir := t.TempDir() + "/kept"
	first, end := startSandbox(t, "--data-dir", dir, "--gwa-webhook", hooks.URL+"/a", "--gwb-webhook", hooks.URL+"/b")
	require.Equal(t, sandbox.GWAKey, first.Keys.GWA)
	require.Equal(t, sandbox.GWBKey, first.Keys.GWB)
	require.Equal(t, sandbox.GWAToken, first.Webhooks.GWAToken)
	require.Equal(t, sandbox.GWBSecret, first.Webhooks.GWBSecret)

	walkAsTheReadmeSays(t, first)
	eventually(t, "no events", func() bool { return ofA.Load() == 2 && ofB.Load() > 2 })
	require.Zero(t, forged.Load(), "events without their proof")
	end()

	second, end := startSandbox(t, "--data-dir", dir)
	customers := expect(t, 200, http.MethodGet, second.Sandbox.GWB+"/v1/customers", second.Keys.GWB, nil)
	require.Len(t, customers["data"], 1, "what --data-dir kept")
	end()

	status, out := runOnce(t, "sandbox", "--gwa-addr", "0.0.0.0:0")
	require.Equal(t, 1, status)
	require.Contains(t, out, "loopback")
}

// startSandbox runs the command on free ports; end stops it as a service manager does.
func startSandbox(t *testing.T, args ...string) (line sandboxReady, end func()) {
	t.Helper()
	command := exec.Command(build(t, ""),
		append([]string{"sandbox", "--json", "--gwa-addr", "127.0.0.1:0", "--gwb-addr", "127.0.0.1:0"}, args...)...)
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() { _ = command.Process.Kill() })
	lines := bufio.NewReader(out)
	ready, err := lines.ReadBytes('\n')
	require.NoError(t, err, "no ready line")
	require.NoError(t, json.Unmarshal(ready, &line), "%s", ready)
	return line, func() {
		t.Helper()
		begun := time.Now()
		require.NoError(t, command.Process.Signal(syscall.SIGTERM))
		extra, err := io.ReadAll(lines)
		require.NoError(t, err)
		require.Empty(t, extra, "exactly one line on stdout")
		require.NoError(t, command.Wait())
		require.Less(t, time.Since(begun), time.Minute)
	}
}

// walkAsTheReadmeSays pastes the walk and the faults of the README into a shell.
func walkAsTheReadmeSays(t *testing.T, line sandboxReady) {
	t.Helper()
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("the README's walk needs jq")
	}
	readme, err := os.ReadFile("../../testutil/sandbox/README.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(readme), "```sh\nA=http://127.0.0.1:8081 B=http://127.0.0.1:8082\n")
	require.True(t, found)
	walk, rest, _ := strings.Cut(rest, "```")
	_, rest, found = strings.Cut(rest, "\n## Faults\n")
	require.True(t, found)
	_, rest, _ = strings.Cut(rest, "```sh\n")
	faults, _, _ := strings.Cut(rest, "```")

	a := strings.TrimSuffix(line.Sandbox.GWA, "/v3")
	paste := exec.Command("bash")
	paste.Stdin = strings.NewReader("A=" + a + " B=" + line.Sandbox.GWB + "\n" + walk + faults)
	out, err := paste.CombinedOutput()
	require.NoError(t, err, "%s", out)
	said := strings.Fields(string(out))
	require.Len(t, said, 11, "%s", out)
	require.Equal(t, []string{"PENDING", "RECEIVED", "succeeded", "503", "2"}, said[:5], "%s", out)
	now, err := time.Parse(time.RFC3339, said[5])
	require.NoError(t, err)
	require.WithinDuration(t, time.Now().AddDate(0, 0, 32), now, time.Hour)
	require.Equal(t, []string{"PAYMENT_CREATED", "PAYMENT_RECEIVED", "{}", "{}", "{}"}, said[6:], "%s", out)
	status, raw := call(t, http.MethodGet, a+"/_sandbox/faults", "", nil)
	require.Equal(t, 200, status)
	var planned []map[string]any
	require.NoError(t, json.Unmarshal(raw, &planned))
	require.Len(t, planned, 2, "the faults of gateway A")
}
