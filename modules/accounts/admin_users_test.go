package accounts_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/platform/fault"
	"marquee/platform/objectid"
)

// office is a service with one user of each kind, logged in.
type office struct {
	*bundle
	root, admin                        accounts.User
	customer                           accounts.Customer
	rootToken, adminToken, customerJWT string
}

func openOffice(t *testing.T, set ...func(*accounts.Deps)) *office {
	t.Helper()
	o := &office{bundle: setup(t, set...)}
	o.root, o.admin, o.customer = accountstest.Root(t, o.db), accountstest.Admin(t, o.db),
		accountstest.Customer(t, o.db)
	o.rootToken, o.adminToken, o.customerJWT = o.token(t, o.root.Username), o.token(t, o.admin.Username),
		o.token(t, o.customer.Username)
	return o
}

// newAdmin is a body of POST /users; set changes it.
func newAdmin(name string, set map[string]any) []map[string]any {
	body := map[string]any{
		"username": name, "email": name + "@example.com", "password": "long enough", "name": "Admin " + name,
	}
	return changed(body, set)
}

// change is a body of PUT.
func change(id objectid.ID, fields map[string]any) []map[string]any {
	body := map[string]any{"_id": id}
	for k, v := range fields {
		body[k] = v
	}
	return []map[string]any{body}
}

func ids(list ...objectid.ID) []map[string]any {
	var out []map[string]any
	for _, id := range list {
		out = append(out, map[string]any{"_id": id})
	}
	return out
}

func (o *office) put(t *testing.T, path, token string, body any) response {
	t.Helper()
	return o.json(t, http.MethodPut, path, token, body)
}

func (o *office) remove(t *testing.T, path, token string, body any) response {
	t.Helper()
	return o.json(t, http.MethodDelete, path, token, body)
}

func TestAdminLife(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	made := o.post(t, "/users", o.adminToken, newAdmin("bia", map[string]any{
		"email": "Bia@Example.com", "user_type": "admin", "phone": "+5511987654321", "tax_id": "12345678909",
		"full_name": "Bia Souza", "created_at": "2020-01-01", "document_created_by_id": o.root.ID,
		"register_date": "2020-01-01",
	}))
	require.Equal(t, 200, made.status, made.raw)
	doc := made.doc(t)
	require.Equal(t, "bia@example.com", doc["email"])
	require.Equal(t, o.admin.ID.String(), doc["document_created_by_id"])
	require.Equal(t, []any{}, doc["type_user"])
	require.Equal(t, false, doc["is_root"])
	require.Equal(t, doc["created_at"], doc["register_date"])
	require.NotContains(t, doc["created_at"], "2020")
	require.NotContains(t, made.raw, "password")
	id := objectid.ID(doc["_id"].(string))

	require.Equal(t, 200, o.login(t, "BIA", "long enough").status)
	var hash string
	require.NoError(t, o.db.QueryRow(t.Context(), `SELECT password_hash FROM accounts.users WHERE id = $1`, id).
		Scan(&hash))
	require.Contains(t, hash, "$argon2id$")

	list := o.get(t, "/users?query="+url.QueryEscape(`{"user_type":"customer"}`), o.adminToken)
	require.Equal(t, []any{}, list.body["docs"], "only admins are here")
	list = o.get(t, "/users?sort="+url.QueryEscape(`{"username":-1}`)+"&qty_docs_page=1", o.adminToken)
	require.Equal(t, "bia", list.doc(t)["username"])

	// The username is a name, so it stays when the e-mail moves.
	o.clock.Advance(time.Second)
	edited := o.put(t, "/users", o.adminToken, change(id, map[string]any{
		"email": "BIA2@example.com", "phone": nil, "user_type": "admin",
	}))
	require.Equal(t, 200, edited.status, edited.raw)
	require.Equal(t, "bia2@example.com", edited.doc(t)["email"])
	require.Equal(t, "bia", edited.doc(t)["username"])
	require.Equal(t, "Admin bia", edited.doc(t)["name"])
	require.NotContains(t, edited.doc(t), "phone")
	require.NotEqual(t, doc["updated_at"], edited.doc(t)["updated_at"])
	require.Equal(t, doc["created_at"], edited.doc(t)["created_at"])

	gone := o.remove(t, "/users", o.adminToken, ids(id, "0123456789abcdef01234567"))
	require.Equal(t, 200, gone.status, gone.raw)
	require.Equal(t, []any{}, gone.body["docs"])
	require.Equal(t, "1 document was deleted.", gone.body["msg"])
	require.Equal(t, 404, o.get(t, "/users?_id="+id.String(), o.adminToken).status)
	require.Equal(t, 401, o.login(t, "bia", "long enough").status)
	require.Equal(t, 200, o.post(t, "/users", o.adminToken, newAdmin("bia", nil)).status, "the logins are free again")
	require.Equal(t, 1, o.count(t,
		`SELECT count(*) FROM accounts.users WHERE id = $1 AND deleted_at IS NOT NULL AND password_hash IS NULL
		AND full_name IS NULL AND tax_id IS NULL AND username = '' AND email = ''`, id))
}

func TestAnAddressAsUsernameMovesWithTheEmail(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	made := o.post(t, "/users", o.adminToken, newAdmin("x", map[string]any{
		"username": "Lia@Example.com", "email": "lia@example.com",
	}))
	require.Equal(t, 200, made.status, made.raw)
	id := objectid.ID(made.doc(t)["_id"].(string))
	edited := o.put(t, "/users", o.adminToken, change(id, map[string]any{"email": "lia2@example.com"}))
	require.Equal(t, "lia2@example.com", edited.doc(t)["username"], edited.raw)
	edited = o.put(t, "/users", o.adminToken, change(id, map[string]any{
		"email": "lia3@example.com", "username": "lia2@example.com",
	}))
	require.Equal(t, "lia3@example.com", edited.doc(t)["username"], edited.raw)
	edited = o.put(t, "/users", o.adminToken,
		change(id, map[string]any{"email": "lia4@example.com", "username": "lia"}))
	require.Equal(t, "lia", edited.doc(t)["username"], edited.raw)
	refused := o.put(t, "/users", o.adminToken, change(id, map[string]any{"username": "other@example.com"}))
	require.Equal(t, 422, refused.status, refused.raw)
	require.Equal(t, "username", refused.field())
}

func TestUserRefusals(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	other := accountstest.Admin(t, o.db)
	for name, c := range map[string]struct {
		method, token string
		body          any
		status        int
		code, field   string
	}{
		"no object": {
			method: "POST", token: o.adminToken, body: map[string]any{}, status: 422, code: fault.CodeValidation,
			field: "body",
		},
		"no name": {
			method: "POST", token: o.adminToken, body: newAdmin("n12", map[string]any{"name": nil}), status: 422,
			code: fault.CodeValidation, field: "name",
		},
		"short name": {
			method: "POST", token: o.adminToken, body: newAdmin("n12", map[string]any{"name": "ab"}), status: 422,
			code: fault.CodeValidation, field: "name",
		},
		"no password": {
			method: "POST", token: o.adminToken, body: newAdmin("n12", map[string]any{"password": nil}), status: 422,
			code: fault.CodeValidation, field: "password",
		},
		"short password": {
			method: "POST", token: o.adminToken, body: newAdmin("n12", map[string]any{"password": "1234567"}),
			status: 422, code: fault.CodeValidation, field: "password",
		},
		"no e-mail": {
			method: "POST", token: o.adminToken, body: newAdmin("n12", map[string]any{"email": "no address"}),
			status: 422, code: fault.CodeValidation, field: "email",
		},
		"short username": {
			method: "POST", token: o.adminToken, body: newAdmin("n12", map[string]any{"username": "ab"}), status: 422,
			code: fault.CodeValidation, field: "username",
		},
		"long username": {
			method: "POST", token: o.adminToken,
			body: newAdmin("n12", map[string]any{"username": strings.Repeat("x", 51)}), status: 422,
			code: fault.CodeValidation, field: "username",
		},
		"foreign address": {
			method: "POST", token: o.adminToken, body: newAdmin("n12", map[string]any{"username": "other@example.com"}),
			status: 422, code: fault.CodeValidation, field: "username",
		},
		"customer": {
			method: "POST", token: o.adminToken, body: newAdmin("n12", map[string]any{"user_type": "customer"}),
			status: 422, code: fault.CodeValidation, field: "user_type",
		},
		"root by an admin": {
			method: "POST", token: o.adminToken, body: newAdmin("n12", map[string]any{"is_root": true}), status: 422,
			code: fault.CodeValidation, field: "is_root",
		},
		"profile by an admin": {
			method: "POST", token: o.adminToken,
			body: newAdmin("n12", map[string]any{"type_user": []string{"000000000000000000000001"}}), status: 422,
			code: fault.CodeValidation, field: "type_user",
		},
		"unknown profile": {
			method: "POST", token: o.rootToken,
			body: newAdmin("n12", map[string]any{"type_user": []string{"0123456789abcdef01234567"}}), status: 422,
			code: fault.CodeValidation, field: "type_user",
		},
		"bad tax id": {
			method: "POST", token: o.adminToken, body: newAdmin("n12", map[string]any{"tax_id": "123"}), status: 422,
			code: fault.CodeValidation, field: "tax_id",
		},
		"bad phone": {
			method: "POST", token: o.adminToken, body: newAdmin("n12", map[string]any{"phone": "12"}), status: 422,
			code: fault.CodeValidation, field: "phone",
		},
		"unknown field": {
			method: "POST", token: o.adminToken,
			body: newAdmin("n12", map[string]any{"tokens_valid_after": "2020-01-01"}), status: 422,
			code: fault.CodeValidation, field: "tokens_valid_after",
		},
		"stored hash": {
			method: "POST", token: o.adminToken, body: newAdmin("n12", map[string]any{"password_hash": "x"}),
			status: 422, code: fault.CodeValidation, field: "password_hash",
		},
		"username taken": {
			method: "POST", token: o.adminToken, body: newAdmin("n12", map[string]any{"username": o.customer.Username}),
			status: 409, code: fault.CodeConflict, field: "username",
		},
		"e-mail taken": {
			method: "POST", token: o.adminToken,
			body: newAdmin("n12", map[string]any{"email": strings.ToUpper(o.customer.Email)}), status: 409,
			code: fault.CodeConflict, field: "email",
		},
		"username an e-mail": {
			method: "PUT", token: o.adminToken, body: change(other.ID, map[string]any{"email": o.customer.Email}),
			status: 409, code: fault.CodeConflict, field: "email",
		},
		"in the body twice": {
			method: "POST", token: o.adminToken, body: append(newAdmin("n12", nil), newAdmin("n12", nil)...),
			status: 409, code: fault.CodeConflict, field: "username",
		},
		"unknown id": {
			method: "PUT", token: o.adminToken,
			body: change("0123456789abcdef01234567", map[string]any{"name": "Some name"}), status: 404,
			code: fault.CodeNotFound, field: "_id",
		},
		"a customer's id": {
			method: "PUT", token: o.adminToken, body: change(o.customer.ID, map[string]any{"name": "Some name"}),
			status: 404, code: fault.CodeNotFound, field: "_id",
		},
		"no id": {
			method: "PUT", token: o.adminToken, body: []any{map[string]any{"name": "Some name"}}, status: 422,
			code: fault.CodeValidation, field: "_id",
		},
		"null name": {
			method: "PUT", token: o.adminToken, body: change(other.ID, map[string]any{"name": nil}), status: 422,
			code: fault.CodeValidation, field: "name",
		},
		"another type": {
			method: "PUT", token: o.adminToken, body: change(other.ID, map[string]any{"user_type": "customer"}),
			status: 422, code: fault.CodeValidation, field: "user_type",
		},
		"root made by an admin": {
			method: "PUT", token: o.adminToken, body: change(other.ID, map[string]any{"is_root": true}), status: 422,
			code: fault.CodeValidation, field: "is_root",
		},
		"root for oneself": {
			method: "PUT", token: o.adminToken, body: change(o.admin.ID, map[string]any{"is_root": true}), status: 422,
			code: fault.CodeValidation, field: "is_root",
		},
		"profiles of an admin": {
			method: "PUT", token: o.adminToken, body: change(o.admin.ID, map[string]any{"type_user": []string{}}),
			status: 422, code: fault.CodeValidation, field: "type_user",
		},
		"a root by an admin": {
			method: "PUT", token: o.adminToken, body: change(o.root.ID, map[string]any{"name": "Nobody"}), status: 403,
			code: fault.CodeForbidden, field: "",
		},
		"a root's password": {
			method: "PUT", token: o.adminToken, body: change(o.root.ID, map[string]any{"password": "long enough"}),
			status: 403, code: fault.CodeForbidden, field: "",
		},
		"one's own password": {
			method: "PUT", token: o.adminToken, body: change(o.admin.ID, map[string]any{"password": "long enough"}),
			status: 422, code: fault.CodeValidation, field: "password",
		},
		"oneself disabled": {
			method: "PUT", token: o.adminToken, body: change(o.admin.ID, map[string]any{"enable": false}), status: 409,
			code: fault.CodeConflict, field: "enable",
		},
		"the last root demoted": {
			method: "PUT", token: o.rootToken, body: change(o.root.ID, map[string]any{"is_root": false}), status: 409,
			code: fault.CodeConflict, field: "",
		},
		"oneself deleted": {
			method: "DELETE", token: o.adminToken, body: ids(o.admin.ID), status: 409, code: fault.CodeConflict,
			field: "",
		},
		"the last root deleted": {
			method: "DELETE", token: o.rootToken, body: ids(o.root.ID), status: 409, code: fault.CodeConflict,
			field: "",
		},
		"a root deleted": {
			method: "DELETE", token: o.adminToken, body: ids(o.root.ID), status: 403, code: fault.CodeForbidden,
			field: "",
		},
		"one of them is oneself": {
			method: "DELETE", token: o.adminToken, body: ids(other.ID, o.admin.ID), status: 409,
			code: fault.CodeConflict, field: "",
		},
		"nobody deleted": {
			method: "DELETE", token: o.adminToken, body: ids("0123456789abcdef01234567"), status: 404,
			code: fault.CodeNotFound, field: "",
		},
		"a customer deleted": {
			method: "DELETE", token: o.adminToken, body: ids(o.customer.ID), status: 404, code: fault.CodeNotFound,
			field: "",
		},
		"a malformed id": {
			method: "DELETE", token: o.adminToken, body: []any{map[string]any{"_id": "x"}}, status: 422,
			code: fault.CodeValidation, field: "_id",
		},
	} {
		a := o.json(t, c.method, "/users", c.token, c.body)
		require.Equal(t, c.status, a.status, "%s: %s", name, a.raw)
		require.Equal(t, c.code, a.code(), "%s: %s", name, a.raw)
		require.Equal(t, c.field, a.field(), "%s: %s", name, a.raw)
		require.NotContains(t, a.raw, "long enough", name)
	}
	require.Equal(t, 3, o.count(t,
		`SELECT count(*) FROM accounts.users WHERE user_type = 'admin' AND enable AND deleted_at IS NULL`),
		"nothing was written")
	require.Equal(t, 0, o.count(t, `SELECT count(*) FROM accounts.audit_log`))

	second := o.json(t, http.MethodPost, "/users", o.adminToken,
		append(newAdmin("good", nil), newAdmin("bad", map[string]any{"name": ""})...))
	require.Contains(t, second.raw, `["body",1,"name"]`)
	require.Equal(t, 0, o.count(t, `SELECT count(*) FROM accounts.users WHERE username = 'good'`))
}

func TestRootsGiveRights(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	o.clock.Advance(time.Second)
	a := o.put(t, "/users", o.rootToken, change(o.admin.ID, map[string]any{"is_root": true, "type_user": []string{}}))
	require.Equal(t, 200, a.status, a.raw)
	require.Equal(t, true, a.doc(t)["is_root"])
	require.Equal(t, 403, o.get(t, "/users", o.adminToken).status, "another role ends tokens")
	o.clock.Advance(time.Second)
	risen := o.token(t, o.admin.Username)
	require.Equal(t, 200, o.get(t, "/users-type", risen).status)

	// With two roots, one may go; not oneself.
	require.Equal(t, 409, o.put(t, "/users", risen, change(o.admin.ID, map[string]any{"enable": false})).status)
	require.Equal(t, 200, o.put(t, "/users", risen, change(o.root.ID, map[string]any{"enable": false})).status)
	require.Equal(t, 409, o.put(t, "/users", risen, change(o.admin.ID, map[string]any{"is_root": false})).status,
		"the other root is disabled")
	require.Equal(t, 200, o.remove(t, "/users?_id="+o.root.ID.String(), risen, "").status,
		"a disabled root is not the last one")
}

func TestDisablingAndDeletingEndTokensAtOnce(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	victim := accountstest.Admin(t, o.db)
	first := o.login(t, victim.Username, accountstest.Password)
	access, refresh := first.text("access_token"), first.text("refresh_token")
	require.Equal(t, 200, o.put(t, "/users", o.adminToken, change(victim.ID, map[string]any{"enable": false})).status)
	a := o.get(t, "/my-user", access)
	require.Equal(t, 403, a.status)
	require.Equal(t, badToken, a.detail())
	require.Equal(t, 403, o.login(t, victim.Username, accountstest.Password).status)

	o.clock.Advance(time.Second)
	require.Equal(t, 200, o.put(t, "/users", o.adminToken, change(victim.ID, map[string]any{"enable": true})).status)
	require.Equal(t, 403, o.get(t, "/my-user", access).status, "what was ended stays ended")
	require.Equal(t, 403, o.post(t, "/auth/refresh-token", "", map[string]any{"refresh_token": refresh}).status)
	access = o.token(t, victim.Username)
	require.Equal(t, 200, o.get(t, "/my-user", access).status)

	require.Equal(t, 200,
		o.put(t, "/users", o.adminToken, change(victim.ID, map[string]any{"password": "quite another one"})).status)
	require.Equal(t, 403, o.get(t, "/my-user", access).status, "a new password ends tokens")
	o.clock.Advance(time.Second)
	again := o.login(t, victim.Username, "quite another one")
	require.Equal(t, 200, again.status, again.raw)
	require.Equal(t, 200, o.remove(t, "/users", o.adminToken, ids(victim.ID)).status)
	require.Equal(t, 403, o.get(t, "/my-user", again.text("access_token")).status)
}

// An admin without a right would gain it by setting the password of one who has
// it, or by having a code mailed for the account, and take it from them by
// disabling or deleting them.
func TestAdminsWithMoreRightsAreOutOfReach(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	made := o.post(t, "/users", o.adminToken, newAdmin("plain", nil))
	require.Equal(t, 200, made.status, made.raw)
	plain := o.login(t, "plain", "long enough").text("access_token")
	refused := func(a response) {
		t.Helper()
		require.Equal(t, 403, a.status, a.raw)
		require.Equal(t, fault.CodeForbidden, a.code())
	}
	for _, fields := range []map[string]any{
		{"password": "long enough 2"},
		{"email": "mine@example.com"},
		{"username": "mine"},
		{"name": "New name"},
		{"phone": "+5511912345678"},
		{"enable": false},
		{"avatar_id": nil},
		{"name": o.admin.Username, "email": o.admin.Email},
	} {
		refused(o.put(t, "/users", plain, change(o.admin.ID, fields)))
	}
	refused(o.remove(t, "/users", plain, ids(o.admin.ID)))
	require.Equal(t, 200, o.put(t, "/my-user", plain, []any{map[string]any{"name": "Their own"}}).status)

	profile := o.post(t, "/users-type", o.rootToken, []any{map[string]any{
		"name": "Readers",
		"view": []string{"requisition_get"},
	}}).doc(t)["_id"]
	reader := o.post(t, "/users", o.rootToken, newAdmin("reader", map[string]any{"type_user": []any{profile}})).
		doc(t)["_id"]
	readers := objectid.ID(reader.(string))
	refused(o.put(t, "/users", plain, change(readers, map[string]any{"name": "New name"})))
	require.Equal(t, 200, o.put(t, "/users", o.adminToken, change(readers, map[string]any{"name": "New name"})).status,
		"fewer rights, by another profile")
	refused(o.remove(t, "/users", o.login(t, "reader", "long enough").text("access_token"), ids(o.admin.ID)))
	require.Equal(t, 200,
		o.put(t, "/users", o.adminToken,
			change(objectid.ID(made.doc(t)["_id"].(string)), map[string]any{"name": "New name"})).status)
	require.Equal(t, 200,
		o.put(t, "/users", o.rootToken, change(o.admin.ID, map[string]any{"password": "long enough 2"})).status)
	require.Equal(t, 200, o.remove(t, "/users", o.rootToken, ids(o.admin.ID)).status)
}
