package app

import (
	"context"
	"encoding/json"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/httpapi"
	"marquee/platform/mail"
	"marquee/platform/sandbox"
	"marquee/testutil/apitest"
	"marquee/testutil/leaktest"
	"marquee/testutil/pgtest"
)

// world is the composed platform as it runs: both sandbox gateways with their
// webhooks, mails caught, jobs worked. At its end the invariants hold.
type world struct {
	t        *testing.T
	app      *App
	gateways *paymentstest.Gateways
	mails    *mail.Catcher
	nobody   *apitest.Client
	admin    *apitest.Client
	unsound  []string // invariants that the test itself breaks
}

type object = map[string]any

func newWorld(t *testing.T, change ...func(*Config)) *world {
	t.Helper()
	return newWorldLogging(t, leaktest.Logger(t), change...)
}

func newWorldLogging(t *testing.T, log *slog.Logger, change ...func(*Config)) *world {
	t.Helper()
	w := &world{t: t, gateways: paymentstest.NewGateways(t)}
	var err error
	w.mails, err = mail.NewCatcher("127.0.0.1:0", leaktest.Logger(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.mails.Close() })
	cfg := complete()
	cfg.DatabaseURL, cfg.MaxConns, cfg.MailFrom, cfg.SMTPURL, cfg.NoThrottle = pgtest.URL(t), 8, "Marquee <no-reply@example.com>", w.mails.URL(), true
	cfg.GWAURL, cfg.GWAAPIKey, cfg.GWAWebhookToken = w.gateways.Sandbox.GWAURL(), "$aact_hmlg_sandbox", []string{paymentstest.GWAToken}
	cfg.GWBURL, cfg.GWBSecretKey, cfg.GWBWebhook, cfg.GWBPublishable = w.gateways.Sandbox.GWBURL(), "sk_test_sandbox", []string{paymentstest.GWBSecret}, "pk_test_1"
	cfg.CodeCooldown = time.Millisecond
	cfg.DatabaseWait, cfg.LockWait = time.Minute, time.Minute // a machine that tests run on is slow
	for _, c := range change {
		c(&cfg)
	}
	w.app, err = New(t.Context(), cfg, log, true)
	require.NoError(t, err)
	t.Cleanup(w.app.Close)
	t.Cleanup(func() { pgtest.Sound(t, w.app.pool, time.Now(), w.unsound...) }) // once the jobs have stopped
	require.NoError(t, w.app.jobs.Start(context.WithoutCancel(t.Context())))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		require.NoError(t, w.app.jobs.Stop(ctx))
	})
	w.nobody = apitest.New(t, w.app.api)
	w.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{
		GWAURL: w.nobody.URL() + "/webhooks/gwa", GWAToken: paymentstest.GWAToken,
		GWBURL: w.nobody.URL() + "/webhooks/gwb", GWBSecret: paymentstest.GWBSecret,
	})
	_, w.admin = person(t, w.app, w.nobody, accounts.NewUser{Type: httpapi.TypeAdmin, Username: "admin"})
	return w
}

// settle waits until every webhook is delivered.
func (w *world) settle() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 60*time.Second)
	defer cancel()
	require.NoError(w.t, w.gateways.Sandbox.Settle(ctx))
}

func (w *world) count(query string, args ...any) (n int) {
	w.t.Helper()
	require.NoError(w.t, w.app.pool.QueryRow(w.t.Context(), query, args...).Scan(&n))
	return n
}

// made posts an array of one object as the admin and returns the document.
func (w *world) made(path string, fields object) object {
	w.t.Helper()
	return firstDoc(w.admin.Post(path, []object{fields}).Expect(200))
}

func firstDoc(a *apitest.Answer) object {
	docs, _ := a.Map()["docs"].([]any)
	return docs[0].(object)
}

var sixDigits = regexp.MustCompile(`\b[0-9]{6}\b`)

// mailed waits for the newest mailed code to an address whose mail holds a word.
func (w *world) mailed(address, word string) (code string) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		for _, m := range w.mails.Mails() {
			if m.To == address && strings.Contains(strings.ToLower(m.Subject), word) {
				code = sixDigits.FindString(m.Text)
				return true
			}
		}
		return false
	}, 20*time.Second, 20*time.Millisecond, "a mail to %s", address)
	return code
}

// signUp signs a customer up with changes of the usual payload.
func (w *world) signUp(name string, changes object) *apitest.Answer {
	w.t.Helper()
	body := object{
		"username": name, "email": name + "@example.com", "password": appPassword, "full_name": "Ana " + name,
		"phone": "+5511987654321",
	}
	for k, v := range changes {
		body[k] = v
	}
	return w.nobody.Post("/customers/signup", []object{body})
}

func sessionOf(t *testing.T, a *apitest.Answer) string {
	t.Helper()
	var body struct {
		Auth struct{ AccessToken string } `json:"auth"`
	}
	raw := strings.ReplaceAll(string(a.Body), "access_token", "AccessToken")
	require.NoError(t, json.Unmarshal([]byte(raw), &body))
	return body.Auth.AccessToken
}
