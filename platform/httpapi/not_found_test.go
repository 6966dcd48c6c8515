package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/httpapi"
	"marquee/testutil/secrettest"
)

func TestAddressesThatPeopleTypeLeadToTheirRoute(t *testing.T) {
	t.Parallel()
	api := httpapi.New(httpapi.Config{Auth: everybody, Log: secrettest.Logger(t)})
	say := func(context.Context, *struct{}) (*httpapi.Output[said], error) { return httpapi.OK(said{"hello"}) }
	httpapi.Route(api, http.MethodGet, "/of/{name}", "of", httpapi.Public, say)
	httpapi.Route(api, http.MethodPost, "/things", "things", httpapi.Public, say)
	handler := api.Handler()
	call := func(method, target string) (status int, location, body string) {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(method, target, nil))
		require.Equal(t, "application/json", w.Header().Get("Content-Type"), target)
		return w.Code, w.Header().Get("Location"), w.Body.String()
	}
	for target, want := range map[string]string{
		"/":                         httpapi.Prefix + "/docs",
		"/api":                      httpapi.Prefix + "/docs",
		"/api/":                     httpapi.Prefix + "/docs",
		"/api/v1":                   httpapi.Prefix + "/docs",
		"/api/v1/":                  httpapi.Prefix + "/docs",
		"/docs":                     httpapi.Prefix + "/docs",
		"/docs/":                    httpapi.Prefix + "/docs",
		"/v1/docs":                  httpapi.Prefix + "/docs",
		"/health":                   httpapi.Prefix + "/health",
		"/api/v1/health/":           httpapi.Prefix + "/health",
		"/api/v1/of/a%2Fb/?q=1&r=%": httpapi.Prefix + "/of/a%2Fb?q=1&r=%",
		"/openapi.json":             httpapi.Prefix + "/openapi.json",
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			status, location, body := call(method, target)
			require.Equal(t, http.StatusTemporaryRedirect, status, target)
			require.Equal(t, want, location, target)
			require.Contains(t, body, `"detail":"See /api/v1/`, target)
		}
	}
	for _, target := range []string{
		"/nowhere", "/api/v2/docs", "//example.com/docs", "//example.com/", "/\\example.com/",
	} {
		status, location, body := call(http.MethodGet, target)
		require.Equal(t, http.StatusNotFound, status, target)
		require.Empty(t, location, target)
		require.JSONEq(t, `{"detail":"Not Found"}`, body, target)
	}
	status, location, body := call(http.MethodPost, "/things/")
	require.Equal(t, http.StatusNotFound, status)
	require.Empty(t, location, "a body is not sent twice")
	require.JSONEq(t, `{"detail":"Not Found; the address is /api/v1/things"}`, body)
}
