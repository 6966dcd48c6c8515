package accounts_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

// TestAPasskeyBearsThePlatformsName: authenticators show what the platform is called, beside the domain, which stays;
// passkeys of before another name sign in.
func TestAPasskeyBearsThePlatformsName(t *testing.T) {
	t.Parallel()
	called := "Cine Sol"
	b := setup(t, func(d *accounts.Deps) {
		d.PlatformName = func(context.Context) (string, error) { return called, nil }
	})
	c := accountstest.Customer(t, b.db)
	token := b.token(t, c.Username)
	options := b.keyOptions(t, token)
	require.Equal(t, "Cine Sol", options.text("publicKey", "rp", "name"))
	k := b.newKey(c.ID)
	made := b.register(t, token, "Phone", k.made(t, options))
	require.Equal(t, 200, made.status, made.raw)
	called = "Cine Mar"
	next := b.keyOptions(t, token)
	require.Equal(t, "Cine Mar", next.text("publicKey", "rp", "name"))
	require.Equal(t, accountstest.PasskeyDomain, next.text("publicKey", "rp", "id"))
	in := b.verify(t, k.signs(t, b.signInOptions(t)))
	require.Equal(t, 200, in.status, in.raw)
}

func TestSigningInWithAPasskey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	token := b.token(t, c.Username)
	require.Empty(t, b.get(t, "/me/passkeys", token).body["docs"])
	options := b.keyOptions(t, token)
	require.Equal(t, httpapi.Time(b.clock.Now().Add(5*time.Minute)).String(), options.text("expires_at"))
	require.Equal(t, accountstest.PasskeyDomain, options.text("publicKey", "rp", "id"))
	require.Equal(t, "Marquee", options.text("publicKey", "rp", "name"))
	require.Equal(t, c.Username, options.text("publicKey", "user", "name"))
	require.Equal(t, "required", options.text("publicKey", "authenticatorSelection", "userVerification"))
	k := b.newKey(c.ID)
	made := b.register(t, token, " Phone of Ana ", k.made(t, options))
	require.Equal(t, 200, made.status, made.raw)
	require.Equal(t, "Phone of Ana", made.text("name"))

	start := b.signInOptions(t)
	require.NotContains(t, start.raw, c.ID.String())
	require.Equal(t, accountstest.PasskeyDomain, start.text("publicKey", "rpId"))
	in := b.verify(t, k.signs(t, start))
	require.Equal(t, 200, in.status, in.raw)
	require.Equal(t, c.ID.String(), in.text("id_token"))
	require.NotEmpty(t, in.header.Get(deviceHeader))
	for _, kind := range []string{"access_token", "refresh_token", "archive_token"} {
		require.NotEmpty(t, in.text(kind), kind)
	}
	session := b.sessionsOf(t, "/me/sessions", in.text("access_token"))[0]
	require.Equal(t, "passkey", session["method"])
	require.Equal(t, true, session["second_factor"])
	doc := b.get(t, "/me/passkeys", in.text("access_token")).doc(t)
	require.Equal(t, httpapi.Time(b.clock.Now()).String(), doc["used_at"])
	require.Equal(t, false, doc["backed_up"])
	require.Equal(t, 200, b.refresh(t, in).status)

	a := b.remove(t, "/me/passkeys/"+doc["_id"].(string), token)
	require.Equal(t, 200, a.status, a.raw)
	require.Equal(t, 404, b.remove(t, "/me/passkeys/"+doc["_id"].(string), token).status)
	refused := k.signIn(t)
	require.Equal(t, 401, refused.status)
	require.Equal(t, fault.CodeInvalidCredentials, refused.code())
}

func TestRegisteringAPasskey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c, other := accountstest.Customer(t, b.db), accountstest.Customer(t, b.db)
	token, others := b.token(t, c.Username), b.token(t, other.Username)
	wrong := b.post(t, "/me/passkeys/options", token, map[string]any{"current_password": "wrong password"})
	require.Equal(t, 400, wrong.status)
	require.Equal(t, "current_password", wrong.field())
	require.Equal(t, 401, b.keyOptions(t, "").status)
	require.Equal(t, 401, b.get(t, "/me/passkeys", "").status)

	k := b.newKey(c.ID)
	options := b.keyOptions(t, token)
	credential := k.made(t, options)
	refused := func(a response) {
		t.Helper()
		require.Equal(t, 400, a.status, a.raw)
		require.Equal(t, "credential", a.field())
	}
	refused(b.register(t, others, "Phone", credential))
	require.Equal(t, 422, b.register(t, token, "Pho\u202ene", credential).status)
	require.Equal(t, 422, b.register(t, token, " ", credential).status)
	require.Equal(t, 422, b.register(t, token, "Phone", map[string]any{"id": "x"}).status)
	require.Equal(t, 401, b.register(t, "", "Phone", credential).status)
	a := b.register(t, token, "Phone", credential)
	require.Equal(t, 200, a.status, a.raw)
	refused(b.register(t, token, "Phone", credential)) // the challenge is used up
	again := b.keyOptions(t, token)
	require.Len(t, again.body["publicKey"].(map[string]any)["excludeCredentials"], 1)
	twice := b.register(t, token, "Phone", k.made(t, again))
	require.Equal(t, 409, twice.status, twice.raw)
	require.Equal(t, 409, b.register(t, others, "Phone", k.made(t, b.keyOptions(t, others))).status, "it is of one user")

	late := b.keyOptions(t, token)
	b.clock.Advance(5*time.Minute + time.Second)
	refused(b.register(t, token, "Phone", b.newKey(c.ID).made(t, late)))
	for name, change := range map[string]func(k *key){
		"another site":       func(k *key) { k.site.ID = "evil.test" },
		"another page":       func(k *key) { k.site.Origin = "https://evil.test" },
		"without a lock":     func(k *key) { k.auth.Options.UserNotVerified = true },
		"without a presence": func(k *key) { k.auth.Options.UserNotPresent = true },
		"another challenge":  func(k *key) { k.site.Origin = "https://" + accountstest.PasskeyDomain + ":1" },
	} {
		k := b.newKey(c.ID)
		change(k)
		a := b.register(t, token, "Phone", k.made(t, b.keyOptions(t, token)))
		require.Equal(t, 400, a.status, "%s: %s", name, a.raw)
	}
	refused(b.register(t, token, "Phone", b.newKey(c.ID).made(t, response{
		status: 200, raw: strings.Replace(b.keyOptions(t, token).raw, `"challenge":"`, `"challenge":"AAAA`, 1),
	})))
	for n := range 19 {
		b.registered(t, c.ID, token)
		require.Len(t, b.get(t, "/me/passkeys", token).body["docs"], n+2)
	}
	full := b.register(t, token, "Phone", b.newKey(c.ID).made(t, b.keyOptions(t, token)))
	require.Equal(t, 409, full.status, full.raw)
	require.Equal(t, 20, b.count(t, `SELECT count(*) FROM accounts.passkeys`))
}

// unattested is what an authenticator makes of the options of a registration without a statement about itself, as
// browsers hand it on to whoever wants none; with another public key where one is given.
func (k *key) unattested(t *testing.T, options response, publicKey []byte) any {
	t.Helper()
	made := k.made(t, options).(map[string]any)
	answered := made["response"].(map[string]any)
	raw, err := base64.RawURLEncoding.DecodeString(answered["attestationObject"].(string))
	require.NoError(t, err)
	var object struct {
		AuthData []byte `cbor:"authData"`
	}
	require.NoError(t, webauthncbor.Unmarshal(raw, &object))
	if publicKey != nil {
		object.AuthData = append(object.AuthData[:len(object.AuthData)-wholeKey], publicKey...)
	}
	raw, err = webauthncbor.Marshal(map[string]any{
		"fmt": "none", "attStmt": map[string]any{}, "authData": object.AuthData,
	})
	require.NoError(t, err)
	answered["attestationObject"] = base64.RawURLEncoding.EncodeToString(raw)
	return made
}

// A key of RSA may be of any length: one that would take long to check with is refused.
func TestPublicKeysOfPasskeys(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	token := b.token(t, c.Username)
	rsa := func(bits int) []byte { // by the numbers of COSE: kind, algorithm, modulus, exponent
		key, err := webauthncbor.Marshal(map[int]any{
			1: 3, 3: -257, -1: bytes.Repeat([]byte{0xff}, bits/8), -2: []byte{1, 0, 1},
		})
		require.NoError(t, err)
		return key
	}
	k := b.newKey(c.ID)
	require.Equal(t, 200, b.register(t, token, "Phone", k.unattested(t, b.keyOptions(t, token), nil)).status)
	require.Equal(t, 200, k.signIn(t).status)
	long := b.register(t, token, "Phone", b.newKey(c.ID).unattested(t, b.keyOptions(t, token), rsa(8192)))
	require.Equal(t, 200, long.status, long.raw)
	tooLong := b.register(t, token, "Phone", b.newKey(c.ID).unattested(t, b.keyOptions(t, token), rsa(16384)))
	require.Equal(t, 400, tooLong.status, tooLong.raw)
	require.Equal(t, "credential", tooLong.field())
	require.Contains(t, b.log.String(), "the key is too long")
}

// registerWhile registers a passkey while a transaction has made changes to the user $1 that are not yet committed. It
// returns the status, and how many passkeys there are in the end.
func registerWhile(t *testing.T, changes ...string) (status, stored int) {
	t.Helper()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	token := b.token(t, c.Username)
	credential := b.newKey(c.ID).made(t, b.keyOptions(t, token))
	tx, err := b.db.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	for _, change := range changes {
		_, err = tx.Exec(t.Context(), change, c.ID)
		require.NoError(t, err)
	}
	done := make(chan int, 1)
	go func() {
		done <- b.client.As(token).Post("/me/passkeys", map[string]any{"name": "Phone", "credential": credential}).Status
	}()
	require.Eventually(t, func() bool {
		return len(done) == 1 || b.count(t, `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`) == 1
	}, time.Minute, 5*time.Millisecond)
	require.NoError(t, tx.Commit(t.Context()))
	return <-done, b.count(t, `SELECT count(*) FROM accounts.passkeys`)
}

const (
	endTokens = `UPDATE accounts.users SET tokens_valid_after = now() + interval '1 day' WHERE id = $1`
	endKeys   = `DELETE FROM accounts.passkeys WHERE user_id = $1`
	endBegun  = `DELETE FROM accounts.passkey_challenges WHERE user_id = $1`
)

// Whoever got into an account registers a passkey at the moment in which its owner takes it back.
func TestRegisteringWhileAnAccountIsGivenBack(t *testing.T) {
	t.Parallel()
	status, stored := registerWhile(t, endTokens, endKeys)
	require.Equal(t, 403, status)
	require.Zero(t, stored)
	status, stored = registerWhile(t, endBegun, endKeys)
	require.Equal(t, 400, status)
	require.Zero(t, stored)
}

// The same where passkeys alone are removed, behind the backs of the user's row and what they have begun.
func TestRegisteringWhileAnAccountIsGivenBackWithoutTheGuard(t *testing.T) {
	t.Parallel()
	status, stored := registerWhile(t, endKeys)
	require.Equal(t, 200, status)
	require.Equal(t, 1, stored)
}

func TestPasskeysThatAreNotAccepted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c, other := accountstest.Customer(t, b.db), accountstest.Customer(t, b.db)
	token := b.token(t, c.Username)
	k, theirs := b.registered(t, c.ID, token), b.registered(t, other.ID, b.token(t, other.Username))
	var sentence string
	refused := func(what string, a response) {
		t.Helper()
		require.Equal(t, 401, a.status, "%s: %s", what, a.raw)
		require.Equal(t, fault.CodeInvalidCredentials, a.code(), what)
		if sentence == "" {
			sentence = a.detail()
		}
		require.Equal(t, sentence, a.detail(), what)
	}
	used := k.signs(t, b.signInOptions(t))
	require.Equal(t, 200, b.verify(t, used).status)
	refused("the same answer again", b.verify(t, used))
	late := b.signInOptions(t)
	b.clock.Advance(5*time.Minute + time.Second)
	refused("too late", b.verify(t, k.signs(t, late)))
	refused("never given", b.verify(t, k.signs(t, response{
		status: 200, raw: strings.Replace(late.raw, `"challenge":"`, `"challenge":"AAAA`, 1),
	})))
	refused("given for a registration", b.verify(t, k.signs(t, b.keyOptions(t, token))))
	for name, change := range map[string]func(k *key){
		"another site":       func(k *key) { k.site.ID = "evil.test" },
		"another page":       func(k *key) { k.site.Origin = "https://evil.test" },
		"without a lock":     func(k *key) { k.auth.Options.UserNotVerified = true },
		"without a presence": func(k *key) { k.auth.Options.UserNotPresent = true },
		"a copy elsewhere":   func(k *key) { k.auth.Options.BackupEligible = true },
		"of somebody else":   func(k *key) { k.auth.Options.UserHandle = []byte(other.ID) },
		"of nobody":          func(k *key) { k.auth.Options.UserHandle = []byte(objectid.New()) },
		"no id":              func(k *key) { k.auth.Options.UserHandle = []byte("' OR true --") },
		"another key":        func(k *key) { k.cred.Key = theirs.cred.Key },
		"an unknown one":     func(k *key) { k.cred.ID = []byte("unknown") },
	} {
		changed := *k
		change(&changed)
		refused(name, changed.signIn(t))
	}
	refused("malformed", b.verify(t, map[string]any{
		"id": "AA", "rawId": "AA", "type": "public-key", "response": map[string]any{
			"clientDataJSON": "AA", "authenticatorData": "AA", "signature": "AA", "userHandle": "AA",
		},
	}))
	require.Equal(t, 422, b.verify(t, map[string]any{"id": "AA"}).status)
	require.Equal(t, 422, b.verify(t, nil).status)
	b.exec(t, `UPDATE accounts.users SET enable = false WHERE id = $1`, c.ID)
	require.Equal(t, 403, k.signIn(t).status)
	b.exec(t, `UPDATE accounts.users SET enable = true, deleted_at = now() WHERE id = $1`, c.ID)
	refused("deleted", k.signIn(t))
	require.Equal(t, 200, theirs.signIn(t).status)
	require.NoError(t, accounts.SweepCodes(t.Context(), b.svc))
	b.clock.Advance(time.Hour)
	require.NoError(t, accounts.SweepCodes(t.Context(), b.svc))
	require.Zero(t, b.count(t, `SELECT count(*) FROM accounts.passkey_challenges`))
}

// Nobody sees or removes what is another's: the statement says whose it is.
func TestPasskeysAreTheirOwners(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	o.registered(t, o.customer.ID, o.customerJWT)
	id := o.get(t, "/me/passkeys", o.customerJWT).doc(t)["_id"].(string)
	for _, token := range []string{o.rootToken, o.adminToken} {
		require.Empty(t, o.get(t, "/me/passkeys", token).body["docs"])
		require.Equal(t, 404, o.bundle.remove(t, "/me/passkeys/"+id, token).status)
	}
	require.Equal(t, 200, o.bundle.remove(t, "/me/passkeys/"+strings.ToUpper(id), o.customerJWT).status)
}

func TestTheSameChallengeTwiceAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	k := b.registered(t, c.ID, b.token(t, c.Username))
	for range 3 {
		signed := k.signs(t, b.signInOptions(t))
		statuses := parallel(sameCodeAtOnce, func() int { return b.verify(t, signed).status })
		require.Equal(t, map[int]int{200: 1, 401: sameCodeAtOnce - 1}, statuses)
	}
}

// The same with challenges that are put back.
func TestTheSameChallengeTwiceWithoutTheGuard(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	k := b.registered(t, c.ID, b.token(t, c.Username))
	b.exec(t, `CREATE FUNCTION restore() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		INSERT INTO accounts.passkey_challenges SELECT OLD.*; RETURN NULL; END $$`)
	b.exec(t,
		`CREATE TRIGGER restore AFTER DELETE ON accounts.passkey_challenges FOR EACH ROW EXECUTE FUNCTION restore()`)
	signed := k.signs(t, b.signInOptions(t))
	for range 3 {
		require.Equal(t, 200, b.verify(t, signed).status)
	}
}

// signInsOfOneCount signs n challenges with one count of the authenticator, and sends all answers at once.
func signInsOfOneCount(t *testing.T, k *key, n int) map[int]int {
	t.Helper()
	answers := make(chan any, n)
	for range n {
		answers <- k.signs(t, k.b.signInOptions(t))
	}
	return parallel(n, func() int { return k.b.verify(t, <-answers).status })
}

// A copy of an authenticator counts on by itself: a count that does not rise is refused, also at the same moment.
func TestACopyOfAnAuthenticatorIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	k := b.registered(t, c.ID, b.token(t, c.Username))
	k.cred.Counter = 5
	require.Equal(t, map[int]int{200: 1, 401: 5}, signInsOfOneCount(t, k, 6))
	for _, count := range []uint32{5, 4, 0} {
		k.cred.Counter = count
		require.Equal(t, 401, k.signIn(t).status, count)
	}
	require.Contains(t, b.log.String(), "there may be a copy of it")
	k.cred.Counter = 6
	require.Equal(t, 200, k.signIn(t).status)
}

// The same with a count that is not kept.
func TestACopyOfAnAuthenticatorWithoutTheGuard(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	k := b.registered(t, c.ID, b.token(t, c.Username))
	b.exec(t, `CREATE FUNCTION restore() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		NEW.sign_count := OLD.sign_count; RETURN NEW; END $$`)
	b.exec(t, `CREATE TRIGGER restore BEFORE UPDATE ON accounts.passkeys FOR EACH ROW EXECUTE FUNCTION restore()`)
	k.cred.Counter = 5
	require.Equal(t, map[int]int{200: 6}, signInsOfOneCount(t, k, 6))
}

func TestAPasskeyBesideASecondFactor(t *testing.T) {
	t.Parallel()
	o := openOffice(t, func(d *accounts.Deps) { d.Config.MFARequiredForRoot = true })
	app := o.enrol(t, o.rootToken)
	missing := o.keyOptions(t, o.rootToken)
	require.Equal(t, 400, missing.status, "who adds one proves both: %s", missing.raw)
	require.Equal(t, "totp", missing.field())
	with := func(code string) response {
		return o.post(t, "/me/passkeys/options", o.rootToken,
			map[string]any{"current_password": accountstest.Password, "totp": code})
	}
	code := app.next(t)
	require.Equal(t, "totp", with(wrongCode(code)).field())
	k := o.newKey(o.root.ID)
	added := o.register(t, o.rootToken, "Phone", k.made(t, with(code)))
	require.Equal(t, 200, added.status, added.raw)
	in := k.signIn(t)
	require.Equal(t, 200, in.status, "a passkey is two factors by itself: %s", in.raw)
	require.Equal(t, 200, o.get(t, "/users-type", in.text("access_token")).status)
	require.Equal(t, 1, o.count(t, `SELECT count(*) FROM accounts.audit_log
		WHERE action = 'me_passkey_create' AND after ->> 'passkey' = 'Phone' AND after ->> 'passkey_id' = $1`,
		added.text("_id")))
	require.Equal(t, 200, o.bundle.remove(t, "/me/passkeys/"+added.text("_id"), o.rootToken).status)
	require.Equal(t, 1, o.count(t, `SELECT count(*) FROM accounts.audit_log
		WHERE action = 'me_passkey_delete' AND before ->> 'passkey' = 'Phone' AND before ->> 'passkey_id' = $1`,
		added.text("_id")))
}

// Whoever got into an account registered a passkey there, too: what lets its owner back in takes all of them.
func TestPasskeysOfAnIntruderGo(t *testing.T) {
	t.Parallel()
	b := setup(t, linking).work(t)
	for name, back := range map[string]func(c accounts.Customer, token string){
		"reset": func(c accounts.Customer, _ string) {
			require.Equal(t, 200, reset(t, b, c.Email, forgot(t, b, c.Email, 1), newPassword).status)
		},
		"undo": func(c accounts.Customer, token string) {
			b.moveTo(t, token, fmt.Sprintf("thief-%s@example.com", c.ID))
			link, _ := b.undoToken(t, c.Email, 1)
			require.Equal(t, 200, b.undo(t, link).status)
		},
		"operator": func(c accounts.Customer, _ string) {
			_, err := b.svc.ResetSecondFactor(t.Context(), c.Username)
			require.NoError(t, err)
		},
	} {
		c := accountstest.Customer(t, b.db)
		token := b.token(t, c.Username)
		k := b.registered(t, c.ID, token)
		require.Equal(t, 200, k.signIn(t).status, name)
		back(c, token)
		require.Equal(t, 401, k.signIn(t).status, name)
	}
	o := &office{bundle: b, root: accountstest.Root(t, b.db), admin: accountstest.Admin(t, b.db)}
	o.rootToken, o.adminToken = b.token(t, o.root.Username), b.token(t, o.admin.Username)
	k := b.registered(t, o.admin.ID, o.adminToken)
	require.Equal(t, 200, o.put(t, "/users", o.rootToken, change(o.admin.ID, map[string]any{"name": "Other"})).status)
	require.Equal(t, 200, k.signIn(t).status)
	require.Equal(t, 200, o.put(t, "/users", o.rootToken,
		change(o.admin.ID, map[string]any{"password": "another long one"})).status)
	require.Equal(t, 401, k.signIn(t).status)

	own := accountstest.Customer(t, b.db)
	token := b.token(t, own.Username)
	k = b.registered(t, own.ID, token)
	require.Equal(t, 200, changePassword(t, b, token, accountstest.Password, newPassword).status)
	require.Equal(t, 200, k.signIn(t).status, "who changes their own keeps them")
}

func TestPasskeysGoWithTheAccount(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	o.registered(t, o.customer.ID, o.customerJWT)
	k := o.registered(t, o.admin.ID, o.adminToken)
	o.keyOptions(t, o.customerJWT)
	file := o.get(t, "/customers/me/data", o.customerJWT)
	require.Len(t, file.body["passkeys"], 1)
	require.Equal(t, "Phone", file.body["passkeys"].([]any)[0].(map[string]any)["name"])
	require.Equal(t, 200, o.bundle.remove(t, "/customers/me", o.customerJWT).status)
	require.Equal(t, 200, o.json(t, http.MethodDelete, "/users", o.rootToken, ids(o.admin.ID)).status)
	require.Zero(t, o.count(t, `SELECT (SELECT count(*) FROM accounts.passkeys) +
		(SELECT count(*) FROM accounts.passkey_challenges)`))
	require.Equal(t, 401, k.signIn(t).status)
}

func TestWithoutADomainThereAreNoPasskeys(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *accounts.Deps) { d.Config.PasskeyRPID = "" })
	token := b.token(t, accountstest.Customer(t, b.db).Username)
	elsewhere := setup(t)
	c := accountstest.Customer(t, elsewhere.db)
	k := elsewhere.registered(t, c.ID, elsewhere.token(t, c.Username))
	for _, a := range []response{
		b.signInOptions(t), b.keyOptions(t, token), b.verify(t, k.signs(t, elsewhere.signInOptions(t))),
		b.register(t, token, "Phone", k.made(t, elsewhere.keyOptions(t, elsewhere.token(t, c.Username)))),
	} {
		require.Equal(t, 409, a.status, a.raw)
		require.Equal(t, fault.CodeConflict, a.code())
	}
	require.Equal(t, 200, b.get(t, "/me/passkeys", token).status)
	deps := accountstest.Deps(t, b.db)
	deps.Config.PasskeyRPID = "127.0.0.1"
	_, err := accounts.New(deps)
	require.Error(t, err)
}
