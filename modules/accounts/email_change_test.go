package accounts_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts/accountstest"
)

func changeEmail(t *testing.T, b *bundle, token, email string) response {
	t.Helper()
	return b.post(t, "/customers/me/change-email", token, map[string]any{"new_email": email})
}

func confirmEmail(t *testing.T, b *bundle, token, code string) response {
	t.Helper()
	return b.post(t, "/customers/me/confirm-email", token, map[string]any{"verification_code": code})
}

func TestChangeOfEmail(t *testing.T) {
	t.Parallel()
	b := setup(t).work(t)
	c := accountstest.Customer(t, b.db)
	token := b.token(t, c.Username)
	resetCode := forgot(t, b, c.Email, 1)
	a := changeEmail(t, b, token, "New@Example.com")
	require.Equal(t, 200, a.status, a.raw)
	require.Equal(t, "new@example.com", a.text("new_email"))
	require.EqualValues(t, 15, a.body["expires_in_minutes"])
	code := b.mailedCode(t, "new@example.com", 1)
	require.Equal(t, 200, b.login(t, c.Email, accountstest.Password).status, "the old address is good until then")

	a = confirmEmail(t, b, token, code)
	require.Equal(t, 200, a.status, a.raw)
	doc := a.doc(t)
	require.Equal(t, "new@example.com", doc["email"])
	require.Equal(t, "new@example.com", doc["username"])
	require.Equal(t, true, doc["email_verified"])
	require.Contains(t, a.text("info", "message"), "new@example.com")
	require.Equal(t, 200, b.login(t, "new@example.com", accountstest.Password).status)
	require.Equal(t, 401, b.login(t, c.Email, accountstest.Password).status)
	require.Equal(t, 401, b.login(t, c.Username, accountstest.Password).status)
	require.Equal(t, 200, b.get(t, "/customers/me", token).status)
	require.Equal(t, 400, reset(t, b, "new@example.com", resetCode, newPassword).status,
		"a code mailed to the old address proves nothing now")
	require.Equal(t, 400, confirmEmail(t, b, token, code).status)
}

func TestChangeOfEmailRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t).work(t)
	c, other := accountstest.Customer(t, b.db), accountstest.Customer(t, b.db)
	token := b.token(t, c.Username)
	a := changeEmail(t, b, token, c.Email)
	require.Equal(t, 400, a.status, a.raw)
	require.Equal(t, "new_email", a.field())
	a = changeEmail(t, b, token, other.Email)
	require.Equal(t, 409, a.status)
	require.Equal(t, "CONFLICT", a.code())
	require.Equal(t, 422, changeEmail(t, b, token, "no address").status)
	require.Equal(t, 401, changeEmail(t, b, "", "x@example.com").status)
	require.Equal(t, 403, changeEmail(t, b, b.token(t, accountstest.Admin(t, b.db).Username), "x@example.com").status)
	a = confirmEmail(t, b, token, "123456")
	require.Equal(t, 400, a.status)
	require.Contains(t, a.detail(), "no pending change")
	for _, bad := range []string{"12345", "1234567", "12a456", ""} {
		require.Equal(t, 422, confirmEmail(t, b, token, bad).status)
	}

	require.Equal(t, 200, changeEmail(t, b, token, "free@example.com").status)
	for _, next := range []string{"free@example.com", "another@example.com"} {
		a = changeEmail(t, b, token, next)
		require.Equal(t, 429, a.status, "one request a minute, whatever the address")
		require.Equal(t, "60", a.header.Get("Retry-After"))
	}
	require.Equal(t, 429, changeEmail(t, b, b.token(t, other.Username), "free@example.com").status,
		"the address has its turn, too")
	code := b.mailedCode(t, "free@example.com", 1)
	for _, left := range []string{"4 attempts", "3 attempts", "2 attempts", "1 attempt", "0 attempts"} {
		a = confirmEmail(t, b, token, wrongCode(code))
		require.Equal(t, 400, a.status)
		require.Equal(t, "Wrong code. "+left+" remaining.", a.detail())
	}
	require.Equal(t, 429, confirmEmail(t, b, token, code).status)

	b.clock.Advance(time.Minute)
	require.Equal(t, 200, changeEmail(t, b, token, "free@example.com").status)
	code = b.mailedCode(t, "free@example.com", 2)
	b.clock.Advance(15 * time.Minute)
	a = confirmEmail(t, b, token, code)
	require.Equal(t, 400, a.status)
	require.Contains(t, a.detail(), "expired")
}

func TestAddressTakenMeanwhile(t *testing.T) {
	t.Parallel()
	b := setup(t).work(t)
	token := b.token(t, accountstest.Customer(t, b.db).Username)
	require.Equal(t, 200, changeEmail(t, b, token, "race@example.com").status)
	code := b.mailedCode(t, "race@example.com", 1)
	a := b.post(t, "/customers/signup", "", signupOf("race", nil))
	require.Equal(t, 200, a.status, a.raw)
	a = confirmEmail(t, b, token, code)
	require.Equal(t, 409, a.status, a.raw)
	require.Equal(t, "CONFLICT", a.code())
}
