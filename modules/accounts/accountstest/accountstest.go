// Package accountstest makes users for tests: real rows, one line each, with
// password hashes that cost next to nothing.
package accountstest

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/accounts"
	"marquee/modules/files"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/platform/secret"
	"marquee/platform/taxid"
)

// Password is that of every user made here.
const Password = "correct horse battery"

// PasskeyDomain is the domain for which passkeys are here, of whose pages one may use them: https://….
const PasskeyDomain = "marquee.test"

// Config holds the keys that all services made here share, so that a token of
// one is good at another.
func Config() accounts.Config {
	return accounts.Config{
		TokenKeys: "test:0123456789abcdef0123456789abcdef",
		CodeKey:   []byte("fedcba9876543210fedcba9876543210"),
		Password:  accounts.PasswordCost{Passes: 1, MemoryKiB: 64, Threads: 1},
		PerMinute: 100_000, PasskeyRPID: PasskeyDomain, PasskeyOrigins: []string{"https://" + PasskeyDomain},
	}
}

// Deps are those of a service on the database, on the machine's clock, that
// inserts jobs and works none. Change what the test needs, then call
// accounts.New.
func Deps(t testing.TB, db *pgxpool.Pool) accounts.Deps {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	inserter, err := jobs.New(db, jobs.Options{Log: log})
	if err != nil {
		t.Fatalf("accountstest: %v", err)
	}
	return accounts.Deps{
		Pool: db, Jobs: inserter, Clock: clock.System{}, Log: log, Config: Config(),
		Files: files.New(files.Deps{Pool: db, Clock: clock.System{}}),
	}
}

// Service makes a service of Deps. It is an httpapi.Authenticator.
func Service(t testing.TB, db *pgxpool.Pool) *accounts.Service {
	t.Helper()
	s, err := accounts.New(Deps(t, db))
	if err != nil {
		t.Fatalf("accountstest: %v", err)
	}
	return s
}

// maker makes the users of one database and logs them in. It stays with its pool, which pgtest
// gives to one test after the other, since the routes take longer to set up than a test of one user lasts.
type maker struct {
	service *accounts.Service
	login   func() http.Handler
}

var makers sync.Map // *pgxpool.Pool → *maker

func makerOf(t testing.TB, db *pgxpool.Pool) *maker {
	t.Helper()
	if known, ok := makers.Load(db); ok {
		return known.(*maker) //nolint:forcetypeassert // nothing else is stored
	}
	m := &maker{service: Service(t, db)}
	m.login = sync.OnceValue(func() http.Handler {
		api := httpapi.New(httpapi.Config{Auth: m.service, Log: slog.New(slog.DiscardHandler)})
		m.service.Routes(api)
		return api.Handler()
	})
	makers.Store(db, m)
	return m
}

var counter atomic.Int64

// Customer makes a verified customer without a subscription. Set changes what is
// made.
func Customer(t testing.TB, db *pgxpool.Pool, set ...func(*accounts.NewUser)) accounts.Customer {
	t.Helper()
	n := counter.Add(1)
	user := accounts.NewUser{
		Type: httpapi.TypeCustomer, Username: fmt.Sprintf("customer%d", n),
		Email:    fmt.Sprintf("customer%d@example.com", n),
		FullName: fmt.Sprintf("Customer %d", n), Phone: "+5511987654321", TaxID: taxid.CPF(int(n % 1_000_000_000)), EmailVerified: true,
	}
	made := create(t, db, user, set)
	c, err := makerOf(t, db).service.CustomerByID(t.Context(), db, made.ID)
	if err != nil {
		t.Fatalf("accountstest: %v", err)
	}
	return c
}

// Admin makes an admin with the seeded profile.
func Admin(t testing.TB, db *pgxpool.Pool, set ...func(*accounts.NewUser)) accounts.User {
	t.Helper()
	n := counter.Add(1)
	return create(t, db, accounts.NewUser{
		Type: httpapi.TypeAdmin, Username: fmt.Sprintf("admin%d", n), Email: fmt.Sprintf("admin%d@example.com", n),
		Name: fmt.Sprintf("Admin %d", n), EmailVerified: true,
	}, set)
}

// Root makes a root user.
func Root(t testing.TB, db *pgxpool.Pool) accounts.User {
	t.Helper()
	return Admin(t, db, func(n *accounts.NewUser) { n.Root = true })
}

func create(t testing.TB, db *pgxpool.Pool, n accounts.NewUser, set []func(*accounts.NewUser)) accounts.User {
	t.Helper()
	n.Password = secret.NewText(Password)
	for _, f := range set {
		f(&n)
	}
	u, err := makerOf(t, db).service.CreateUser(t.Context(), n)
	if err != nil {
		t.Fatalf("accountstest: %v", err)
	}
	return u
}

// Token logs the user in over POST /token and returns the access token.
func Token(t testing.TB, db *pgxpool.Pool, username string) string {
	t.Helper()
	form := url.Values{"username": {username}, "password": {Password}}
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, httpapi.Prefix+"/token",
		strings.NewReader(form.Encode()))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res := httptest.NewRecorder()
	makerOf(t, db).login().ServeHTTP(res, request)
	var set struct {
		AccessToken string      `json:"access_token"`
		IDToken     objectid.ID `json:"id_token"`
	}
	if err := json.Unmarshal(res.Body.Bytes(), &set); err != nil || res.Code != http.StatusOK {
		t.Fatalf("accountstest: login of %s: status %d, %v", username, res.Code, err)
	}
	return set.AccessToken
}
