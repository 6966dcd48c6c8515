package attacks

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
)

// A page of the attacker's frames an answer, has it run as a script or a document, reads
// where it came from, or sets the cookie of a device from another host.
func TestAPageMisusesAnswers(t *testing.T) {
	t.Parallel()
	p := attacked(t, unthrottled)
	_, admin := p.NewAdmin()
	person, customer := p.NewCustomer()
	file := p.upload(admin, person.ID, "page.html", []byte("<script>alert(document.domain)</script>"))
	for _, path := range []string{
		"/health", "/docs", "/openapi.json", "/no-such-route", "/customers/me", "/archive-records/" + file,
		"/videos?query=%7B", "/plans", "/avatars/x",
	} {
		a := customer.Get(path)
		policy := a.Header.Get("Content-Security-Policy")
		for _, directive := range []string{
			"default-src 'none'", "object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'",
		} {
			require.Contains(t, policy, directive, path)
		}
		require.Equal(t, "nosniff", a.Header.Get("X-Content-Type-Options"), path)
		require.Equal(t, "no-referrer", a.Header.Get("Referrer-Policy"), path)
		require.Equal(t, "max-age=31536000; includeSubDomains", a.Header.Get("Strict-Transport-Security"), path)
		require.Regexp(t, "no-store|private", a.Header.Get("Cache-Control"), path)
		require.NotEmpty(t, a.Header.Get("Content-Type"), path)
		require.Empty(t, a.Header.Get("Location"), path)
		if strings.HasPrefix(path, "/archive-records") {
			require.Contains(t, policy, "sandbox")
			require.Regexp(t, "^attachment", a.Header.Get("Content-Disposition"))
		}
	}
	for _, method := range []string{"TRACE", "PATCH", "PROPFIND"} {
		require.Equal(t, http.StatusMethodNotAllowed, customer.Do(method, "/plans", nil).Status, method)
	}
	a := p.Guest.With("Origin", "https://evil.example").With("Access-Control-Request-Method", "DELETE").
		Do(http.MethodOptions, "/customers/me", nil)
	require.Empty(t, a.Header.Get("Access-Control-Allow-Credentials"), "no cookie is worth anything to another origin")
	cookie := p.SignIn(p.Guest, person.Username, platformtest.Password).Header.Get("Set-Cookie")
	require.Regexp(t, `^__Host-marquee_device=[^;]+; Path=/; Max-Age=\d+; HttpOnly; Secure; SameSite=Strict$`, cookie)
	pair, _, _ := strings.Cut(cookie, ";")
	p.SignIn(p.Guest.With("Cookie", pair), person.Username, platformtest.Password).Expect(http.StatusOK)
}
