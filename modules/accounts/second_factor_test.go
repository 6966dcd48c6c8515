package accounts_test

import (
	"context"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
)

// authenticator is what somebody has set up.
type authenticator struct {
	b        *bundle
	secret   string
	recovery []string
}

// code is what it shows now.
func (a *authenticator) code(t *testing.T) string {
	t.Helper()
	code, err := totp.GenerateCode(a.secret, a.b.clock.Now())
	require.NoError(t, err)
	return code
}

// next is the code of the next step, once it has come.
func (a *authenticator) next(t *testing.T) string {
	t.Helper()
	a.b.clock.Advance(30 * time.Second)
	return a.code(t)
}

// enrol sets a second factor up for whoever has the token.
func (b *bundle) enrol(t *testing.T, token string) *authenticator {
	t.Helper()
	begun := b.post(t, "/me/totp", token, map[string]any{"current_password": accountstest.Password})
	require.Equal(t, 200, begun.status, begun.raw)
	a := &authenticator{b: b, secret: begun.text("secret")}
	confirmed := b.post(t, "/me/totp/confirm", token, map[string]any{"totp": a.code(t)})
	require.Equal(t, 200, confirmed.status, confirmed.raw)
	for _, code := range confirmed.body["recovery_codes"].([]any) {
		a.recovery = append(a.recovery, code.(string))
	}
	return a
}

func (b *bundle) loginWith(t *testing.T, username, code string) response {
	t.Helper()
	return b.loginForm(t, url.Values{"username": {username}, "password": {accountstest.Password}, "totp": {code}})
}

func (b *bundle) loginForm(t *testing.T, form url.Values) response {
	t.Helper()
	return b.send(t, http.MethodPost, "/token", "", "application/x-www-form-urlencoded", form.Encode())
}

func removeTotp(t *testing.T, b *bundle, token, password, code string) response {
	t.Helper()
	return b.json(t, http.MethodDelete, "/me/totp", token, map[string]any{"current_password": password, "totp": code})
}

// TestASecondFactorBearsThePlatformsName: an authenticator shows what the platform is called when it is set up; a secret
// of before another name stays good.
func TestASecondFactorBearsThePlatformsName(t *testing.T) {
	t.Parallel()
	called := "Cine: Sol"
	b := setup(t, func(d *accounts.Deps) {
		d.PlatformName = func(context.Context) (string, error) { return called, nil }
	})
	c := accountstest.Customer(t, b.db)
	token := b.token(t, c.Username)
	begun := b.post(t, "/me/totp", token, map[string]any{"current_password": accountstest.Password})
	require.Equal(t, 200, begun.status, begun.raw)
	address, err := url.Parse(begun.text("url"))
	require.NoError(t, err)
	require.Equal(t, "/Cine Sol:"+c.Username, address.Path, "a colon would end the name")
	require.Equal(t, "Cine Sol", address.Query().Get("issuer"))
	called = "Cine Mar"
	app := &authenticator{b: b, secret: begun.text("secret")}
	confirmed := b.post(t, "/me/totp/confirm", token, map[string]any{"totp": app.code(t)})
	require.Equal(t, 200, confirmed.status, confirmed.raw)
}

func TestSettingUpASecondFactor(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	token := b.token(t, c.Username)
	require.JSONEq(t, `{"enabled":false,"confirmed_at":null,"recovery_codes":0,"required":false}`,
		b.get(t, "/me/totp", token).raw)
	require.Equal(t, 409, b.post(t, "/me/totp/confirm", token, map[string]any{"totp": "123456"}).status, "nothing is begun")
	wrong := b.post(t, "/me/totp", token, map[string]any{"current_password": "wrong password"})
	require.Equal(t, 400, wrong.status, wrong.raw)
	require.Equal(t, "current_password", wrong.field())
	require.Equal(t, 422, b.post(t, "/me/totp", token, map[string]any{}).status)
	require.Equal(t, 401, b.post(t, "/me/totp", "", map[string]any{"current_password": "x"}).status)

	begun := b.post(t, "/me/totp", token, map[string]any{"current_password": accountstest.Password})
	require.Equal(t, 200, begun.status, begun.raw)
	address, err := url.Parse(begun.text("url"))
	require.NoError(t, err)
	require.Equal(t, "otpauth://totp/Marquee:"+c.Username, address.Scheme+"://"+address.Host+address.Path)
	require.Equal(t, begun.text("secret"), address.Query().Get("secret"))
	raw, err := base32.StdEncoding.DecodeString(begun.text("secret"))
	require.NoError(t, err)
	require.Len(t, raw, 20)
	picture, err := base64.StdEncoding.DecodeString(begun.text("qr_png"))
	require.NoError(t, err)
	require.Equal(t, "\x89PNG", string(picture[:4]))
	require.Equal(t, httpapi.Time(b.clock.Now().Add(time.Hour)).String(), begun.text("expires_at"))
	require.Equal(t, 200, b.login(t, c.Username, accountstest.Password).status, "nothing is asked for before it is confirmed")
	require.Equal(t, false, b.get(t, "/me/totp", token).body["enabled"])

	first := &authenticator{b: b, secret: begun.text("secret")}
	second := b.post(t, "/me/totp", token, map[string]any{"current_password": accountstest.Password})
	require.Equal(t, 200, second.status, "another one takes its place")
	stale := b.post(t, "/me/totp/confirm", token, map[string]any{"totp": first.code(t)})
	require.Equal(t, 400, stale.status, stale.raw)
	require.Equal(t, "totp", stale.field())
	b.clock.Advance(time.Hour + time.Second)
	app := &authenticator{b: b, secret: second.text("secret")}
	require.Equal(t, 409, b.post(t, "/me/totp/confirm", token, map[string]any{"totp": app.code(t)}).status, "too late")
	require.NoError(t, accounts.ForgetOld(t.Context(), b.svc))
	require.Zero(t, b.count(t, `SELECT count(*) FROM accounts.totp`))

	app = b.enrol(t, token)
	require.Len(t, app.recovery, 10)
	for _, code := range app.recovery {
		require.Regexp(t, `^([a-z2-9]{4}-){3}[a-z2-9]{4}$`, code)
	}
	state := b.get(t, "/me/totp", token)
	require.Equal(t, true, state.body["enabled"])
	require.Equal(t, 10.0, state.body["recovery_codes"])
	require.Equal(t, httpapi.Time(b.clock.Now()).String(), state.text("confirmed_at"))
	require.Equal(t, 409,
		b.post(t, "/me/totp", token, map[string]any{"current_password": accountstest.Password}).status, "there is one")
	require.Equal(t, 409, b.post(t, "/me/totp/confirm", token, map[string]any{"totp": app.next(t)}).status)
	require.Equal(t, true, b.sessionsOf(t, "/me/sessions", token)[1]["second_factor"], "it was proved in this session")
}

func TestSigningInWithASecondFactor(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c, other := accountstest.Customer(t, b.db), accountstest.Customer(t, b.db)
	app := b.enrol(t, b.token(t, c.Username))

	missing := b.login(t, c.Username, accountstest.Password)
	require.Equal(t, 401, missing.status, missing.raw)
	require.Equal(t, fault.CodeMFARequired, missing.code())
	require.Equal(t, fault.CodeMFARequired, b.loginWith(t, c.Username, "").code())
	wrong := b.login(t, c.Username, "wrong password")
	require.Equal(t, fault.CodeInvalidCredentials, wrong.code(), "only who has the password learns of it")
	require.Equal(t, wrong.raw[:40], b.loginForm(t,
		url.Values{"username": {c.Username}, "password": {"wrong password"}, "totp": {app.code(t)}}).raw[:40])

	used := b.loginWith(t, c.Username, app.code(t))
	require.Equal(t, 401, used.status, "the code that confirmed it is used up")
	require.Equal(t, fault.CodeInvalidCredentials, used.code())
	require.Equal(t, wrong.detail(), used.detail())
	code := app.next(t)
	require.Equal(t, 401, b.loginWith(t, c.Username, wrongCode(code)).status)
	right := b.loginWith(t, strings.ToUpper(c.Email), " "+code[:3]+" "+code[3:])
	require.Equal(t, 200, right.status, right.raw)
	require.Equal(t, 401, b.loginWith(t, c.Username, code).status, "once")
	listed := b.sessionsOf(t, "/me/sessions", right.text("access_token"))[0]
	require.Equal(t, "totp", listed["method"])
	require.Equal(t, true, listed["second_factor"])

	// A clock that is off by a step is taken, and nothing before the step that was taken.
	b.clock.Advance(2 * time.Minute)
	early, late := app.code(t), app.next(t)
	b.clock.Advance(-time.Minute)
	require.Equal(t, 401, b.loginWith(t, c.Username, late).status, "two steps ahead")
	require.Equal(t, 200, b.loginWith(t, c.Username, early).status, "one step ahead")
	require.Equal(t, 401, b.loginWith(t, c.Username, app.code(t)).status, "a step before the one that was used")
	b.clock.Advance(90 * time.Second)
	require.Equal(t, 200, b.loginWith(t, c.Username, late).status, "one step behind")
	app.next(t)
	app.next(t)
	require.Equal(t, 401, b.loginWith(t, c.Username, late).status)

	require.Equal(t, 200, b.loginWith(t, other.Username, "whatever").status, "without one nothing is looked at")
	require.Equal(t, 422, b.loginWith(t, c.Username, strings.Repeat("7", 65)).status)
	b.exec(t, `UPDATE accounts.users SET enable = false WHERE id = $1`, c.ID)
	require.Equal(t, 401, b.login(t, c.Username, accountstest.Password).status)
	require.Equal(t, 403, b.loginWith(t, c.Username, app.next(t)).status)
}

func TestRecoveryCodesStandInOnceEach(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c, other := accountstest.Customer(t, b.db), accountstest.Customer(t, b.db)
	app, others := b.enrol(t, b.token(t, c.Username)), b.enrol(t, b.token(t, other.Username))
	require.Equal(t, 401, b.loginWith(t, c.Username, others.recovery[0]).status, "of somebody else")
	require.Equal(t, 401, b.loginWith(t, c.Username, "aaaa-aaaa-aaaa-aaaa").status)
	spelt := strings.ToUpper(strings.ReplaceAll(app.recovery[0], "-", " "))
	in := b.loginWith(t, c.Username, spelt)
	require.Equal(t, 200, in.status, in.raw)
	require.Equal(t, 401, b.loginWith(t, c.Username, app.recovery[0]).status)
	token := in.text("access_token")
	require.Equal(t, 9.0, b.get(t, "/me/totp", token).body["recovery_codes"])
	require.Equal(t, "recovery_code", b.sessionsOf(t, "/me/sessions", token)[0]["method"])

	renew := func(password, code string) response {
		return b.post(t, "/me/totp/recovery-codes", token, map[string]any{"current_password": password, "totp": code})
	}
	require.Equal(t, "current_password", renew("wrong password", app.recovery[1]).field())
	require.Equal(t, "totp", renew(accountstest.Password, "aaaa-aaaa-aaaa-aaaa").field())
	require.Equal(t, 401, b.post(t, "/me/totp/recovery-codes", "",
		map[string]any{"current_password": "x", "totp": "x"}).status)
	renewed := renew(accountstest.Password, app.recovery[1])
	require.Equal(t, 200, renewed.status, renewed.raw)
	require.Len(t, renewed.body["recovery_codes"], 10)
	require.Equal(t, 401, b.loginWith(t, c.Username, app.recovery[2]).status, "the earlier ones are void")
	require.Equal(t, 200, b.loginWith(t, c.Username, renewed.body["recovery_codes"].([]any)[3].(string)).status)
	require.Equal(t, 404, b.post(t, "/me/totp/recovery-codes",
		b.token(t, accountstest.Customer(t, b.db).Username),
		map[string]any{"current_password": accountstest.Password, "totp": "123456"}).status)
}

func TestRemovingASecondFactor(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	token := b.token(t, c.Username)
	require.Equal(t, 404, removeTotp(t, b, token, accountstest.Password, "123456").status)
	app := b.enrol(t, token)
	code := app.next(t)
	require.Equal(t, "current_password", removeTotp(t, b, token, "wrong password", code).field())
	require.Equal(t, "totp", removeTotp(t, b, token, accountstest.Password, wrongCode(code)).field())
	require.Equal(t, 422, b.json(t, http.MethodDelete, "/me/totp", token,
		map[string]any{"current_password": accountstest.Password}).status)
	require.Equal(t, 401, removeTotp(t, b, "", accountstest.Password, code).status)
	require.Equal(t, 200, removeTotp(t, b, token, accountstest.Password, code).status)
	require.Zero(t, b.count(t, `SELECT count(*) FROM accounts.recovery_codes`))
	require.Equal(t, 200, b.login(t, c.Username, accountstest.Password).status)
	require.NotEqual(t, app.secret, b.enrol(t, token).secret)
}

// Wrong codes count as wrong passwords do; what forgives those does not forgive codes: a code that is left out, a reset by
// mail.
func TestGuessesAtASecondFactorMakeWait(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *accounts.Deps) { d.Config.Throttle.LoginFailures = 3 }).work(t)
	c := accountstest.Customer(t, b.db)
	app := b.enrol(t, b.token(t, c.Username))
	for range 2 {
		require.Equal(t, 401, b.loginWith(t, c.Username, wrongCode(app.code(t))).status)
		require.Equal(t, 401, b.login(t, c.Username, accountstest.Password).status, "a right password alone washes nothing")
	}
	require.Equal(t, 401, b.loginWith(t, c.Username, wrongCode(app.code(t))).status)
	require.Equal(t, 429, b.loginWith(t, c.Username, app.code(t)).status)
	a := b.loginWith(t, c.Username, app.next(t))
	require.Equal(t, 200, a.status, "the wait of a second is over: %s", a.raw)
	for range 3 {
		require.Equal(t, 401, b.loginWith(t, c.Username, wrongCode(app.code(t))).status)
	}
	require.Equal(t, 429, b.login(t, c.Username, accountstest.Password).status, "the password waits, too")
	code := forgot(t, b, c.Email, 1)
	require.Equal(t, 200, reset(t, b, c.Email, code, accountstest.Password+"!").status)
	form := url.Values{"username": {c.Username}, "password": {accountstest.Password + "!"}, "totp": {app.code(t)}}
	a = b.loginForm(t, form)
	require.Equal(t, 429, a.status, "a reset forgives wrong passwords alone: %s", a.raw)
	require.Equal(t, "1", a.header.Get("Retry-After"))
	form.Set("totp", app.next(t))
	require.Equal(t, 200, b.loginForm(t, form).status)
}

// Whoever has the password and guesses codes elsewhere makes nobody wait on a device of their own.
func TestGuessesAtASecondFactorElsewhere(t *testing.T) {
	t.Parallel()
	b := setup(t, impatient)
	c := accountstest.Customer(t, b.db)
	app := b.enrol(t, b.token(t, c.Username))
	device := b.loginWith(t, c.Username, app.next(t)).header.Get(deviceHeader)
	for b.loginWith(t, c.Username, wrongCode(app.code(t))).status != http.StatusTooManyRequests {
	}
	require.Equal(t, 429, b.loginWith(t, c.Username, app.next(t)).status)
	got := b.client.With(deviceHeader, device).PostForm("/token", url.Values{
		"username": {c.Username}, "password": {accountstest.Password}, "totp": {app.next(t)},
	})
	require.Equal(t, 200, got.Status, string(got.Body))
}

const sameCodeAtOnce = 8

func TestTheSameCodeTwiceAtOnce(t *testing.T) {
	t.Parallel()
	// Which of them is counted last is chance: what one round leaves of failures in a row is not to make the next wait.
	b := setup(t, func(d *accounts.Deps) { d.Config.Throttle.LoginFailures = 10 * sameCodeAtOnce })
	c := accountstest.Customer(t, b.db)
	app := b.enrol(t, b.token(t, c.Username))
	for range 3 {
		code := app.next(t)
		statuses := parallel(sameCodeAtOnce, func() int { return b.loginWith(t, c.Username, code).status })
		require.Equal(t, map[int]int{200: 1, 401: sameCodeAtOnce - 1}, statuses)
	}
	for _, code := range app.recovery[:3] {
		statuses := parallel(sameCodeAtOnce, func() int { return b.loginWith(t, c.Username, code).status })
		require.Equal(t, map[int]int{200: 1, 401: sameCodeAtOnce - 1}, statuses)
	}
}

// The same with what is used put back at once: every one of them signs in.
func TestTheSameCodeTwiceWithoutTheGuard(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(t, `CREATE FUNCTION restore() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF TG_OP = 'DELETE' THEN INSERT INTO accounts.recovery_codes SELECT OLD.*; RETURN NULL; END IF;
		NEW.last_step := OLD.last_step; RETURN NEW; END $$`)
	c := accountstest.Customer(t, b.db)
	app := b.enrol(t, b.token(t, c.Username))
	b.exec(t, `CREATE TRIGGER restore BEFORE UPDATE ON accounts.totp FOR EACH ROW EXECUTE FUNCTION restore()`)
	b.exec(t, `CREATE TRIGGER restore AFTER DELETE ON accounts.recovery_codes FOR EACH ROW EXECUTE FUNCTION restore()`)
	for _, code := range []string{app.next(t), app.recovery[0]} {
		for range 3 {
			require.Equal(t, 200, b.loginWith(t, c.Username, code).status)
		}
	}
}

func TestOneOfTwoConfirmationsAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	token := b.token(t, accountstest.Customer(t, b.db).Username)
	begun := b.post(t, "/me/totp", token, map[string]any{"current_password": accountstest.Password})
	app := &authenticator{b: b, secret: begun.text("secret")}
	code := app.code(t)
	statuses := parallel(6, func() int {
		return b.post(t, "/me/totp/confirm", token, map[string]any{"totp": code}).status
	})
	require.Equal(t, map[int]int{200: 1, 409: 5}, statuses)
	require.Equal(t, 10, b.count(t, `SELECT count(*) FROM accounts.recovery_codes`))
}

// A signup that repeats itself answers tokens for a password: not where more than that is asked for.
func TestSignupIsNoWayAroundASecondFactor(t *testing.T) {
	t.Parallel()
	b := setup(t).work(t)
	later := signupOf("nina", map[string]any{"verify_email_now": false})
	a := b.post(t, "/customers/signup", "", later)
	require.Equal(t, 200, a.status, a.raw)
	password := later[0]["password"].(string)
	token := a.text("auth", "access_token")
	begun := b.post(t, "/me/totp", token, map[string]any{"current_password": password})
	require.Equal(t, 200, begun.status, begun.raw)
	app := &authenticator{b: b, secret: begun.text("secret")}
	require.Equal(t, 200, b.post(t, "/me/totp/confirm", token, map[string]any{"totp": app.code(t)}).status)
	b.clock.Advance(2 * time.Minute)
	require.Equal(t, 409, b.post(t, "/customers/signup", "", later).status)
	later[0]["verification_code"] = b.mailedCode(t, "nina@example.com", 1)
	again := b.post(t, "/customers/signup", "", later)
	require.Equal(t, 409, again.status, again.raw)
}

// What an intruder set up does not outlast the owner's coming back; what the owner had long before does.
func TestASecondFactorOfAnIntruderGoes(t *testing.T) {
	t.Parallel()
	b := setup(t, linking).work(t)
	c := accountstest.Customer(t, b.db)
	token := b.token(t, c.Username)
	app := b.enrol(t, token)
	b.moveTo(t, token, "thief2@example.com")
	link, _ := b.undoToken(t, c.Email, 1)
	require.Equal(t, 200, b.undo(t, link).status)
	require.Zero(t, b.count(t, `SELECT count(*) FROM accounts.totp`))
	require.NotEmpty(t, app.secret)

	owner := accountstest.Customer(t, b.db)
	app = b.enrol(t, b.token(t, owner.Username))
	b.clock.Advance(8 * 24 * time.Hour)
	b.moveTo(t, b.loginWith(t, owner.Username, app.code(t)).text("access_token"), "other2@example.com")
	link, _ = b.undoToken(t, owner.Email, 1)
	require.Equal(t, 200, b.undo(t, link).status)
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM accounts.totp`))

	// Of an account that somebody else made with the owner's address nothing is left but the address.
	a := b.post(t, "/customers/signup", "", signupOf("olga", map[string]any{"verify_email_now": false}))
	require.Equal(t, 200, a.status, a.raw)
	begun := b.post(t, "/me/totp", a.text("auth", "access_token"), map[string]any{
		"current_password": signupOf("olga", nil)[0]["password"],
	})
	app = &authenticator{b: b, secret: begun.text("secret")}
	require.Equal(t, 200,
		b.post(t, "/me/totp/confirm", a.text("auth", "access_token"), map[string]any{"totp": app.code(t)}).status)
	b.mailedCode(t, "olga@example.com", 1) // so that the next is the second
	require.Equal(t, 200, reset(t, b, "olga@example.com", forgot(t, b, "olga@example.com", 2), newPassword).status)
	require.Equal(t, 200, b.login(t, "olga@example.com", newPassword).status)
}

func TestRootNeedsASecondFactorWhereItIsRequired(t *testing.T) {
	t.Parallel()
	o := openOffice(t, func(d *accounts.Deps) { d.Config.MFARequiredForRoot = true })
	refused := o.get(t, "/users", o.rootToken)
	require.Equal(t, 403, refused.status, refused.raw)
	require.Equal(t, fault.CodeMFARequired, refused.code())
	for path, status := range map[string]int{
		"/users-type": 403, "/customers": 403, "/my-user": 403, "/current-user": 200, "/me/sessions": 200,
		"/admin/users/" + o.admin.ID.String() + "/sessions": 403,
	} {
		require.Equal(t, status, o.get(t, path, o.rootToken).status, path)
	}
	require.Equal(t, true, o.get(t, "/me/totp", o.rootToken).body["required"])
	require.Equal(t, false, o.get(t, "/me/totp", o.adminToken).body["required"])
	require.Equal(t, 200, o.get(t, "/users", o.adminToken).status, "of root users alone")
	older := older(t, o.bundle, o.root.ID, "access", "of before sessions")
	require.Equal(t, 403, o.get(t, "/users", older).status)

	second := o.token(t, o.root.Username)
	app := o.enrol(t, o.rootToken)
	require.Equal(t, 200, o.get(t, "/users", o.rootToken).status, "the session in which it was confirmed")
	require.Equal(t, 403, o.get(t, "/users", second).status, "and no other")
	began, err := o.svc.Verify(o.rootToken)
	require.NoError(t, err)
	acted, err := httpapi.Act(t.Context(), o.api, began, http.MethodGet, httpapi.Prefix+"/users", "act", nil)
	require.NoError(t, err)
	require.Equal(t, httpapi.Acted{Status: 200}, acted, "what was begun with one goes on without a session")
	in := o.loginWith(t, o.root.Username, app.next(t))
	require.Equal(t, 200, o.get(t, "/users-type", in.text("access_token")).status)
	renewed := o.refresh(t, in)
	require.Equal(t, 200, o.get(t, "/users-type", renewed.text("access_token")).status)
	require.Equal(t, 200, removeTotp(t, o.bundle, o.rootToken, accountstest.Password, app.next(t)).status)
	require.Equal(t, 403, o.get(t, "/users", o.token(t, o.root.Username)).status)
	caller, err := o.files.CallerByArchiveToken(t.Context(), o.login(t, o.root.Username,
		accountstest.Password).text("archive_token"))
	require.NoError(t, err)
	require.True(t, caller.MFAMissing && !caller.Root)
}

func TestAnOperatorResetsASecondFactor(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	o.enrol(t, o.adminToken)
	older := older(t, o.bundle, o.admin.ID, "access", "of before sessions")
	_, err := o.svc.ResetSecondFactor(t.Context(), "nobody at all")
	require.True(t, fault.Is(err, fault.KindNotFound), "%v", err)
	u, err := o.svc.ResetSecondFactor(t.Context(), strings.ToUpper(o.admin.Email))
	require.NoError(t, err)
	require.Equal(t, o.admin.ID, u.ID)
	for _, token := range []string{o.adminToken, older} {
		require.Equal(t, 403, o.get(t, "/current-user", token).status)
	}
	require.Equal(t, 200, o.login(t, o.admin.Username, accountstest.Password).status)
	require.Equal(t, 1, o.count(t, `SELECT count(*) FROM accounts.audit_log WHERE action = 'user_mfa_reset'
		AND actor_name = 'platform' AND record_id = $1 AND before = '{"totp": true}' AND after = '{"totp": false}'`,
		o.admin.ID))
}

func TestASecondFactorGoesWithTheAccount(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	o.enrol(t, o.customerJWT)
	o.enrol(t, o.adminToken)
	file := o.get(t, "/customers/me/data", o.customerJWT)
	require.Equal(t, map[string]any{
		"confirmed_at": httpapi.Time(o.clock.Now()).String(), "recovery_codes": 10.0,
	}, file.body["second_factor"])
	require.Equal(t, 200, o.bundle.remove(t, "/customers/me", o.customerJWT).status)
	require.Equal(t, 200, o.json(t, http.MethodDelete, "/users", o.rootToken, ids(o.admin.ID)).status)
	require.Zero(t, o.count(t, `SELECT (SELECT count(*) FROM accounts.totp) + (SELECT count(*) FROM accounts.recovery_codes)`))
}

func TestNoSecretOfASecondFactorIsStoredQueuedOrLogged(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	app := o.enrol(t, o.adminToken)
	code := app.next(t)
	require.Equal(t, 401, o.loginWith(t, o.admin.Username, wrongCode(code)).status)
	require.Equal(t, 200, o.loginWith(t, o.admin.Username, code).status)
	require.Equal(t, 200, o.loginWith(t, o.admin.Username, app.recovery[0]).status)
	raw, err := base32.StdEncoding.DecodeString(app.secret)
	require.NoError(t, err)
	for place, text := range map[string]string{"database": dump(t, o.bundle), "log": o.log.String()} {
		for _, secret := range append([]string{app.secret, hex.EncodeToString(raw)}, app.recovery...) {
			require.NotContains(t, strings.ToLower(text), strings.ToLower(secret), place)
			require.NotContains(t, text, strings.ReplaceAll(secret, "-", ""), place)
		}
		require.NotRegexp(t, `(^|[^0-9a-f.])`+code+`($|[^0-9a-f])`, text, place)
	}
	require.Positive(t, o.count(t, `SELECT count(*) FROM accounts.audit_log WHERE action = 'me_totp_confirm'`))
}

// A secret is of one user: moved to another, it opens nothing.
func TestASecondFactorIsOfOneUser(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c, thief := accountstest.Customer(t, b.db), accountstest.Customer(t, b.db)
	b.enrol(t, b.token(t, c.Username))
	app := b.enrol(t, b.token(t, thief.Username))
	b.exec(t, `UPDATE accounts.totp SET secret = (SELECT secret FROM accounts.totp WHERE user_id = $2) WHERE user_id = $1`,
		c.ID, thief.ID)
	require.Equal(t, 500, b.loginWith(t, c.Username, app.next(t)).status)
}
