package accounts_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/modules/files"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/jobs"
	"marquee/platform/mail"
	"marquee/testutil/apitest"
	"marquee/testutil/cleanup"
	"marquee/testutil/pgtest"
	"marquee/testutil/secrettest"
)

// bundle is a running service of its own for one test.
type bundle struct {
	db      *pgxpool.Pool
	svc     *accounts.Service
	clock   *clock.Fake
	api     *httpapi.API
	client  *apitest.Client
	catcher *mail.Catcher
	log     *secrettest.Log
	files   *files.Service
}

var templates = sync.OnceValues(func() (*mail.Templates, error) { return mail.ParseTemplates(os.DirFS("../../web/mail")) })

// setup serves the module over HTTP, with every answer checked against the OpenAPI
// document, on a database of its own. Jobs are inserted
// and not worked until work is called.
func setup(t *testing.T, set ...func(*accounts.Deps)) *bundle {
	t.Helper()
	b := &bundle{db: pgtest.DB(t), clock: clock.NewFake(time.Now()), log: &secrettest.Log{}}
	logger := secrettest.Logger(t, b.log)
	var err error
	b.catcher, err = mail.NewCatcher("127.0.0.1:0", logger)
	require.NoError(t, err)
	cleanup.Add(t, func() { _ = b.catcher.Close() })
	deps := accountstest.Deps(t, b.db)
	deps.Clock, deps.Log = b.clock, logger
	b.files = files.New(files.Deps{Pool: b.db, Clock: b.clock})
	deps.Files = b.files
	deps.Mail, err = mail.NewSMTP(b.catcher.URL(), "Marquee <no-reply@example.com>")
	require.NoError(t, err)
	deps.Templates, err = templates()
	require.NoError(t, err)
	for _, f := range set {
		f(&deps)
	}
	b.svc, err = accounts.New(deps)
	require.NoError(t, err)
	b.files.Connect(files.Above{Users: b.svc})
	b.api = httpapi.New(httpapi.Config{Auth: b.svc, Trail: b.svc, Log: logger, PublicURL: "http://marquee.test"})
	b.svc.Routes(b.api)
	b.client = apitest.New(t, b.api)
	return b
}

// work starts working jobs, the given ones first.
func (b *bundle) work(t *testing.T, first ...river.JobArgs) *bundle {
	t.Helper()
	workers := river.NewWorkers()
	b.svc.Workers(workers)
	client, err := jobs.New(b.db, jobs.Options{
		Workers: workers, Periodic: b.svc.Periodic(), Log: secrettest.Logger(t, b.log),
	})
	require.NoError(t, err)
	for _, job := range first {
		_, err := client.Insert(t.Context(), job, nil)
		require.NoError(t, err)
	}
	require.NoError(t, client.Start(t.Context()))
	cleanup.Add(t, func() { <-client.Stopped() })
	return b
}

// response is one HTTP answer.
type response struct {
	status int
	header http.Header
	body   map[string]any
	raw    string
}

// detail is the sentence of an error answer.
func (a response) detail() string { s, _ := a.body["detail"].(string); return s }

// code and field are those of a coded error answer.
func (a response) code() string { return a.text("error", "code") }

func (a response) field() string { return a.text("error", "field") }

// text follows keys through nested objects.
func (a response) text(keys ...string) string {
	var at any = a.body
	for _, k := range keys {
		m, ok := at.(map[string]any)
		if !ok {
			return ""
		}
		at = m[k]
	}
	s, _ := at.(string)
	return s
}

// doc is the only document of an envelope.
func (a response) doc(t *testing.T) map[string]any {
	t.Helper()
	docs, _ := a.body["docs"].([]any)
	require.Len(t, docs, 1, a.raw)
	return docs[0].(map[string]any)
}

func (b *bundle) send(t *testing.T, method, path, token, contentType, body string) response {
	t.Helper()
	client := b.client
	if token != "" {
		client = client.As(token)
	}
	got := client.Send(method, path, contentType, []byte(body))
	return decoded(t, got.Status, got.Header, got.Body)
}

func decoded(t *testing.T, status int, header http.Header, body []byte) response {
	t.Helper()
	a := response{status: status, header: header, raw: string(body)}
	require.NoError(t, json.Unmarshal(body, &a.body), a.raw)
	return a
}

func (b *bundle) get(t *testing.T, path, token string) response {
	t.Helper()
	return b.send(t, http.MethodGet, path, token, "", "")
}

func (b *bundle) json(t *testing.T, method, path, token string, body any) response {
	t.Helper()
	text, isText := body.(string)
	if !isText {
		raw, err := json.Marshal(body)
		require.NoError(t, err)
		text = string(raw)
	}
	return b.send(t, method, path, token, "application/json", text)
}

func (b *bundle) post(t *testing.T, path, token string, body any) response {
	t.Helper()
	return b.json(t, http.MethodPost, path, token, body)
}

func (b *bundle) login(t *testing.T, username, password string) response {
	t.Helper()
	form := url.Values{"username": {username}, "password": {password}}
	return b.send(t, http.MethodPost, "/token", "", "application/x-www-form-urlencoded", form.Encode())
}

// token logs in with the fixtures' password.
func (b *bundle) token(t *testing.T, username string) string {
	t.Helper()
	a := b.login(t, username, accountstest.Password)
	require.Equal(t, 200, a.status, a.raw)
	return a.text("access_token")
}

var sixDigits = regexp.MustCompile(`\b[0-9]{6}\b`)

// mailedCode waits for the nth mail with a code (from 1) to the address and returns its code.
func (b *bundle) mailedCode(t *testing.T, to string, nth int) string {
	t.Helper()
	var code string
	require.Eventually(t, func() bool {
		var texts []string
		for _, m := range b.catcher.Mails() {
			if m.To == to && sixDigits.MatchString(m.Text) && !undoLink.MatchString(m.Text) {
				texts = append(texts, m.Text)
			}
		}
		if len(texts) < nth {
			return false
		}
		code = sixDigits.FindString(texts[len(texts)-nth])
		return true
	}, time.Minute, 20*time.Millisecond, "no mail to %s", to)
	require.NotEmpty(t, code)
	return code
}

// count is the single number that the query gives.
func (b *bundle) count(t *testing.T, sql string, args ...any) int {
	t.Helper()
	var n int
	require.NoError(t, b.db.QueryRow(t.Context(), sql, args...).Scan(&n))
	return n
}

func (b *bundle) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	_, err := b.db.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

// wrongCode differs from the code.
func wrongCode(code string) string {
	last := code[5]
	return code[:5] + string('0'+(last-'0'+1)%10)
}

// signupOf is a complete payload; set changes it.
func signupOf(name string, set map[string]any) []map[string]any {
	body := map[string]any{
		"username": name, "email": name + "@example.com", "password": "s3cret-enough-" + name,
		"full_name": "Ana " + name, "phone": "+5511987654321",
	}
	return changed(body, set)
}

// changed is a list of the one body with its members set anew, or left out by nil.
func changed(body, set map[string]any) []map[string]any {
	for k, v := range set {
		if v == nil {
			delete(body, k)
			continue
		}
		body[k] = v
	}
	return []map[string]any{body}
}
