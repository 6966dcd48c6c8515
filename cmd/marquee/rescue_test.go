package main_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/testutil/soak"
)

// soonAfterDeath is what operators are promised: jobs of a worker that was killed start
// again within this time.
const soonAfterDeath = 30 * time.Second

// TestJobsStartAgainSoonAfterTheirWorkerWasKilledLong: an export that was being written, and
// a mail that hung in its mail server.
func TestJobsStartAgainSoonAfterTheirWorkerWasKilledLong(t *testing.T) {
	soak.Long(t)
	t.Parallel()
	o := newOutside(t)
	ctx, ended := context.WithCancel(t.Context())
	defer ended()
	calls := o.hangMails(ctx)
	o.serve("")
	root := o.loginAs("root")

	db, err := pgx.Connect(ctx, o.database)
	require.NoError(t, err)
	defer func() { _ = db.Close(context.WithoutCancel(ctx)) }()
	locked, err := db.Begin(ctx)
	require.NoError(t, err)
	_, err = locked.Exec(ctx, "LOCK TABLE finance.export_chunks") // the export stands behind it
	require.NoError(t, err)
	accepted := expect(t, 202, http.MethodGet, o.api("/admin/finance/export?format=csv&async=1"), root, nil)
	expect(t, 200, http.MethodPost, o.api("/auth/forgot-password"), "", map[string]any{"email": "ana@example.com"})
	attempts := func() (n int) {
		require.NoError(t, db.QueryRow(ctx, "SELECT attempt FROM finance.exports").Scan(&n))
		return n
	}

	first := o.start("work", "")
	select {
	case <-calls:
	case <-time.After(patience):
		t.Fatal("no mail is sent")
	}
	eventually(t, "the export is not begun", func() bool { return attempts() == 1 })
	o.start("work", "")
	_ = first.command.Process.Kill()
	death := time.Now()
	deadline := time.After(patience)
	var mailed, exported time.Duration
	for mailed == 0 || exported == 0 {
		select {
		case <-calls:
			mailed = time.Since(death)
		case <-time.After(50 * time.Millisecond):
		case <-deadline:
			t.Fatalf("mail again after %v, export again after %v, and nothing more for %v", mailed, exported, patience)
		}
		if exported == 0 && attempts() == 2 {
			exported = time.Since(death)
		}
	}
	t.Logf("after kill -9 the mail was sent again after %v, the export begun again after %v", mailed, exported)
	require.Less(t, mailed, soonAfterDeath)
	require.Less(t, exported, soonAfterDeath)

	require.NoError(t, locked.Rollback(ctx))
	id := accepted["_id"].(string)
	eventually(t, "the export is not done", func() bool {
		return expect(t, 200, http.MethodGet, o.api("/admin/exports/"+id), root, nil)["status"] == "done"
	})
}

// hangMails puts a mail server before the test's own that lets the first call hang, and
// passes on the next ones. It tells each call.
func (o *outside) hangMails(ctx context.Context) <-chan struct{} {
	o.t.Helper()
	var address string
	for _, v := range o.env {
		if url, ok := strings.CutPrefix(v, "SMTP_URL=smtp://"); ok {
			address = url
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(o.t, err)
	context.AfterFunc(ctx, func() { _ = listener.Close() })
	o.env = append(o.env, "SMTP_URL=smtp://"+listener.Addr().String())
	calls := make(chan struct{}, 100)
	go func() {
		for n := 0; ; n++ {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			context.AfterFunc(ctx, func() { _ = from.Close() })
			calls <- struct{}{}
			if n == 0 {
				continue // not a word
			}
			to, err := net.Dial("tcp", address)
			if err != nil {
				continue
			}
			go func() { _, _ = io.Copy(to, from) }()
			go func() { _, _ = io.Copy(from, to); _ = from.Close() }()
		}
	}()
	return calls
}
