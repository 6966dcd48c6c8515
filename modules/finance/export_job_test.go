package finance_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts/accountstest"
	"marquee/modules/finance"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/replica"
)

const asyncCustomers = "/admin/customers/export?format=json&async=1"

// requestExport begins an export by a job and returns its id.
func (b *bundle) requestExport(address string) string {
	b.t.Helper()
	id, _ := b.admin.Get(address).Expect(http.StatusAccepted).Map()["_id"].(string)
	require.NotEmpty(b.t, id)
	return id
}

func TestAJobWritesAnExport(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.customers(6000) // more than one stored piece
	id := b.requestExport(asyncCustomers)
	require.Equal(t, id, b.requestExport(asyncCustomers), "asking again leads to the same export")
	require.NotEqual(t, id, b.requestExport("/admin/customers/export?format=csv&async=1"))
	b.work()
	state := b.until(id, "done")
	require.EqualValues(t, 100, state["percent"])
	require.EqualValues(t, 6000, state["rows"])
	require.EqualValues(t, 6000, state["rows_total"])
	require.Equal(t, "customers_2026-11-15.json", state["filename"])
	require.Equal(t, "2026-11-16T15:00:00.000Z", state["expires_at"])
	require.Nil(t, state["error"])

	whole := b.nobody.Get(path(t, state["download_url"])).Expect(http.StatusOK)
	require.EqualValues(t, len(whole.Body), state["size"])
	require.Greater(t, len(whole.Body), finance.ChunkBytes)
	require.Equal(t, disposition("customers_2026-11-15.json"), whole.Header.Get("Content-Disposition"))
	require.Equal(t, "application/json; charset=utf-8", whole.Header.Get("Content-Type"))
	require.Equal(t, string(b.admin.Get("/admin/customers/export?format=json").Expect(http.StatusOK).Body),
		string(whole.Body), "what is sent at once is the same file")

	req, err := http.NewRequest(http.MethodGet, b.nobody.URL()+path(t, state["download_url"]), nil)
	require.NoError(t, err)
	req.Header.Set("Range", "bytes=262140-262149")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	part, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusPartialContent, res.StatusCode)
	require.Equal(t, string(whole.Body[262140:262150]), string(part), "across two pieces")
}

func TestDownloadsAreForWhoAsked(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.customers(3)
	id := b.requestExport(asyncCustomers)
	file := "/admin/exports/" + id + "/file"
	b.admin.Get(file).Expect(http.StatusConflict)
	require.NoError(t, b.svc.RunExport(t.Context(), objectid.ID(id)))
	link := path(t, b.admin.Get("/admin/exports/" + id).Expect(http.StatusOK).Map()["download_url"])

	b.admin.Get(file).Expect(http.StatusOK)
	b.nobody.Get(file + "?token=" + b.token).Expect(http.StatusOK)
	b.nobody.Get("/admin/exports/" + id + "?token=" + b.token).Expect(http.StatusOK)
	b.nobody.Get(link).Expect(http.StatusOK)
	b.nobody.Get(file).Expect(http.StatusUnauthorized)

	other := b.nobody.As(accountstest.Token(t, b.db, accountstest.Admin(t, b.db).Username))
	other.Get(file).Expect(http.StatusNotFound)
	other.Get("/admin/exports/" + id).Expect(http.StatusNotFound)
	other.Delete("/admin/exports/"+id, nil).Expect(http.StatusNotFound)
	root := b.nobody.As(accountstest.Token(t, b.db, accountstest.Root(t, b.db).Username))
	root.Get(file).Expect(http.StatusOK)
	b.nobody.Get(path(t, root.Get("/admin/exports/" + id).Expect(http.StatusOK).Map()["download_url"])).
		Expect(http.StatusOK)
	customer := b.nobody.As(accountstest.Token(t, b.db, accountstest.Customer(t, b.db).Username))
	customer.Get(file).Expect(http.StatusForbidden)
	customer.Get("/admin/exports/" + id).Expect(http.StatusForbidden)

	for _, forged := range []string{
		strings.Replace(link, "signature=", "signature=A", 1), strings.Replace(link, "expires=1", "expires=2", 1),
		strings.Replace(link, "user="+b.who.ID.String(), "user="+objectid.New().String(), 1), file + "?signature=",
	} {
		b.nobody.Get(forged).Expect(http.StatusForbidden)
	}
	b.clock.Advance(15 * time.Minute)
	b.nobody.Get(link).Expect(http.StatusForbidden)
}

// A link is no better than the account that it was given to.
func TestALinkEndsWithItsAdmin(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.requestExport(asyncCustomers)
	require.NoError(t, b.svc.RunExport(t.Context(), objectid.ID(id)))
	link := path(t, b.admin.Get("/admin/exports/" + id).Expect(http.StatusOK).Map()["download_url"])
	_, err := b.db.Exec(t.Context(), `UPDATE accounts.users SET enable = false WHERE id = $1`, b.who.ID)
	require.NoError(t, err)
	b.nobody.Get(link).Expect(http.StatusForbidden)
}

func TestADeletedExportLeavesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.customers(10)
	id := b.requestExport(asyncCustomers)
	require.NoError(t, b.svc.RunExport(t.Context(), objectid.ID(id)))
	require.Equal(t, 1, b.chunks())
	b.admin.Delete("/admin/exports/"+id, nil).Expect(http.StatusOK)
	require.Zero(t, b.chunks())
	b.admin.Get("/admin/exports/" + id).Expect(http.StatusNotFound)
	b.admin.Delete("/admin/exports/"+id, nil).Expect(http.StatusNotFound)
	require.NoError(t, b.svc.RunExport(t.Context(), objectid.ID(id)), "its job finds nothing to do")
}

// lockStatements makes the statements of an export wait: the table is locked until the
// returned function is called.
func (b *bundle) lockStatements(table string) (release func()) {
	b.t.Helper()
	tx, err := b.db.Begin(b.t.Context())
	require.NoError(b.t, err)
	_, err = tx.Exec(b.t.Context(), `LOCK TABLE `+table+` IN ACCESS EXCLUSIVE MODE`)
	require.NoError(b.t, err)
	return func() { _ = tx.Rollback(context.Background()) }
}

func TestDeletingARunningExportStopsItsWorker(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *finance.Deps) { d.Exports.Lease = 600 * time.Millisecond }) // it speaks every 10 ms
	b.customers(10)
	id := objectid.ID(b.requestExport(asyncCustomers))
	release := b.lockStatements("accounts.users")
	defer release()
	ended := make(chan error, 1)
	go func() { ended <- b.svc.RunExport(t.Context(), id) }()
	b.inStatus(id, "running")
	_, err := b.db.Exec(t.Context(), `DELETE FROM finance.exports WHERE id = $1`, id)
	require.NoError(t, err)
	select {
	case err := <-ended: // though the table is still locked
		require.NoError(t, err)
	case <-time.After(time.Minute):
		t.Fatal("the worker goes on")
	}
	require.Zero(t, b.chunks())
}

func (b *bundle) inStatus(id objectid.ID, status string) {
	b.t.Helper()
	require.Eventually(b.t, func() bool {
		var now string
		require.NoError(b.t,
			b.db.QueryRow(b.t.Context(), `SELECT status FROM finance.exports WHERE id = $1`, id).Scan(&now))
		return now == status
	}, time.Minute, 5*time.Millisecond)
}

// A worker that is told to stop gives the export back; one that is killed is
// missed by the sweep, and a new one begins anew. After the last try it has failed.
func TestAnExportSurvivesItsWorker(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.customers(10)
	id := objectid.ID(b.requestExport(asyncCustomers))

	release := b.lockStatements("accounts.users")
	stopped, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.svc.RunExport(stopped, id) }()
	b.inStatus(id, "running")
	stop()
	require.ErrorIs(t, <-ended, context.Canceled)
	release()
	b.inStatus(id, "queued")

	// Killed: it has stored a piece and says no more.
	_, err := b.db.Exec(t.Context(),
		`UPDATE finance.exports SET status = 'running', attempt = attempt + 1, lease_until = $2 WHERE id = $1`, id,
		noon.Add(time.Minute))
	require.NoError(t, err)
	_, err = b.db.Exec(t.Context(),
		`INSERT INTO finance.export_chunks SELECT id, attempt, 0, 'half' FROM finance.exports`)
	require.NoError(t, err)
	require.NoError(t, b.svc.SweepExports(t.Context()))
	b.inStatus(id, "running") // it may speak yet
	var later *river.JobSnoozeError
	require.ErrorAs(t, b.svc.RunExport(t.Context(), id), &later, "another worker leaves it alone, and comes back")
	require.LessOrEqual(t, later.Duration, 5*time.Second)
	require.Equal(t, 1, b.chunks())
	b.clock.Advance(2 * time.Minute)
	require.NoError(t, b.svc.SweepExports(t.Context()))
	b.inStatus(id, "queued")
	require.Zero(t, b.chunks())
	var waiting int
	require.NoError(t,
		b.db.QueryRow(t.Context(), `SELECT count(*) FROM jobs.river_job WHERE kind = 'finance_write_export'`).
			Scan(&waiting))
	require.Equal(t, 2, waiting)

	require.NoError(t, b.svc.RunExport(t.Context(), id))
	b.inStatus(id, "done")
	b.clock.Advance(24 * time.Hour)
	require.NoError(t, b.svc.SweepExports(t.Context()))
	b.admin.Get("/admin/exports/" + id.String()).Expect(http.StatusNotFound)
	require.Zero(t, b.chunks())
}

func TestAnExportFailsInTheEnd(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := objectid.ID(b.requestExport(asyncCustomers))
	_, err := b.db.Exec(t.Context(), `ALTER TABLE accounts.users RENAME COLUMN username TO login_name`)
	require.NoError(t, err)
	_, err = b.db.Exec(t.Context(), `DROP VIEW finance.customer_list_personal`)
	require.NoError(t, err)
	for range finance.MaxExportAttempts - 1 {
		require.Error(t, b.svc.RunExport(t.Context(), id))
		b.inStatus(id, "queued")
	}
	require.NoError(t, b.svc.RunExport(t.Context(), id), "no further attempt")
	b.inStatus(id, "failed")
	require.Zero(t, b.chunks())
	var sentence string
	require.NoError(t, b.db.QueryRow(t.Context(), `SELECT error FROM finance.exports`).Scan(&sentence))
	require.Equal(t, "The export could not be written.", sentence)
}

// A client that is being sent a file, and whose server meets an error in the
// middle, must not take what it has for the whole.
func TestABrokenOffAnswerIsNoFile(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.customers(20_000)
	_, err := b.db.Exec(t.Context(), `DROP VIEW finance.customer_list_personal`)
	require.NoError(t, err)
	// The last row cannot be read.
	_, err = b.db.Exec(t.Context(), `CREATE VIEW finance.customer_list_personal AS
		SELECT u.id AS customer_id, u.username, u.email, 'x' || (1 / (20000 - substr(u.username, 5)::int)) AS full_name, u.tax_id, u.phone, u.nationality, u.address, u.language,
			u.enable, u.email_verified, u.current_subscription_id, u.created_at, u.updated_at, NULL::text AS plan_id, NULL::text AS plan_name, NULL::text AS gateway,
			NULL::text AS payment_method, NULL::text AS subscription_status, NULL::bigint AS price_cents, NULL::timestamptz AS started_at,
			NULL::timestamptz AS last_payment_at, NULL::timestamptz AS next_billing_date, NULL::timestamptz AS expires_at
		FROM accounts.users u WHERE u.user_type = 'customer'`)
	require.NoError(t, err)
	for _, format := range []string{"xlsx", "csv", "json"} {
		req, err := http.NewRequest(http.MethodGet, b.nobody.URL()+"/api/v1/admin/customers/export?format="+format, nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+b.token)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, res.StatusCode)
		_, err = io.ReadAll(res.Body)
		_ = res.Body.Close()
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, format)
	}
}

// Before the first byte an error still has its status.
func TestAnExportThatCannotBeginIsAnError(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.db.Exec(t.Context(), `DROP VIEW finance.customer_list_personal`)
	require.NoError(t, err)
	res := b.admin.Get("/admin/customers/export").Expect(http.StatusInternalServerError)
	require.Empty(t, res.Header.Get("Content-Disposition"))
}

// TestASlowReaderHoldsNoConnection: the database is read as fast as it goes, whatever
// the client takes.
func TestASlowReaderHoldsNoConnection(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.customers(30_000) // more than sockets hold
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		b.nobody.URL()+"/api/v1/admin/customers/export?format=json&token="+b.token, nil)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.Eventually(t, func() bool { return b.db.Stat().AcquiredConns() == 0 }, time.Minute, 10*time.Millisecond)
	file, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Greater(t, len(file), 8<<20, "the test would show nothing with less")
	require.True(t, json.Valid(file))
}

// Each file that is being read for a request holds a connection of the database; there are not
// more of them than can be spared.
func TestFewExportsAreSentAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *finance.Deps) {
		reads, err := postgres.NewPool(t.Context(), d.Pool.(*pgxpool.Pool).Config().ConnString(),
			postgres.Options{MaxConns: finance.MaxSending + 1})
		require.NoError(t, err)
		t.Cleanup(reads.Close)
		d.Reads = replica.Only(reads)
	})
	const address = "/admin/events-dashboard/events/export?format=json"
	release := b.lockStatements("tickets.events")
	var all sync.WaitGroup
	for range finance.MaxSending {
		all.Go(func() { b.admin.Get(address).Expect(http.StatusOK) })
	}
	require.Eventually(t, func() bool {
		var waiting int
		require.NoError(t,
			b.db.QueryRow(t.Context(),
				`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waiting))
		return waiting == finance.MaxSending
	}, time.Minute, 10*time.Millisecond)
	refused := b.admin.Get(address).Expect(http.StatusServiceUnavailable)
	require.Equal(t, "5", refused.Header.Get("Retry-After"))
	b.admin.Get(address + "&async=1").Expect(http.StatusAccepted)
	release()
	all.Wait()
	b.admin.Get(address).Expect(http.StatusOK)
}
