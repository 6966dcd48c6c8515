package finance_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/finance"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
	"marquee/testutil/leaktest"
	"marquee/testutil/pgtest"
)

type doc = map[string]any

// The users of the tests. Only the customer is in the database.
const (
	adminID    = objectid.ID("00000000000000000000aaaa")
	customerID = objectid.ID("00000000000000000000cccc")
)

// people stand in for the module accounts, which this one does not import: the
// token is the caller's name.
type people map[string]httpapi.Caller

func (p people) Verify(token string) (httpapi.Claims, error) {
	c, known := p[token]
	if !known {
		return httpapi.Claims{}, httpapi.ErrBadToken()
	}
	return httpapi.Claims{UserID: c.ID, TokenID: token}, nil
}

func (p people) Caller(_ context.Context, claims httpapi.Claims) (httpapi.Caller, error) {
	return p[claims.TokenID], nil
}

// bundle is the module and its API, called as an admin, as a customer and by
// nobody.
type bundle struct {
	t      *testing.T
	db     *pgxpool.Pool
	clock  *clock.Fake
	nobody *apitest.Client
	admin  *apitest.Client
	me     *apitest.Client
}

// at is an instant for setup.
func at(instant string) time.Time {
	now, err := time.Parse(time.RFC3339, instant)
	if err != nil {
		panic(err)
	}
	return now
}

// setup makes the module over a database with one customer, on a clock that
// stands at now, or at the present.
func setup(t *testing.T, now ...time.Time) *bundle {
	t.Helper()
	b := &bundle{t: t, db: pgtest.DB(t), clock: clock.NewFake(append(now, time.Now())[0])}
	b.serve(b.db)
	b.exec(`INSERT INTO accounts.users (id, user_type, username, email, full_name, tax_id, email_verified, email_verified_at, password_hash, created_at, updated_at)
		VALUES ($1, 'customer', 'ana', 'ana@example.com', 'Ana Souza', '52998224725', true, $2, '$argon2id$secret-hash', $2, $2),
			($3, 'admin', 'admin', 'admin@example.com', NULL, NULL, true, $2, '$argon2id$secret-hash', $2, $2)`, customerID, at("2026-01-05T15:00:00Z"), adminID)
	return b
}

// serve makes the API over the pool.
func (b *bundle) serve(pool *pgxpool.Pool) {
	b.t.Helper()
	zone, err := time.LoadLocation("America/Sao_Paulo")
	require.NoError(b.t, err)
	log := leaktest.Logger(b.t)
	api := httpapi.New(httpapi.Config{Log: log, PublicURL: "https://api.example.com", Auth: people{
		"admin": {ID: adminID, Type: httpapi.TypeAdmin}, "customer": {ID: customerID, Type: httpapi.TypeCustomer},
	}})
	finance.New(finance.Deps{Pool: b.db, Reads: pool, Clock: b.clock, Log: log, Zone: zone}).Routes(api)
	b.nobody = apitest.New(b.t, api)
	b.admin, b.me = b.nobody.As("admin"), b.nobody.As("customer")
}

// get reads a report as the admin.
func (b *bundle) get(path string) doc {
	b.t.Helper()
	return b.admin.Get(path).Expect(http.StatusOK).Map()
}

func (b *bundle) exec(sql string, args ...any) {
	b.t.Helper()
	_, err := b.db.Exec(b.t.Context(), sql, args...)
	require.NoError(b.t, err)
}
