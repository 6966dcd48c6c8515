package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/testutil/sandbox/stage"
)

// An admin resumes while a customer's resumption is just ending, on a pool that is used up: the conflict is found, and
// is gone when its intent is read for the sentence.
func TestAttackConflictThatIsGone(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"done"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id := b.paidGWB(t)
			b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
			b.settle(t)
			admin := b.admin(t)
			gw := b.gateways.Sandbox.GWB.Stage()
			gw.Webhooks.Hold("*")
			f := stage.Fault{Method: http.MethodPost, Kind: stage.FaultDelay, Delay: stage.Duration(3 * time.Second)}
			if kind == "refused" {
				f = stage.Fault{Method: http.MethodPost, Kind: stage.FaultStatus, Status: 400, Delay: stage.Duration(3 * time.Second),
					Body: `{"error":{"type":"invalid_request_error","code":"parameter_invalid","message":"no"}}`}
			}
			require.NoError(t, gw.Faults.Plan(f))
			first := make(chan int, 1)
			go func() { s, a := b.call(t, http.MethodPut, renewPath, object{}); t.Log("first", s, a); first <- s }()
			require.Eventually(t, func() bool { return len(gw.Faults.Planned()) == 0 }, time.Minute, time.Millisecond)
			raw, err := pgx.Connect(t.Context(), b.db.Config().ConnString())
			require.NoError(t, err)
			look, err := pgx.Connect(t.Context(), b.db.Config().ConnString())
			require.NoError(t, err)
			tx, err := raw.Begin(t.Context())
			require.NoError(t, err)
			_, err = tx.Exec(t.Context(), "SELECT 1 FROM accounts.users WHERE id = $1 FOR UPDATE", b.customer.ID)
			require.NoError(t, err)
			waiting := func(n int) {
				require.Eventually(t, func() bool {
					var m int
					_ = look.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").Scan(&m)
					return m >= n
				}, 20*time.Second, 5*time.Millisecond)
			}
			second := make(chan int, 1)
			go func() {
				r := admin.Post("/admin/subscriptions/"+id.String()+"/activate", object{"reason": "they asked"})
				t.Log("admin", r.Status)
				second <- r.Status
			}()
			waiting(1)
			var held []*pgxpool.Conn
			for range b.db.Config().MaxConns - 2 {
				c, err := b.db.Acquire(t.Context())
				require.NoError(t, err)
				held = append(held, c)
			}
			if kind == "done" {
				waiting(2)
			}
			waiter := make(chan *pgxpool.Conn, 1)
			if kind == "refused" { // its EndTx takes no lock of the customer: it ends while the admin's transaction rolls back
				last, err := b.db.Acquire(t.Context())
				require.NoError(t, err)
				time.Sleep(3 * time.Second) // the first waits for a connection
				go func() { c, _ := b.db.Acquire(t.Context()); waiter <- c }()
				_ = last
				time.Sleep(200 * time.Millisecond)
				require.NoError(t, tx.Commit(t.Context())) // the admin's connection goes to the first
			} else {
				go func() { c, _ := b.db.Acquire(t.Context()); waiter <- c }()
				time.Sleep(200 * time.Millisecond)
				require.NoError(t, tx.Commit(t.Context()))
			}
			s := <-second
			<-first
			for _, c := range held {
				c.Release()
			}
			if c := <-waiter; c != nil {
				c.Release()
			}
			t.Log(s, "audit", b.count(t, "SELECT count(*) FROM accounts.audit_log WHERE record_id = $1", id), "row ends", column[bool](t, b, id, "cancel_at_period_end"), "gw", b.endsAtB(t, id))
			b.dumpIntents(t)
			require.Equal(t, 409, s)
		})
	}
}

// A cancel that the gateway does not answer has given the pending resumption up all the same.
func TestAttackAFailedCancelGivesThePendingResumptionUp(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.paidGWB(t)
	b.expect(t, 200, http.MethodDelete, subscriptionPath+atEnd, nil)
	b.settle(t)
	gw := b.gateways.Sandbox.GWB.Stage()
	gw.Webhooks.Hold("*")
	plan := func(k stage.FaultKind) {
		gw.Faults.Clear()
		require.NoError(t, gw.Faults.Plan(stage.Fault{Method: http.MethodPost, Kind: k, Times: 50}))
	}
	plan(stage.FaultResetAfter) // the gateway has taken the end back
	b.expect(t, 200, http.MethodPut, renewPath, object{})
	plan(stage.FaultResetBefore)
	s, _ := b.call(t, http.MethodDelete, subscriptionPath+atEnd, nil)
	gw.Faults.Clear()
	b.runStatusChecks(t, 5*time.Minute)
	require.NoError(t, b.service.Sweep(t.Context()))
	b.dumpIntents(t)
	t.Log("cancel", s, "row ends", column[bool](t, b, id, "cancel_at_period_end"), "gateway ends", b.endsAtB(t, id),
		"looked at again", column[*time.Time](t, b, id, "period_end_look_at"), "expires", column[*time.Time](t, b, id, "expires_at"))
	require.Equal(t, b.endsAtB(t, id), column[bool](t, b, id, "cancel_at_period_end"))
}
