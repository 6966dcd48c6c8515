package attacks

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app"
	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
	"marquee/testutil/leaktest"
	"marquee/testutil/pgtest"
)

// platform is the attacked one: as it is run, behind a proxy that tells where a
// call comes from, before gateways that know nothing.
type platform struct {
	t      *testing.T
	db     *pgxpool.Pool
	api    *httpapi.API
	nobody *apitest.Client
	log    *kept
}

// kept is a log that may be read while it is written.
type kept struct {
	mu  sync.Mutex
	all strings.Builder
}

func (k *kept) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.all.Write(p)
}

func (k *kept) String() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.all.String()
}

type object = map[string]any

func attacked(t *testing.T, change ...func(*app.Config)) *platform {
	t.Helper()
	gateway := httptest.NewServer(http.HandlerFunc(knowsNothing))
	t.Cleanup(gateway.Close)
	cfg, err := app.ReadConfig()
	require.NoError(t, err)
	long := strings.Repeat("k", 32)
	cfg.DatabaseURL, cfg.MaxConns = pgtest.URL(t), 6
	cfg.TokenKeys, cfg.FileKey, cfg.GWAAPIKey, cfg.GWBSecretKey, cfg.GWBPublishable = "a:"+long, long, "key", "sk_test_1", "pk_test_1"
	cfg.GWAWebhookToken, cfg.GWBWebhook, cfg.SMTPURL, cfg.PublicURL = []string{long}, []string{long}, "smtp://127.0.0.1:1", "https://api.example.com"
	cfg.GWAURL, cfg.GWBURL = gateway.URL, gateway.URL
	cfg.Proxies = []string{"127.0.0.1", "::1"}
	for _, c := range change {
		c(&cfg)
	}
	require.NoError(t, cfg.Validate())
	log := &kept{}
	a, err := app.New(t.Context(), cfg, leaktest.Logger(t, log), false)
	require.NoError(t, err)
	t.Cleanup(a.Close)
	p := &platform{t: t, api: a.API(), nobody: apitest.New(t, a.API()), log: log}
	p.db, err = pgxpool.New(t.Context(), cfg.DatabaseURL)
	require.NoError(t, err)
	t.Cleanup(p.db.Close)
	t.Cleanup(func() { pgtest.Sound(t, p.db, time.Now()) })
	return p
}

// knowsNothing answers as either gateway answers about an object that it has not.
func knowsNothing(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusNotFound)
	_, _ = io.WriteString(w, `{"errors":[{"code":"not_found","description":"Not found"}],"error":{"type":"invalid_request_error","code":"resource_missing","message":"No such object"}}`)
}

// customer makes a customer and signs them in.
func (p *platform) customer(set ...func(*accounts.NewUser)) (accounts.Customer, *apitest.Client) {
	p.t.Helper()
	c := accountstest.Customer(p.t, p.db, set...)
	return c, p.as(c.Username)
}

// admin makes an admin and signs them in.
func (p *platform) admin(set ...func(*accounts.NewUser)) (accounts.User, *apitest.Client) {
	p.t.Helper()
	u := accountstest.Admin(p.t, p.db, set...)
	return u, p.as(u.Username)
}

func (p *platform) as(username string) *apitest.Client {
	p.t.Helper()
	return p.nobody.As(p.signIn(p.nobody, username, accountstest.Password).Expect(200).Map()["access_token"].(string))
}

func (p *platform) signIn(c *apitest.Client, username, password string) *apitest.Answer {
	p.t.Helper()
	return c.PostForm("/token", url.Values{"username": {username}, "password": {password}})
}

func escaped(parameter string) string { return url.QueryEscape(parameter) }

// from is the client at another address.
func from(c *apitest.Client, address string) *apitest.Client {
	return c.With("X-Forwarded-For", address)
}

// made posts one object and returns its id.
func (p *platform) made(admin *apitest.Client, path string, fields object) objectid.ID {
	p.t.Helper()
	docs, _ := admin.Post(path, []object{fields}).Expect(200).Map()["docs"].([]any)
	return objectid.ID(docs[0].(object)["_id"].(string))
}

func (p *platform) count(sql string, args ...any) (n int) {
	p.t.Helper()
	require.NoError(p.t, p.db.QueryRow(p.t.Context(), sql, args...).Scan(&n))
	return n
}

func (p *platform) exec(sql string, args ...any) {
	p.t.Helper()
	_, err := p.db.Exec(p.t.Context(), sql, args...)
	require.NoError(p.t, err)
}

// named gives a user a name, and the address of that name.
func named(name string) func(*accounts.NewUser) {
	return func(n *accounts.NewUser) { n.Username, n.Email = name, name+"@example.com" }
}

// unthrottled is for attacks that no limit is to stop.
func unthrottled(c *app.Config) { c.NoThrottle = true }
