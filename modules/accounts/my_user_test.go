package accounts_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts/accountstest"
	"marquee/platform/fault"
)

func TestMyUser(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	a := o.get(t, "/my-user", o.adminToken)
	require.Equal(t, 200, a.status, a.raw)
	me := a.doc(t)
	require.Equal(t, o.get(t, "/users?_id="+o.admin.ID.String(), o.rootToken).doc(t), me)
	require.Equal(t, "ok", a.body["msg"])

	o.clock.Advance(time.Second)
	a = o.put(t, "/my-user", o.adminToken, []any{map[string]any{
		"username": "the-admin", "email": "The.Admin@example.com", "name": "The admin", "avatar_id": me["avatar_id"],
		"created_at": me["created_at"], "register_date": me["register_date"],
	}})
	require.Equal(t, 200, a.status, a.raw)
	require.Equal(t, "the.admin@example.com", a.doc(t)["email"])
	require.Equal(t, "the-admin", a.doc(t)["username"])
	require.NotEqual(t, me["updated_at"], a.doc(t)["updated_at"])
	require.Equal(t, 200,
		o.put(t, "/my-user", o.adminToken, change(o.admin.ID, map[string]any{"avatar_id": nil})).status)
	require.Equal(t, 200,
		o.put(t, "/my-user", o.rootToken, change(o.root.ID, map[string]any{"name": "The root"})).status)
	require.Equal(t, 200, o.get(t, "/my-user", o.adminToken).status, "the token goes on")
}

func TestMyUserRefusals(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	for name, c := range map[string]struct {
		body   any
		status int
		field  string
	}{
		"no array":         {map[string]any{"name": "Some name"}, 422, "body"},
		"nothing":          {[]any{}, 422, "body"},
		"null":             {[]any{nil}, 422, "body"},
		"two":              {[]any{map[string]any{}, map[string]any{}}, 422, "body"},
		"another's id":     {change(o.root.ID, map[string]any{"name": "Some name"}), 422, "_id"},
		"no id":            {[]any{map[string]any{"_id": 7}}, 422, "_id"},
		"root":             {[]any{map[string]any{"is_root": true}}, 422, "is_root"},
		"profiles":         {[]any{map[string]any{"type_user": []string{}}}, 422, "type_user"},
		"type":             {[]any{map[string]any{"user_type": "customer"}}, 422, "user_type"},
		"enable":           {[]any{map[string]any{"enable": false}}, 422, "enable"},
		"password":         {[]any{map[string]any{"password": "long enough"}}, 422, "password"},
		"hash object":      {[]any{map[string]any{"password": map[string]any{"hash": "x"}}}, 422, "password"},
		"tax id":           {[]any{map[string]any{"tax_id": "12345678909"}}, 422, "tax_id"},
		"short username":   {[]any{map[string]any{"username": "ab"}}, 422, "username"},
		"foreign address":  {[]any{map[string]any{"username": "other@example.com"}}, 422, "username"},
		"e-mail":           {[]any{map[string]any{"email": "none"}}, 422, "email"},
		"name":             {[]any{map[string]any{"name": nil}}, 422, "name"},
		"avatar":           {[]any{map[string]any{"avatar_id": "x"}}, 422, "avatar_id"},
		"taken username":   {[]any{map[string]any{"username": o.customer.Username}}, 409, "username"},
		"taken e-mail":     {[]any{map[string]any{"email": o.root.Email}}, 409, "email"},
		"unknown":          {[]any{map[string]any{"nickname": "x"}}, 422, "nickname"},
		"customer's field": {[]any{map[string]any{"my_list": []string{}}}, 422, "my_list"},
	} {
		a := o.put(t, "/my-user", o.adminToken, c.body)
		require.Equal(t, c.status, a.status, "%s: %s", name, a.raw)
		require.Equal(t, c.field, a.field(), "%s: %s", name, a.raw)
		require.Contains(t, []string{fault.CodeValidation, fault.CodeConflict}, a.code(), name)
	}
	require.Equal(t, 200, o.login(t, o.admin.Username, accountstest.Password).status)
}

func TestWhoMayCallTheRoutesOfAdmins(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	const customerPath = "/admin/customers/0123456789abcdef01234567/"
	admins := map[string][]string{
		"/users": {"GET", "POST", "PUT", "DELETE"}, "/my-user": {"GET", "PUT"}, "/customers": {"GET", "PUT", "DELETE"},
		customerPath + "verify-email": {"POST"}, customerPath + "toggle-active": {"POST"}, "/audit-log": {"GET"},
	}
	roots := map[string][]string{"/users-type": {"GET", "POST", "PUT", "DELETE"}}
	users := map[string]string{
		"root": o.rootToken, "admin": o.adminToken, "customer": o.customerJWT, "nobody": "", "forger": "x.y.z",
	}
	for who, token := range users {
		check := func(path, method string, welcome bool) {
			body := ""
			if method != "GET" {
				body = "[]" // refused by whoever reads it
			}
			a := o.json(t, method, path, token, body)
			switch {
			case welcome:
				require.Contains(t, []int{200, 404, 422}, a.status, "%s %s %s: %s", who, method, path, a.raw)
			case who == "nobody":
				require.Equal(t, 401, a.status, "%s %s", method, path)
				require.Equal(t, "Not authenticated", a.detail())
			case who == "forger":
				require.Equal(t, 403, a.status, "%s %s", method, path)
				require.Equal(t, badToken, a.detail())
			default:
				require.Equal(t, 403, a.status, "%s %s %s: %s", who, method, path, a.raw)
				require.Equal(t, fault.CodeForbidden, a.code())
			}
		}
		for path, methods := range admins {
			for _, method := range methods {
				check(path, method, who == "root" || who == "admin")
			}
		}
		for path, methods := range roots {
			for _, method := range methods {
				check(path, method, who == "root")
			}
		}
	}
}
