package accounts_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
)

func TestWrongPasswordsMakeWaitLongerAndLonger(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *accounts.Deps) { d.Config.Throttle.LoginFailures = 3 })
	c := accountstest.Customer(t, b.db)
	for _, login := range []string{c.Username, "nobody-at-all"} {
		for range 2 {
			require.Equal(t, 401, b.login(t, login, "wrong").status)
		}
		for _, words := range []string{"1 second", "2 seconds", "4 seconds", "8 seconds"} {
			wait, _, _ := strings.Cut(words, " ")
			require.Equal(t, 401, b.login(t, login, "wrong").status)
			a := b.login(t, login, "wrong")
			require.Equal(t, 429, a.status, "known or not: %s", login)
			require.Equal(t, wait, a.header.Get("Retry-After"))
			require.Contains(t, a.detail(), "Wait "+words+".")
			require.NotContains(t, a.body, "error")
			b.clock.Advance(10 * time.Second)
		}
	}
	b.clock.Advance(-10 * time.Second) // within the wait of 8 s
	require.Equal(t, 401, b.login(t, c.Username, "wrong").status)
	for _, login := range []string{c.Username, c.Email} {
		require.Equal(t, 429, b.login(t, login, accountstest.Password).status,
			"the right password waits too, by whichever login")
	}
	other := accountstest.Customer(t, b.db)
	require.Equal(t, 200, b.login(t, other.Username, accountstest.Password).status, "nobody else waits")
	b.clock.Advance(time.Minute)
	require.Equal(t, 200, b.login(t, c.Username, accountstest.Password).status)
	for range 2 {
		require.Equal(t, 401, b.login(t, c.Username, "wrong").status)
	}
	require.Equal(t, 200, b.login(t, c.Username, accountstest.Password).status, "a success begins the count anew")
}

func TestLoginWaitIsBoundedAndForgotten(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *accounts.Deps) { d.Config.Throttle.LoginFailures = 3 })
	c := accountstest.Customer(t, b.db)
	require.Equal(t, 401, b.login(t, c.Username, "wrong").status)
	b.exec(t, `UPDATE accounts.throttles SET failures = 1000000`)
	a := b.login(t, c.Username, accountstest.Password)
	require.Equal(t, 429, a.status)
	require.Equal(t, "900", a.header.Get("Retry-After"))
	b.clock.Advance(25 * time.Hour)
	require.Equal(t, 401, b.login(t, c.Username, "wrong").status)
	require.Equal(t, 1, b.count(t, `SELECT failures FROM accounts.throttles WHERE scope = 'login'`))
}

// Guesses sent all at once get no more tries than those sent one by one, but for
// one for each core.
func TestParallelGuessesAtAPassword(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	statuses := parallel(60, func() int { return b.login(t, c.Username, "wrong").status })
	require.Equal(t, 60, statuses[401]+statuses[429], "%v", statuses)
	require.LessOrEqual(t, statuses[401], 10+runtime.GOMAXPROCS(0)-1)
	require.Equal(t, statuses[401], b.count(t, `SELECT failures FROM accounts.throttles WHERE scope = 'login'`))
}

// The same with the count taken away after each guess: all are compared.
func TestParallelGuessesWithoutTheGuard(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(t, `CREATE FUNCTION forget() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`)
	b.exec(t, `CREATE TRIGGER forget BEFORE INSERT ON accounts.throttles FOR EACH ROW EXECUTE FUNCTION forget()`)
	c := accountstest.Customer(t, b.db)
	require.Equal(t, map[int]int{401: 60}, parallel(60, func() int { return b.login(t, c.Username, "wrong").status }))
}

func TestAddressOfManyGuessesWaits(t *testing.T) {
	t.Parallel()
	limit := func(d *accounts.Deps) { d.Config.Throttle.AddressFailures = 4 }
	b := setup(t, limit)
	c := accountstest.Customer(t, b.db)
	for _, login := range []string{"ann", "bob", "cid", "dan"} {
		require.Equal(t, 401, b.login(t, login, "wrong").status)
	}
	require.Equal(t, 429, b.login(t, c.Username, accountstest.Password).status)
	b.clock.Advance(time.Second)
	require.Equal(t, 200, b.login(t, c.Username, accountstest.Password).status)
	require.Equal(t, 401, b.login(t, "eve", "wrong").status)
	require.Equal(t, "2", b.login(t, "fay", "wrong").header.Get("Retry-After"),
		"an own account does not wash the address clean")

	lifted := setup(t, limit, func(d *accounts.Deps) { d.Config.Throttle.Off = true })
	for range 12 {
		require.Equal(t, 401, lifted.login(t, "ann", "wrong").status)
	}
	require.Zero(t, lifted.count(t, `SELECT count(*) FROM accounts.throttles`))
}

// What a login costs does not tell whether there is such a user: the same hashes
// and the same rows.
func TestLoginDoesTheSameForKnownAndUnknown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	imported := accountstest.Customer(t, b.db)
	b.exec(t, `UPDATE accounts.users SET password_hash = NULL WHERE id = $1`, imported.ID)
	var first response
	for i, login := range []string{c.Username, c.Email, "nobody", "nobody@example.com", imported.Username} {
		b.exec(t, `DELETE FROM accounts.throttles`)
		before := accounts.HashChecks(b.svc)
		a := b.login(t, login, "wrong")
		require.EqualValues(t, 1, accounts.HashChecks(b.svc)-before, login)
		require.Equal(t, 2, b.count(t, `SELECT count(*) FROM accounts.throttles`), login)
		require.Equal(t, 401, a.status)
		if i == 0 {
			first = a
		}
		require.Equal(t, first.detail(), a.detail())
		require.Equal(t, first.code(), a.code())
	}
}

// A repeated signup must not be a way to try passwords.
func TestSignupIsNoWayToGuess(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Equal(t, 200, b.post(t, "/customers/signup", "", signupOf("rita", nil)).status)
	for range 10 {
		require.Equal(t, 409,
			b.post(t, "/customers/signup", "", signupOf("rita", map[string]any{"password": "not the same"})).status)
	}
	require.Equal(t, 429, b.post(t, "/customers/signup", "", signupOf("rita", nil)).status)
}

// withoutSessions is a dump without the sessions, which tell their owners from where they came.
func withoutSessions(dump string) string {
	lines := strings.Split(dump, "\n")
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool {
		return strings.Contains(line, "accounts.sessions ")
	}), "\n")
}

func TestNoSecretOfResetsIsStoredQueuedOrLogged(t *testing.T) {
	t.Parallel()
	b := setup(t).work(t)
	c := accountstest.Customer(t, b.db)
	code := forgot(t, b, c.Email, 1)
	place := dump(t, b)
	require.Equal(t, 400, reset(t, b, c.Email, wrongCode(code), newPassword).status)
	require.Equal(t, 200, reset(t, b, c.Email, code, newPassword).status)
	session := b.login(t, c.Username, newPassword)
	require.Equal(t, 200, changePassword(t, b, session.text("access_token"), newPassword, newPassword+"!").status)
	place += dump(t, b)
	require.NotContains(t, withoutSessions(place), "127.0.0.1", "throttles do not keep who called")
	place += b.log.String()
	for _, secret := range []string{
		newPassword, session.text("access_token"), session.text("refresh_token"), session.text("archive_token"),
	} {
		require.NotContains(t, place, secret)
	}
	require.NotRegexp(t, `(^|[^0-9a-f.])`+code+`($|[^0-9a-f])`, place)
}
