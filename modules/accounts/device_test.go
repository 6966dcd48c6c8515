package accounts_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
)

const deviceHeader = "Device-Token"

// loginOn signs in on a device.
func (b *bundle) loginOn(device, username, password string) int {
	return b.client.With(deviceHeader, device).PostForm("/token", url.Values{
		"username": {username},
		"password": {password},
	}).Status
}

// shutOut has wrong passwords from elsewhere make the account wait.
func shutOut(t *testing.T, b *bundle, username string) {
	t.Helper()
	for b.login(t, username, "wrong").status != http.StatusTooManyRequests {
	}
}

func impatient(d *accounts.Deps) {
	d.Config.Throttle = accounts.ThrottleLimits{
		LoginFailures: 3, FirstWait: 24 * time.Hour, LongestWait: 24 * time.Hour,
	}
}

func TestDeviceIsNotShutOutByWrongPasswordsElsewhere(t *testing.T) {
	t.Parallel()
	b := setup(t, impatient)
	c, other := accountstest.Customer(t, b.db), accountstest.Customer(t, b.db)
	first := b.login(t, c.Username, accountstest.Password)
	device := first.header.Get(deviceHeader)
	require.NotEmpty(t, device)
	require.Empty(t, b.login(t, c.Username, "wrong").header.Get(deviceHeader))
	shutOut(t, b, c.Username)
	require.Equal(t, 429, b.login(t, c.Username, accountstest.Password).status)
	require.Equal(t, 429, b.loginOn("", c.Username, accountstest.Password))
	require.Equal(t, 429, b.loginOn(b.login(t, other.Username, accountstest.Password).header.Get(deviceHeader),
		c.Username, accountstest.Password), "another's")
	for i := range device {
		forged := device[:i] + string(device[i]^1) + device[i+1:]
		if strings.ContainsAny(forged, "\x7f\"") || forged == device {
			continue
		}
		require.Equal(t, 429, b.loginOn(forged, c.Username, accountstest.Password), "forged at %d", i)
	}
	require.Equal(t, 200, b.loginOn(device, c.Email, accountstest.Password))
	require.Equal(t, 429, b.login(t, c.Username, accountstest.Password).status,
		"the owner's sign-in gives nobody else new tries")

	cookies := first.header.Get("Set-Cookie")
	require.Regexp(t, `^marquee_device=[^;]+; Path=/api/v1; Max-Age=7776000; HttpOnly; SameSite=Strict$`, cookies)
	pair, _, _ := strings.Cut(cookies, ";")
	a := b.client.With("Cookie", pair).PostForm("/token", url.Values{
		"username": {c.Username},
		"password": {accountstest.Password},
	})
	require.Equal(t, 200, a.Status, "as a browser sends it")

	// Its own bucket is not without a bottom.
	for range 3 {
		require.Equal(t, 401, b.loginOn(device, c.Username, "wrong"))
	}
	require.Equal(t, 429, b.loginOn(device, c.Username, accountstest.Password))
	require.Equal(t, 429, b.loginOn(a.Header.Get(deviceHeader), c.Username, accountstest.Password),
		"renewed, it is still the same device")
}

func TestDeviceIsKnownForNinetyDaysAndUntilAReset(t *testing.T) {
	t.Parallel()
	b := setup(t, impatient).work(t)
	c := accountstest.Customer(t, b.db)
	device := b.login(t, c.Username, accountstest.Password).header.Get(deviceHeader)
	b.clock.Advance(90*24*time.Hour - time.Second)
	shutOut(t, b, c.Username)
	require.Equal(t, 200, b.loginOn(device, c.Username, accountstest.Password))
	b.clock.Advance(time.Second)
	require.Equal(t, 429, b.loginOn(device, c.Username, accountstest.Password), "too old")
	b.clock.Advance(25 * time.Hour)

	device = b.login(t, c.Username, accountstest.Password).header.Get(deviceHeader)
	require.Equal(t, 200, reset(t, b, c.Email, forgot(t, b, c.Email, 1), newPassword).status)
	shutOut(t, b, c.Username)
	require.Equal(t, 429, b.loginOn(device, c.Username, newPassword), "ended by the reset, in the same instant")
}

func TestOwnPasswordIsChangedOnADeviceWhileOthersGuess(t *testing.T) {
	t.Parallel()
	b := setup(t, impatient)
	c := accountstest.Customer(t, b.db)
	session := b.login(t, c.Username, accountstest.Password)
	old, elsewhere := session.header.Get(deviceHeader),
		b.login(t, c.Username, accountstest.Password).header.Get(deviceHeader)
	shutOut(t, b, c.Username)
	body := map[string]any{"current_password": accountstest.Password, "new_password": newPassword}
	me := b.client.As(session.text("access_token"))
	require.Equal(t, 429, me.Post("/auth/change-password", body).Status)
	renewed := me.With(deviceHeader, old).Post("/auth/change-password", body).Expect(200).Header.Get(deviceHeader)
	require.Equal(t, 200, b.loginOn(renewed, c.Username, newPassword), "the device on which it was changed")
	require.Equal(t, 429, b.loginOn(old, c.Username, newPassword))
	require.Equal(t, 429, b.loginOn(elsewhere, c.Username, newPassword), "other devices are ended")
}
