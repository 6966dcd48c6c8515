package accounts_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts/accountstest"
	"marquee/testutil/secrettest"
)

// dump is every row of every table as text.
func dump(t *testing.T, b *bundle) string {
	t.Helper()
	text, err := secrettest.Dump(b.db.Config().ConnString())
	require.NoError(t, err)
	return text
}

func TestNoSecretIsStoredQueuedOrLogged(t *testing.T) {
	t.Parallel()
	b := setup(t).work(t)
	const password = "an unmistakable p4ssword"
	a := b.post(t, "/customers/signup", "", signupOf("queila", map[string]any{
		"verify_email_now": false, "password": password,
	}))
	require.Equal(t, 200, a.status, a.raw)
	code := b.mailedCode(t, "queila@example.com", 1)
	token := a.text("auth", "access_token")
	require.Equal(t, 400,
		b.post(t, "/customers/me/verify-email", token, map[string]any{"code": wrongCode(code)}).status)
	login := b.login(t, "queila", password)
	require.Equal(t, 401, b.login(t, "queila", password+"!").status)
	refreshed := b.post(t, "/auth/refresh-token", "", map[string]any{"refresh_token": login.text("refresh_token")})
	archive := b.post(t, "/auth/refresh-archive-token", token, "")
	require.Equal(t, 200, archive.status, archive.raw)
	require.Equal(t, 422, b.post(t, "/customers/signup", "", signupOf("queila", map[string]any{
		"password": password, "phone": "x",
	})).status)

	before, log := dump(t, b), b.log.String()
	require.Equal(t, 200, b.post(t, "/customers/me/verify-email", token, map[string]any{"code": code}).status)
	for name, secret := range map[string]string{
		"password": password, "code": code, "access token": token, "archive token": a.text("auth", "archive_token"),
		"access token of the login": login.text("access_token"), "refresh token": login.text("refresh_token"),
		"archive token of the login": login.text("archive_token"), "refreshed token": refreshed.text("access_token"),
		"refreshed archive token": archive.text("archive_token"), "fixtures' password": accountstest.Password,
	} {
		require.NotEmpty(t, secret, name)
		for place, text := range map[string]string{"database": before + dump(t, b), "log": log + b.log.String()} {
			if name == "code" {
				require.NotRegexp(t, `(^|[^0-9a-f.])`+secret+`($|[^0-9a-f])`, text, "%s in the %s", name, place)
				continue
			}
			require.NotContains(t, text, secret, "%s in the %s", name, place)
		}
	}
}
