package attacks

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
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
	_, root := p.admin(asRoot)
	methods := map[string]string{}
	for _, r := range p.api.Routes() {
		methods[r.Name] = r.Method
	}
	own, wrong := map[string][]string{}, map[string][]string{}
	for _, r := range p.api.Routes() {
		if r.Permission == "" {
			continue
		}
		for _, list := range listOf {
			if list == listOf[methods[r.Permission]] {
				own[list] = append(own[list], r.Permission)
			} else {
				wrong[list] = append(wrong[list], r.Permission)
			}
		}
	}
	require.Len(t, own, 4)
	user, admin := p.admin()
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
		for _, r := range p.api.Routes() {
			if r.Permission == "" {
				continue
			}
			path := strings.NewReplacer("{id}", "000000000000000000000009", "{file_id}", "000000000000000000000009").Replace(r.Path)
			a := admin.Do(r.Method, path, nil)
			require.Equal(t, refused, a.Status == 401, "%s %s: %s", r.Method, r.Path, a.Body)
		}
	}
	statuses(profile("Every name in the wrong lists", wrong), true)
	statuses(profile("Every name in its own list", own), false)
}

// Whoever has no rights takes them from a colleague, or takes the colleague away.
func TestColleagueWithMoreRights(t *testing.T) {
	t.Parallel()
	p := attacked(t, unthrottled)
	_, root := p.admin(asRoot)
	colleague, _ := p.admin()
	attacker, plain := p.admin()
	root.Put("/users", []object{{"_id": attacker.ID, "type_user": []string{}}}).Expect(200)
	for _, fields := range []object{
		{"password": "a password that I know"}, {"email": "mine@example.com"}, {"username": "mine"}, {"enable": false}, {"name": "Nobody"},
	} {
		fields["_id"] = colleague.ID
		require.Equal(t, "FORBIDDEN", plain.Put("/users", []object{fields}).Expect(403).Code())
		plain.Put("/users", []object{{"_id": attacker.ID, "name": "A decoy"}, fields}).Expect(403)
	}
	plain.Delete("/users?_id="+colleague.ID.String(), nil).Expect(403)
	p.signIn(p.nobody, colleague.Username, "correct horse battery").Expect(200)
}
