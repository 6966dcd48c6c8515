package app_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app"
	"marquee/cmd/internal/app/platformtest"
)

// TestPagesBesideTheAPI: with WEB=off nothing is served but the API and its documentation, as if there were no pages.
func TestPagesBesideTheAPI(t *testing.T) {
	t.Parallel()
	get := func(p *platformtest.Platform, target string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		p.API().Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, http.NoBody))
		return w
	}
	on := platformtest.New(t)
	w := get(on, "/")
	require.Equal(t, http.StatusOK, w.Code)
	for _, link := range []string{"/api/v1/docs", "/api/v1/openapi.json", "/api/v1/health"} {
		require.Contains(t, w.Body.String(), `href="`+link+`"`)
	}
	require.Equal(t, "text/html; charset=utf-8", get(on, "/nowhere").Header().Get("Content-Type"))
	require.NotContains(t, w.Header().Get("Content-Security-Policy"), "stripe", "the key is a sandbox's")

	off := platformtest.New(t, func(c *app.Config) { c.Web.Pages = "off" })
	w = get(off, "/")
	require.Equal(t, http.StatusTemporaryRedirect, w.Code)
	require.Equal(t, "/api/v1/docs", w.Header().Get("Location"))
	require.JSONEq(t, `{"detail":"Not Found"}`, get(off, "/nowhere").Body.String())
	require.Equal(t, http.StatusOK, get(off, "/api/v1/docs").Code)
}
