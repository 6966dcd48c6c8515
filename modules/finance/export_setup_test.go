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

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"marquee/platform/jobs"
	"marquee/testutil/secrettest"
)

// work lets workers work what is inserted.
func (b *bundle) work() {
	b.t.Helper()
	workers := river.NewWorkers()
	b.svc.Workers(workers)
	client, err := jobs.New(b.db, jobs.Options{Workers: workers, Log: secrettest.Logger(b.t)})
	require.NoError(b.t, err)
	require.NoError(b.t, client.Start(b.t.Context()))
	b.t.Cleanup(func() { <-client.Stopped() })
}

// customers makes n customers in one statement, without the triggers that keep
// their logins: nobody logs in.
func (b *bundle) customers(n int) {
	b.t.Helper()
	tx, err := b.db.Begin(b.t.Context())
	require.NoError(b.t, err)
	_, err = tx.Exec(b.t.Context(), `SET LOCAL session_replication_role = replica`)
	require.NoError(b.t, err)
	_, err = tx.Exec(b.t.Context(),
		`INSERT INTO accounts.users (id, user_type, username, email, full_name, created_at, updated_at)
		SELECT lpad(to_hex(i), 24, '0'), 'customer', 'bulk' || i, 'bulk' || i || '@example.com', 'Bulk ' || i, $2, $2 FROM generate_series(1, $1::int) i`, n, noon)
	require.NoError(b.t, err)
	require.NoError(b.t, tx.Commit(b.t.Context()))
}

// chunks counts the stored pieces of all exports.
func (b *bundle) chunks() (n int) {
	b.t.Helper()
	require.NoError(b.t, b.db.QueryRow(b.t.Context(), `SELECT count(*) FROM finance.export_chunks`).Scan(&n))
	return n
}

// until asks for an export until it has the status.
func (b *bundle) until(id, status string) map[string]any {
	b.t.Helper()
	var state map[string]any
	require.Eventually(b.t, func() bool {
		state = b.admin.Get("/admin/exports/" + id).Expect(http.StatusOK).Map()
		return state["status"] == status
	}, time.Minute, 20*time.Millisecond, "%v", state)
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
