package attacks

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app"
	"marquee/cmd/internal/app/platformtest"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
)

// platform is the attacked one, behind a proxy that tells where a call comes from.
type platform struct{ *platformtest.Platform }

type object = platformtest.Object

// attacked is a platform with the limits of `marquee serve`, before gateways that know nothing.
func attacked(t *testing.T, change ...func(*app.Config)) *platform {
	t.Helper()
	return attackedWith(t, platformtest.Options{Config: change})
}

func attackedWith(t *testing.T, o platformtest.Options) *platform {
	t.Helper()
	served, err := app.ReadConfig()
	require.NoError(t, err)
	o.Config = append([]func(*app.Config){func(c *app.Config) {
		c.Throttle.Off, c.Codes.Cooldown = false, served.Codes.Cooldown
		c.Database.MaxConns, c.Database.Wait, c.Database.LockWait = 6, served.Database.Wait, served.Database.LockWait
		c.HTTP.TrustedProxies = []string{"127.0.0.1", "::1"}
	}}, o.Config...)
	return &platform{platformtest.NewOf(t, o)}
}

func escaped(parameter string) string { return url.QueryEscape(parameter) }

// from is the client at another address.
func from(c *apitest.Client, address string) *apitest.Client {
	return c.With("X-Forwarded-For", address)
}

// made posts one object and returns its id.
func (p *platform) made(admin *apitest.Client, path string, fields object) objectid.ID {
	p.T.Helper()
	return objectid.ID(p.Make(admin, path, fields)["_id"].(string))
}

// unthrottled is for attacks that no limit is to stop.
func unthrottled(c *app.Config) { c.Throttle.Off = true }
