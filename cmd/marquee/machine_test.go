package main_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/testutil/apitest"
	"marquee/testutil/secrettest"
)

// patience bounds every wait of these tests; they end as soon as what they wait
// for is there.
const patience = 2 * time.Minute

// build makes the real binary once a test process; tags may add fault points.
var build = func() func(t *testing.T, tags string) string {
	var mu sync.Mutex
	made := map[string]string{}
	return func(t *testing.T, tags string) string {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		if made[tags] == "" {
			dir, err := os.MkdirTemp("", "marquee-test-")
			require.NoError(t, err)
			cleanups = append(cleanups, func() { _ = os.RemoveAll(dir) })
			path := filepath.Join(dir, "marquee")
			out, err := exec.Command("go", "build", "-ldflags=-s -w", "-tags", tags, "-o", path, ".").CombinedOutput()
			require.NoError(t, err, "%s", out)
			made[tags] = path
		}
		return made[tags]
	}
}()

var cleanups []func()

func TestMain(m *testing.M) {
	code := m.Run()
	for _, f := range cleanups {
		f()
	}
	os.Exit(code)
}

// ready is the line that `marquee dev --json` prints.
type ready struct {
	URL         string `json:"url"`
	DatabaseURL string `json:"database_url"`
	MailboxURL  string `json:"mailbox_url"`
	ClockURL    string `json:"clock_url"`
	FilmsURL    string `json:"films_url"`
	Sandbox     struct{ GWA, GWB string }
	Webhooks    struct {
		GWAToken  string `json:"gwa_token"`
		GWBSecret string `json:"gwb_secret"`
	}
	Users map[string]struct{ Username, Password string }
}

// machine is a running `marquee dev`.
type machine struct {
	ready
	t       *testing.T
	command *exec.Cmd
	dir     string
	stderr  *secrettest.Log
	extra   []byte // what came on stdout after the ready line
	done    chan struct{}
}

func startDev(t *testing.T, dir string, env ...string) *machine {
	t.Helper()
	m := &machine{t: t, dir: dir, stderr: &secrettest.Log{}, done: make(chan struct{})}
	m.command = exec.Command(build(t, ""), "dev", "--json", "--no-throttle", "--addr", "127.0.0.1:0", "--data-dir", dir)
	m.command.Env = append(os.Environ(), env...)
	m.command.Stderr = m.stderr
	out, err := m.command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, m.command.Start())
	t.Cleanup(func() { m.stop() })
	t.Cleanup(m.search)
	lines := bufio.NewReader(out)
	line, err := lines.ReadBytes('\n')
	require.NoError(t, err, "no ready line; log: %s", m.stderr)
	require.NoError(t, json.Unmarshal(line, &m.ready), "%s", line)
	go func() {
		m.extra, _ = io.ReadAll(lines)
		close(m.done)
	}()
	return m
}

// search fails the test when a secret that went through the machine stands in its database or
// its log. A killed one is searched by its successor on the same data.
func (m *machine) search() {
	if m.command.ProcessState != nil || m.t.Failed() {
		return
	}
	secrets := secrettest.Of(m.t)
	for name, user := range m.Users {
		secrets.Add(name+"'s password", user.Password)
	}
	secrets.Add("gateway A token", m.Webhooks.GWAToken)
	secrets.Add("gateway B secret", m.Webhooks.GWBSecret)
	for _, mail := range caught(m.t, m.MailboxURL) {
		secrets.Add("code mailed to "+mail.To, sixDigits.FindString(mail.Text))
	}
	text, err := secrettest.Dump(m.DatabaseURL)
	require.NoError(m.t, err)
	secrettest.Text(m.t, "the database", text)
	secrettest.Text(m.t, "the log", m.stderr.String())
}

// stop ends the process as Ctrl-C does and returns how long that took.
func (m *machine) stop() time.Duration {
	start := time.Now()
	if m.command.ProcessState != nil {
		return 0
	}
	_ = m.command.Process.Signal(syscall.SIGINT)
	<-m.done
	_ = m.command.Wait()
	return time.Since(start)
}

// kill ends the process as kill -9 does.
func (m *machine) kill() {
	_ = m.command.Process.Kill()
	<-m.done
	_ = m.command.Wait()
}

// call sends JSON (or a form for url.Values) and returns status and body.
func call(t *testing.T, method, address, token string, body any) (int, []byte) {
	t.Helper()
	status, raw, err := tryCall(method, address, token, body)
	require.NoError(t, err)
	secrettest.Of(t).AddBody(body)
	secrettest.Of(t).AddBody(raw)
	return status, raw
}

func tryCall(method, address, token string, body any) (int, []byte, error) {
	contentType, sent, err := apitest.Encode(body)
	if err != nil {
		return 0, nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(sent))
	if err != nil {
		return 0, nil, err
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	return res.StatusCode, raw, err
}

// expect calls and insists on the status; the body is decoded into an object.
func expect(t *testing.T, status int, method, address, token string, body any) map[string]any {
	t.Helper()
	got, raw := call(t, method, address, token, body)
	require.Equal(t, status, got, "%s %s: %s", method, address, raw)
	var m map[string]any
	require.NoError(t, json.Unmarshal(raw, &m), "%s", raw)
	return m
}

// eventually polls until f answers true.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	require.Eventually(t, f, patience, 50*time.Millisecond, what)
}

var sixDigits = regexp.MustCompile(`\b\d{6}\b`)

// codeFor waits for the newest mail to the address and returns its code.
func codeFor(t *testing.T, mailboxURL, address string) string {
	t.Helper()
	var code string
	eventually(t, "no code was mailed to "+address, func() bool {
		for _, m := range caught(t, mailboxURL) {
			if m.To == address {
				code = sixDigits.FindString(m.Text)
				return code != ""
			}
		}
		return false
	})
	return code
}

type caughtMail struct{ To, Subject, Text string }

// caught lists the mailbox, newest first.
func caught(t *testing.T, mailboxURL string) []caughtMail {
	t.Helper()
	_, raw := call(t, http.MethodGet, mailboxURL+".json", "", nil)
	var mails []caughtMail
	require.NoError(t, json.Unmarshal(raw, &mails))
	return mails
}

// signUp signs up, confirms the address with the mailed code, and returns an
// access token.
func signUp(t *testing.T, api, mailboxURL, name, taxID string) string {
	t.Helper()
	address := name + "@example.com"
	form := map[string]any{
		"username": name, "email": address, "password": "a long password", "full_name": "Ana " + name,
		"phone": "+5511987654321", "tax_id": taxID,
	}
	expect(t, 200, http.MethodPost, api+"/customers/signup", "", []any{form})
	form["verification_code"] = codeFor(t, mailboxURL, address)
	done := expect(t, 200, http.MethodPost, api+"/customers/signup", "", []any{form})
	info := done["info"].(map[string]any)
	return info["auth"].(map[string]any)["access_token"].(string)
}
