package app_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
)

// TestTheNameOfTheBrandingIsThePlatforms: mails come from it, and authenticators and passkeys show it, from the moment it
// is changed. An admin with the profile that the migrations make may do so.
func TestTheNameOfTheBrandingIsThePlatforms(t *testing.T) {
	t.Parallel()
	w := running(t)
	_, me := w.NewCustomer()
	names := func() (all []string) {
		begun := me.Post("/me/totp", object{"current_password": platformtest.Password}).Expect(http.StatusOK).Map()
		address, err := url.Parse(begun["url"].(string))
		require.NoError(t, err)
		options := me.Post("/me/passkeys/options", object{"current_password": platformtest.Password}).Expect(http.StatusOK).Map()
		rp := options["publicKey"].(object)["rp"].(object)
		return []string{address.Query().Get("issuer"), rp["name"].(string), rp["id"].(string)}
	}
	before := names()
	require.Equal(t, []string{"Marquee", "Marquee"}, before[:2])

	w.Root().Put("/admin/config/branding", object{"name": "Cine Sol"}).Expect(http.StatusOK)
	require.Equal(t, []string{"Cine Sol", "Cine Sol", before[2]}, names())
	w.SignUp("ana", nil).Expect(http.StatusOK)
	w.Mailed("ana@example.com", "verifica")
	require.Contains(t, w.Mails.Mails()[0].From, "Cine Sol <")
	require.Equal(t, "Cine Sol", w.Guest.Get("/config/branding").Expect(http.StatusOK).Map()["name"])
}
