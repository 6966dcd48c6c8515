package accounts_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
)

// guesser asks for a code and returns it, and how one is tried.
type guesser func(t *testing.T, b *bundle) (code string, try func(code string) int)

// guessers are the three routes that compare a mailed code.
var guessers = map[string]guesser{
	"verification": func(t *testing.T, b *bundle) (string, func(string) int) {
		token, code := pendingCustomer(t, b, "katia")
		return code, func(code string) int {
			return b.post(t, "/customers/me/verify-email", token, map[string]any{"code": code}).status
		}
	},
	"reset": func(t *testing.T, b *bundle) (string, func(string) int) {
		c := accountstest.Customer(t, b.db)
		return forgot(t, b, c.Email, 1), func(code string) int { return reset(t, b, c.Email, code, newPassword).status }
	},
	"e-mail change": func(t *testing.T, b *bundle) (string, func(string) int) {
		token := b.token(t, accountstest.Customer(t, b.db).Username)
		require.Equal(t, 200, changeEmail(t, b, token, "new@example.com").status)
		return b.mailedCode(t, "new@example.com", 1),
			func(code string) int { return confirmEmail(t, b, token, code).status }
	},
}

const guesses = 200

// eachGuesser runs a test for each of them at once, in a bundle of its own whose jobs run.
func eachGuesser(t *testing.T, run func(t *testing.T, b *bundle, code string, try func(code string) int)) {
	t.Helper()
	for name, begin := range guessers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t).work(t)
			code, try := begin(t, b)
			run(t, b, code, try)
		})
	}
}

// Wrong codes sent at once are all counted: otherwise a guesser gets more than
// five guesses by sending them together.
func TestParallelGuessesAtACode(t *testing.T) {
	t.Parallel()
	eachGuesser(t, func(t *testing.T, b *bundle, code string, try func(code string) int) {
		statuses := parallel(guesses, func() int { return try(wrongCode(code)) })
		require.Equal(t, 5, statuses[400], "compared: %v", statuses)
		require.Equal(t, guesses, statuses[400]+statuses[429]+statuses[503], "%v",
			statuses) // 503: no room before the hasher
		require.Equal(t, 5, b.count(t, `SELECT attempts FROM accounts.codes`))
		require.Equal(t, 5, b.count(t, `SELECT failures FROM accounts.throttles WHERE scope = 'code'`))
		require.Equal(t, 429, try(code), "also the right one")
	})
}

// The same with the counts taken away: more are compared, and without the
// throttle's, all.
func TestParallelGuessesAtACodeWithoutTheGuards(t *testing.T) {
	t.Parallel()
	for name, begin := range guessers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t).work(t)
			b.exec(t,
				`CREATE FUNCTION uncounted() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.attempts := OLD.attempts; RETURN NEW; END'`)
			b.exec(t,
				`CREATE TRIGGER uncounted BEFORE UPDATE ON accounts.codes FOR EACH ROW EXECUTE FUNCTION uncounted()`)
			code, try := begin(t, b)
			require.Equal(t, 10, parallel(guesses, func() int { return try(wrongCode(code)) })[400],
				"the throttle is behind")

			b.exec(t, `TRUNCATE accounts.throttles`)
			b.exec(t, `CREATE FUNCTION forget() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`)
			b.exec(t,
				`CREATE TRIGGER forget BEFORE INSERT ON accounts.throttles FOR EACH ROW EXECUTE FUNCTION forget()`)
			statuses := parallel(guesses, func() int { return try(wrongCode(code)) })
			require.Equal(t, guesses, statuses[400]+statuses[503], "%v", statuses)
		})
	}
}

// A right code sent at once serves once.
func TestParallelUsesOfACode(t *testing.T) {
	t.Parallel()
	eachGuesser(t, func(t *testing.T, b *bundle, code string, try func(code string) int) {
		require.Equal(t, map[int]int{200: 1, 400: 1}, parallel(2, func() int { return try(code) }))
	})
}

// The same with codes that are not used up, as two confirmations would find one
// that each had read before the other ended it.
func TestParallelUsesOfACodeWithoutTheGuard(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"reset", "e-mail change"} { // what is verified is not verified again
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t).work(t)
			code, try := guessers[name](t, b)
			b.exec(t, `CREATE FUNCTION kept() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`)
			b.exec(t, `CREATE TRIGGER kept BEFORE DELETE ON accounts.codes FOR EACH ROW EXECUTE FUNCTION kept()`)
			require.Equal(t, map[int]int{200: 2}, parallel(2, func() int { return try(code) }))
		})
	}
}

const resends = 50

// resendAtOnce lets an address that awaits verification ask for a code many times
// at once.
func resendAtOnce(t *testing.T, b *bundle) map[int]int {
	t.Helper()
	pending := accountstest.Customer(t, b.db, func(n *accounts.NewUser) { n.EmailVerified = false })
	return parallel(resends, func() int {
		return b.post(t, "/auth/resend-verification", "", map[string]any{"email": pending.Email}).status
	})
}

func TestParallelResendsSendOneMail(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Equal(t, map[int]int{200: 1, 429: resends - 1}, resendAtOnce(t, b))
	b.work(t)
	b.settled(t)
	require.Len(t, b.catcher.Mails(), 1)
}

// The same with a cooldown that finds no earlier turn: each asks for a mail.
func TestParallelResendsWithoutTheCooldown(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *accounts.Deps) { d.Config.Throttle.MailsPerDay = 1000 })
	b.withoutCooldown(t)
	require.Equal(t, map[int]int{200: resends}, resendAtOnce(t, b))
	require.Equal(t, resends,
		b.count(t, `SELECT count(*) FROM jobs.river_job WHERE kind = 'accounts_resend_verification'`))
}

// withoutCooldown makes every request for a code the first of its address.
func (b *bundle) withoutCooldown(t *testing.T) {
	t.Helper()
	b.exec(t,
		`CREATE FUNCTION unknown() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.address_mac := uuid_send(gen_random_uuid()); RETURN NEW; END'`)
	b.exec(t, `CREATE TRIGGER unknown BEFORE INSERT ON accounts.code_requests FOR EACH ROW EXECUTE FUNCTION unknown()`)
}

// settled waits until the jobs of codes are done.
func (b *bundle) settled(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		return b.count(t,
			`SELECT count(*) FROM jobs.river_job WHERE kind IN ('accounts_resend_verification', 'accounts_send_code') AND state <> 'completed'`) == 0 &&
			b.count(t, `SELECT count(*) FROM jobs.river_job WHERE kind = 'accounts_send_code'`) > 0
	}, time.Minute, 20*time.Millisecond)
}

const signups = 20

func signUpAtOnce(t *testing.T, b *bundle) map[int]int {
	t.Helper()
	return parallel(signups, func() int { return b.post(t, "/customers/signup", "", signupOf("iris", nil)).status })
}

// Many press the button at once: one account, one code.
func TestParallelSignupsMakeOneAccount(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Equal(t, map[int]int{200: 1, 429: signups - 1}, signUpAtOnce(t, b))
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM accounts.users`))
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM accounts.codes`))
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM jobs.river_job`))
}

// Without the name space of logins, and the cooldown behind it, the same race
// makes several accounts.
func TestParallelSignupsWithoutTheConstraint(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *accounts.Deps) { d.Config.Throttle.MailsPerDay = 1000 })
	b.withoutCooldown(t)
	b.exec(t, `ALTER TABLE accounts.logins DROP CONSTRAINT logins_of_one_user`)
	b.exec(t, `CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`)
	b.exec(t, `CREATE TRIGGER skip BEFORE INSERT ON accounts.username_skeletons FOR EACH ROW EXECUTE FUNCTION skip()`)
	b.exec(t,
		`CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.3); RETURN NEW; END'`)
	b.exec(t, `CREATE TRIGGER pause BEFORE INSERT ON accounts.users FOR EACH ROW EXECUTE FUNCTION pause()`)
	signUpAtOnce(t, b)
	require.Greater(t, b.count(t, `SELECT count(*) FROM accounts.users WHERE email = 'iris@example.com'`), 1)
}

// confirmOneAddress lets two customers confirm the same free address at once, when
// all is ready for it.
func confirmOneAddress(t *testing.T, b *bundle, ready func()) map[int]int {
	t.Helper()
	var tokens, codes [2]string
	for i := range tokens {
		tokens[i] = b.token(t, accountstest.Customer(t, b.db).Username)
		require.Equal(t, 200, changeEmail(t, b, tokens[i], "both@example.com").status)
		codes[i] = b.mailedCode(t, "both@example.com", i+1)
		b.clock.Advance(time.Minute)
	}
	ready()
	var next atomic.Int64
	return parallel(2, func() int {
		i := next.Add(1) - 1
		return confirmEmail(t, b, tokens[i], codes[i]).status
	})
}

// The constraint lets one of two customers have an address.
func TestTwoCustomersWantOneAddress(t *testing.T) {
	t.Parallel()
	b := setup(t).work(t)
	require.Equal(t, map[int]int{200: 1, 409: 1}, confirmOneAddress(t, b, func() {}))
}

// The same without the constraint: two accounts share one address.
func TestTwoCustomersWantOneAddressWithoutTheGuard(t *testing.T) {
	t.Parallel()
	b := setup(t).work(t)
	statuses := confirmOneAddress(t, b,
		func() { b.exec(t, `ALTER TABLE accounts.users DISABLE TRIGGER users_keep_logins`) })
	require.Equal(t, map[int]int{200: 2}, statuses)
	require.Equal(t, 2, b.count(t, `SELECT count(*) FROM accounts.users WHERE email = 'both@example.com'`))
}
