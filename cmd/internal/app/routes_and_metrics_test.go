package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
	"marquee/modules/catalog"
	"marquee/platform/resource"
	"marquee/testutil/golden"
)

// TestRoutes pins every route with its auth, handler name and permission.
func TestRoutes(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	for _, r := range platformtest.New(t).Routes() {
		fmt.Fprintf(&out, "%s %s %s %s %s\n", r.Method, r.Path, r.Auth, r.Name, r.Permission)
	}
	golden.Equal(t, "testdata/routes.golden", out.String())
}

// TestEveryProtectedRouteRefusesStrangers calls each route without a token and
// with a bad one, so that no route can be left open by accident.
func TestEveryProtectedRouteRefusesStrangers(t *testing.T) {
	t.Parallel()
	a := platformtest.New(t)
	nobody := a.Guest
	forged := nobody.As("eyJhbGciOiJub25lIn0.eyJ1c2VyX2lkIjoiMSJ9.")
	for _, r := range a.Routes() {
		path := strings.NewReplacer("{id}", "66f0a1b2c3d4e5f607182a01", "{file_id}", "66f0a1b2c3d4e5f607182a01").
			Replace(r.Path)
		switch r.Auth {
		case "none", "optional":
		case "gateway":
			require.Equal(t, http.StatusUnauthorized, nobody.Post(path, `{}`).Status, r.Path)
		default:
			require.Equal(t, http.StatusUnauthorized, nobody.Do(r.Method, path, nil).Status, "%s %s", r.Method, r.Path)
			require.Equal(t, http.StatusForbidden, forged.Do(r.Method, path, nil).Status, "%s %s", r.Method, r.Path)
			if r.Method == http.MethodGet {
				require.Equal(t, http.StatusUnauthorized, nobody.Do(http.MethodHead, path, nil).Status, r.Path)
				require.Equal(t, http.StatusForbidden, forged.Do(http.MethodHead, path, nil).Status, r.Path)
			}
		}
	}
}

// TestNothingOfTheInsideIsPublic: metrics and profiles are not where the API is.
func TestNothingOfTheInsideIsPublic(t *testing.T) {
	t.Parallel()
	public := platformtest.New(t).API().Handler()
	for _, path := range []string{
		"/metrics", "/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/profile", "/debug/pprof/cmdline", "/debug/vars",
	} {
		res := httptest.NewRecorder()
		public.ServeHTTP(res, httptest.NewRequest(http.MethodGet, path, nil))
		require.Equal(t, http.StatusNotFound, res.Code, path)
	}
}

// TestHealthTellsOfTestMode: the gateways of tests stand at addresses of this machine.
func TestHealthTellsOfTestMode(t *testing.T) {
	t.Parallel()
	require.Equal(t, []any{"gwa", "gwb"}, platformtest.New(t).Guest.Get("/health").Expect(200).Map()["test_mode"])
}

// TestMetrics: the figures are there, under route templates.
func TestMetrics(t *testing.T) {
	t.Parallel()
	a := platformtest.New(t)
	a.Guest.Get("/health").Expect(200)
	_, err := catalog.Videos.Prepare(resource.Params{Query: `{"nothing":1}`, Size: 1})
	require.NoError(t, err)
	families, err := a.Metrics().Gather()
	require.NoError(t, err)
	var names []string
	for _, f := range families {
		names = append(names, f.GetName())
	}
	require.Contains(t, names, "marquee_http_request_seconds")
	require.Contains(t, names, "marquee_db_connections")
	require.Contains(t, names, "marquee_unapplied_payments")
	require.Contains(t, names, "marquee_query_unknown_fields_total")
	for _, f := range families {
		require.Equal(t, strings.HasSuffix(f.GetName(), "_total"), f.GetType() == dto.MetricType_COUNTER,
			"%s: counters, and they alone, end in _total", f.GetName())
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint() // as promtool does
	require.NoError(t, err)
	require.Empty(t, problems)
}
