package board_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts/accountstest"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

// profile is the table of docs/contract/board.md, by its lists.
var profile = map[string][]string{
	"view":   {"requisition_get", "requisition_status_get", "requisition_file_download"},
	"create": {"requisition_post", "requisition_status_post", "requisition_file_upload"},
	"update": {"requisition_put", "requisition_status_put"},
	"delete": {"requisition_delete", "requisition_status_delete", "requisition_file_delete"},
}

func allHandlers() (all []string) {
	for _, list := range profile {
		all = append(all, list...)
	}
	slices.Sort(all)
	return all
}

// boardRoutes are the module's routes as they are registered.
func (b *bundle) boardRoutes() []httpapi.RouteInfo {
	return slices.DeleteFunc(b.api.Routes(), func(r httpapi.RouteInfo) bool {
		return !strings.HasPrefix(r.Path, httpapi.Prefix+"/admin/requisition")
	})
}

// TestEveryHandlerOfTheTableGuardsItsRoute: each handler name stands at exactly
// one route, its own, and only the history and the events share another's.
func TestEveryHandlerOfTheTableGuardsItsRoute(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var guarded []string
	for _, r := range b.boardRoutes() {
		require.Equal(t, httpapi.Admin, r.Auth, r.Path)
		if r.Name == "requisition_history_get" || r.Name == "requisition_events" {
			require.Equal(t, "requisition_get", r.Permission)
			continue
		}
		require.Equal(t, r.Name, r.Permission, r.Path)
		guarded = append(guarded, r.Name)
	}
	slices.Sort(guarded)
	require.Equal(t, allHandlers(), guarded)
}

// TestSeededProfileIsTheTable: what the migrations give new admins is each
// handler in its list.
func TestSeededProfileIsTheTable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var view, create, update, remove []string
	require.NoError(t, b.db.QueryRow(t.Context(), `SELECT view, "create", "update", "delete" FROM accounts.users_type`).
		Scan(&view, &create, &update, &remove))
	require.Equal(t, map[string][]string{"view": view, "create": create, "update": update, "delete": remove}, profile)
}

// TestPermissions calls every route as everybody: with and without the handler's
// name, root, a customer, a stranger. Who is let in is told apart from who is not
// by the status alone: no call here is refused for another reason with one of
// 401 and 403.
func TestPermissions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	in := b.made("To do")[0].ID
	parent := b.card("held", in)
	file := b.attached(parent.ID, "note.txt", []byte("note"))

	with, without := b.holder(), b.holder()
	callers := map[string]string{
		"with": accountstest.Token(t, b.db, with.Username), "without": accountstest.Token(t, b.db, without.Username),
		"root":     accountstest.Token(t, b.db, accountstest.Root(t, b.db).Username),
		"customer": accountstest.Token(t, b.db, accountstest.Customer(t, b.db).Username),
		"forged":   "eyJhbGciOiJub25lIn0.e30.", "nobody": "",
	}
	path := strings.NewReplacer("{id}", parent.ID.String(), "{file_id}", file.FileID.String())
	for _, r := range b.boardRoutes() {
		b.grant(with.ID, r.Permission)
		b.grant(without.ID, slices.DeleteFunc(allHandlers(), func(h string) bool { return h == r.Permission })...)
		for who, token := range callers {
			res := b.anon.As(token).Do(r.Method, path.Replace(r.Path), nil)
			about := []any{"%s %s as %s: %s", r.Method, r.Path, who, res.Body}
			switch who {
			case "with", "root":
				require.NotContains(t, []int{401, 403, 500}, res.Status, about...)
			case "without":
				require.Equal(t, http.StatusUnauthorized, res.Status, about...)
				require.Equal(t, "The user has no permission for the handler "+r.Permission+".", res.Detail())
				require.Empty(t, res.Code())
			case "customer":
				require.Equal(t, http.StatusForbidden, res.Status, about...)
				require.Equal(t, "FORBIDDEN", res.Code())
			case "forged":
				require.Equal(t, http.StatusForbidden, res.Status, about...)
				require.Equal(t, "Access Denied: Could not validate token.", res.Detail())
			case "nobody":
				require.Equal(t, http.StatusUnauthorized, res.Status, about...)
				require.Equal(t, "Not authenticated", res.Detail())
			}
		}
		// Whoever was let in may have taken the file off: the next route finds one.
		if len(b.read(parent.ID).Files) == 0 {
			path = strings.NewReplacer("{id}", parent.ID.String(), "{file_id}",
				b.attached(parent.ID, "note.txt", []byte("note")).FileID.String())
		}
	}
}

// TestDownloadPermissions: the three ways to say who one is, for everybody.
func TestDownloadPermissions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	data := []byte("for admins alone")
	file := b.attached(b.card("held", b.made("To do")[0].ID).ID, "note.txt", data)
	with := b.holder("requisition_file_download")
	without := b.holder(slices.DeleteFunc(allHandlers(),
		func(h string) bool { return h == "requisition_file_download" })...)
	root, customer := accountstest.Root(t, b.db), accountstest.Customer(t, b.db)
	path := "/admin/requisitions/files/" + file.FileID.String()

	for _, who := range []struct {
		id       objectid.ID
		username string
		want     int
	}{
		{id: with.ID, username: with.Username, want: 200},
		{id: root.ID, username: root.Username, want: 200},
		{id: without.ID, username: without.Username, want: 401},
		{id: customer.ID, username: customer.Username, want: 403},
	} {
		token := accountstest.Token(t, b.db, who.username)
		archive, _, err := b.files.IssueArchiveToken(t.Context(), b.db, who.id, "")
		require.NoError(t, err)
		for _, way := range []func() (*http.Response, []byte){
			func() (*http.Response, []byte) { return b.anon.Fetch(path, "Authorization", "Bearer "+token) },
			func() (*http.Response, []byte) { return b.anon.Fetch(path + "?token=" + token) },
			func() (*http.Response, []byte) { return b.anon.Fetch(path + "?archive_token=" + archive) },
		} {
			res, body := way()
			require.Equal(t, who.want, res.StatusCode, "%s: %s", who.username, body)
			require.Equal(t, who.want == 200, string(body) == string(data), "%s", body)
			switch who.want {
			case 401:
				require.Contains(t, string(body), "no permission for the handler requisition_file_download")
			case 403:
				require.Contains(t, string(body), "FORBIDDEN")
			}
		}
	}

	for address, want := range map[string]int{
		"": 401, "?token=": 401, "?archive_token=": 401, "?token=nonsense": 403, "?archive_token=nonsense": 403,
	} {
		res, body := b.anon.Fetch(path + address)
		require.Equal(t, want, res.StatusCode, "%q: %s", address, body)
	}
	res, _ := b.anon.Fetch(path+"?token="+accountstest.Token(t, b.db, with.Username), "Authorization", "Bearer nonsense")
	require.Equal(t, http.StatusForbidden, res.StatusCode, "a good token does not mend a bad header")
	res, _ = b.anon.Fetch(path, "Authorization", "Basic "+accountstest.Token(t, b.db, with.Username))
	require.Equal(t, http.StatusUnauthorized, res.StatusCode)
}

// TestPermissionsAreReadLive: an edit of the profile counts at the next request
// of the same token.
func TestPermissionsAreReadLive(t *testing.T) {
	t.Parallel()
	b := setup(t)
	u := b.holder()
	c := b.login(u.Username)
	c.Get("/admin/requisitions").Expect(401)
	b.grant(u.ID, "requisition_get")
	c.Get("/admin/requisitions").Expect(200)
	b.grant(u.ID)
	c.Get("/admin/requisitions").Expect(401)
	_, err := b.db.Exec(t.Context(), "UPDATE accounts.users SET enable = false WHERE id = $1", u.ID)
	require.NoError(t, err)
	require.Equal(t, "Access Denied: Could not validate token.", c.Get("/admin/requisitions").Expect(403).Detail())
}

// TestAttachmentsHaveNoOtherDoor: no other file route opens or changes what only
// the permission may.
func TestAttachmentsHaveNoOtherDoor(t *testing.T) {
	t.Parallel()
	b := setup(t)
	parent := b.card("held", b.made("To do")[0].ID)
	file := b.attached(parent.ID, "note.txt", []byte("secret"))
	without := b.login(b.holder("requisition_get", "requisition_file_upload", "requisition_file_delete").Username)
	customer := b.login(accountstest.Customer(t, b.db).Username)

	without.Get("/archive-records/" + file.FileID.String()).Expect(401)
	customer.Get("/archive-records/" + file.FileID.String()).Expect(404)
	b.admin.Get("/archive-records/" + file.FileID.String()).Expect(200)
	b.admin.Delete("/upload-file/archive-records/"+parent.ID.String()+"/"+file.FileID.String(), nil).Expect(404)
	formType, body := multipartFile(t, "x.txt", "text/plain", []byte("x"))
	b.admin.Send(http.MethodPost, "/upload-file/archive-records/"+parent.ID.String(), formType, body).Expect(404)
	public := strings.TrimPrefix(b.files.PublicURL(file.FileID), "http://marquee.test"+httpapi.Prefix)
	b.anon.Get(public).Expect(404)
	require.Len(t, b.read(parent.ID).Files, 1)
}
