package accounts_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/platform/fault"
	"marquee/platform/mail"
	"marquee/platform/objectid"
)

var undoLink = regexp.MustCompile(`(?:http://marquee\.test)?/api/v1/auth/undo-email-change#(\S+)`)

// undoToken waits for the nth notice (from 1) to the address and returns what its link
// carries.
func (b *bundle) undoToken(t *testing.T, to string, nth int) (token, text string) {
	t.Helper()
	require.Eventually(t, func() bool {
		var texts []string
		for _, m := range b.catcher.Mails() {
			if m.To == to && undoLink.MatchString(m.Text) {
				require.Contains(t, m.HTML, undoLink.FindString(m.Text))
				texts = append(texts, m.Text)
			}
		}
		if len(texts) < nth {
			return false
		}
		text = texts[len(texts)-nth]
		token = undoLink.FindStringSubmatch(text)[1]
		return true
	}, time.Minute, 20*time.Millisecond, "no notice to %s", to)
	return token, text
}

// noticeWithoutLink waits for a notice to the address, and wants none with a link.
func (b *bundle) noticeWithoutLink(t *testing.T, to string) {
	t.Helper()
	require.Eventually(t, func() bool {
		return slices.ContainsFunc(b.catcher.Mails(),
			func(m mail.Caught) bool { return m.To == to && strings.Contains(m.Text, "…@") })
	}, time.Minute, 20*time.Millisecond, "no notice to %s", to)
	for _, m := range b.catcher.Mails() {
		require.False(t, m.To == to && undoLink.MatchString(m.Text), m.Text)
	}
}

func (b *bundle) undo(t *testing.T, token string) response {
	t.Helper()
	return b.post(t, "/auth/undo-email-change", "", map[string]any{"token": token})
}

// noticeOf waits for a notice to the address without a link.
func (b *bundle) noticeOf(t *testing.T, to string) (text string) {
	t.Helper()
	require.Eventually(t, func() bool {
		for _, m := range b.catcher.Mails() {
			if m.To == to && strings.Contains(m.Text, "…@") {
				text = m.Text
				return true
			}
		}
		return false
	}, time.Minute, 20*time.Millisecond, "no notice to %s", to)
	return text
}

func linking(d *accounts.Deps) {
	d.Config.PublicURL, d.Config.UndoPage = "http://marquee.test", []byte("<html>undo</html>")
}

// moveTo changes the e-mail of whoever has the token.
func (b *bundle) moveTo(t *testing.T, token, email string) {
	t.Helper()
	require.Equal(t, 200, changeEmail(t, b, token, email).status)
	a := confirmEmail(t, b, token, b.mailedCode(t, email, 1))
	require.Equal(t, 200, a.status, a.raw)
	b.clock.Advance(time.Minute)
}

// Somebody who got into an account moves it to an address of their own, and from there to
// another; the owner gets all of it back by the first mail's link, and nobody else keeps
// anything.
func TestATakenAccountIsGivenBack(t *testing.T) {
	t.Parallel()
	b := setup(t, linking).work(t)
	c := accountstest.Customer(t, b.db,
		func(n *accounts.NewUser) { n.Username, n.Email = "the owner", "owner@example.com" })
	thief := b.login(t, c.Username, accountstest.Password)
	token := thief.text("access_token")
	b.moveTo(t, token, "thief@example.com")
	request, text := b.undoToken(t, c.Email, 1)
	require.Contains(t, text, "t…@example.com")
	require.NotContains(t, text, "thief@")
	link, text := b.undoToken(t, c.Email, 2)
	require.Equal(t, request, link, "one link for the request and the change")
	require.Contains(t, text, "7")
	b.moveTo(t, token, "hidden@example.com")
	b.noticeWithoutLink(t, "thief@example.com")
	require.Equal(t, 200, changeEmail(t, b, token, "third@example.com").status)

	a := b.post(t, "/customers/signup", "", signupOf("owner", nil))
	require.Equal(t, 409, a.status, "nobody bars the way back: %s", a.raw)
	require.Equal(t, "email", a.field())
	require.Equal(t, false,
		b.get(t, "/customers/check-availability?email=owner@example.com", "").body["email_available"])
	b.clock.Advance(time.Minute)
	require.Equal(t, 409, changeEmail(t, b, b.token(t, accountstest.Customer(t, b.db).Username), c.Email).status)
	root := b.token(t, accountstest.Root(t, b.db).Username)
	require.Equal(t, 409,
		b.json(t, "PUT", "/customers", root,
			change(accountstest.Customer(t, b.db).ID, map[string]any{"email": c.Email})).status)

	for _, forged := range []string{
		"x", link[:len(link)-1], link + "x", strings.ToUpper(link[:24]) + link[24:],
		objectid.New().String() + link[24:],
	} {
		a := b.undo(t, forged)
		require.Equal(t, 400, a.status, "%s: %s", forged, a.raw)
	}
	require.Equal(t, 422, b.undo(t, "").status)
	require.Equal(t, 200, b.client.Send("GET", "/auth/undo-email-change", "", nil).Status,
		"looking at the page does nothing")
	require.Equal(t, 200, b.get(t, "/customers/me", token).status)

	a = b.undo(t, link)
	require.Equal(t, 200, a.status, a.raw)
	require.Equal(t, 403, b.get(t, "/customers/me", token).status, "all tokens end")
	require.Equal(t, 403,
		b.post(t, "/auth/refresh-token", "", map[string]any{"refresh_token": thief.text("refresh_token")}).status)
	for _, login := range []string{"hidden@example.com", "thief@example.com", c.Email, c.Username} {
		require.Equal(t, 401, b.login(t, login, accountstest.Password).status, "the password holds no more: %s", login)
	}
	code := b.mailedCode(t, c.Email, 1)
	require.Equal(t, 200, reset(t, b, c.Email, code, newPassword).status)
	require.Equal(t, 400, b.undo(t, link).status, "twice")
	a = b.get(t, "/customers/me", b.login(t, "the owner", newPassword).text("access_token"))
	require.Equal(t, 200, a.status, a.raw)
	require.Equal(t, c.Email, a.doc(t)["email"])
	require.Equal(t, "the owner", a.doc(t)["username"])
	require.Equal(t, c.Phone, a.doc(t)["phone"], "a proved profile stays")
}

// Who never proved an address takes nothing by it, and no link undoes what support has set right.
func TestLinksOfAddressesThatNobodyProved(t *testing.T) {
	t.Parallel()
	b := setup(t, linking).work(t)
	a := b.post(t, "/customers/signup", "", signupOf("mistyped", map[string]any{"verify_email_now": false}))
	require.Less(t, a.status, 300, a.raw)
	b.moveTo(t, b.login(t, "mistyped@example.com", "s3cret-enough-mistyped").text("access_token"), "right@example.com")
	b.noticeWithoutLink(t, "mistyped@example.com")

	c := accountstest.Customer(t, b.db)
	b.moveTo(t, b.token(t, c.Username), "moved@example.com")
	link, _ := b.undoToken(t, c.Email, 1)
	root := b.token(t, accountstest.Root(t, b.db).Username)
	res := b.json(t, "PUT", "/customers", root, change(c.ID, map[string]any{"email": "support@example.com"}))
	require.Equal(t, 200, res.status, res.raw)
	require.Equal(t, 400, b.undo(t, link).status)
}

// Who took an account closes it, or uses up the codes of its owner's reset: neither makes
// the link useless.
func TestATakenAccountIsNotDestroyed(t *testing.T) {
	t.Parallel()
	b := setup(t, linking, func(d *accounts.Deps) { d.Config.Throttle.CodeFailures = 10 }).work(t)
	take := func(name string) (c accounts.Customer, token, link string) {
		c = accountstest.Customer(t, b.db,
			func(n *accounts.NewUser) { n.Username, n.Email, n.FullName = name, name+"@example.com", "Olga Owner" })
		token = b.token(t, c.Username)
		b.moveTo(t, token, name+"-thief@example.com")
		link, _ = b.undoToken(t, c.Email, 2)
		return c, token, link
	}
	c, token, link := take("taken")
	a := b.json(t, "DELETE", "/customers/me", token, "")
	require.Equal(t, 409, a.status, a.raw)
	require.Equal(t, fault.CodeConflict, a.code())
	require.Contains(t, a.raw, b.clock.Now().Add(7*24*time.Hour).UTC().Format("2006-01-02"))
	require.Equal(t, 200, b.get(t, "/customers/me", token).status, "nothing is closed")

	require.Equal(t, 200, b.undo(t, link).status)
	guess := func(code string) {
		for range 5 {
			require.Contains(t, []int{400, 429}, reset(t, b, c.Email, wrongCode(code), newPassword).status)
		}
	}
	code := b.mailedCode(t, c.Email, 1)
	guess(code)
	require.Equal(t, 429, reset(t, b, c.Email, code, newPassword).status, "the stranger has used it up")
	require.Equal(t, 200, b.undo(t, link).status, "another one, at once")
	code = b.mailedCode(t, c.Email, 2)
	guess(code)
	guess(code)
	require.Equal(t, 200, b.undo(t, link).status)
	require.Equal(t, 200, reset(t, b, c.Email, b.mailedCode(t, c.Email, 3), newPassword).status,
		"nor do they have to wait")
	require.Equal(t, 400, b.undo(t, link).status, "then it is used")
	require.Equal(t, 200, b.login(t, "taken", newPassword).status)

	c, _, link = take("hidden")
	withPassword := func(password string) response {
		return b.post(t, "/auth/undo-email-change", "", map[string]any{"token": link, "new_password": password})
	}
	for _, weak := range []string{"short", "password1", "Hidden@Example.com", "olga-owner"} {
		a = withPassword(weak)
		require.Equal(t, 400, a.status, a.raw)
		require.Equal(t, "new_password", a.field())
	}
	require.Equal(t, 401, b.login(t, c.Email, accountstest.Password).status, "nothing is undone by a weak one")
	require.Equal(t, 200, b.login(t, "hidden-thief@example.com", accountstest.Password).status)
	a = withPassword("of the owner alone")
	require.Equal(t, 200, a.status, a.raw)
	require.Equal(t, 200, b.login(t, "hidden", "of the owner alone").status, "no code is needed")
	require.Equal(t, 400, withPassword("of the owner again").status)

	// Of a disabled account the answer says what there is to do.
	c, _, link = take("disabled")
	b.exec(t, `UPDATE accounts.users SET enable = false WHERE id = $1`, c.ID)
	a = b.undo(t, link)
	require.Equal(t, 200, a.status, a.raw)
	require.Equal(t, true, a.body["disabled"])
	require.Contains(t, a.text("message"), "disabled")
	require.Zero(t, b.count(t, `SELECT count(*) FROM accounts.codes WHERE user_id = $1`, c.ID))
	b.exec(t, `UPDATE accounts.users SET enable = true WHERE id = $1`, c.ID)
	require.Equal(t, 200, b.undo(t, link).status)
	require.Equal(t, 200, reset(t, b, c.Email, b.mailedCode(t, c.Email, 1), newPassword).status)

	take("moved")
	b.clock.Advance(7 * 24 * time.Hour)
	require.Equal(t, 200,
		b.json(t, "DELETE", "/customers/me",
			b.login(t, "moved-thief@example.com", accountstest.Password).text("access_token"), "").status)
}

// A request alone is undone, too; a link ends after 7 days and with the account; whoever
// takes the old name meanwhile keeps it.
func TestUndoingAtOtherTimes(t *testing.T) {
	t.Parallel()
	b := setup(t, linking).work(t)
	c := accountstest.Customer(t, b.db, func(n *accounts.NewUser) { n.Username = "first name" })
	token := b.token(t, c.Username)
	require.Equal(t, 200, changeEmail(t, b, token, "new1@example.com").status)
	pending := b.mailedCode(t, "new1@example.com", 1)
	link, text := b.undoToken(t, c.Email, 1)
	require.NotContains(t, text, sixDigits.FindString(pending))
	require.Equal(t, 200, b.undo(t, link).status)
	require.Equal(t, 403, confirmEmail(t, b, token, pending).status)
	require.Equal(t, 200, reset(t, b, c.Email, b.mailedCode(t, c.Email, 1), newPassword).status)
	token = b.login(t, c.Username, newPassword).text("access_token")
	require.Equal(t, 400, confirmEmail(t, b, token, pending).status, "what was asked for is over")

	b.clock.Advance(time.Minute)
	b.moveTo(t, token, "new2@example.com")
	link, _ = b.undoToken(t, c.Email, 3)
	accountstest.Customer(t, b.db, func(n *accounts.NewUser) { n.Username = "first narne" })
	data := b.get(t, "/customers/me/data", token)
	require.Contains(t, data.raw, c.Email)
	require.Equal(t, 200, b.undo(t, link).status)
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM accounts.users WHERE id = $1 AND username = $2 AND email = $2`,
		c.ID, c.Email))

	late := accountstest.Customer(t, b.db)
	b.moveTo(t, b.token(t, late.Username), "late@example.com")
	link, _ = b.undoToken(t, late.Email, 2)
	b.clock.Advance(7 * 24 * time.Hour)
	require.Equal(t, 400, b.undo(t, link).status)

	gone := accountstest.Customer(t, b.db)
	b.moveTo(t, b.token(t, gone.Username), "gone@example.com")
	link, _ = b.undoToken(t, gone.Email, 2)
	require.Equal(t, 200, b.json(t, "DELETE", "/customers", b.token(t, accountstest.Root(t, b.db).Username),
		[]any{map[string]any{"_id": gone.ID}}).status)
	require.Equal(t, 400, b.undo(t, link).status)
	require.Zero(t, b.count(t, `SELECT count(*) FROM accounts.email_changes WHERE user_id = $1`, gone.ID))

	strict := setup(t, func(d *accounts.Deps) { d.Config.Throttle.AddressFailures = 3 })
	statuses := map[int]int{}
	for range 5 {
		statuses[strict.undo(t, strings.Repeat("a", 67)).status]++
	}
	require.Equal(t, map[int]int{400: 3, 429: 2}, statuses)
}

// The current password at a change of the e-mail: wrong is 400 everywhere, left out only
// where the setting says so. An admin's old address is told and gets it back.
func TestCurrentPasswordAtAChangeOfEmail(t *testing.T) {
	t.Parallel()
	o := openOffice(t, linking)
	o.work(t)
	put := func(o *office, email string, current any) response {
		body := map[string]any{"new_email": email}
		if current != nil {
			body["current_password"] = current
		}
		return o.post(t, "/customers/me/change-email", o.customerJWT, body)
	}
	changeAsCustomer := func(o *office, email string, current any) response {
		body := map[string]any{"email": email}
		if current != nil {
			body["current_password"] = current
		}
		return o.put(t, "/my-user", o.adminToken, []any{body})
	}
	for _, f := range []func(*office, string, any) response{put, changeAsCustomer} {
		a := f(o, "wrong@example.com", "not the password")
		require.Equal(t, 400, a.status, a.raw)
		require.Equal(t, fault.CodeValidation, a.code())
		require.Equal(t, "current_password", a.field())
		require.Equal(t, 422, f(o, "wrong@example.com", 7).status)
		a = f(o, "wrong@example.com", "")
		require.Equal(t, 400, a.status, "an empty one is not left out: %s", a.raw)
		require.Contains(t, a.raw, "is wrong")
	}
	misspelt := o.put(t, "/my-user", o.adminToken, []any{map[string]any{
		"email": "wrong@example.com", "EMAIL": "x", "current_password": "not the password",
	}})
	require.Equal(t, 422, misspelt.status, "a body that nobody can read tries no password: %s", misspelt.raw)
	require.Equal(t, 200, put(o, "right@example.com", accountstest.Password).status)
	require.Equal(t, 200, changeAsCustomer(o, "admin-right@example.com", accountstest.Password).status)
	link, text := o.undoToken(t, o.admin.Email, 1)
	require.Contains(t, text, "a…@example.com")
	require.Contains(t, text, "o e-mail da sua conta agora é a…@example.com")
	require.Contains(t, text, "o nome de usuário continua o mesmo")
	o.clock.Advance(time.Minute)
	both := o.put(t, "/my-user", o.adminToken, []any{map[string]any{
		"email": "admin-again@example.com", "username": "another name",
	}})
	require.Equal(t, 200, both.status, both.raw)
	require.Contains(t, o.noticeOf(t, "admin-right@example.com"), "o nome de usuário também foi trocado")
	o.clock.Advance(time.Minute)
	require.Equal(t, 200, o.put(t, "/my-user", o.adminToken, []any{map[string]any{
		"email": "admin-last@example.com", "username": "admin-last@example.com",
	}}).status)
	require.Contains(t, o.noticeOf(t, "admin-again@example.com"),
		"o e-mail e o nome de usuário da sua conta agora são a…@example.com")

	// Moved back and forth, it is told no more than a few times a day; the way back stays open.
	statuses := map[int]int{}
	for n := range 20 {
		statuses[changeAsCustomer(o, []string{"admin-x@example.com", "admin-y@example.com"}[n%2], nil).status]++
	}
	require.Equal(t, map[int]int{200: 7 + 6, 429: 7}, statuses, "what stays takes none of them")
	require.Equal(t, 200, o.undo(t, link).status)
	require.Equal(t, 403, o.get(t, "/my-user", o.adminToken).status)
	require.Equal(t, 200, reset(t, o.bundle, o.admin.Email, o.mailedCode(t, o.admin.Email, 1), newPassword).status)
	require.Equal(t, 200, o.login(t, o.admin.Username, newPassword).status)

	o = openOffice(t, linking, func(d *accounts.Deps) { d.Config.EmailChangeNeedsPassword = true })
	for _, f := range []func(*office, string, any) response{put, changeAsCustomer} {
		for said, none := range map[string]any{"is needed": nil, "is wrong": ""} {
			a := f(o, "needs@example.com", none)
			require.Contains(t, a.raw, said)
			require.Equal(t, 400, a.status, a.raw)
			require.Equal(t, "current_password", a.field())
		}
	}
	require.Equal(t, 400,
		o.put(t, "/users", o.adminToken, change(o.admin.ID, map[string]any{"email": "needs@example.com"})).status,
		"nor by the other door")
	require.Equal(t, 200, changeAsCustomer(o, o.admin.Email, nil).status, "what stays needs none")
	require.Equal(t, 200, put(o, "needs@example.com", accountstest.Password).status)
	require.Equal(t, 200, changeAsCustomer(o, "admin-needs@example.com", accountstest.Password).status)
}

// Somebody signs up with another's address; its owner comes by a reset and finds nothing
// of the stranger's. What a guest checkout wrote stays.
func TestAResetIsTheFirstProof(t *testing.T) {
	t.Parallel()
	b := setup(t).work(t)
	signed := func(name string, set map[string]any) string {
		a := b.post(t, "/customers/signup", "", signupOf(name, set))
		require.Equal(t, 200, a.status, a.raw)
		return name + "@example.com"
	}
	stranger := map[string]any{"verify_email_now": false, "tax_id": "52998224725", "address": map[string]any{
		"street": "Rua das Flores", "number": "12", "locality": "Centro", "city": "Niteroi", "region_code": "RJ",
		"country": "BRA", "postal_code": "24020000",
	}}
	email := signed("victim", stranger)
	theirs := b.login(t, email, "s3cret-enough-victim").text("access_token")
	require.Equal(t, 200, b.json(t, "PUT", "/customers/me", theirs, `[{"my_list":["x"]}]`).status)
	contentType, picture := avatarForm(t, "file", "me.png", pngBytes(t, 20, 20))
	require.Equal(t, 200, b.client.As(theirs).Send("POST", "/me/avatar", contentType, picture).Status)
	a := reset(t, b, email, forgot(t, b, email, 2), newPassword)
	require.Equal(t, 200, a.status, a.raw)
	require.Equal(t, map[string]any{"profile_reset": true}, a.body["info"])
	doc := b.get(t, "/customers/me", b.login(t, email, newPassword).text("access_token")).doc(t)
	for _, field := range []string{"phone", "address", "tax_id", "avatar_id"} {
		require.Empty(t, doc[field], field)
	}
	require.Empty(t, doc["my_list"])
	require.Equal(t, email, doc["username"])
	require.Equal(t, true, doc["email_verified"])
	require.Zero(t, b.count(t, `SELECT count(*) FROM files.files WHERE purpose = 'avatar'`))
	b.clock.Advance(time.Minute)
	a = reset(t, b, email, forgot(t, b, email, 3), newPassword)
	require.Equal(t, 200, a.status, a.raw)
	require.NotContains(t, a.body, "info", "only the first proof")

	email = signed("known", nil)
	body := signupOf("known", map[string]any{"verification_code": b.mailedCode(t, email, 1)})
	require.Equal(t, 200, b.post(t, "/customers/signup", "", body).status)
	b.exec(t, `UPDATE accounts.users SET email_verified = false, email_verified_at = NULL WHERE email = $1`,
		email) // as when an admin corrects it
	require.NotContains(t, reset(t, b, email, forgot(t, b, email, 2), newPassword).body, "info",
		"who was verified once keeps all")
	require.Equal(t, 1, b.count(t,
		`SELECT count(*) FROM accounts.users WHERE email = $1 AND phone IS NOT NULL AND username = 'known'`, email))

	guest, err := b.svc.CheckoutCustomer(t.Context(), accounts.Buyer{
		FullName: "Gil Guest", Email: "guest@example.com", TaxID: "11144477735", Phone: "+5511987654321",
	})
	require.NoError(t, err)
	a = reset(t, b, guest.Email, b.mailedCode(t, guest.Email, 1), newPassword)
	require.Equal(t, 200, a.status, a.raw)
	require.NotContains(t, a.body, "info")
	require.Equal(t, 1, b.count(t,
		`SELECT count(*) FROM accounts.users WHERE id = $1 AND phone IS NOT NULL AND tax_id IS NOT NULL`, guest.ID))
}
