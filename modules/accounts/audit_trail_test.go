package accounts_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/platform/audit"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/testutil/apitest"
)

// lastEntry is the newest entry of the trail.
func (o *office) lastEntry(t *testing.T) map[string]any {
	t.Helper()
	a := o.get(t, "/audit-log?qty_docs_page=1", o.adminToken)
	require.Equal(t, 200, a.status, a.raw)
	return a.doc(t)
}

func TestTheTrailTellsWhatAdminsChange(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	tick := func() { o.clock.Advance(time.Second) }
	made := o.post(t, "/users", o.adminToken, newAdmin("bia", nil))
	id := objectid.ID(made.doc(t)["_id"].(string))
	entry := o.lastEntry(t)
	require.Equal(t, "user_create", entry["action"])
	require.Equal(t, "/api/v1/users", entry["path"])
	require.Equal(t, "users", entry["resource"])
	require.Equal(t, id.String(), entry["record_id"])
	require.Equal(t, o.admin.ID.String(), entry["actor_id"])
	require.Equal(t, o.admin.Username, entry["actor_name"])
	require.Equal(t, made.header.Get("X-Request-Id"), entry["request_id"])
	require.Nil(t, entry["before"])
	require.Equal(t, "bia@example.com", entry["after"].(map[string]any)["email"])
	require.Equal(t, "[hidden]", entry["after"].(map[string]any)["password"])

	tick()
	o.put(t, "/users", o.adminToken, change(id, map[string]any{
		"name": "Beatriz", "password": "quite another one", "username": "bia",
	}))
	entry = o.lastEntry(t)
	require.Equal(t, map[string]any{"name": "Admin bia"}, entry["before"])
	require.Equal(t, map[string]any{
		"name": "Beatriz", "password": "[hidden]",
	}, entry["after"], "that there is a new password, not which")
	tick()
	o.remove(t, "/users?_id="+id.String(), o.adminToken, "")
	entry = o.lastEntry(t)
	require.Equal(t, "user_delete", entry["action"])
	require.Equal(t, "Beatriz", entry["before"].(map[string]any)["name"])
	require.Nil(t, entry["after"])
	tick()
	o.put(t, "/my-user", o.adminToken, []any{map[string]any{"name": "Myself"}})
	require.Equal(t, "my_user_put", o.lastEntry(t)["action"])
	tick()
	o.post(t, "/admin/customers/"+o.customer.ID.String()+"/toggle-active", o.adminToken, "")
	entry = o.lastEntry(t)
	require.Equal(t, map[string]any{"enable": true}, entry["before"])
	require.Equal(t, map[string]any{"enable": false}, entry["after"])
	tick()
	o.put(t, "/customers", o.adminToken, change(o.customer.ID, map[string]any{"full_name": "Other name"}))
	require.Equal(t, "customers", o.lastEntry(t)["resource"])
	tick()
	o.remove(t, "/customers", o.adminToken, ids(o.customer.ID))
	entry = o.lastEntry(t)
	require.Equal(t, "customer_delete", entry["action"])
	require.Nil(t, entry["before"], "a deleted customer is named by id alone")
	tick()
	o.put(t, "/users-type", o.rootToken, change("000000000000000000000001", map[string]any{"name": "Board"}))
	entry = o.lastEntry(t)
	require.Equal(t, map[string]any{"name": "Requisitions"}, entry["before"])
	require.Equal(t, o.root.ID.String(), entry["document_created_by_id"])

	byWho := o.get(t, "/audit-log?query="+
		url.QueryEscape(`{"actor_id":"`+o.root.ID.String()+`","before.name":"Requisitions"}`), o.adminToken)
	require.Len(t, byWho.body["docs"], 1)
	require.Equal(t, 8, o.count(t, `SELECT count(*) FROM accounts.audit_log`))

	tick()
	before := o.count(t, `SELECT count(*) FROM accounts.audit_log`)
	require.Equal(t, 422, o.put(t, "/users", o.adminToken, change(o.admin.ID, map[string]any{"name": "x"})).status)
	require.Equal(t, before, o.count(t, `SELECT count(*) FROM accounts.audit_log`), "what is refused is no change")
}

// recorded calls a route that records the changes and nothing else, as an admin.
func (o *office) recorded(t *testing.T, changes ...audit.Change) *apitest.Response {
	t.Helper()
	api := httpapi.New(httpapi.Config{Auth: o.svc, Trail: o.svc, Log: slog.New(slog.DiscardHandler)})
	httpapi.Route(api, http.MethodPost, "/record", "record_post", httpapi.SignedIn,
		func(ctx context.Context, _ *struct{}) (*httpapi.Output[string], error) {
			err := postgres.InTx(ctx, o.db, func(tx pgx.Tx) error { return audit.RecordTx(ctx, tx, changes...) })
			if err != nil {
				return nil, err
			}
			return httpapi.OK("ok")
		})
	return apitest.New(t, api).As(o.adminToken).Post("/record", nil)
}

func TestSecretsAreMaskedAndOnlyDifferencesKept(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	id := objectid.New()
	o.recorded(t,
		audit.Change{
			Resource: "plans", RecordID: id,
			Before: map[string]any{
				"amount": 1, "name": "same", "password": "a",
				"nested": map[string]any{"access_token": "s1", "list": []any{map[string]any{"cvv": "1"}}},
			},
			After: map[string]any{
				"amount": 12345678901234567, "name": "same", "password": "b",
				"nested": map[string]any{"access_token": "s2"}, "register_update_date": "x",
			},
		},
		audit.Change{Resource: "config", After: json.RawMessage(`{"gateway":"gwa"}`)},
	).Expect(200)
	var before, after, actor, action string
	require.NoError(t,
		o.db.QueryRow(t.Context(),
			`SELECT before::text, after::text, actor_name, action FROM accounts.audit_log WHERE record_id = $1`, id).
			Scan(&before, &after, &actor, &action))
	require.JSONEq(t,
		`{"amount":1,"password":"[hidden]","nested":{"access_token":"[hidden]","list":[{"cvv":"[hidden]"}]}}`, before)
	require.JSONEq(t, `{"amount":12345678901234567,"password":"[hidden]","nested":{"access_token":"[hidden]"}}`, after)
	require.Equal(t, o.admin.Username, actor)
	require.Equal(t, "record_post", action)
	require.Equal(t, 1, o.count(t,
		`SELECT count(*) FROM accounts.audit_log WHERE record_id IS NULL AND before IS NULL`))
	o.recorded(t, audit.Change{Resource: "x", After: "no object"}).Expect(500)
}

func TestOnlyAdminsLeaveATrail(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	token := o.token(t, o.customer.Username)
	require.Equal(t, 200, o.put(t, "/customers/me", token, []any{map[string]any{"full_name": "Myself"}}).status)
	require.Zero(t, o.count(t, `SELECT count(*) FROM accounts.audit_log`))
	require.NoError(t, postgres.InTx(t.Context(), o.db, func(tx pgx.Tx) error {
		return audit.RecordTx(t.Context(), tx, audit.Change{
			Resource: "x", After: "no object",
		}) // nobody listens outside of requests
	}))
}

func TestPasswordsOfAdminsLeaveATrail(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	body := map[string]any{"current_password": accountstest.Password, "new_password": "quite another one"}
	require.Equal(t, 200, o.post(t, "/auth/change-password", o.adminToken, body).status)
	entry := o.lastEntry(t)
	require.Equal(t, "change_password_post", entry["action"])
	require.Equal(t, o.admin.ID.String(), entry["record_id"])
	require.Equal(t, map[string]any{"password": "[hidden]"}, entry["after"])
}

func TestTheTrailIsAppendOnly(t *testing.T) {
	t.Parallel()
	b := openOffice(t)
	b.recorded(t, audit.Change{
		Resource: "customers",
		RecordID: b.customer.ID,
		Before:   map[string]any{"full_name": "A", "enable": true, "address": nil},
		After:    map[string]any{"full_name": "B", "enable": false, "address": map[string]any{"city": "C"}},
	}).Expect(200)
	for _, sql := range []string{
		`UPDATE accounts.audit_log SET actor_name = 'somebody else'`,
		`UPDATE accounts.audit_log SET before = '{}'`,
		`UPDATE accounts.audit_log SET before = accounts.erased(before), after = accounts.erased(after), erased_at = now(), action = 'x'`,
		`UPDATE accounts.audit_log SET before = NULL, after = NULL, erased_at = now()`,
		`DELETE FROM accounts.audit_log`,
		`TRUNCATE accounts.audit_log`,
	} {
		_, err := b.db.Exec(t.Context(), sql)
		require.ErrorContains(t, err, "append-only", sql)
	}
	for range 2 {
		require.NoError(t, postgres.InTx(t.Context(), b.db,
			func(tx pgx.Tx) error { return accounts.EraseAuditTx(t.Context(), b.svc, tx, b.customer.ID) }))
	}
	var before, after string
	require.NoError(t,
		b.db.QueryRow(t.Context(),
			`SELECT before::text, after::text FROM accounts.audit_log WHERE erased_at IS NOT NULL`).Scan(&before,
			&after))
	require.JSONEq(t, `{"full_name":"[erased]","enable":true,"address":null}`, before)
	require.JSONEq(t, `{"full_name":"[erased]","enable":false,"address":"[erased]"}`, after)
}
