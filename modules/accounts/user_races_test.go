package accounts_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts/accountstest"
	"marquee/platform/objectid"
)

// attacks are the ways in which a root user can take another one away.
var attacks = map[string]struct {
	method string
	fields map[string]any
}{
	"disable": {http.MethodPut, map[string]any{"enable": false}},
	"demote":  {http.MethodPut, map[string]any{"is_root": false}},
	"delete":  {http.MethodDelete, nil},
}

// rootsAtOnce lets the last two roots attack each other at the same instant: none
// may write before both have got past every check that lets them pass. It returns
// the statuses and how many roots are left.
func rootsAtOnce(t *testing.T, o *office, attack string) (statuses []int, left int) {
	t.Helper()
	second := accountstest.Root(t, o.db)
	tokens := []string{o.rootToken, o.token(t, second.Username)}
	victims := []objectid.ID{second.ID, o.root.ID}
	o.exec(t, `CREATE FUNCTION accounts.wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN PERFORM pg_advisory_xact_lock_shared(4711); RETURN NEW; END $$`)
	o.exec(t,
		`CREATE TRIGGER wait_at_gate BEFORE UPDATE ON accounts.users FOR EACH ROW EXECUTE FUNCTION accounts.wait_at_gate()`)
	gate, err := o.db.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = gate.Rollback(context.WithoutCancel(t.Context())) }()
	_, err = gate.Exec(t.Context(), `SELECT pg_advisory_xact_lock(4711)`)
	require.NoError(t, err)

	statuses = make([]int, 2)
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() {
			body := change(victims[i], attacks[attack].fields)
			statuses[i] = o.client.As(tokens[i]).Do(attacks[attack].method, "/users", body).Status
		})
	}
	require.Eventually(t, func() bool {
		var waiting int
		err := gate.QueryRow(t.Context(), `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`).Scan(&waiting)
		return err == nil && waiting == 2
	}, time.Minute, 5*time.Millisecond)
	require.NoError(t, gate.Commit(t.Context()))
	wg.Wait()
	return statuses, o.count(t, `SELECT count(*) FROM accounts.users WHERE is_root AND enable AND deleted_at IS NULL`)
}

func TestTheLastTwoRootsCannotRemoveEachOther(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Sorted(maps.Keys(attacks)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			statuses, left := rootsAtOnce(t, openOffice(t), name)
			require.ElementsMatch(t, []int{200, 409}, statuses)
			require.Equal(t, 1, left)
		})
	}
}

func TestWithoutTheLockNoRootIsLeft(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Sorted(maps.Keys(attacks)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := openOffice(t)
			o.exec(t, `CREATE OR REPLACE FUNCTION accounts.hold_roots() RETURNS void LANGUAGE sql AS $$ SELECT $$`)
			statuses, left := rootsAtOnce(t, o, name)
			require.Equal(t, []int{200, 200}, statuses)
			require.Zero(t, left)
		})
	}
}

func TestOneLoginGoesToOneUser(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	var wg sync.WaitGroup
	statuses := make([]int, 10)
	for i := range statuses {
		wg.Go(func() {
			body := newAdmin("racer", map[string]any{
				"username": []string{"racer", "RACER"}[i%2], "email": fmt.Sprintf("racer%d@example.com", i),
			})
			statuses[i] = o.client.As(o.adminToken).Post("/users", body).Status
		})
	}
	wg.Wait()
	slices.Sort(statuses)
	require.Equal(t, []int{200, 409, 409, 409, 409, 409, 409, 409, 409, 409}, statuses)
	require.Equal(t, 1, o.count(t, `SELECT count(*) FROM accounts.users WHERE lower(username) = 'racer'`))
}

// deleteWhileGiven deletes a profile while another transaction, not yet
// committed, gives it to an admin; hold is the lock with which the service does
// that. It returns the status and how many admins carry what is not there.
func deleteWhileGiven(t *testing.T, hold string) (status, dangling int) {
	t.Helper()
	o := openOffice(t)
	profile := o.post(t, "/users-type", o.rootToken, []any{map[string]any{"name": "Short-lived"}}).doc(t)["_id"]
	tx, err := o.db.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	_, err = tx.Exec(t.Context(), `SELECT id FROM accounts.users_type WHERE id = $1 `+hold, profile)
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `UPDATE accounts.users SET type_user = ARRAY[$2::text] WHERE id = $1`, o.admin.ID,
		profile)
	require.NoError(t, err)
	done := make(chan int, 1)
	go func() {
		done <- o.client.As(o.rootToken).Delete("/users-type", []any{map[string]any{"_id": profile}}).Status
	}()
	require.Eventually(t, func() bool {
		var waiting int
		err := o.db.QueryRow(t.Context(),
			`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).
			Scan(&waiting)
		return len(done) == 1 || err == nil && waiting == 1
	}, time.Minute, 5*time.Millisecond)
	require.NoError(t, tx.Commit(t.Context()))
	return <-done, o.count(t,
		`SELECT count(*) FROM accounts.users u, unnest(u.type_user) p WHERE NOT EXISTS (SELECT 1 FROM accounts.users_type t WHERE t.id = p)`)
}

func TestAProfileIsNotDeletedWhileItIsGiven(t *testing.T) {
	t.Parallel()
	status, dangling := deleteWhileGiven(t, "FOR KEY SHARE")
	require.Equal(t, 409, status)
	require.Zero(t, dangling)
}

func TestWithoutTheLockAnAdminCarriesADeletedProfile(t *testing.T) {
	t.Parallel()
	status, dangling := deleteWhileGiven(t, "")
	require.Equal(t, 200, status)
	require.Equal(t, 1, dangling)
}
