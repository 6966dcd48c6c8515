package app

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/testutil/golden"
)

func TestConfigurationPage(t *testing.T) {
	t.Parallel()
	golden.Equal(t, "../../../docs/configuration.md", "# Configuration\n\nThe configuration is the environment, read once at the start. `marquee serve --help` prints this list.\n\n"+
		"`marquee config check` prints every variable with its source, value, default and error, without secrets, and names that look like a misspelled one; it ends with status 1 when `serve` and `work`\n"+
		"would not start. They say everything that is wrong at once. A secret may stand in a file: `NAME_FILE` names it, a regular one or a link to one, and line ends behind the secret are cut off; `NAME` and `NAME_FILE` together are refused.\n\n"+describeConfigTable())
}

const long = "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"

// enough is an environment that serve starts with.
func enough() []string {
	return []string{
		"DATABASE_URL=postgres://marquee:hunter2@db/marquee", "TOKEN_KEYS=a:" + long, "FILE_KEY=" + long,
		"GWA_API_KEY=$aact_1", "GWB_SECRET_KEY=sk_test_1", "GWA_WEBHOOK_TOKEN=" + long,
		"GWB_WEBHOOK_SECRET=" + long + "," + long, "SMTP_URL=smtp://marquee:hunter2@mail:587",
		"PUBLIC_URL=https://api.example.com",
	}
}

func TestTheConfigurationNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	require.NoError(t, ReadEnvironment(enough()).Err())
	for key, values := range map[string][]string{
		"DATABASE_URL":             {"", "http://db/marquee", "nonsense"},
		"DATABASE_REPLICA_URL":     {"mysql://db/marquee", "postgres://a/marquee,postgres://b:port/marquee"},
		"DATABASE_REPLICA_MAX_LAG": {"0", "1ms", "31m", "soon"},
		"DATABASE_MAX_CONNS":       {"abc", "3", "0", "-1"},
		"DATABASE_WAIT":            {"5", "1 s", "1us", "-1s"},
		"NO_THROTTLE":              {"maybe"},
		"ADDR":                     {"8080", "http://localhost:8080", ":http", ":70000"},
		"METRICS_ADDR":             {"none"},
		"TOKEN_KEYS":               {"", "a:short", long, "a:" + long + ",b:short"},
		"FILE_KEY":                 {"", "short"},
		"TRIAL_KEY":                {"short"},
		"STREAM_URL_KEY":           {"short"},
		"STREAM_URL_TTL":           {"0", "1ms"},
		"EXPORT_TTL":               {"0", "1s"},
		"EXPORT_LINK_TTL":          {"0"},
		"CODE_TTL":                 {"0"},
		"CODE_ATTEMPTS":            {"0"},
		"MAX_IMAGE_BYTES":          {"0", "5MB"},
		"MAX_TICKETS_PER_ORDER":    {"0"},
		"RENEW_PIX_DAYS":           {"0"},
		"GWA_URL": {
			"api.asaas.com", "ftp://api.asaas.com", "https://", "https://user:hunter2@api.asaas.com/v3",
			"https://api.asaas.com:99999", "https://api.asaas.com/v3?x=1", "https://a b",
		},
		"GWB_URL":            {"https:///v1"},
		"GWA_API_KEY":        {""},
		"GWA_WEBHOOK_TOKEN":  {"", "short", long + ",short"},
		"GWB_SECRET_KEY":     {""},
		"GWB_WEBHOOK_SECRET": {""},
		"SMTP_URL":           {"", "mail:587", "http://mail", "smtp://mail:port"},
		"MAIL_FROM":          {"Marquee"},
		"OPERATORS_MAIL":     {"ops@example.com, ops"},
		"PUBLIC_URL": {
			"", "api.example.com", "https://api.example.com/", "https://api.example.com/api", "ws://api.example.com",
		},
		"CORS_ORIGINS": {
			"app.example.com", "https://app.example.com/", "https://App.example.com",
			"https://app.example.com,https://*.*.example.com", "null",
		},
		"PASSKEY_RP_ID": {
			"127.0.0.1", "https://example.com", "Example.com", "example.com:443", "a..b", "another.test",
		},
		"PASSKEY_ORIGINS": {
			"https://evil.test", "https://api.example.com/x", "https://*.example.com", "api.example.com",
			"https://api.example.com,https://myapi.example.com", "https://example.com",
		},
		"REPORT_TZ":          {"Brazil/Nowhere", "Local"}, // Postgres knows none of that name
		"LOG_LEVEL":          {"loud"},
		"PASSWORD_LIST":      {"yes"},
		"WEBHOOK_LOG_MONTHS": {"-1"},
		"RECOVERY_DELAY":     {"-1m", "0"},
		"WITHDRAWAL_DAYS":    {"-1"},

		"TICKET_WITHDRAWAL_DAYS": {"-1"}, "TICKET_WITHDRAWAL_BEFORE": {"-1h"}, "EVENT_REFUNDS_PER_SECOND": {"0", "51"},
		"MAX_PAYMENT_FAILURES": {"-1", "0"},
		"DUNNING_DAYS":         {"3,0", "one", "61"},
		"PIX_RETRY_DAYS":       {"1,3,6,7", "0,1", "8"},
		"TRUSTED_PROXIES":      {"proxy.local"},
		"TRACES_URL":           {"127.0.0.1:4318", "grpc://collector:4317", "https://user:hunter2@collector", "https://collector?key=1"},
		"TRACES_RATIO":         {"0", "-1", "1.1", "NaN", "Inf", "half"},
		"TRACES_HEADERS":       {"hunter2", "=hunter2", "x-key=", "x key=hunter2", "x-key:hunter2", "x-key=hunter2\nx", "x-key=a,hunter2"},
	} {
		for _, value := range values {
			err := ReadEnvironment(append(enough(), key+"="+value)).Err()
			require.ErrorContains(t, err, "\n"+key+" ", "%s=%s", key, value)
			require.Len(t, strings.Split(err.Error(), "\n"), 2, "a headline, and one problem in one sentence: %v", err)
			require.NotContains(t, err.Error(), "hunter2")
		}
	}
	for _, fine := range []string{
		"DATABASE_WAIT=0", "REQUESTS_IN_FLIGHT=0", "WITHDRAWAL_DAYS=0", "TICKET_WITHDRAWAL_DAYS=0",
		"TICKET_WITHDRAWAL_BEFORE=0", "RECONCILE_PAUSE=0", "AUTO_REFUNDS_PER_HOUR=0", "WEBHOOK_LOG_MONTHS=0",
		"CORS_ORIGINS=https://app.example.com, https://*.example.com, http://localhost:3000, capacitor://localhost",
		"METRICS_ADDR=off", "METRICS_ADDR=[::1]:9090", "TRUSTED_PROXIES=10.0.0.0/8, ::1",
		"OPERATORS_MAIL=ops@example.com, more@example.com", "PUBLIC_URL=http://127.0.0.1:8080", "CODE_TTL=",
		"TRACES_URL=https://collector.example.com/otlp", "TRACES_RATIO=0.01", "TRACES_HEADERS=authorization=Basic aHVudGVyMg==, x-scope=1",
		"DATABASE_URL=host=db dbname=marquee", "GWA_URL=http://127.0.0.1:4000/v3",
	} {
		require.NoError(t, ReadEnvironment(append(enough(), fine)).Err(), fine)
	}
}

// TestTheSiteOfPasskeys: that of PUBLIC_URL, or what is said.
func TestTheSiteOfPasskeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		environment []string
		domain      string
		origins     []string
	}{
		{[]string{"PUBLIC_URL=https://api.example.com"}, "api.example.com", []string{"https://api.example.com"}},
		{[]string{"PUBLIC_URL=http://localhost:8080"}, "localhost", []string{"http://localhost:8080"}},
		{[]string{"PUBLIC_URL=http://127.0.0.1:8080"}, "localhost", []string{"http://localhost:8080"}},
		{[]string{"PUBLIC_URL=http://[::1]:8080"}, "localhost", []string{"http://localhost:8080"}},
		{[]string{"PUBLIC_URL=https://192.0.2.7"}, "", nil},
		{
			[]string{"PUBLIC_URL=https://api.example.com", "PASSKEY_RP_ID=example.com"},
			"example.com",
			[]string{"https://api.example.com"},
		},
		{
			[]string{
				"PUBLIC_URL=https://192.0.2.7", "PASSKEY_RP_ID=example.com",
				"PASSKEY_ORIGINS=https://example.com, https://www.example.com:8443",
			}, "example.com", []string{"https://example.com", "https://www.example.com:8443"},
		},
		{[]string{"PUBLIC_URL=https://192.0.2.7", "PASSKEY_RP_ID=example.com"}, "", nil},
	} {
		read := ReadEnvironment(append(enough(), c.environment...))
		require.NoError(t, read.Err(), c.environment)
		domain, origins := read.Config.passkeySite()
		require.Equal(t, c.domain, domain, c.environment)
		require.Equal(t, c.origins, origins, c.environment)
	}
}

// What 0 means stands in the sentence of each variable that may be 0, and nowhere else.
func TestZeroIsTakenWhereItHasAMeaning(t *testing.T) {
	t.Parallel()
	for _, v := range variables(&Config{}) {
		if !v.field.CanInt() {
			continue
		}
		said := strings.Contains(v.doc, " 0: ") || strings.Contains(v.doc, "; 0 ")
		require.Equal(t, said, v.zero, "%s: what its sentence says of 0, and its tag `zero`", v.key)
	}
}

// TestASecretIsReadFromAFileOnly: a pipe would keep the program waiting, a device need not end.
func TestASecretIsReadFromAFileOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for path, why := range map[string]string{
		pipe: pipe + " is no regular file", os.DevNull: os.DevNull + " is no regular file", dir: "is a directory",
	} {
		read := make(chan error, 1)
		go func() { read <- ReadEnvironment(append(enough(), "TRIAL_KEY_FILE="+path)).Err() }()
		select {
		case err := <-read:
			require.ErrorContains(t, err, "TRIAL_KEY_FILE names a file that cannot be read: ")
			require.ErrorContains(t, err, why)
		case <-time.After(time.Minute):
			require.Fail(t, "still reading", path)
		}
	}
	whole := filepath.Join(dir, "whole")
	require.NoError(t, os.WriteFile(whole, []byte(strings.Repeat("k", 32)), 0o600))
	link := filepath.Join(dir, "link") // as a mounted secret is one
	require.NoError(t, os.Symlink(whole, link))
	require.NoError(t, ReadEnvironment(append(enough(), "TRIAL_KEY_FILE="+link)).Err())
}

func TestEverythingWrongIsSaidAtOnceAndSecretsNever(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	e := ReadEnvironment(append(
		enough(), "FILE_KEY=", "FILE_KEY_FILE="+file("key", "secret-from-a-file-secret-from-a-file\n"), "GWA_API_KEY_FILE="+file("both", "x"),
		"TRIAL_KEY_FILE="+filepath.Join(dir, "missing"), "STREAM_URL_KEY_FILE="+file("empty", "\n"), "PUBLIC_URL_FILE=x", "DATABSE_URL=y", "smtp_url=z",
		"DATABASE_MAX_CONNS=abc", "CODE_TTL=0", "PATH=/bin", "HOME=/root", "GOFLAGS=x",
	))
	require.Equal(t, "secret-from-a-file-secret-from-a-file", e.Config.Keys.File)
	var out bytes.Buffer
	require.NoError(t, e.Print(&out))
	table := regexp.MustCompile(` +`).ReplaceAllString(strings.ReplaceAll(out.String(), dir, "/dir"), " ")
	for _, line := range []string{
		"DATABASE_URL environment (secret) - ",
		"DATABASE_MAX_CONNS environment - 20 DATABASE_MAX_CONNS has to be a whole number.",
		"PUBLIC_URL environment https://api.example.com - ",
		"FILE_KEY file /dir/key (secret) - ",
		"TRIAL_KEY file /dir/missing - - TRIAL_KEY_FILE names a file that cannot be read: open /dir/missing: no such file or directory.",
		"CODE_TTL environment 0s 15m CODE_TTL is 0, which has no meaning.",
		"STREAM_URL_KEY file /dir/empty - - STREAM_URL_KEY_FILE names /dir/empty, which is empty.",
		"GWA_API_KEY file /dir/both - - GWA_API_KEY and GWA_API_KEY_FILE are both set: leave one away.",
		"REPORT_TZ default America/Sao_Paulo America/Sao_Paulo ",
		"DATABSE_URL is set and not read: is DATABASE_URL meant?",
		"PUBLIC_URL_FILE is not read: PUBLIC_URL is no secret, set it itself.",
		"smtp_url is set and not read: is SMTP_URL meant?",
	} {
		require.Contains(t, table, "\n"+line+"\n")
	}
	require.Equal(t, 5, e.Wrong())
	require.Len(t, strings.Split(e.Err().Error(), "\n"), 1+5+len(e.Hints), "all in one error: %v", e.Err())
	for _, secret := range []string{"hunter2", long, "$aact_1", "sk_test_1", "secret-from-a-file"} {
		require.NotContains(t, out.String()+e.Err().Error(), secret)
	}
	require.Equal(t, len(variables(&Config{}))+1+len(e.Hints), strings.Count(out.String(), "\n"), "a line a variable, below a headline")
}
