package attacks

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
)

func asRoot(n *accounts.NewUser) { n.Root = true }

// listOf is the list of a profile in which a permission counts, by the method of
// the operation that carries its name.
var listOf = map[string]string{"GET": "view", "POST": "create", "PUT": "update", "DELETE": "delete"}

// A handler's name stands in a list that nobody reads with care: the right to look
// becomes the right to write.
func TestRightFromAnotherList(t *testing.T) {
	t.Parallel()
	p := attacked(t, unthrottled)
	_, root := p.NewAdmin(asRoot)
	methods := map[string]string{}
	for _, r := range p.Routes() {
		methods[r.Name] = r.Method
	}
	granted, wrong := map[string][]string{}, map[string][]string{}
	for _, r := range p.Routes() {
		if r.Permission == "" {
			continue
		}
		for _, list := range listOf {
			if list == listOf[methods[r.Permission]] {
				granted[list] = append(granted[list], r.Permission)
			} else {
				wrong[list] = append(wrong[list], r.Permission)
			}
		}
	}
	require.Len(t, granted, 4)
	user, admin := p.NewAdmin()
	profile := func(name string, lists map[string][]string) string {
		fields := object{"name": name}
		for list, names := range lists {
			fields[list] = names
		}
		return p.made(root, "/users-type", fields).String()
	}
	statuses := func(profile string, refused bool) {
		t.Helper()
		root.Put("/users", []object{{"_id": user.ID, "type_user": []string{profile}}}).Expect(200)
		for _, r := range p.Routes() {
			if r.Permission == "" {
				continue
			}
			path := strings.NewReplacer("{id}", "000000000000000000000009", "{file_id}", "000000000000000000000009").
				Replace(r.Path)
			a := admin.Do(r.Method, path, nil)
			require.Equal(t, refused, a.Status == 401, "%s %s: %s", r.Method, r.Path, a.Body)
		}
	}
	statuses(profile("Every name in the wrong lists", wrong), true)
	statuses(profile("Every name in its own list", granted), false)
}

// Whoever has no rights takes them from a colleague, or takes the colleague away.
func TestColleagueWithMoreRights(t *testing.T) {
	t.Parallel()
	p := attacked(t, unthrottled)
	_, root := p.NewAdmin(asRoot)
	colleague, _ := p.NewAdmin()
	attacker, plain := p.NewAdmin()
	root.Put("/users", []object{{"_id": attacker.ID, "type_user": []string{}}}).Expect(200)
	for _, fields := range []object{
		{"password": "a password that I know"},
		{"email": "mine@example.com"},
		{"username": "mine"},
		{"enable": false},
		{"name": "Nobody"},
	} {
		fields["_id"] = colleague.ID
		require.Equal(t, "FORBIDDEN", plain.Put("/users", []object{fields}).Expect(403).Code())
		plain.Put("/users", []object{{"_id": attacker.ID, "name": "A decoy"}, fields}).Expect(403)
	}
	plain.Delete("/users?_id="+colleague.ID.String(), nil).Expect(403)
	p.SignIn(p.Guest, colleague.Username, "correct horse battery").Expect(200)
}

// Where the account itself is closed, the attacker goes for what stands with it: the
// colleague's files, and every route of admins that takes an id.
func TestFilesOfAColleagueWithMoreRights(t *testing.T) {
	t.Parallel()
	p := attacked(t, unthrottled)
	chief, root := p.NewAdmin(asRoot)
	colleague, equal := p.NewAdmin()
	attacker, plain := p.NewAdmin()
	root.Put("/users", []object{{"_id": attacker.ID, "type_user": []string{}}}).Expect(200)
	customer, _ := p.NewCustomer()
	const refused = "Only a root user, or an admin who has all rights of this user, may change or delete them."
	for user, sentence := range map[string]string{
		chief.ID.String(): "Only a root user may change or delete a root user.", colleague.ID.String(): refused,
	} {
		file := p.upload(root, objectid.ID(user), "contract.pdf", []byte("%PDF- mine"))
		for what, a := range map[string]*apitest.Response{
			"delete":             plain.Delete("/upload-file/archive-records/"+user+"/"+file, nil),
			"add":                p.uploading(plain, user, "planted.pdf", []byte("%PDF- theirs")),
			"add without a body": plain.Post("/upload-file/archive-records/"+user, nil),
		} {
			require.Equal(t, http.StatusForbidden, a.Status, "%s: %s", what, a.Body)
			require.Equal(t, "FORBIDDEN", a.Code(), what)
			require.Equal(t, sentence, a.Detail(), what)
		}
		plain.Get("/archive-records/" + file).Expect(200) // reading is every admin's
	}

	// Every route of admins, with the colleague or their file in each place for an id.
	file := p.upload(root, colleague.ID, "badge.png", []byte("a badge"))
	const owned = `SELECT md5(concat(
		(SELECT jsonb_agg(to_jsonb(u) ORDER BY id) FROM accounts.users u WHERE id <> $1), (SELECT jsonb_agg(to_jsonb(f) ORDER BY id) FROM files.files f),
		(SELECT jsonb_agg(to_jsonb(p) ORDER BY id) FROM accounts.users_type p), (SELECT jsonb_agg(to_jsonb(a) ORDER BY token_hash) FROM files.archive_tokens a WHERE user_id <> $1)))`
	hash := func() (h string) {
		require.NoError(t, p.DB.QueryRow(t.Context(), owned, attacker.ID).Scan(&h))
		return h
	}
	before := hash()
	for _, r := range p.Routes() {
		if r.Method == http.MethodGet || r.Auth == httpapi.Public || !strings.HasPrefix(r.Path, httpapi.Prefix) {
			continue
		}
		path := r.Path
		for strings.Contains(path, "{") {
			from, to := strings.Index(path, "{"), strings.Index(path, "}")
			id := colleague.ID.String()
			if path[from:to+1] == "{file_id}" {
				id = file
			}
			path = path[:from] + id + path[to+1:]
		}
		id := colleague.ID.String()
		for _, body := range []any{
			nil,
			[]object{{"_id": id, "name": "Nobody", "full_name": "No Body", "enable": false}},
			object{"_id": id, "avatar_id": file},
		} {
			plain.Do(r.Method, path+"?_id="+id+"&user_id="+id, body)
			require.Equal(t, before, hash(), "%s %s with %v", r.Method, path, body)
		}
	}

	// Who has all rights of the user may; so may everybody with customers' and their own.
	for client, user := range map[*apitest.Client]string{
		equal: attacker.ID.String(), root: chief.ID.String(), plain: customer.ID.String(),
	} {
		client.Delete("/upload-file/archive-records/"+user+"/"+
			p.uploading(client, user, "own.txt", []byte("own")).Expect(200).Map()["file_id"].(string), nil).Expect(200)
	}
	self := attacker.ID.String()
	plain.Delete("/upload-file/archive-records/"+self+"/"+
		p.uploading(plain, self, "own.txt", []byte("own")).Expect(200).Map()["file_id"].(string), nil).Expect(200)
}
