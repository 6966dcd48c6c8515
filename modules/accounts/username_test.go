package accounts_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/modules/accounts/identity"
	"marquee/platform/fault"
)

var counted atomic.Int64

// unique is a name that nobody has yet.
func unique() string { return fmt.Sprintf("someone-%d", counted.Add(1)) }

// signUpAs signs up under a username; the address is another each time.
func signUpAs(t *testing.T, b *bundle, username string, set map[string]any) response {
	t.Helper()
	fields := map[string]any{"username": username}
	for k, v := range set {
		fields[k] = v
	}
	return b.post(t, "/customers/signup", "", signupOf(unique(), fields))
}

// Somebody takes a name that reads like an admin's, another customer's, or like the
// house itself.
func TestNamesThatReadLikeAnothers(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	accountstest.Admin(t, o.db, func(n *accounts.NewUser) { n.Username = "marquee-team" })
	accountstest.Customer(t, o.db, func(n *accounts.NewUser) { n.Username = "paul" })
	for _, taken := range []string{
		"rnarquee-team", "MARQUEE-TEAM", "marquee−team", "pauI", "pau1", "PAUL", "раul", "root", "Root", "rооt",
		"r00t", "admin", "adrnin", "ADMIN", "ADMlN", "аdmіn", "support", "Suppоrt", "suporte", "sup0rte", "ѕuрроrt",
		"ʀᴏᴏᴛ", "ᴀᴅᴍɪɴ", "Ádmin", "ádmin", "$uporte", "ꜱᴜᴘᴘᴏʀᴛ", "supõrte", "4dm!n", "ADMÍN",
	} {
		a := signUpAs(t, o.bundle, taken, nil)
		if a.status == 422 {
			require.Contains(t, a.raw, "one script", taken)
		} else {
			require.Equal(t, 409, a.status, "%s: %s", taken, a.raw)
			require.Equal(t, fault.CodeConflict, a.code())
		}
		require.Equal(t, "username", a.field(), taken)

		a = o.put(t, "/customers/me", o.customerJWT, []any{map[string]any{"username": taken}})
		require.Contains(t, []int{409, 422}, a.status, "%s: %s", taken, a.raw)
		require.Equal(t, "username", a.field(), taken)
		a = o.put(t, "/customers", o.rootToken, change(o.customer.ID, map[string]any{"username": taken}))
		require.Contains(t, []int{409, 422}, a.status, "%s: %s", taken, a.raw)
		require.Equal(t, "username", a.field(), taken)
	}
	for _, name := range []string{"pauI", "rnarquee-team"} {
		require.Equal(t, 409,
			o.post(t, "/users", o.rootToken, newAdmin(unique(), map[string]any{"username": name})).status, name)
		require.Equal(t, 409, o.put(t, "/my-user", o.adminToken, []any{map[string]any{"username": name}}).status, name)
	}
	require.Equal(t, 200, o.post(t, "/users", o.rootToken, newAdmin("root", nil)).status,
		"the house's names are for the house")
	pair := append(newAdmin("twin-ol", nil), newAdmin("twin-o1", map[string]any{"email": "other@example.com"})...)
	a := o.post(t, "/users", o.rootToken, pair)
	require.Equal(t, 409, a.status, a.raw)
	require.Equal(t, "username is taken, or reads like one that is (index 1 of the body)", a.detail())

	for _, free := range []string{
		"pauline", "Пётр", "山田たろう", "이름-李", "josé da silva", "ana_2", "supporter", "administradora", "raízes", "ca$h",
	} {
		require.Equal(t, 200, signUpAs(t, o.bundle, free, nil).status, free)
	}
	require.Equal(t, 200,
		o.put(t, "/customers/me", o.customerJWT, []any{map[string]any{"username": "Some Name"}}).status)
	require.Equal(t, 200, o.put(t, "/customers/me", o.customerJWT, []any{map[string]any{"username": "SOME name"}}).
		status, "one's own name reads like itself")
	require.Equal(t, 409, signUpAs(t, o.bundle, "sorne name", nil).status)
	require.Equal(t, 200, o.put(t, "/customers/me", o.customerJWT, []any{map[string]any{"username": "another"}}).status)
	require.Equal(t, 200, signUpAs(t, o.bundle, "sorne name", nil).status, "a name that was given up is free")
	require.Equal(t, map[int]int{200: 1, 409: 4}, parallel(5, func() int {
		return signUpAs(t, o.bundle, []string{"dan1el0", "danIel0", "danleIO"}[int(counted.Add(1))%3], nil).status
	}), "of many at once one has it")
}

// Names that show something else than they hold, at every place where a name is set;
// and those that need a joiner to be written at all.
func TestNamesWithoutHiddenCharacters(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	hidden := []string{
		"Ana\u202e Silva", "Ana\u2066Silva", "Ana\u200bSilva", "Ana\ufeffSilva", "Ana\u0007Silva", "Ana\u3164Silva",
		"Ana\u2800Silva", "Ana\u2028Silva", "Ana\u00adSilva", "Ana\U000e0041", "Ana\ufe0f", "Ana\U0001d159Silva",
		"Ana\ufffcSilva", "Ana\uffffSilva", "Ana\U0001fffeSilva", "Ana\ufdd0Silva", "Ana\ue000Silva",
		"Ana\U000f0000Silva", "Ana\u0378Silva", "\u2003\u2003\u2003", "     ",
	}
	for _, name := range append(hidden, "\u200d\u200d\u200d", "Ana \u200dSilva") {
		a := signUpAs(t, o.bundle, unique(), map[string]any{"full_name": name})
		require.Equal(t, 422, a.status, "%q: %s", name, a.raw)
		require.Equal(t, "full_name", a.field())
		for field, a := range map[string]response{
			"username":  signUpAs(t, o.bundle, name, nil),
			"full_name": o.put(t, "/customers/me", o.customerJWT, []any{map[string]any{"full_name": name}}),
			"name":      o.put(t, "/my-user", o.adminToken, []any{map[string]any{"name": name}}),
		} {
			require.Equal(t, 422, a.status, "%s %q: %s", field, name, a.raw)
			require.Equal(t, field, a.field())
		}
		require.Equal(t, 422,
			o.put(t, "/customers", o.rootToken, change(o.customer.ID, map[string]any{"full_name": name})).status)
		require.Equal(t, 422,
			o.put(t, "/users", o.rootToken, change(o.admin.ID, map[string]any{"full_name": name})).status)
		require.Equal(t, 422, o.post(t, "/users", o.rootToken, newAdmin(unique(), map[string]any{"name": name})).status)
		_, err := o.svc.CheckoutCustomer(t.Context(), accounts.Buyer{
			FullName: name, Email: "guest@example.com", TaxID: "52998224725",
		})
		require.True(t, fault.Is(err, fault.KindInvalid), "%q: %v", name, err)
	}
	for _, name := range []string{
		"مریم می\u200cخواهد", "ක්\u200dරිෂාන්ත", "José María Ñuñez", "山田 太郎", "D'Ávila-Souza Jr.",
	} {
		require.Equal(t, 200, o.put(t, "/customers/me", o.customerJWT, []any{map[string]any{"full_name": name}}).status,
			name)
	}
	require.Equal(t, 422, signUpAs(t, o.bundle, "می\u200cخواهد", nil).status, "usernames take no joiner")
	require.Equal(t, 200, signUpAs(t, o.bundle, "ana souza", nil).status)
	for _, spaced := range []string{"ana  souza", "ana\u00a0souza", "ana\u2003souza", "ana \u3000souza", "new  name"} {
		a := signUpAs(t, o.bundle, spaced, nil)
		require.Equal(t, 422, a.status, "%q: %s", spaced, a.raw)
		require.Equal(t, "username", a.field())
	}
}

// Who has such a name already goes on: two alike keep theirs, and save what they like.
func TestNamesFromBeforeStay(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	first, second := accountstest.Customer(t, o.db), accountstest.Customer(t, o.db)
	admin := accountstest.Admin(t, o.db)
	o.exec(t, `UPDATE accounts.users SET username = 'lucas' WHERE id = $1`, first.ID)
	o.exec(t, `UPDATE accounts.users SET username = E'1uсas\u200b', full_name = E'Ana\u202eSilva' WHERE id = $1`,
		second.ID)
	o.exec(t, `UPDATE accounts.users SET username = 'lucаs', full_name = E'Ana\u202eSilva' WHERE id = $1`, admin.ID)
	require.Zero(t, o.count(t, `SELECT count(*) FROM accounts.username_skeletons WHERE username IN ('lucas', 'lucаs')`),
		"as from before, or by an older version")
	o.work(t, identity.FillSkeletonsArgs{})
	require.Eventually(t, func() bool {
		return o.count(t, `SELECT count(*) FROM accounts.username_skeletons WHERE skeleton = 'lucas'`) == 3
	}, time.Minute, 20*time.Millisecond)
	require.Equal(t, 1, o.count(t, `SELECT count(*) FROM accounts.username_skeletons WHERE user_id = $1 AND NOT shared`,
		admin.ID), "the admin's counts as theirs")

	token := o.token(t, "1uсas\u200b")
	a := o.put(t, "/customers/me", token, []any{map[string]any{
		"username": "1uсas\u200b", "full_name": "Ana\u202eSilva", "phone": "+5511912345678",
	}})
	require.Equal(t, 200, a.status, a.raw)
	require.Equal(t, "+5511912345678", a.doc(t)["phone"])
	read := o.get(t, "/customers?_id="+second.ID.String(), o.rootToken).doc(t)
	a = o.put(t, "/customers", o.rootToken, change(second.ID, map[string]any{
		"username": read["username"], "full_name": read["full_name"],
	}))
	require.Equal(t, 200, a.status, a.raw)
	a = o.put(t, "/customers", o.rootToken, change(second.ID, map[string]any{"email": "moved@example.com"}))
	require.Equal(t, 200, a.status, "a new address does not judge the name: %s", a.raw)
	require.Equal(t, 200, o.put(t, "/users", o.rootToken, change(admin.ID, map[string]any{
		"username": "lucаs", "full_name": "Ana\u202eSilva", "name": "The admin",
	})).status)
	require.Equal(t, 409, signUpAs(t, o.bundle, "Iucas", nil).status)
	o.exec(t, `UPDATE accounts.users SET username = 'paula' WHERE id IN ($1)`, admin.ID)
	require.Equal(t, 409, signUpAs(t, o.bundle, "Iucas", nil).status, "while anybody has such a name")
}

// The passwords that are tried first, and one's own e-mail or name, at every place
// where a password is set.
func TestPasswordsThatAreTriedFirst(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	o.work(t)
	c := accountstest.Customer(t, o.db, func(n *accounts.NewUser) {
		n.FullName, n.Username, n.Email = "Fernanda Montenegro Assunção", "fer.monte", "fernanda.m+tv@example.com"
	})
	token := o.token(t, c.Username)
	for _, weak := range []string{
		"Password1", "12345678", "FERNANDA.M@example.com", "FERNANDA.M+tv@example.com", "fernandam", "fernandamtv",
		"fernanda", "Fernanda Montenegro-Assuncao", "montenegro", "assuncao", "ASSUNÇÃO", "fermonte", "987654321",
		"123123123", "aaaaaaaa", "abcd1234", "senha1234", "Corinthians", "  corinthians ", "ｃｏｒｉｎｔｈｉａｎｓ",
		"Flamengo2024!", "pass word", "i love you", "12-34-56-78", "12345678\u200b", "pass\u00adword",
	} {
		a := o.post(t, "/auth/change-password", token, map[string]any{
			"current_password": accountstest.Password, "new_password": weak,
		})
		require.Equal(t, 400, a.status, "%s: %s", weak, a.raw)
		require.Equal(t, fault.CodeValidation, a.code())
		require.Equal(t, "new_password", a.field())
		require.NotContains(t, a.raw, weak)

		a = o.post(t, "/customers/signup", "", signupOf("x", map[string]any{
			"full_name": "Fernanda Montenegro Assunção", "username": "fer.monte", "email": "fernanda.m+tv@example.com",
			"password": weak,
		}))
		require.Equal(t, 422, a.status, "%s: %s", weak, a.raw)
		require.Equal(t, "password", a.field())
		a = o.post(t, "/users", o.rootToken, newAdmin("x", map[string]any{
			"name": "Fernanda Montenegro Assunção", "full_name": "Fer Monte", "username": "the.other",
			"email": "fernanda.m+tv@example.org", "password": strings.Replace(weak, ".com", ".org", 1),
		}))
		require.Equal(t, 422, a.status, "%s: %s", weak, a.raw)
		require.Equal(t, "password", a.field())
	}
	require.Equal(t, 422,
		o.put(t, "/users", o.rootToken, change(o.admin.ID, map[string]any{"password": strings.ToUpper(o.admin.Email)})).
			status)
	require.Equal(t, 422, o.put(t, "/users", o.rootToken, change(o.admin.ID, map[string]any{
		"name": "Gil Gilberto", "password": "gilberto",
	})).status)

	code := forgot(t, o.bundle, c.Email, 1)
	for _, weak := range []string{"baseball", strings.ToUpper(c.Email)} {
		require.Equal(t, 400, reset(t, o.bundle, c.Email, wrongCode(code), weak).status)
	}
	require.Contains(t, reset(t, o.bundle, c.Email, wrongCode(code), "montenegro").detail(), "Wrong code",
		"the name is not told to who has no code")
	a := reset(t, o.bundle, c.Email, code, "MONTENEGRO")
	require.Equal(t, 400, a.status, a.raw)
	require.Equal(t, "new_password", a.field())
	require.Equal(t, 200, reset(t, o.bundle, c.Email, code, "a sound password").status,
		"the code was not used up by it")

	off := openOffice(t, func(d *accounts.Deps) { d.Config.NoPasswordList = true })
	require.Equal(t, 200,
		off.post(t, "/customers/signup", "", signupOf("weak", map[string]any{"password": "password"})).status)
	require.Equal(t, 200, off.post(t, "/auth/change-password", off.customerJWT, map[string]any{
		"current_password": accountstest.Password, "new_password": strings.ToUpper(off.customer.Email),
	}).status)
}
