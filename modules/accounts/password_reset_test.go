package accounts_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/platform/httpapi"
)

const newPassword = "a brand new passphrase"

// forgot asks for a code and returns the nth mailed one.
func forgot(t *testing.T, b *bundle, email string, nth int) string {
	t.Helper()
	a := b.post(t, "/auth/forgot-password", "", map[string]any{"email": email})
	require.Equal(t, 200, a.status, a.raw)
	return b.mailedCode(t, email, nth)
}

func reset(t *testing.T, b *bundle, email, code, password string) response {
	t.Helper()
	return b.post(t, "/auth/reset-password", "", map[string]any{"email": email, "code": code, "new_password": password})
}

func TestResetEndsEverythingEarlier(t *testing.T) {
	t.Parallel()
	b := setup(t).work(t)
	c := accountstest.Customer(t, b.db, func(n *accounts.NewUser) { n.EmailVerified = false })
	before := b.login(t, c.Username, accountstest.Password)
	require.Equal(t, 200, before.status)
	code := forgot(t, b, c.Email, 1)
	a := reset(t, b, " "+strings.ToUpper(c.Email), code, newPassword)
	require.Equal(t, 200, a.status, a.raw)

	// All in the same instant: the clock stands.
	require.Equal(t, 403, b.get(t, "/customers/me", before.text("access_token")).status)
	a = b.post(t, "/auth/refresh-token", "", map[string]any{"refresh_token": before.text("refresh_token")})
	require.Equal(t, 403, a.status)
	require.Equal(t, "Access Denied: Could not validate token.", a.detail())
	_, err := b.files.CallerByArchiveToken(t.Context(), before.text("archive_token"))
	require.Error(t, err)

	require.Equal(t, 401, b.login(t, c.Username, accountstest.Password).status)
	after := b.login(t, c.Username, newPassword)
	require.Equal(t, 200, after.status)
	me := b.get(t, "/customers/me", after.text("access_token"))
	require.Equal(t, 200, me.status, me.raw)
	require.Equal(t, true, me.doc(t)["email_verified"])
	_, err = b.files.CallerByArchiveToken(t.Context(), after.text("archive_token"))
	require.NoError(t, err)
	require.Equal(t, 400, reset(t, b, c.Email, code, newPassword).status, "a code serves once")
	require.Zero(t, b.count(t, `SELECT count(*) FROM accounts.codes`))
}

// A hash takes a core for tens of milliseconds: none is to be had for a code that
// does not change a password.
func TestResetComputesNoHashWithoutAGoodCode(t *testing.T) {
	t.Parallel()
	b := setup(t).work(t)
	c := accountstest.Customer(t, b.db)
	before := accounts.HashesMade(b.svc)
	require.Equal(t, 400, reset(t, b, c.Email, "123456", newPassword).status, "never asked for")
	code := forgot(t, b, c.Email, 1)
	require.Equal(t, 400, reset(t, b, c.Email, wrongCode(code), newPassword).status)
	require.Equal(t, before, accounts.HashesMade(b.svc))
	require.Equal(t, 200, reset(t, b, c.Email, code, newPassword).status)
	require.Equal(t, before+1, accounts.HashesMade(b.svc))
	require.Equal(t, 400, reset(t, b, c.Email, code, newPassword).status, "spent")

	b.clock.Advance(time.Minute)
	code = forgot(t, b, c.Email, 2)
	for range 5 {
		require.Equal(t, 400, reset(t, b, c.Email, wrongCode(code), newPassword).status)
	}
	require.Equal(t, 429, reset(t, b, c.Email, code, newPassword).status, "dead of wrong ones")
	b.clock.Advance(time.Minute)
	code = forgot(t, b, c.Email, 3)
	b.clock.Advance(time.Hour)
	require.Equal(t, 400, reset(t, b, c.Email, code, newPassword).status, "expired")
	require.Equal(t, before+1, accounts.HashesMade(b.svc))
}

func TestResetCountsAttempts(t *testing.T) {
	t.Parallel()
	b := setup(t).work(t)
	c := accountstest.Customer(t, b.db)
	code := forgot(t, b, c.Email, 1)
	for _, left := range []string{"4 attempts", "3 attempts", "2 attempts", "1 attempt", "0 attempts"} {
		a := reset(t, b, c.Email, wrongCode(code), newPassword)
		require.Equal(t, 400, a.status, a.raw)
		require.Equal(t, "Wrong code. "+left+" remaining.", a.detail())
	}
	require.Equal(t, 429, reset(t, b, c.Email, wrongCode(code), newPassword).status)
	require.Equal(t, 429, reset(t, b, c.Email, code, newPassword).status, "also with the right code")
	require.Equal(t, 200, b.login(t, c.Username, accountstest.Password).status, "the password is as it was")

	b.clock.Advance(time.Minute)
	require.Equal(t, 200, reset(t, b, c.Email, forgot(t, b, c.Email, 2), newPassword).status)
}

func TestResetRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t).work(t)
	c := accountstest.Customer(t, b.db)
	a := reset(t, b, c.Email, "123456", newPassword)
	require.Equal(t, 400, a.status)
	require.Contains(t, a.detail(), "no active code")
	a = reset(t, b, "nobody@example.com", "123456", newPassword)
	require.Equal(t, 404, a.status)
	require.Equal(t, "NOT_FOUND", a.code())
	code := forgot(t, b, c.Email, 1)
	a = reset(t, b, c.Email, code, "short")
	require.Equal(t, 400, a.status, a.raw)
	require.Equal(t, "VALIDATION_ERROR", a.code())
	require.Equal(t, "new_password", a.field())
	for _, bad := range []map[string]any{
		{"email": "no address", "code": code, "new_password": newPassword},
		{"email": c.Email, "code": "12345", "new_password": newPassword},
		{"email": c.Email, "new_password": newPassword},
		{"email": c.Email, "code": code, "new_password": newPassword, "user_type": "admin"},
	} {
		require.Equal(t, 422, b.post(t, "/auth/reset-password", "", bad).status, "%v", bad)
	}
	require.Zero(t, b.count(t, `SELECT attempts FROM accounts.codes`))
	b.clock.Advance(15 * time.Minute)
	a = reset(t, b, c.Email, code, newPassword)
	require.Equal(t, 400, a.status)
	require.Contains(t, a.detail(), "expired")
}

func TestForgotPasswordDoesTheSameForAllAddresses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	known := accountstest.Customer(t, b.db)
	var bodies, again []string
	for i, email := range []string{known.Email, "nobody@example.com"} {
		a := b.post(t, "/auth/forgot-password", "", map[string]any{"email": email})
		require.Equal(t, 200, a.status, a.raw)
		bodies = append(bodies, a.raw)
		require.Equal(t, i+1, b.count(t, `SELECT count(*) FROM jobs.river_job WHERE kind = 'accounts_send_reset'`))
		require.Zero(t, b.count(t, `SELECT count(*) FROM accounts.codes`), "what differs is left to the job")
		a = b.post(t, "/auth/forgot-password", "", map[string]any{"email": email})
		require.Equal(t, 429, a.status)
		require.Equal(t, "60", a.header.Get("Retry-After"))
		require.Contains(t, a.detail(), "60 seconds")
		again = append(again, a.raw)
	}
	require.Equal(t, bodies[0], bodies[1])
	require.Equal(t, again[0], again[1])
}

func TestDailyCapOfCodeMails(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *accounts.Deps) { d.Config.Throttle.MailsPerDay = 3 })
	b.clock.Advance(time.Until(time.Now().Truncate(24 * time.Hour).Add(25 * time.Hour))) // one o'clock UTC
	for _, email := range []string{accountstest.Customer(t, b.db).Email, "nobody@example.com"} {
		for range 3 {
			require.Equal(t, 200, b.post(t, "/auth/forgot-password", "", map[string]any{"email": email}).status)
			b.clock.Advance(time.Minute)
		}
		for _, path := range []string{"/auth/forgot-password", "/auth/resend-verification"} {
			a := b.post(t, path, "", map[string]any{"email": email})
			require.Equal(t, 429, a.status, path)
			require.Contains(t, a.detail(), "too many mails today")
			require.NotEqual(t, "60", a.header.Get("Retry-After"))
		}
	}
	b.clock.Advance(24 * time.Hour)
	require.Equal(t, 200, b.post(t, "/auth/forgot-password", "", map[string]any{"email": "nobody@example.com"}).status)
}

// Fresh codes do not give fresh guesses without end.
func TestWrongCodesOverSeveralCodesMakeWait(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *accounts.Deps) { d.Config.Throttle.CodeFailures = 6 }).work(t)
	c := accountstest.Customer(t, b.db)
	code := forgot(t, b, c.Email, 1)
	for range 5 {
		require.Equal(t, 400, reset(t, b, c.Email, wrongCode(code), newPassword).status)
	}
	b.clock.Advance(time.Minute)
	code = forgot(t, b, c.Email, 2)
	for _, wait := range []string{"1", "2", "4"} {
		require.Equal(t, 400, reset(t, b, c.Email, wrongCode(code), newPassword).status)
		a := reset(t, b, c.Email, code, newPassword)
		require.Equal(t, 429, a.status, a.raw)
		require.Equal(t, wait, a.header.Get("Retry-After"))
		b.clock.Advance(5 * time.Second)
	}
	require.Equal(t, 200, reset(t, b, c.Email, code, newPassword).status)
}

func TestUnknownResetsAreThrottledByAddress(t *testing.T) {
	t.Parallel()
	limit := func(d *accounts.Deps) { d.Config.Throttle.UnknownResets = 3 }
	b := setup(t, limit)
	for range 3 {
		require.Equal(t, 404, reset(t, b, "nobody@example.com", "123456", newPassword).status)
	}
	a := reset(t, b, "somebody@example.com", "123456", newPassword)
	require.Equal(t, 429, a.status)
	require.Equal(t, "1", a.header.Get("Retry-After"))
	lifted := setup(t, limit, func(d *accounts.Deps) { d.Config.Throttle.Off = true })
	for range 5 {
		require.Equal(t, 404, reset(t, lifted, "nobody@example.com", "123456", newPassword).status)
	}
}

// Somebody signs up with a stranger's address and waits: whoever owns the address
// gets the account, and nothing of the other's access is left.
func TestSquatterLosesTheAccountToTheAddressOwner(t *testing.T) {
	t.Parallel()
	b := setup(t).work(t)
	squatter := b.post(t, "/customers/signup", "", signupOf("vitima", map[string]any{"verify_email_now": false}))
	require.Equal(t, 200, squatter.status, squatter.raw)
	token := squatter.text("auth", "access_token")
	require.Equal(t, 200,
		b.post(t, "/customers/me/change-email", token, map[string]any{"new_email": "squatter@example.com"}).status)
	pending := b.mailedCode(t, "squatter@example.com", 1)
	verification := b.mailedCode(t, "vitima@example.com", 1)

	owner := signupOf("vitima", map[string]any{"username": "vitima2", "password": "the owner's own one"})
	require.Equal(t, 409, b.post(t, "/customers/signup", "", owner).status)
	owner[0]["verification_code"] = verification
	require.Equal(t, 409, b.post(t, "/customers/signup", "", owner).status,
		"the code alone does not hand over an account with the squatter's password")
	require.Equal(t, 200, reset(t, b, "vitima@example.com", forgot(t, b, "vitima@example.com", 2), newPassword).status)

	require.Equal(t, 403, b.get(t, "/customers/me", token).status)
	_, err := b.files.CallerByArchiveToken(t.Context(), squatter.text("auth", "archive_token"))
	require.Error(t, err)
	require.Equal(t, 401, b.login(t, "vitima", "s3cret-enough-vitima").status)
	session := b.login(t, "vitima@example.com", newPassword)
	require.Equal(t, 200, session.status)
	a := b.post(t, "/customers/me/confirm-email", session.text("access_token"),
		map[string]any{"verification_code": pending})
	require.Equal(t, 400, a.status, "the squatter's pending change ended with the reset: %s", a.raw)
	require.Contains(t, a.detail(), "no pending change")
}

func TestMigratedUsers(t *testing.T) {
	t.Parallel()
	b := setup(t).work(t)
	create := func(name, password string) {
		_, err := b.svc.CreateUser(t.Context(), accounts.NewUser{
			Type: httpapi.TypeCustomer, Username: name, Email: name + "@example.com", FullName: "Migrated " + name,
			Password: textOf(password), EmailVerified: true, Migrated: true,
		})
		require.NoError(t, err)
	}
	create("imported", "")
	create("flagged", accountstest.Password)
	for _, password := range []string{accountstest.Password, "anything"} {
		a := b.login(t, "imported", password)
		require.Equal(t, 401, a.status)
		require.Equal(t, "PASSWORD_RESET_REQUIRED", a.code())
	}
	require.Equal(t, 200,
		reset(t, b, "imported@example.com", forgot(t, b, "imported@example.com", 1), newPassword).status)
	a := b.login(t, "imported", newPassword)
	require.Equal(t, 200, a.status)
	require.NotContains(t, a.body, "password_reset_required", "the reset took the flag")

	a = b.login(t, "flagged", accountstest.Password)
	require.Equal(t, 200, a.status)
	require.Equal(t, true, a.body["password_reset_required"])
	require.NotEmpty(t, a.text("message"))
	require.Equal(t, "INVALID_CREDENTIALS", b.login(t, "flagged", "wrong").code())
	a = b.post(t, "/auth/change-password", a.text("access_token"), map[string]any{
		"current_password": accountstest.Password, "new_password": newPassword,
	})
	require.Equal(t, 200, a.status, a.raw)
	require.Equal(t, false, a.body["password_reset_required"])
	require.NotContains(t, b.login(t, "flagged", newPassword).body, "password_reset_required")
}
