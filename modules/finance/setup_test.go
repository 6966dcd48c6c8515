package finance_test

import (
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/modules/finance"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/testutil/apitest"
	"marquee/testutil/pgtest"
	"marquee/testutil/secrettest"
)

type doc = map[string]any

// bundle is the module and its API, on a database of its own with one admin, with the clock at
// noon of 15 November 2026 in Sao Paulo.
type bundle struct {
	t      testing.TB
	db     *pgxpool.Pool
	svc    *finance.Service
	clock  *clock.Fake
	api    *httpapi.API
	nobody *apitest.Client
	admin  *apitest.Client
	who    accounts.User // behind admin
	token  string        // of admin
}

var noon = time.Date(2026, time.November, 15, 15, 0, 0, 0, time.UTC)

func setup(t testing.TB, set ...func(*finance.Deps)) *bundle {
	t.Helper()
	b := &bundle{t: t, db: pgtest.DB(t)}
	log, users := secrettest.Logger(t), accountstest.Service(t, b.db)
	inserter, err := jobs.New(b.db, jobs.Options{Log: log})
	require.NoError(t, err)
	deps := finance.Deps{
		Pool: b.db, Jobs: inserter, Clock: clock.NewFake(noon), Log: log, Zone: zone(t), Callers: users,
		Exports: finance.ExportConfig{
			LinkKey: []byte("0123456789abcdef0123456789abcdef"), PublicURL: "http://marquee.test",
		},
	}
	for _, f := range set {
		f(&deps)
	}
	b.clock, _ = deps.Clock.(*clock.Fake)
	b.svc = finance.New(deps)
	b.api = httpapi.New(httpapi.Config{
		Version: "test", PublicURL: "http://marquee.test", Auth: users, Log: log, Trail: users,
		PieceTime: 5 * time.Minute, // TestASlowReaderHoldsNoConnection takes nothing for a while
	})
	b.svc.Routes(b.api)
	b.nobody = apitest.New(t, b.api)
	b.who = accountstest.Admin(t, b.db)
	b.token = accountstest.Token(t, b.db, b.who.Username)
	b.admin = b.nobody.As(b.token)
	return b
}

// The users of setupAt.
const (
	adminID    = objectid.ID("00000000000000000000aaaa")
	customerID = objectid.ID("00000000000000000000cccc")
)

// setupAt is setup with the clock at an instant, and with one customer and one more admin whose
// rows are known.
func setupAt(t testing.TB, now time.Time) *bundle {
	t.Helper()
	b := setup(t, func(d *finance.Deps) { d.Clock = clock.NewFake(now) })
	b.exec(`INSERT INTO accounts.users (id, user_type, username, email, full_name, tax_id, email_verified, email_verified_at, password_hash, created_at, updated_at)
		VALUES ($1, 'customer', 'ana', 'ana@example.com', 'Ana Souza', '52998224725', true, $2, '$argon2id$secret-hash', $2, $2),
			($3, 'admin', 'admin', 'admin@example.com', NULL, NULL, true, $2, '$argon2id$secret-hash', $2, $2)`,
		customerID, at("2026-01-05T15:00:00Z"), adminID)
	return b
}

// at is an instant.
func at(instant string) time.Time {
	now, err := time.Parse(time.RFC3339, instant)
	if err != nil {
		panic(err)
	}
	return now
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

// zone is the report time zone that new databases have.
func zone(t testing.TB) *time.Location {
	t.Helper()
	z, err := time.LoadLocation("America/Sao_Paulo")
	require.NoError(t, err)
	return z
}

func service(t testing.TB, db *pgxpool.Pool, c clock.Clock) *finance.Service {
	t.Helper()
	return finance.New(finance.Deps{Pool: db, Clock: c, Log: slog.New(slog.DiscardHandler), Zone: zone(t)})
}

// difference is a row of finance.rollup_differences.
type difference struct {
	Rollup, Key, Figure string
	Stored, Counted     int64
}

// requireNoDifference compares the rollups with the scan as of an instant.
func requireNoDifference(t testing.TB, db *pgxpool.Pool, now time.Time) {
	t.Helper()
	require.Empty(t, differences(t, db, now))
}

func differences(t testing.TB, db *pgxpool.Pool, now time.Time) []difference {
	t.Helper()
	var all []difference
	require.NoError(t, asOf(t, db, now, func(tx postgres.DB) error {
		rows, err := tx.Query(t.Context(),
			`SELECT rollup, key, figure, kept, counted FROM finance.rollup_differences()`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var d difference
			if err := rows.Scan(&d.Rollup, &d.Key, &d.Figure, &d.Stored, &d.Counted); err != nil {
				return err
			}
			all = append(all, d)
		}
		return rows.Err()
	}))
	return all
}
