package accounts_test

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/testutil/pgtest"
)

const badToken = "Access Denied: Could not validate token."

func TestLogin(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	for _, login := range []string{c.Username, strings.ToUpper(c.Username), c.Email, strings.ToUpper(c.Email)} {
		a := b.login(t, login, accountstest.Password)
		require.Equal(t, 200, a.status, a.raw)
		require.Equal(t, "bearer", a.body["token_type"])
		require.Equal(t, c.ID.String(), a.body["id_token"])
		require.Equal(t, httpapi.Time(b.clock.Now().Add(12*time.Hour)).String(), a.body["expiration"])
		require.NotContains(t, a.body, "password_reset_required")
		for _, token := range []string{"access_token", "refresh_token", "archive_token"} {
			require.NotEmpty(t, a.text(token), token)
		}
	}
	me := b.get(t, "/current-user", b.token(t, c.Username))
	require.Equal(t, map[string]any{
		"user_id": c.ID.String(), "username": c.Username, "type_user": []any{}, "tz": "UTC",
	}, me.body)
	admin := accountstest.Admin(t, b.db)
	me = b.get(t, "/current-user", b.token(t, admin.Username))
	require.Equal(t, []any{"000000000000000000000001"}, me.body["type_user"])
}

func TestLoginRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	wrong, unknown := b.login(t, c.Username, "wrong password"), b.login(t, "nobody", "wrong password")
	for _, a := range []response{wrong, unknown, b.login(t, "nobody@example.com", "x")} {
		require.Equal(t, 401, a.status, a.raw)
		require.Equal(t, fault.CodeInvalidCredentials, a.code())
		require.Equal(t, wrong.detail(), a.detail())
	}

	b.exec(t, `UPDATE accounts.users SET enable = false WHERE id = $1`, c.ID)
	a := b.login(t, c.Username, accountstest.Password)
	require.Equal(t, 403, a.status, a.raw)
	require.Equal(t, fault.CodeForbidden, a.code())
	require.Equal(t, 401, b.login(t, c.Username, "wrong password").status,
		"only the owner learns that the account is disabled")

	b.exec(t, `UPDATE accounts.users SET enable = true, deleted_at = now() WHERE id = $1`, c.ID)
	require.Equal(t, 401, b.login(t, c.Username, accountstest.Password).status)
}

func TestLoginForm(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const form = "application/x-www-form-urlencoded"
	for body, field := range map[string]string{
		"username=ana": "password", "password=12345678": "username", "username=&password=": "username",
		"username=%ff%fe&password=12345678":                      "username",
		"username=ana&password=" + strings.Repeat("x", 1025):     "password",
		"username=" + strings.Repeat("x", 2000) + "&password=12": "username",
	} {
		a := b.send(t, "POST", "/token", "", form, body)
		require.Equal(t, 422, a.status, "%.40s: %s", body, a.raw)
		require.Equal(t, field, a.field(), "%.40s", body)
	}
	require.Equal(t, 422, b.send(t, "POST", "/token", "", form, "username=%00&password=1").status)
	require.Equal(t, 422, b.send(t, "POST", "/token", "", form, "username=%zz").status)
	require.Equal(t, 422, b.send(t, "POST", "/token", "", form, "").status)
	require.Equal(t, 415,
		b.send(t, "POST", "/token", "", "application/json", `{"username":"ana","password":"12345678"}`).status)
	require.Equal(t, 415, b.send(t, "POST", "/token", "", "", `username=ana`).status)
}

func TestLoginOfImportedUsers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	b.exec(t, `UPDATE accounts.users SET password_hash = NULL, password_reset_required = true WHERE id = $1`, c.ID)
	a := b.login(t, c.Email, "anything at all")
	require.Equal(t, 401, a.status)
	require.Equal(t, fault.CodeResetRequired, a.code())

	old, err := bcrypt.GenerateFromPassword([]byte("imported"), bcrypt.MinCost)
	require.NoError(t, err)
	b.exec(t, `UPDATE accounts.users SET password_hash = $2 WHERE id = $1`, c.ID, string(old))
	require.Equal(t, 401, b.login(t, c.Email, "Imported").status)
	a = b.login(t, c.Email, "imported")
	require.Equal(t, 200, a.status, a.raw)
	require.Equal(t, true, a.body["password_reset_required"])
	require.NotEmpty(t, a.text("message"))
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM accounts.users WHERE password_hash LIKE '$argon2id$%'`),
		"the login renews the hash")
	require.Equal(t, 200, b.login(t, c.Email, "imported").status)
}

func TestRehashWhenTheCostChanges(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *accounts.Deps) { d.Config.Password.Passes = 2 })
	c := accountstest.Customer(t, b.db)
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM accounts.users WHERE password_hash LIKE '%t=1,%'`))
	b.token(t, c.Username)
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM accounts.users WHERE password_hash LIKE '%t=2,%'`))
	b.token(t, c.Username)
}

func TestBearerRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	login := b.login(t, c.Username, accountstest.Password)
	good := login.text("access_token")

	a := b.get(t, "/current-user", "")
	require.Equal(t, 401, a.status)
	require.JSONEq(t, `{"detail":"Not authenticated"}`, a.raw)

	parts := strings.Split(good, ".")
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","kid":"test","typ":"JWT"}`)) + "." + parts[1] +
		"."
	foreign := signed(t, "test", "another key, another key, another key", nil)
	for name, token := range map[string]string{
		"garbage": "x", "cut": good[:len(good)-2], "refresh token": login.text("refresh_token"), "alg none": none,
		"foreign key": foreign, "unknown kid": signed(t, "other", "0123456789abcdef0123456789abcdef", nil),
		"no expiry":     signed(t, "test", "0123456789abcdef0123456789abcdef", jwt.MapClaims{"exp": nil}),
		"other issuer":  signed(t, "test", "0123456789abcdef0123456789abcdef", jwt.MapClaims{"iss": "other"}),
		"no kind":       signed(t, "test", "0123456789abcdef0123456789abcdef", jwt.MapClaims{"kind": nil}),
		"malformed id":  signed(t, "test", "0123456789abcdef0123456789abcdef", jwt.MapClaims{"user_id": "x"}),
		"nobody's id":   signed(t, "test", "0123456789abcdef0123456789abcdef", nil),
		"archive token": login.text("archive_token"),
	} {
		a := b.get(t, "/current-user", token)
		require.Equal(t, 403, a.status, "%s: %s", name, a.raw)
		require.JSONEq(t, `{"detail":"`+badToken+`"}`, a.raw, name)
	}
	require.Equal(t, 200, b.get(t, "/current-user", good).status)
	b.clock.Advance(12*time.Hour + time.Second)
	require.Equal(t, 403, b.get(t, "/current-user", good).status, "expired")
}

// signed makes a token as the service would, changed by set; nil removes a claim.
func signed(t *testing.T, kid, key string, set jwt.MapClaims) string {
	t.Helper()
	claims := jwt.MapClaims{
		"iss": "marquee", "exp": time.Now().Add(time.Hour).Unix(), "kind": "access",
		"user_id": "0123456789abcdef01234567", "iat_ms": time.Now().UnixMilli(),
	}
	for k, v := range set {
		claims[k] = v
		if v == nil {
			delete(claims, k)
		}
	}
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, claims)
	token.Header["kid"] = kid
	text, err := token.SignedString([]byte(key))
	require.NoError(t, err)
	return text
}

func TestTokensAreEndedLive(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, end := range []string{
		`UPDATE accounts.users SET enable = false WHERE id = $1`,
		`UPDATE accounts.users SET deleted_at = now() WHERE id = $1`,
		`UPDATE accounts.users SET tokens_valid_after = '2999-01-01' WHERE id = $1`,
	} {
		c := accountstest.Customer(t, b.db)
		login := b.login(t, c.Username, accountstest.Password)
		b.exec(t, end, c.ID)
		require.Equal(t, 403, b.get(t, "/current-user", login.text("access_token")).status, end)
		a := b.post(t, "/auth/refresh-token", "", map[string]any{"refresh_token": login.text("refresh_token")})
		require.Equal(t, 403, a.status, end)
		require.Equal(t, badToken, a.detail())
	}
	c := accountstest.Customer(t, b.db)
	before := b.token(t, c.Username)
	b.clock.Advance(time.Millisecond)
	b.exec(t, `UPDATE accounts.users SET tokens_valid_after = $2 WHERE id = $1`, c.ID, b.clock.Now())
	after := b.token(t, c.Username)
	require.Equal(t, 403, b.get(t, "/current-user", before).status)
	require.Equal(t, 200, b.get(t, "/current-user", after).status)
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	login := b.login(t, c.Username, accountstest.Password)
	b.clock.Advance(13 * time.Hour)
	for range 2 { // the first refresh does not use the token up
		a := b.post(t, "/auth/refresh-token", "", map[string]any{"refresh_token": login.text("refresh_token")})
		require.Equal(t, 200, a.status, a.raw)
		require.NotEqual(t, login.text("refresh_token"), a.text("refresh_token"))
		require.Equal(t, httpapi.Time(b.clock.Now().Add(12*time.Hour)).String(), a.text("expiration"))
		require.Equal(t, c.ID.String(), a.text("id_token"))
		require.Equal(t, "bearer", a.text("token_type"))
		require.Equal(t, 200, b.get(t, "/current-user", a.text("access_token")).status)
	}
	for _, bad := range []string{"", "x", login.text("access_token")} {
		a := b.post(t, "/auth/refresh-token", "", map[string]any{"refresh_token": bad})
		require.Equal(t, 403, a.status, a.raw)
		require.JSONEq(t, `{"detail":"`+badToken+`"}`, a.raw)
	}
	for _, bad := range []string{`{}`, `{"refresh_token":7}`, `{"refresh_token":null}`, `[]`, `null`} {
		require.Equal(t, 422, b.json(t, "POST", "/auth/refresh-token", "", bad).status, bad)
	}
	b.clock.Advance(30 * 24 * time.Hour)
	require.Equal(t, 403,
		b.post(t, "/auth/refresh-token", "", map[string]any{"refresh_token": login.text("refresh_token")}).status)
}

func TestRefreshArchiveToken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	admin := accountstest.Admin(t, b.db)
	a := b.send(t, "POST", "/auth/refresh-archive-token", b.token(t, admin.Username), "", "")
	require.Equal(t, 200, a.status, a.raw)
	require.NotEmpty(t, a.text("archive_token"))
	require.Equal(t, httpapi.Time(b.clock.Now().Add(12*time.Hour)).String(), a.text("expiration"))
	require.Equal(t, 2, b.count(t, `SELECT count(*) FROM files.archive_tokens WHERE user_id = $1`, admin.ID),
		"the login's token lives on")
	require.Equal(t, 401, b.send(t, "POST", "/auth/refresh-archive-token", "", "", "").status)
}

func TestKeysCanBeRotated(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	old := b.token(t, c.Username)
	deps := accountstest.Deps(t, b.db)
	deps.Config.TokenKeys = "new:abcdefghabcdefghabcdefghabcdefgh, " + deps.Config.TokenKeys
	rotated, err := accounts.New(deps)
	require.NoError(t, err)
	claims, err := rotated.Verify(old)
	require.NoError(t, err)
	require.Equal(t, c.ID, claims.UserID)
	deps.Config.TokenKeys = "new:abcdefghabcdefghabcdefghabcdefgh"
	later, err := accounts.New(deps)
	require.NoError(t, err)
	_, err = later.Verify(old)
	require.Error(t, err)
}

func TestWeakKeysAreRefused(t *testing.T) {
	t.Parallel()
	deps := accounts.Deps{Config: accountstest.Config()}
	for _, keys := range []string{
		"", "short:abc", "nokid", ":0123456789abcdef0123456789abcdef",
		"a:0123456789abcdef0123456789abcdef,a:0123456789abcdef0123456789abcdef",
	} {
		deps.Config.TokenKeys = keys
		_, err := accounts.New(deps)
		require.ErrorContains(t, err, "TOKEN_KEYS", keys)
		require.NotContains(t, err.Error(), "abc", "the sentence shows no key")
	}
	deps.Config = accountstest.Config()
	deps.Config.CodeKey = []byte("short")
	_, err := accounts.New(deps)
	require.Error(t, err)
}

func TestTokenClaims(t *testing.T) {
	t.Parallel()
	b := setup(t)
	admin := accountstest.Root(t, b.db)
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(b.token(t, admin.Username), ".")[1])
	require.NoError(t, err)
	var claims map[string]any
	require.NoError(t, json.Unmarshal(payload, &claims))
	require.Equal(t, admin.ID.String(), claims["user_id"])
	require.Equal(t, admin.Username, claims["username"])
	require.Equal(t, "UTC", claims["tz"])
	require.Len(t, claims["type_user"], 1)
	require.NotEmpty(t, claims["jti"])
	require.NotContains(t, claims, "is_root", "rights are read live")
}

func TestCallerIsReadLive(t *testing.T) {
	t.Parallel()
	b := setup(t)
	root, admin, customer := accountstest.Root(t, b.db), accountstest.Admin(t, b.db), accountstest.Customer(t, b.db)
	read := func(username string) httpapi.Caller {
		claims, err := b.svc.Verify(b.token(t, username))
		require.NoError(t, err)
		c, err := b.svc.Caller(t.Context(), claims)
		require.NoError(t, err)
		return c
	}
	require.True(t, read(root.Username).Root)
	a := read(admin.Username)
	require.False(t, a.Root)
	require.Equal(t, httpapi.TypeAdmin, a.Type)
	require.ElementsMatch(t, []string{
		"requisition_get", "requisition_status_get", "requisition_file_download", "requisition_post",
		"requisition_status_post", "requisition_file_upload", "requisition_put", "requisition_status_put",
		"requisition_delete", "requisition_status_delete", "requisition_file_delete",
	}, a.Handlers)
	c := read(customer.Username)
	require.Equal(t, httpapi.TypeCustomer, c.Type)
	require.Empty(t, c.Handlers)

	b.exec(t, `UPDATE accounts.users_type SET "delete" = '{}', "update" = '{}', "create" = '{}'`)
	require.Len(t, read(admin.Username).Handlers, 3, "an edited profile counts at once")
}

func TestTheCallerOfAnUnknownIdIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	caller, err := b.svc.Caller(t.Context(), httpapi.Claims{UserID: "0123456789abcdef01234567", IssuedAt: time.Now()})
	require.True(t, fault.Is(err, fault.KindForbidden))
	require.Empty(t, caller.ID)
}

func TestThrottleByAddress(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *accounts.Deps) { d.Config.PerMinute = 3 })
	form := url.Values{"username": {"nobody"}, "password": {"12345678"}}.Encode()
	var last response
	for range 4 {
		last = b.send(t, "POST", "/token", "", "application/x-www-form-urlencoded", form)
	}
	require.Equal(t, 429, last.status)
	require.NotEmpty(t, last.header.Get("Retry-After"))
}

func BenchmarkVerify(b *testing.B) {
	db := pgtest.DB(b)
	svc, token := accountstest.Service(b, db), accountstest.Token(b, db, accountstest.Customer(b, db).Username)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := svc.Verify(token); err != nil {
			b.Fatal(err)
		}
	}
}
