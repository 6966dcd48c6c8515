package accounts_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/modules/accounts/codes"
	"marquee/platform/fault"
	"marquee/platform/mail"
)

// pendingCustomer signs up in mode B and returns the access token and the code.
func pendingCustomer(t *testing.T, b *bundle, name string) (token, code string) {
	t.Helper()
	a := b.post(t, "/customers/signup", "", signupOf(name, map[string]any{"verify_email_now": false}))
	require.Equal(t, 200, a.status, a.raw)
	return a.text("auth", "access_token"), b.mailedCode(t, name+"@example.com", 1)
}

func TestVerifyEmailCountsAttempts(t *testing.T) {
	t.Parallel()
	b := setup(t).work(t)
	token, code := pendingCustomer(t, b, "jonas")
	for _, left := range []string{"4 attempts", "3 attempts", "2 attempts", "1 attempt", "0 attempts"} {
		a := b.post(t, "/customers/me/verify-email", token, map[string]any{"code": wrongCode(code)})
		require.Equal(t, 400, a.status, a.raw)
		require.Equal(t, "Wrong code. "+left+" remaining.", a.detail())
	}
	a := b.post(t, "/customers/me/verify-email", token, map[string]any{"code": code})
	require.Equal(t, 429, a.status, "the sixth attempt is refused, right or wrong: %s", a.raw)

	b.clock.Advance(time.Minute)
	require.Equal(t, 200,
		b.post(t, "/auth/resend-verification", "", map[string]any{"email": "jonas@example.com"}).status)
	a = b.post(t, "/customers/me/verify-email", token, map[string]any{"code": b.mailedCode(t, "jonas@example.com", 2)})
	require.Equal(t, 200, a.status, "a new code has attempts of its own: %s", a.raw)
}

func TestVerifyEmailRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t).work(t)
	token, code := pendingCustomer(t, b, "nina")
	for _, bad := range []string{
		`{"code":"12345"}`, `{"code":"1234567"}`, `{"code":"12a456"}`, `{"code":123456}`, `{}`, `{"code":null}`, `[]`,
	} {
		a := b.json(t, "POST", "/customers/me/verify-email", token, bad)
		require.Equal(t, 422, a.status, "%s: %s", bad, a.raw)
	}
	require.Zero(t, b.count(t, `SELECT attempts FROM accounts.codes`), "what cannot be a code costs no attempt")
	require.Equal(t, 401, b.post(t, "/customers/me/verify-email", "", map[string]any{"code": code}).status)
	admin := accountstest.Admin(t, b.db)
	a := b.post(t, "/customers/me/verify-email", b.token(t, admin.Username), map[string]any{"code": code})
	require.Equal(t, 403, a.status)
	require.Equal(t, fault.CodeForbidden, a.code())

	b.clock.Advance(15 * time.Minute)
	a = b.post(t, "/customers/me/verify-email", token, map[string]any{"code": code})
	require.Equal(t, 400, a.status)
	require.Contains(t, a.detail(), "expired")

	b.exec(t, `DELETE FROM accounts.codes`)
	a = b.post(t, "/customers/me/verify-email", token, map[string]any{"code": code})
	require.Equal(t, 400, a.status)
	require.Contains(t, a.detail(), "no active code")
	require.Contains(t, a.detail(), "resend-verification")
}

func TestVerifyEmailHoldsToTheLastMoment(t *testing.T) {
	t.Parallel()
	b := setup(t).work(t)
	token, code := pendingCustomer(t, b, "olga")
	b.clock.Advance(15*time.Minute - time.Millisecond)
	require.Equal(t, 200, b.post(t, "/customers/me/verify-email", token, map[string]any{"code": code}).status)
}

func TestResendAnswersAlikeForAllAddresses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	verified := accountstest.Customer(t, b.db)
	admin := accountstest.Admin(t, b.db)
	pending := accountstest.Customer(t, b.db, func(n *accounts.NewUser) { n.EmailVerified = false })
	var bodies, again []string
	for _, email := range []string{verified.Email, admin.Email, pending.Email, "nobody@example.com"} {
		a := b.post(t, "/auth/resend-verification", "", map[string]any{"email": email})
		require.Equal(t, 200, a.status, a.raw)
		bodies = append(bodies, a.raw)
		a = b.post(t, "/auth/resend-verification", "", map[string]any{"email": " " + email})
		require.Equal(t, 429, a.status, "the cooldown counts for %s", email)
		require.Equal(t, "60", a.header.Get("Retry-After"))
		again = append(again, a.raw)
	}
	for i := range bodies {
		require.Equal(t, bodies[0], bodies[i])
		require.Equal(t, again[0], again[i])
	}
	require.Equal(t, 4, b.count(t, `SELECT count(*) FROM jobs.river_job WHERE kind = 'accounts_resend_verification'`),
		"the same work for all")

	b.work(t)
	b.mailedCode(t, pending.Email, 1)
	require.Eventually(t, func() bool {
		return b.count(t,
			`SELECT count(*) FROM jobs.river_job WHERE queue IN ('default', 'mail') AND kind LIKE 'accounts_%e%' AND state <> 'completed' AND kind <> 'accounts_sweep_codes'`) == 0
	}, time.Minute, 20*time.Millisecond)
	require.Len(t, b.catcher.Mails(), 1, "a mail only to who awaits verification")

	for _, bad := range []string{`{}`, `{"email":"nobody"}`, `{"email":7}`, `{"email":"a@example.com","x":1}`} {
		require.Equal(t, 422, b.json(t, "POST", "/auth/resend-verification", "", bad).status, bad)
	}
}

func TestMailSpeaksTheCustomersLanguage(t *testing.T) {
	t.Parallel()
	b := setup(t).work(t)
	for language, want := range map[string]string{
		"en-GB,en;q=0.8": "Your verification code", "pt-BR": "Seu código de verificação",
		"ja": "Seu código de verificação", "": "Seu código de verificação", ";;": "Seu código de verificação",
	} {
		c := accountstest.Customer(t, b.db, func(n *accounts.NewUser) { n.EmailVerified, n.Language = false, language })
		require.Equal(t, 200, b.post(t, "/auth/resend-verification", "", map[string]any{"email": c.Email}).status)
		code := b.mailedCode(t, c.Email, 1)
		m := b.catcher.Mails()[0]
		require.Equal(t, want, m.Subject, language)
		require.Contains(t, m.HTML, code)
		require.Contains(t, m.Text, "Customer,")
		require.NotContains(t, m.Subject, code)
	}
}

func TestMailCarriesNoTextOfAStrangersChoice(t *testing.T) {
	t.Parallel()
	b := setup(t).work(t)
	a := b.post(t, "/customers/signup", "",
		signupOf("olavo", map[string]any{"full_name": "win.example/prize click here"}))
	require.Equal(t, 200, a.status, a.raw)
	b.mailedCode(t, "olavo@example.com", 1)
	m := b.catcher.Mails()[0]
	require.Contains(t, m.Text, "Olá,")
	require.NotContains(t, m.Text+m.HTML, "win.example")
	require.NotContains(t, m.Text+m.HTML, "click here")
}

// brokenSender fails as often as told, like a mail server that is down.
type brokenSender struct {
	failures atomic.Int64
	next     mail.Sender
}

func (s *brokenSender) Send(ctx context.Context, m mail.Message) error {
	if s.failures.Add(-1) >= 0 {
		return errors.New("the mail server is down")
	}
	return s.next.Send(ctx, m)
}

func TestUnsentCodeIsTriedAgainAndLoggedOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	for _, requested := range []bool{true, false} {
		broken := &brokenSender{}
		broken.failures.Store(1)
		b := setup(t, func(d *accounts.Deps) {
			broken.next, d.Mail = d.Mail, broken
			d.Config.LogUnsentCodes = requested
		}).work(t)
		_, code := pendingCustomer(t, b, "pia")
		require.Contains(t, b.log.String(), "the mail server is down")
		if requested {
			require.Contains(t, b.log.String(), code)
		} else {
			require.NotContains(t, b.log.String(), code)
		}
	}
}

func TestSweepKeepsWhatStillSaysSomething(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Equal(t, 200, b.post(t, "/customers/signup", "", signupOf("old", nil)).status)
	b.clock.Advance(24*time.Hour + 15*time.Minute)
	require.Equal(t, 200, b.post(t, "/customers/signup", "", signupOf("young", nil)).status)
	b.work(t, codes.SweepCodesArgs{})
	require.Eventually(t, func() bool {
		return b.count(t, `SELECT count(*) FROM accounts.codes`) == 1 &&
			b.count(t, `SELECT count(*) FROM accounts.code_requests`) == 1
	}, time.Minute, 20*time.Millisecond)
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM accounts.codes WHERE address = 'young@example.com'`))
}
