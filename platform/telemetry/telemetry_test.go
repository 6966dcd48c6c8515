package telemetry_test

import (
	"bytes"
	"testing"

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
