package accounts_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/platform/objectid"
)

func TestViewsAreTheirOwnersAProfilesOrEverybodys(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var profile objectid.ID
	require.NoError(t, b.db.QueryRow(t.Context(), `INSERT INTO accounts.users_type (name, created_at, updated_at)
		VALUES ('Support', now(), now()) RETURNING id`).Scan(&profile))
	member := accountstest.Admin(t, b.db)
	b.exec(t, "UPDATE accounts.users SET type_user = ARRAY[$2] WHERE id = $1", member.ID, profile)
	root := accountstest.Admin(t, b.db, func(u *accounts.NewUser) { u.Root = true })
	owner, other := accountstest.Token(t, b.db, member.Username), accountstest.Token(t, b.db, accountstest.Admin(t, b.db).Username)
	boss := accountstest.Token(t, b.db, root.Username)
	save := func(audience string, more map[string]any) response {
		body := map[string]any{
			"path": "/customers", "name": "of " + audience, "query": `{"enable":true}`, "sort": `{"email":1}`,
			"columns": []string{"email", "labels"}, "audience": audience,
		}
		for k, v := range more {
			body[k] = v
		}
		return b.post(t, "/admin/views", owner, body)
	}
	seen := func(token string) (names []string) {
		a := b.get(t, "/admin/views?path=/customers", token)
		require.Equal(t, 200, a.status, a.raw)
		for _, doc := range a.body["docs"].([]any) {
			names = append(names, doc.(map[string]any)["name"].(string))
			require.Empty(t, doc.(map[string]any)["problem"])
		}
		return names
	}
	mine := save("me", nil)
	require.Equal(t, 200, mine.status, mine.raw)
	require.Equal(t, 200, save("profile", map[string]any{"profile_id": profile}).status)
	require.Equal(t, 200, save("all", nil).status)
	require.Equal(t, []string{"of all", "of me", "of profile"}, seen(owner))
	require.Equal(t, []string{"of all"}, seen(other))
	require.Len(t, seen(boss), 3)
	require.Empty(t, b.get(t, "/admin/views?path=/users", owner).body["docs"])

	path := "/admin/views/" + mine.text("_id")
	change := `{"name":"renamed","audience":"me","register_update_date":"` + mine.text("register_update_date") + `"}`
	put := func(token, body string) response {
		return b.send(t, http.MethodPut, path, token, "application/json", body)
	}
	require.Equal(t, http.StatusNotFound, put(other, change).status)
	b.clock.Advance(1e9)
	require.Equal(t, 200, put(owner, change).status)
	stale := put(owner, change)
	require.Equal(t, http.StatusConflict, stale.status, "as it stood before")
	require.Regexp(t, "^The record was changed by "+member.Username+" at 2[-0-9T:.]+Z, after it was read.$",
		stale.text("error", "message"))
	require.Equal(t, "register_update_date", stale.field())
	twice := put(owner, `{"name":"twice","columns":["email","labels","email"]}`)
	require.Equal(t, http.StatusUnprocessableEntity, twice.status)
	require.Equal(t, "columns", twice.field())
	require.Equal(t, 200, put(boss, `{"name":"by root"}`).status)
	require.Equal(t, http.StatusNotFound, b.remove(t, path, other).status)
	require.Equal(t, 200, b.remove(t, path, owner).status)
	require.Equal(t, http.StatusNotFound, b.remove(t, path, owner).status)

	for name, more := range map[string]map[string]any{
		"path":       {"path": "/nowhere"},
		"query":      {"query": `{"$where":1}`},
		"columns":    {"columns": []string{"password_hash"}},
		"profile_id": {"audience": "profile"},
	} {
		refused := save("me", more)
		require.Equal(t, http.StatusUnprocessableEntity, refused.status, refused.raw)
		require.Equal(t, name, refused.field(), refused.raw)
	}
	require.Equal(t, http.StatusUnprocessableEntity, save("profile", map[string]any{"profile_id": objectid.New()}).status)
	require.Equal(t, http.StatusUnprocessableEntity, save("me", map[string]any{"profile_id": profile}).status)
	twice = save("me", map[string]any{"columns": []string{"email", "email"}})
	require.Equal(t, http.StatusUnprocessableEntity, twice.status, twice.raw)
	require.Equal(t, "columns", twice.field())
	require.Equal(t, http.StatusForbidden, save("me", map[string]any{"path": "/users-type"}).status, "root's list")
}

// TestNamesOfViewsShowWhatTheyHold: as labels do, and one from before that is not changed stays.
func TestNamesOfViewsShowWhatTheyHold(t *testing.T) {
	t.Parallel()
	b := setup(t)
	admin := accountstest.Admin(t, b.db)
	token := accountstest.Token(t, b.db, admin.Username)
	body := func(name string) map[string]any { return map[string]any{"path": "/customers", "name": name} }
	made := b.post(t, "/admin/views", token, body("Ação"))
	require.Equal(t, 200, made.status, made.raw)
	change := func(name string) response {
		return b.json(t, http.MethodPut, "/admin/views/"+made.text("_id"), token, map[string]any{"name": name})
	}
	for _, name := range []string{
		"my\u202eview", "my\u200bview", "\u2066view", "a\u0007b", "a\u2028b", "\u200b", "   ",
	} {
		for _, refused := range []response{b.post(t, "/admin/views", token, body(name)), change(name)} {
			require.Equal(t, http.StatusUnprocessableEntity, refused.status, "%q: %s", name, refused.raw)
			require.Equal(t, "name", refused.field(), refused.raw)
		}
	}
	b.exec(t, "UPDATE accounts.views SET name = E'my\u200bview' WHERE id = $1", made.text("_id"))
	require.Equal(t, 200, change("my\u200bview").status)
	require.Equal(t, 200, change("my view").status)
}

// TestAViewSaysWhatIsGone: instead of showing everything.
func TestAViewSaysWhatIsGone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	admin := accountstest.Admin(t, b.db)
	token := accountstest.Token(t, b.db, admin.Username)
	for problem, row := range map[string][4]string{
		"list_gone":     {"/gone", "", "", "{}"},
		"not_allowed":   {"/users-type", "", "", "{}"},
		"query_refused": {"/customers", `{"email":{"$near":1}}`, "", "{}"},
		"field_gone":    {"/customers", "", "", "{nickname}"},
	} {
		b.exec(t, `INSERT INTO accounts.views (id, owner_id, name, path, query, sort, columns, audience, register_date, register_update_date)
			VALUES ($1, $2, $3, $4, $5, $6, $7::text::text[], 'me', now(), now())`,
			objectid.New(), admin.ID, problem, row[0], row[1], row[2], row[3])
	}
	b.exec(t, `INSERT INTO accounts.views (id, owner_id, name, path, query, sort, columns, audience, register_date, register_update_date)
		VALUES ($1, $2, 'field_gone', '/customers', '{"nickname":"x"}', '', '{}', 'me', now(), now())`, objectid.New(), admin.ID)
	docs := b.get(t, "/admin/views", token).body["docs"].([]any)
	require.Len(t, docs, 5)
	for _, doc := range docs {
		require.Equal(t, doc.(map[string]any)["name"], doc.(map[string]any)["problem"])
	}
}
