package promos_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/modules/files"
	"marquee/modules/promos"
	"marquee/modules/tickets/ticketstest"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/testutil/apitest"
	"marquee/testutil/cleanup"
	"marquee/testutil/pgtest"
	"marquee/testutil/secrettest"
)

// bundle is the module over tickets, files and accounts, and its API, called as
// an admin, as a customer and by nobody.
type bundle struct {
	t        *testing.T
	db       *pgxpool.Pool
	clock    *clock.Fake
	service  *promos.Service
	nobody   *apitest.Client
	admin    *apitest.Client
	me       *apitest.Client
	customer accounts.Customer
}

func setup(t *testing.T, change ...func(*promos.Config)) *bundle {
	t.Helper()
	b := &bundle{t: t, db: pgtest.DB(t), clock: clock.NewFake(time.Now())}
	begun := b.clock.Now() // what waits for a job or for its time is no matter of the end
	cleanup.Add(t, func() {
		pgtest.RequireInvariants(t, b.db, begun,
			"redemptions_have_subscriptions")
	}) // there are none below subscriptions
	cfg := promos.Config{TriesPerMinute: 100_000, TriesPerAddress: 100_000}
	for _, c := range change {
		c(&cfg)
	}
	b.nobody = b.serve(cfg)
	b.customer = accountstest.Customer(t, b.db)
	b.me = b.nobody.As(accountstest.Token(t, b.db, b.customer.Username))
	b.admin = b.nobody.As(accountstest.Token(t, b.db, accountstest.Admin(t, b.db).Username))
	return b
}

// serve is one process of the platform, which b.service is the module of.
func (b *bundle) serve(cfg promos.Config) *apitest.Client {
	b.t.Helper()
	t, log := b.t, secrettest.Logger(b.t)
	users := accountstest.Service(t, b.db)
	deps := accountstest.Deps(t, b.db)
	deps.Clock = b.clock
	counting, err := accounts.New(deps) // by the clock of the test
	require.NoError(t, err)
	key := []byte("0123456789abcdef0123456789abcdef")
	archive := files.New(files.Deps{
		Pool: b.db, Clock: b.clock, Log: log,
		Config: files.Config{FileKey: key, PublicURL: "https://api.example.com"},
	})
	seats := ticketstest.Service(t, b.db, b.clock, users, archive)
	b.service = promos.New(promos.Deps{
		Pool: b.db, Clock: b.clock, Log: log, Accounts: counting, Files: archive, Tickets: seats, Config: cfg,
	})
	archive.Connect(files.Above{Users: users, Records: []files.Records{b.service.FileRecords()}})
	api := httpapi.New(httpapi.Config{Auth: users, Trail: users, Log: log, PublicURL: "https://api.example.com"})
	archive.Routes(api)
	seats.Routes(api)
	b.service.Routes(api)
	return apitest.New(t, api)
}

type doc = map[string]any

// event makes an event in two days; nil capacity is unlimited.
func (b *bundle) event(capacity any) string {
	b.t.Helper()
	return b.made("/events", doc{
		"title": "Premiere", "event_date": b.in(48 * time.Hour), "capacity": capacity,
	})["_id"].(string)
}

// code makes a promo code and returns its document.
func (b *bundle) code(fields doc) doc {
	b.t.Helper()
	if fields["title"] == nil {
		fields["title"] = "A code"
	}
	return b.made("/admin/promo-codes", fields)
}

func (b *bundle) made(path string, fields doc) doc {
	b.t.Helper()
	return first(b.admin.Post(path, []doc{fields}).Expect(200))
}

func first(a *apitest.Response) doc {
	docs, _ := a.Map()["docs"].([]any)
	return docs[0].(doc)
}

func (b *bundle) in(d time.Duration) string {
	return b.clock.Now().Add(d).Format(time.RFC3339Nano)
}

func (b *bundle) count(sql string, args ...any) (n int) {
	b.t.Helper()
	require.NoError(b.t, b.db.QueryRow(b.t.Context(), sql, args...).Scan(&n))
	return n
}

func (b *bundle) another() (accounts.Customer, *apitest.Client) {
	b.t.Helper()
	c := accountstest.Customer(b.t, b.db)
	return c, b.nobody.As(accountstest.Token(b.t, b.db, c.Username))
}

// redeemer redeems as one customer.
type redeemer struct{ c *apitest.Client }

func (r redeemer) code(text string) int {
	return r.c.Put("/customers/me/redeem-promo-code?code="+text, nil).Status
}
