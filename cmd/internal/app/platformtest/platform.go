// Package platformtest is the platform as it is composed, for tests: its API over HTTP with
// every answer checked, the people who call it, both gateways in miniature or two that know
// nothing, its jobs, its mails and its database. Nothing else composes it for a test.
//
//	p := platformtest.WithGateways(t)
//	p.Work()
//	_, client := p.NewCustomer()
//	client.Post("/gwb/subscribe", …)
//	p.Settle()
//
// At the end of a test the invariants of `marquee doctor` hold, and no secret stands in the
// database or in the log.
package platformtest

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app"
	"marquee/modules/accounts/accountstest"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/mail"
	"marquee/platform/postgres"
	"marquee/platform/stream"
	"marquee/testutil/apitest"
	"marquee/testutil/cleanup"
	"marquee/testutil/pgbouncer"
	"marquee/testutil/pgtest"
	"marquee/testutil/sandbox"
	"marquee/testutil/secrettest"
)

// Platform is one of a test's own.
type Platform struct {
	*app.App
	DB       *pgxpool.Pool          // beside the platform's own pools, on the same database
	Guest    *apitest.Client        // without a token
	Gateways *paymentstest.Gateways // nil where they know nothing
	Mails    *mail.Catcher          // nil where nobody reads them

	T       testing.TB
	log     secrettest.Log
	root    func() *apitest.Client
	admin   func() *apitest.Client
	unsound []string
}

// Options say what a platform is made of; the zero value has gateways that know nothing.
type Options struct {
	Gateways bool                // both sandboxes, which send their webhooks; and mails are caught
	Log      *slog.Logger        // nil: one that Logged tells of and in which no secret may stand
	Parts    app.Parts           // without another cost, hashes of passwords cost next to nothing
	Config   []func(*app.Config) // changes of the usual one
}

// New is a platform before gateways that know nothing, whose jobs wait for Work.
func New(t testing.TB, config ...func(*app.Config)) *Platform {
	t.Helper()
	return NewOf(t, Options{Config: config})
}

// WithGateways is a platform before both sandbox gateways, whose jobs wait for Work.
func WithGateways(t testing.TB, config ...func(*app.Config)) *Platform {
	t.Helper()
	return NewOf(t, Options{Gateways: true, Config: config})
}

// NewOf is a platform made of what is wanted.
func NewOf(t testing.TB, o Options) *Platform {
	t.Helper()
	p := &Platform{T: t}
	cfg := usual(t)
	if o.Gateways {
		p.openGateways(&cfg)
		if o.Parts.Clock == nil { // as theirs are
			o.Parts.Clock = new(clock.Moved)
			o.Parts.Clock.Move(time.Until(paymentstest.Now()))
		}
	} else {
		gateway := httptest.NewServer(http.HandlerFunc(replyNotFound))
		cleanup.Add(t, gateway.Close)
		cfg.GatewayA.URL, cfg.GatewayB.URL = gateway.URL, gateway.URL
	}
	for _, change := range o.Config {
		change(&cfg)
	}
	p.openDatabase(&cfg)
	if program, ok := pgbouncer.OfSuite(t); ok {
		cfg.Database.DirectURL, cfg.Database.Pooler = cfg.Database.URL, "transaction"
		cfg.Database.URL = program.Start(t, cfg.Database.DirectURL)
	}
	require.NoError(t, cfg.Validate())
	if o.Log == nil {
		o.Log = secrettest.Logger(t, &p.log)
	}
	o.Parts.Password = cmp.Or(o.Parts.Password, accountstest.Config().Password)
	if o.Parts.Streams.Ticks == nil { // whoever calls every route waits for none
		o.Parts.Streams = stream.Config{Longest: time.Millisecond, Ticks: manyTicks}
	}
	var err error
	p.App, err = app.NewOf(t.Context(), cfg, o.Log, true, o.Parts)
	require.NoError(t, err)
	cleanup.Add(t, p.Close)
	cleanup.Add(t, func() { pgtest.RequireInvariants(t, p.DB, time.Now(), p.unsound...) }) // once the jobs have stopped
	p.Guest = apitest.New(t, p.API())
	p.root, p.admin = sync.OnceValue(p.newRoot), sync.OnceValue(p.newAdmin)
	if o.Gateways {
		p.Gateways.Sandbox.SetWebhooks(sandbox.Webhooks{
			GWAURL: p.Guest.URL() + "/webhooks/gwa", GWAToken: paymentstest.GWAToken,
			GWBURL: p.Guest.URL() + "/webhooks/gwb", GWBSecret: paymentstest.GWBSecret,
		})
	}
	return p
}

func manyTicks() (ticks <-chan time.Time, stop func()) {
	ticker := time.NewTicker(10 * time.Millisecond)
	return ticker.C, ticker.Stop
}

// usual is the configuration of `marquee serve` but for what tests would wait for: limits and
// pauses between mails. On a slow machine nobody is told to come again.
func usual(t testing.TB) app.Config {
	t.Helper()
	cfg, err := app.ReadConfig()
	require.NoError(t, err)
	long := strings.Repeat("k", 32)
	cfg.Database.URL, cfg.Database.MaxConns, cfg.Database.Wait, cfg.Database.LockWait = "", 8, time.Minute, time.Minute
	cfg.Keys.Tokens, cfg.Keys.File, cfg.HTTP.PublicURL = "a:"+long, long, "https://api.example.com"
	cfg.GatewayA = app.GatewayA{APIKey: "key", WebhookTokens: []string{paymentstest.GWAToken}}
	cfg.GatewayB = app.GatewayB{
		SecretKey: "sk_test_1", PublishableKey: "pk_test_1", WebhookSecrets: []string{paymentstest.GWBSecret},
	}
	cfg.Mail.SMTPURL, cfg.Mail.From = "smtp://127.0.0.1:1", "Marquee <no-reply@example.com>"
	cfg.Throttle.Off, cfg.Codes.Cooldown, cfg.Platform.TaxIDAlphanumeric = true, time.Millisecond, true
	return cfg
}

// openDatabase opens the test's own pool, on a new database unless the test has told one.
func (p *Platform) openDatabase(cfg *app.Config) {
	if cfg.Database.URL == "" {
		p.DB = pgtest.DB(p.T)
		cfg.Database.URL = p.DB.Config().ConnString()
		return
	}
	var err error
	p.DB, err = postgres.NewPool(p.T.Context(), cmp.Or(cfg.Database.DirectURL, cfg.Database.URL),
		postgres.Options{MaxConns: 4, ApplicationName: "platformtest"})
	require.NoError(p.T, err)
	cleanup.Add(p.T, p.DB.Close)
}

func (p *Platform) openGateways(cfg *app.Config) {
	p.Gateways = paymentstest.NewGateways(p.T)
	cfg.GatewayA.URL, cfg.GatewayA.APIKey = p.Gateways.Sandbox.GWAURL(), sandbox.GWAKey
	cfg.GatewayB.URL, cfg.GatewayB.SecretKey = p.Gateways.Sandbox.GWBURL(), sandbox.GWBKey
	var err error
	p.Mails, err = mail.NewCatcher("127.0.0.1:0", secrettest.Logger(p.T))
	require.NoError(p.T, err)
	cleanup.Add(p.T, func() { _ = p.Mails.Close() })
	cfg.Mail.SMTPURL = p.Mails.URL()
}

// replyNotFound answers as either gateway answers about an object that it has not:
// for good, so that nothing is tried again.
func replyNotFound(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusNotFound)
	_, _ = io.WriteString(w,
		`{"errors":[{"code":"not_found","description":"Not found"}],"error":{"type":"invalid_request_error","code":"resource_missing","message":"No such object"}}`)
}

// Unsound names invariants that the test itself breaks.
func (p *Platform) Unsound(invariants ...string) { p.unsound = append(p.unsound, invariants...) }

// Work works the jobs until the test ends.
func (p *Platform) Work() {
	p.T.Helper()
	require.NoError(p.T, p.StartWorkers(context.WithoutCancel(p.T.Context())))
	cleanup.Add(p.T, func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		require.NoError(p.T, p.StopWorkers(ctx))
	})
}

// Settle waits until every webhook is delivered.
func (p *Platform) Settle() {
	p.T.Helper()
	ctx, cancel := context.WithTimeout(p.T.Context(), time.Minute)
	defer cancel()
	require.NoError(p.T, p.Gateways.Sandbox.Settle(ctx))
}

// Routes are those that are registered.
func (p *Platform) Routes() []httpapi.RouteInfo { return p.API().Routes() }

// Logged is what the platform has logged, a JSON object a line.
func (p *Platform) Logged() string { return p.log.String() }
