package accounts_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
	"marquee/testutil/secrettest"
)

func TestProfiles(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	seeded := o.get(t, "/users-type", o.rootToken).doc(t)
	require.Equal(t, "Requisitions", seeded["name"])
	require.Contains(t, seeded["create"], "requisition_post")

	made := o.post(t, "/users-type", o.rootToken, []any{map[string]any{
		"name": "Readers",
		"view": []string{"requisition_get"},
	}})
	require.Equal(t, 200, made.status, made.raw)
	doc := made.doc(t)
	require.Equal(t, []any{}, doc["delete"])
	require.Equal(t, o.root.ID.String(), doc["document_created_by_id"])
	id := objectid.ID(doc["_id"].(string))
	edited := o.put(t, "/users-type", o.rootToken, change(id, map[string]any{"update": []string{"requisition_put"}}))
	require.Equal(t, []any{"requisition_get"}, edited.doc(t)["view"])
	require.Equal(t, []any{"requisition_put"}, edited.doc(t)["update"])
	require.Equal(t, 422,
		o.put(t, "/users-type", o.rootToken, change(id, map[string]any{"update": []string{"no_such_handler"}})).status)
	o.exec(t, `UPDATE accounts.users_type SET "update" = '{requisition_put,renamed_since}' WHERE id = $1`, id)
	refused := o.put(t, "/users-type", o.rootToken, []any{o.get(t, "/users-type?_id="+id.String(), o.rootToken).doc(t)})
	require.Equal(t, 200, refused.status, "what a list shows may be sent back: %s", refused.raw)

	for name, c := range map[string]struct {
		body   any
		status int
		code   string
		field  string
	}{
		"no name": {body: map[string]any{}, status: 422, code: fault.CodeValidation, field: "name"},
		"long name": {
			body: map[string]any{"name": strings.Repeat("x", 101)}, status: 422, code: fault.CodeValidation,
			field: "name",
		},
		"taken name": {body: map[string]any{"name": "Readers"}, status: 409, code: fault.CodeConflict, field: "name"},
		"no list": {
			body: map[string]any{"name": "x", "view": "a"}, status: 422, code: fault.CodeValidation, field: "view",
		},
		"no handler": {
			body: map[string]any{"name": "x", "view": []string{"GET /users"}}, status: 422, code: fault.CodeValidation,
			field: "view[0]",
		},
		"no route": {
			body: map[string]any{"name": "x", "view": []string{"no_such_handler"}}, status: 422,
			code: fault.CodeValidation, field: "view[0]",
		},
		"no route last": {
			body: map[string]any{"name": "x", "delete": []string{"user_delete", "no_such_handler"}}, status: 422,
			code: fault.CodeValidation, field: "delete[1]",
		},
		"unknown field": {
			body: map[string]any{"name": "x", "admin": true}, status: 422, code: fault.CodeValidation, field: "admin",
		},
	} {
		a := o.post(t, "/users-type", o.rootToken, []any{c.body})
		require.Equal(t, c.status, a.status, "%s: %s", name, a.raw)
		require.Equal(t, c.code, a.code(), name)
		require.Equal(t, c.field, a.field(), name)
	}

	require.Equal(t, 200, o.put(t, "/users", o.rootToken, change(o.admin.ID, map[string]any{"type_user": []any{id}})).
		status)
	used := o.remove(t, "/users-type", o.rootToken, ids(id))
	require.Equal(t, 409, used.status, used.raw)
	require.Equal(t, fault.CodeConflict, used.code())
	require.Equal(t, 200,
		o.put(t, "/users", o.rootToken, change(o.admin.ID, map[string]any{"type_user": []any{}})).status)
	require.Equal(t, 200, o.remove(t, "/users-type", o.rootToken, ids(id)).status)
	require.Equal(t, 404, o.remove(t, "/users-type", o.rootToken, ids(id)).status)
	require.Equal(t, 404, o.put(t, "/users-type", o.rootToken, change(id, map[string]any{"name": "x"})).status)
	require.Equal(t, 404, o.get(t, "/users-type?_id="+id.String(), o.rootToken).status)
}

// TestPermissionsCountAtTheNextRequest edits a profile, and what a user carries,
// under the eyes of one token.
func TestPermissionsCountAtTheNextRequest(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	api := httpapi.New(httpapi.Config{Auth: o.svc, Log: secrettest.Logger(t)})
	httpapi.Route(api, http.MethodGet, "/board", "requisition_get", httpapi.Admin,
		func(context.Context, *struct{}) (*httpapi.Output[struct{}], error) {
			return httpapi.OK(struct{}{})
		}, httpapi.Permission())
	board := apitest.New(t, api)
	status := func(token string) int { return board.As(token).Get("/board").Status }

	const profile = objectid.ID("000000000000000000000001")
	// The route is not among those of the office, whose names profiles may hold; another profile keeps it known.
	require.Equal(t, 200, o.post(t, "/users-type", o.rootToken, []any{map[string]any{
		"name": "Keeper",
		"view": []string{"requisition_get"},
	}}).status)
	require.Equal(t, 200, status(o.adminToken), "the seeded profile permits it")
	require.Equal(t, 200,
		o.put(t, "/users-type", o.rootToken, change(profile, map[string]any{"view": []string{}})).status)
	require.Equal(t, 401, status(o.adminToken), "the profile does no longer")
	require.Equal(t, 200, status(o.rootToken), "root needs none")
	require.Equal(t, 200,
		o.put(t, "/users-type", o.rootToken, change(profile, map[string]any{"delete": []string{"requisition_get"}})).
			status)
	require.Equal(t, 401, status(o.adminToken), "a name counts only in its own list")
	require.Equal(t, 200,
		o.put(t, "/users-type", o.rootToken, change(profile, map[string]any{"view": []string{"requisition_get"}})).
			status)
	require.Equal(t, 200, status(o.adminToken))
	require.Equal(t, 200, o.put(t, "/users", o.rootToken, change(o.admin.ID, map[string]any{"type_user": []string{}})).
		status)
	require.Equal(t, 401, status(o.adminToken), "the admin carries it no longer")
	require.Equal(t, 200, o.get(t, "/my-user", o.adminToken).status, "the token stays good")
	require.Equal(t, 403, status(o.customerJWT))
}
