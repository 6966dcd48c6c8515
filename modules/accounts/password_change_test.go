package accounts_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts/accountstest"
	"marquee/platform/secret"
)

func textOf(s string) secret.Text { return secret.NewText(s) }

func changePassword(t *testing.T, b *bundle, token, current, next string) response {
	t.Helper()
	return b.post(t, "/auth/change-password", token, map[string]any{"current_password": current, "new_password": next})
}

func TestChangePasswordKeepsItsOwnTokenAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	this, other := b.login(t, c.Username, accountstest.Password), b.login(t, c.Username, accountstest.Password)
	a := changePassword(t, b, this.text("access_token"), accountstest.Password, newPassword)
	require.Equal(t, 200, a.status, a.raw)
	require.Equal(t, false, a.body["password_reset_required"])

	require.Equal(t, 200, b.get(t, "/customers/me", this.text("access_token")).status)
	require.Equal(t, 403, b.get(t, "/customers/me", other.text("access_token")).status)
	for _, session := range []response{this, other} {
		require.Equal(t, 403,
			b.post(t, "/auth/refresh-token", "", map[string]any{"refresh_token": session.text("refresh_token")}).status)
		_, err := b.files.CallerByArchiveToken(t.Context(), session.text("archive_token"))
		require.Error(t, err)
	}
	require.Equal(t, 200, b.get(t, "/customers/me", a.text("access_token")).status)
	require.NotEmpty(t, a.text("expiration"))
	renewed := b.post(t, "/auth/refresh-token", "", map[string]any{"refresh_token": a.text("refresh_token")})
	require.Equal(t, 200, renewed.status, renewed.raw)
	owner, err := b.files.CallerByArchiveToken(t.Context(), a.text("archive_token"))
	require.NoError(t, err)
	require.Equal(t, c.ID, owner.ID)
	fresh := b.login(t, c.Username, newPassword)
	require.Equal(t, 200, fresh.status)

	b.clock.Advance(time.Minute)
	require.Equal(t, 200, changePassword(t, b, this.text("access_token"), newPassword, newPassword+"!").status,
		"the kept token may do it again")
	require.Equal(t, 403, b.get(t, "/customers/me", a.text("access_token")).status,
		"the session of the first change is one of the others now")
	require.Equal(t, 200, b.get(t, "/customers/me", this.text("access_token")).status)
	require.Equal(t, 403, b.get(t, "/customers/me", fresh.text("access_token")).status)

	b.exec(t, `UPDATE accounts.users SET tokens_valid_after = $2 WHERE id = $1`, c.ID, b.clock.Now().Add(time.Second))
	require.Equal(t, 403, b.get(t, "/customers/me", this.text("access_token")).status,
		"a later ending takes the kept one too")
}

func TestChangePasswordRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	token := b.token(t, c.Username)
	a := changePassword(t, b, token, "wrong", newPassword)
	require.Equal(t, 400, a.status, a.raw)
	require.Equal(t, "VALIDATION_ERROR", a.code())
	require.Equal(t, "current_password", a.field())
	a = changePassword(t, b, token, accountstest.Password, "1234567")
	require.Equal(t, 400, a.status, a.raw)
	require.Equal(t, "VALIDATION_ERROR", a.code())
	require.Equal(t, "new_password", a.field())
	require.Equal(t, 422, changePassword(t, b, token, "", newPassword).status)
	require.Equal(t, 401, changePassword(t, b, "", accountstest.Password, newPassword).status)
	require.Equal(t, 200, b.login(t, c.Username, accountstest.Password).status)
}

// A stolen token buys no more guesses at the password than the login form does.
func TestChangePasswordGuessesCountAsLogins(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	token := b.token(t, c.Username)
	for range 10 {
		require.Equal(t, 400, changePassword(t, b, token, "wrong", newPassword).status)
	}
	require.Equal(t, 429, changePassword(t, b, token, accountstest.Password, newPassword).status)
	require.Equal(t, 429, b.login(t, c.Email, accountstest.Password).status)
}

func TestParallelPasswordChangesEndWithOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	token := b.token(t, accountstest.Customer(t, b.db).Username)
	statuses := parallel(3,
		func() int { return changePassword(t, b, token, accountstest.Password, newPassword).status })
	require.Equal(t, 1, statuses[200], "%v", statuses)
	require.Equal(t, 2, statuses[400], "%v", statuses)
}
