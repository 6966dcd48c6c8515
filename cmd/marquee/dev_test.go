package main_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/platform/taxid"
	"marquee/testutil/collector"
	"marquee/testutil/localpg"
	"marquee/testutil/pgtest"
	"marquee/testutil/soak"
)

var gatewayACard = map[string]any{
	"holderName": "ANA SOUZA", "number": "5162306219378829", "expiryMonth": "05", "expiryYear": "2099", "ccv": "7319",
}

func cardHolder(taxID string) map[string]any {
	return map[string]any{
		"name": "Ana Souza", "email": "ana@example.com", "cpfCnpj": taxID, "postalCode": "01310100",
		"addressNumber": "150", "phone": "11987654321",
	}
}

// TestFromSignUpToAnOpenVideo drives the real binary through the README's
// sequence, for the three ways to pay, and logs all that can be logged.
func TestFromSignUpToAnOpenVideo(t *testing.T) {
	t.Parallel()
	m := startDev(t, pgtest.DataDir(t), "LOG_LEVEL=debug")
	api := m.URL + "/api/v1"
	plans := expect(t, 200, http.MethodGet, api+"/plans", "", nil)["docs"].([]any)
	require.Len(t, plans, 3)
	var planID string // one without a trial, so that money moves at once
	for _, p := range plans {
		if plan := p.(map[string]any); plan["trial_enabled"] == false {
			planID = plan["plan_id"].(string)
		}
	}

	for name, subscribe := range map[string]func(t *testing.T, token, taxID string){
		"gwbcard": func(t *testing.T, token, _ string) {
			a := expect(t, 201, http.MethodPost, api+"/gwb/subscribe", token, map[string]any{
				"plan_id": planID, "payment_method_id": "pm_card_visa",
			})
			require.Equal(t, "succeeded", a["info"].(map[string]any)["payment_status"])
		},
		"gwacard": func(t *testing.T, token, taxID string) {
			a := expect(t, 201, http.MethodPost, api+"/gwa/subscribe", token, map[string]any{
				"plan_id": planID, "credit_card": gatewayACard, "credit_card_holder_info": cardHolder(taxID),
			})
			require.Equal(t, "pending", a["docs"].([]any)[0].(map[string]any)["status"])
		},
		"gwapix": func(t *testing.T, token, _ string) {
			a := expect(t, 201, http.MethodPost, api+"/gwa/subscribe/pix", token, map[string]any{"plan_id": planID})
			pix := a["info"].(map[string]any)["pix"].(map[string]any)
			again := expect(t, 200, http.MethodGet, api+"/customers/me/pix-qr", token, nil)
			require.Equal(t, pix["payload"], again["pix"].(map[string]any)["qr_code"])
			sandbox := strings.TrimSuffix(m.Sandbox.GWA, "/v3")
			expect(t, 200, http.MethodPost, sandbox+"/_sandbox/pix/pay", "", map[string]any{"payload": pix["payload"]})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			taxID := taxid.CPF(100_000_000 + len(name)*7 + int(name[2])*1000 + int(name[3]))
			token := signUp(t, api, m.MailboxURL, name, taxID)
			refused := expect(t, 403, http.MethodGet, api+"/videos", token, nil)
			require.Equal(t, "FORBIDDEN", refused["error"].(map[string]any)["code"])
			subscribe(t, token, taxID)
			eventually(t, "the subscription did not become active", func() bool {
				s := expect(t, 200, http.MethodGet, api+"/customers/me/subscription", token, nil)
				return s["docs"].([]any)[0].(map[string]any)["status"] == "active"
			})
			videos := expect(t, 200, http.MethodGet, api+"/videos", token, nil)
			require.Len(t, videos["docs"], 10)
			require.GreaterOrEqual(t, videos["pagination"].(map[string]any)["qty_total_docs"], float64(30))
			require.Equal(t, "ok", videos["msg"])
		})
	}
	t.Run("README", func(t *testing.T) {
		t.Parallel()
		runReadme(t, m)
	})
	t.Cleanup(func() { requireInvariants(t, m.DatabaseURL) }) // once all have ended
}

// runReadme pastes the README's block, whole, after the line that the greeting prints.
func runReadme(t *testing.T, m *machine) {
	t.Helper()
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("the README's block needs jq")
	}
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(readme), "```sh\njson=")
	require.True(t, found)
	block, _, _ := strings.Cut(rest, "```")
	paste := exec.Command("bash")
	paste.Stdin = strings.NewReader("API=" + m.URL + "/api/v1 MAILBOX=" + m.MailboxURL +
		" SANDBOX_A=" + strings.TrimSuffix(m.Sandbox.GWA, "/v3") + "\njson=" + block)
	out, err := paste.CombinedOutput()
	require.NoError(t, err, "%s", out)
	lines := strings.Split(string(out), "\n")
	count := func(line string) (n int) {
		for _, l := range lines {
			if l == line {
				n++
			}
		}
		return n
	}
	require.Equal(t, 4, count("active"), "three ways to pay and a renewal:\n%s", out)
	require.Equal(t, 1, count("No active subscription."), "%s", out)
	require.Zero(t, count("null"), "%s", out)
}

// TestDevOffersToBeginAfresh: of data that no migration leads on from it says where they are,
// and leaves them there.
func TestDevOffersToBeginAfresh(t *testing.T) {
	t.Parallel()
	dir := pgtest.DataDir(t)
	on := func(f func(db *pgx.Conn)) {
		t.Helper()
		server, err := localpg.Start(t.Context(), localpg.Options{DataDir: dir})
		require.NoError(t, err)
		defer func() { require.NoError(t, server.Stop(context.WithoutCancel(t.Context()))) }()
		address, err := server.EnsureDatabase(t.Context(), "marquee")
		require.NoError(t, err)
		db, err := pgx.Connect(t.Context(), address)
		require.NoError(t, err)
		defer func() { _ = db.Close(t.Context()) }()
		f(db)
	}
	on(func(db *pgx.Conn) {
		_, err := db.Exec(t.Context(),
			`CREATE TABLE goose_db_version AS SELECT n AS id, n::bigint AS version_id, true AS is_applied, now() AS tstamp FROM generate_series(0, 1) n`)
		require.NoError(t, err)
	})
	out, err := exec.Command(build(t, ""), "dev", "--json", "--addr", "127.0.0.1:0", "--data-dir", dir).CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit, "%s", out)
	require.Equal(t, 1, exit.ExitCode(), "%s", out)
	require.Contains(t, string(out),
		"the database stands at migration 00001, and the files that lead on from there are gone")
	require.Contains(t, string(out),
		"begin afresh with an empty database: rm -r "+dir+", or leave it there and name another by --data-dir")
	on(func(db *pgx.Conn) {
		var rows int
		require.NoError(t, db.QueryRow(t.Context(), "SELECT count(*) FROM goose_db_version").Scan(&rows))
		require.Equal(t, 2, rows)
	})
}

// TestDevKeepsItsDataAndCleansUpLong covers restarts, kill -9 and a second start.
func TestDevKeepsItsDataAndCleansUpLong(t *testing.T) {
	soak.Long(t)
	t.Parallel()
	dir, key := pgtest.DataDir(t), "GWB_SECRET_KEY=sk_test_sandbox"
	first := startDev(t, dir, key)
	token := login(t, first, "customer")
	expect(t, 200, http.MethodGet, first.URL+"/api/v1/videos", token, nil) // the seeded customer is subscribed
	signUp(t, first.URL+"/api/v1", first.MailboxURL, "stays", "")
	ahead := trialEndsByTheClock(t, first)
	port := portOf(t, first.DatabaseURL)
	first.kill()
	eventually(t, "the private Postgres outlived its parent", func() bool { return !listens(port) })

	start := time.Now()
	second := startDev(t, dir, key)
	took := time.Since(start)
	t.Logf("second start after kill -9: %v", took)
	require.Equal(t, first.Users, second.Users)
	require.Equal(t, first.Webhooks, second.Webhooks)
	require.Equal(t, ahead, expect(t, 200, http.MethodGet, second.ClockURL, "", nil)["ahead"])
	expect(t, 403, http.MethodGet, second.URL+"/api/v1/videos", token, nil) // of a week ago, by the clock
	expect(t, 200, http.MethodPost, second.URL+"/api/v1/token", "", url.Values{
		"username": {"stays"},
		"password": {"a long password"},
	})
	expect(t, 200, http.MethodGet, second.URL+"/api/v1/videos", login(t, second, "customer"),
		nil) // data is still there

	status, out := runOnce(t, "dev", "--json", "--addr", "127.0.0.1:0", "--data-dir", dir)
	require.NotZero(t, status, "a second dev on the same data has to refuse")
	require.Contains(t, out, strconv.Itoa(second.command.Process.Pid), "the sentence names the process that runs: %s",
		out)
	expect(t, 200, http.MethodGet, second.URL+"/api/v1/health", "", nil)

	requireInvariants(t, second.DatabaseURL)
	stopping := second.stop()
	require.Less(t, stopping, time.Minute)
	require.Empty(t, second.extra, "exactly one line on stdout")
	require.Equal(t, 0, second.command.ProcessState.ExitCode())
	require.False(t, listens(portOf(t, second.DatabaseURL)))
}

// trialEndsByTheClock moves all clocks over the end of a trial, on which gateway B charges, a day before which it is
// told, and returns by how much they are moved.
func trialEndsByTheClock(t *testing.T, m *machine) (ahead any) {
	t.Helper()
	require.Equal(t, "0s", expect(t, 200, http.MethodGet, m.ClockURL, "", nil)["ahead"])
	for _, bad := range []string{
		`{}`, `{"by":"-1h"}`, `{"by":"367d"}`, `{"to":"2020-01-01T00:00:00Z"}`,
		`{"by":"1h","to":"2120-01-01T00:00:00Z"}`, `{"day":1}`,
	} {
		refused := expect(t, 400, http.MethodPost, m.ClockURL+"/advance", "", json.RawMessage(bad))
		require.NotEmpty(t, refused["error"], bad)
	}
	api, trial := m.URL+"/api/v1", ""
	for _, p := range expect(t, 200, http.MethodGet, api+"/plans", "", nil)["docs"].([]any) {
		if plan := p.(map[string]any); plan["trial_enabled"] == true {
			trial = plan["plan_id"].(string)
		}
	}
	token := signUp(t, api, m.MailboxURL, "tries", taxid.CPF(123_456_781))
	expect(t, 201, http.MethodPost, api+"/gwb/subscribe", token, map[string]any{
		"plan_id": trial, "payment_method_id": "pm_card_visa",
	})
	ids := gwbSubscriptions(t, m)
	require.Len(t, ids, 2, "the seeded customer's, and this one's")
	moved := expect(t, 200, http.MethodPost, m.ClockURL+"/advance", "", map[string]any{"by": "8d"})
	require.Equal(t, true, moved["reached"])
	shown := map[string]time.Time{}
	for _, clock := range []string{"now", "gwa", "gwb"} {
		at, err := time.Parse(time.RFC3339, moved[clock].(string))
		require.NoError(t, err)
		shown[clock] = at
		require.WithinDuration(t, shown["now"], at, time.Minute, "all three show the same")
	}
	require.Equal(t, []string{"active", "active"}, gwbSubscriptions(t, m))
	renewed := expect(t, 200, http.MethodPost, api+"/token", "", url.Values{
		"username": {"tries"},
		"password": {"a long password"},
	})["access_token"].(string)
	s := expect(t, 200, http.MethodGet, api+"/customers/me/subscription", renewed,
		nil)["docs"].([]any)[0].(map[string]any)
	require.Equal(t, "active", s["status"])
	db, err := pgx.Connect(t.Context(), m.DatabaseURL)
	require.NoError(t, err)
	defer func() { _ = db.Close(context.Background()) }()
	var late time.Duration
	require.NoError(t,
		db.QueryRow(t.Context(),
			"SELECT created_at - settled_at FROM payments.payments ORDER BY settled_at DESC LIMIT 1").Scan(&late))
	require.Less(t, late, time.Minute, "a payment on the way is booked on the way")
	var overdue int
	require.NoError(t,
		db.QueryRow(t.Context(),
			"SELECT count(*) FROM jobs.river_job WHERE state IN ('available', 'scheduled', 'retryable') AND scheduled_at < now() - interval '1 minute'").Scan(&overdue))
	require.Zero(t, overdue, "what was due is done")
	return moved["ahead"]
}

// gwbSubscriptions are the statuses of all subscriptions at gateway B.
func gwbSubscriptions(t *testing.T, m *machine) (statuses []string) {
	t.Helper()
	for _, s := range expect(t, 200, http.MethodGet, m.Sandbox.GWB+"/v1/subscriptions?status=all", "sk_test_sandbox",
		nil)["data"].([]any) {
		statuses = append(statuses, s.(map[string]any)["status"].(string))
	}
	return statuses
}

func TestDevOpensLoopbackOnly(t *testing.T) {
	t.Parallel()
	status, out := runOnce(t, "dev", "--addr", "0.0.0.0:0", "--data-dir", pgtest.DataDir(t))
	require.NotZero(t, status)
	require.Contains(t, out, "loopback")
}

func TestDevHonoursSecretsOfTheEnvironment(t *testing.T) {
	t.Parallel()
	token, to := "a-token-of-the-environment-0123456789", collector.Start(t)
	m := startDev(t, pgtest.DataDir(t), "GWA_WEBHOOK_TOKEN="+token,
		"GWB_WEBHOOK_SECRET=whsec_of_the_environment_0123456789", "TRACES_URL="+to.URL)
	require.Equal(t, token, m.Webhooks.GWAToken)
	require.Equal(t, "whsec_of_the_environment_0123456789", m.Webhooks.GWBSecret)
	for _, address := range []string{m.URL, m.MailboxURL, m.FilmsURL, m.Sandbox.GWA, m.Sandbox.GWB, m.DatabaseURL} {
		u, err := url.Parse(address)
		require.NoError(t, err)
		require.Equal(t, "127.0.0.1", u.Hostname())
	}
	status, raw := call(t, http.MethodGet, m.MailboxURL, "", nil)
	require.Equal(t, 200, status)
	require.Contains(t, string(raw), "Mailbox")
	for name, status := range map[string]int{"migrated": 401, "migrated_flagged": 200} {
		u := m.Users[name]
		a := expect(t, status, http.MethodPost, m.URL+"/api/v1/token", "", url.Values{
			"username": {u.Username},
			"password": {u.Password},
		})
		if status == 200 {
			require.Equal(t, true, a["password_reset_required"])
			require.NotEmpty(t, a["message"])
			continue
		}
		require.Equal(t, "PASSWORD_RESET_REQUIRED", a["error"].(map[string]any)["code"])
	}
	create := exec.Command(build(t, ""), "user", "create", "--migrated", "--username", "imported", "--email",
		"imported@example.com", "--phone", "+5511987654321")
	create.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "DATABASE_URL=" + m.DatabaseURL}
	out, err := create.CombinedOutput()
	require.NoError(t, err, "%s", out)
	imported := expect(t, 401, http.MethodPost, m.URL+"/api/v1/token", "", url.Values{
		"username": {"imported"},
		"password": {"whatever it was"},
	})
	require.Equal(t, "PASSWORD_RESET_REQUIRED", imported["error"].(map[string]any)["code"])
	var controls []map[string]any
	status, raw = call(t, http.MethodGet, strings.TrimSuffix(m.Sandbox.GWA, "/v3")+"/_sandbox", "", nil)
	require.Equal(t, 200, status)
	if err := json.Unmarshal(raw, &controls); err != nil {
		var wrapped struct{ Controls []map[string]any }
		require.NoError(t, json.Unmarshal(raw, &wrapped), "%s", raw)
		controls = wrapped.Controls
	}
	eventually(t, "nothing was traced", func() bool {
		s, ok := named(to.Spans(), "POST /api/v1/token")
		return ok && s.Service == "marquee-dev"
	})
	require.Greater(t, len(controls), 10)
	require.Contains(t, controls[0], "method")
	require.Contains(t, controls[0], "path")
}

// TestServeNamesWhatIsMissing: a missing or weak secret stops serve with a
// sentence.
func TestServeNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"serve", "work"} {
		status, out := runOnce(t, command)
		require.NotZero(t, status)
		for _, key := range []string{
			"DATABASE_URL", "TOKEN_KEYS", "FILE_KEY", "GWA_WEBHOOK_TOKEN", "GWB_SECRET_KEY", "SMTP_URL", "PUBLIC_URL",
		} {
			require.Contains(t, out, key)
		}
	}
	status, out := runOnce(t, "serve", "--help")
	require.Zero(t, status)
	require.Contains(t, out, "DATABASE_REPLICA_URL")
}

func login(t *testing.T, m *machine, user string) string {
	t.Helper()
	u := m.Users[user]
	require.NotEmpty(t, u.Username)
	a := expect(t, 200, http.MethodPost, m.URL+"/api/v1/token", "", url.Values{
		"username": {u.Username},
		"password": {u.Password},
	})
	return a["access_token"].(string)
}

// runOnce runs the binary, with nothing of our configuration in its
// environment, until it ends by itself.
func runOnce(t *testing.T, args ...string) (status int, output string) {
	t.Helper()
	command := exec.Command(build(t, ""), args...)
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
	out, err := command.CombinedOutput()
	if err != nil {
		require.NotNil(t, command.ProcessState, "%v", err)
	}
	return command.ProcessState.ExitCode(), string(out)
}

func portOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	return u.Port()
}

func listens(port string) bool {
	conn, err := net.DialTimeout("tcp", "127.0.0.1:"+port, time.Second)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return false
	}
	if err == nil {
		_ = conn.Close()
	}
	return true
}
