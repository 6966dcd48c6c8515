package sessions

import (
	"context"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"

	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/secret"
)

// deviceCookie carries the device token to browsers of the API's own site; all
// other clients take and send the header Device-Token. Over HTTPS its name has the
// prefix by which browsers let no other host, and no page without TLS, set it.
const (
	deviceCookie     = "marquee_device"
	hostDeviceCookie = "__Host-" + deviceCookie
)

// device is where a user has signed in with the right password. It opens nothing:
// it only keeps wrong passwords that come from elsewhere from making them wait
// there. Nothing of it is stored; its token says, signed, whose it is and since
// when.
type device struct {
	id, userID objectid.ID
	since      time.Time
}

func (d device) parts() []string {
	return []string{d.userID.String(), d.id.String(), strconv.FormatInt(d.since.UnixMilli(), 36)}
}

func (s *Sessions) signDevice(d device) string {
	return strings.Join(append(d.parts(),
		base64.RawURLEncoding.EncodeToString(secret.MAC(s.deviceKey, d.parts()...))), ".")
}

// readDevice reads a token that was signed here; ok is false for any other.
func (s *Sessions) readDevice(token string) (d device, ok bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 4 {
		return d, false
	}
	mac, err := base64.RawURLEncoding.Strict().DecodeString(parts[3])
	if err != nil || !secret.Equal(mac, secret.MAC(s.deviceKey, parts[:3]...)) {
		return d, false
	}
	ms, err := strconv.ParseInt(parts[2], 36, 64)
	return device{userID: objectid.ID(parts[0]), id: objectid.ID(parts[1]), since: time.UnixMilli(ms)}, err == nil
}

// deviceOf is the device of the user from which the request comes: one whose
// sign-in is young enough and was not ended with the user's tokens, as by a reset.
func (s *Sessions) deviceOf(ctx context.Context, u accountsdb.User) (device, bool) {
	sent, _ := ctx.Value(deviceKey{}).([]string)
	for _, token := range sent {
		d, ok := s.readDevice(token)
		if ok && d.userID == u.ID && s.deps.Clock.Now().Before(d.since.Add(s.deps.Config.DeviceTTL)) &&
			(u.TokensValidAfter == nil || !d.since.Before(*u.TokensValidAfter)) {
			return d, true
		}
	}
	return device{}, false
}

// provedDevice is the token of the device on which the user has just proved the
// password: the one that it has, for another while, or a new one.
func (s *Sessions) provedDevice(ctx context.Context, u accountsdb.User, now time.Time) string {
	d, known := s.deviceOf(ctx, u)
	if !known {
		d = device{id: objectid.At(now), userID: u.ID}
	}
	d.since = now
	return s.signDevice(d)
}

type deviceKey struct{}

// DeviceInput is what routes take that check a password.
type DeviceInput struct {
	Token  string `header:"Device-Token" doc:"As an earlier sign-in answered it: wrong passwords from elsewhere then make nobody wait here"`
	Cookie string `cookie:"__Host-marquee_device" doc:"The same, as browsers keep it"`
	Plain  string `cookie:"marquee_device" doc:"The same, as browsers keep it without TLS"`
}

// In makes deviceOf know what the request carries.
func (in DeviceInput) In(ctx context.Context) context.Context {
	return context.WithValue(ctx, deviceKey{}, []string{in.Token, in.Cookie, in.Plain})
}

// DeviceOutput is what they answer with: a header, and a cookie that no script
// reads. Clients may ignore both.
type DeviceOutput struct {
	Token     string `header:"Device-Token" doc:"To be sent with later sign-ins from this device; it opens nothing"`
	SetCookie string `header:"Set-Cookie" doc:"The same for browsers"`
}

func (s *Sessions) deviceOutput(ctx context.Context, token string) DeviceOutput {
	cookie := http.Cookie{ //nolint:gosec // secure wherever the site is, below
		Name: deviceCookie, Value: token, Path: httpapi.Prefix, MaxAge: int(s.deps.Config.DeviceTTL.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
	}
	if httpapi.RequestURL(ctx).Scheme == "https" {
		cookie.Name, cookie.Path, cookie.Secure = hostDeviceCookie, "/", true
	}
	return DeviceOutput{Token: token, SetCookie: cookie.String()}
}
