package finance_test

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/modules/finance"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/jobs"
	"marquee/testutil/apitest"
	"marquee/testutil/leaktest"
	"marquee/testutil/pgtest"
)

// exportBundle is the exports behind HTTP, on a database of their own, with the
// clock at noon of 15 November 2026 in Sao Paulo.
type exportBundle struct {
	t     testing.TB
	db    *pgxpool.Pool
	svc   *finance.Service
	users *accounts.Service
	clock *clock.Fake
	api   *httpapi.API
	anon  *apitest.Client
	admin *apitest.Client
	who   accounts.User // behind admin
	token string        // of admin
}

var noon = time.Date(2026, time.November, 15, 15, 0, 0, 0, time.UTC)

func setupExports(t testing.TB, set ...func(*finance.Deps)) *exportBundle {
	t.Helper()
	b := &exportBundle{t: t, db: pgtest.DB(t), clock: clock.NewFake(noon), users: nil}
	log := leaktest.Logger(t)
	b.users = accountstest.Service(t, b.db)
	inserter, err := jobs.New(b.db, jobs.Options{Log: log})
	require.NoError(t, err)
	zone, err := time.LoadLocation("America/Sao_Paulo")
	require.NoError(t, err)
	deps := finance.Deps{
		Pool: b.db, Jobs: inserter, Clock: b.clock, Log: log, Zone: zone, Callers: b.users,
		Exports: finance.ExportConfig{
			LinkKey: []byte("0123456789abcdef0123456789abcdef"), PublicURL: "http://marquee.test",
		},
	}
	for _, f := range set {
		f(&deps)
	}
	b.svc = finance.New(deps)
	api := httpapi.New(httpapi.Config{
		Version: "test", PublicURL: "http://marquee.test", Auth: b.users, Log: log, Trail: b.users,
	})
	b.svc.Routes(api)
	b.api = api
	b.anon = apitest.New(t, api)
	b.who = accountstest.Admin(t, b.db)
	b.token = accountstest.Token(t, b.db, b.who.Username)
	b.admin = b.anon.As(b.token)
	return b
}

// work lets workers work what is inserted.
func (b *exportBundle) work() {
	b.t.Helper()
	workers := river.NewWorkers()
	b.svc.Workers(workers)
	client, err := jobs.New(b.db, jobs.Options{Workers: workers, Log: leaktest.Logger(b.t)})
	require.NoError(b.t, err)
	require.NoError(b.t, client.Start(b.t.Context()))
	b.t.Cleanup(func() { <-client.Stopped() })
}

// customers makes n customers in one statement, without the triggers that keep
// their logins: nobody logs in.
func (b *exportBundle) customers(n int) {
	b.t.Helper()
	tx, err := b.db.Begin(b.t.Context())
	require.NoError(b.t, err)
	_, err = tx.Exec(b.t.Context(), `SET LOCAL session_replication_role = replica`)
	require.NoError(b.t, err)
	_, err = tx.Exec(b.t.Context(), `INSERT INTO accounts.users (id, user_type, username, email, full_name, created_at, updated_at)
		SELECT lpad(to_hex(i), 24, '0'), 'customer', 'bulk' || i, 'bulk' || i || '@example.com', 'Bulk ' || i, $2, $2 FROM generate_series(1, $1::int) i`, n, noon)
	require.NoError(b.t, err)
	require.NoError(b.t, tx.Commit(b.t.Context()))
}

// chunks counts the stored pieces of all exports.
func (b *exportBundle) chunks() (n int) {
	b.t.Helper()
	require.NoError(b.t, b.db.QueryRow(b.t.Context(), `SELECT count(*) FROM finance.export_chunks`).Scan(&n))
	return n
}

// until asks for an export until it has the status.
func (b *exportBundle) until(id, status string) map[string]any {
	b.t.Helper()
	var state map[string]any
	require.Eventually(b.t, func() bool {
		state = b.admin.Get("/admin/exports/" + id).Expect(http.StatusOK).Map()
		return state["status"] == status
	}, 30*time.Second, 20*time.Millisecond, "%v", state)
	return state
}

// path turns an absolute address of the API into one that the client takes.
func path(t testing.TB, address any) string {
	t.Helper()
	text, _ := address.(string)
	rest, ok := bytes.CutPrefix([]byte(text), []byte("http://marquee.test"))
	require.True(t, ok, "%v", address)
	return string(rest)
}

// csvFiles unzips and reads the csv files of an export.
func csvFiles(t testing.TB, file []byte) map[string][][]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	all := map[string][][]string{}
	for _, f := range z.File {
		r, err := f.Open()
		require.NoError(t, err)
		content, err := io.ReadAll(r)
		require.NoError(t, err)
		rows, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
		require.NoError(t, err, f.Name)
		all[f.Name] = rows
	}
	return all
}

func disposition(filename string) string { return fmt.Sprintf(`attachment; filename="%s"`, filename) }
