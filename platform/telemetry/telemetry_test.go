package telemetry_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"marquee/platform/telemetry"
)

func TestLogMasksSecrets(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log, err := telemetry.NewLog(&out, "info")
	require.NoError(t, err)
	log.Info("login", "password", "hunter2", "access_token", "eyJ", "Authorization", "Bearer x9", "username", "ana")
	for _, hidden := range []string{"hunter2", "eyJ", "x9"} {
		require.NotContains(t, out.String(), hidden)
	}
	require.Contains(t, out.String(), `"username":"ana"`)
	_, err = telemetry.NewLog(&out, "loud")
	require.ErrorContains(t, err, "LOG_LEVEL")
}

func TestProfilesStandBesideTheMetrics(t *testing.T) {
	t.Parallel()
	inside := telemetry.Inside(prometheus.NewRegistry())
	for path, want := range map[string]int{
		"/metrics": http.StatusOK, "/debug/pprof/": http.StatusOK, "/debug/pprof/heap": http.StatusOK,
		"/debug/pprof/allocs": http.StatusOK, "/debug/pprof/profile?seconds=1": http.StatusOK,
		"/debug/pprof/symbol": http.StatusOK, "/": http.StatusNotFound,
	} {
		res := httptest.NewRecorder()
		inside.ServeHTTP(res, httptest.NewRequest(http.MethodGet, path, nil))
		require.Equal(t, want, res.Code, path)
	}
}
