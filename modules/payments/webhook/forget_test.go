package webhook_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/gwa"
	"marquee/modules/payments/gwb"
	"marquee/modules/payments/webhook"
)

// TestForgottenWebhooksSayNobodysName: what both gateways report loses the person
// and nothing else: the event that is read from it is the same.
func TestForgottenWebhooksSayNobodysName(t *testing.T) {
	t.Parallel()
	samples, err := filepath.Glob("../testdata/webhooks/*.json")
	require.NoError(t, err)
	require.Greater(t, len(samples), 30)
	erased := 0
	for _, file := range samples {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		var reader interface {
			ReadEvent(body []byte) (gateway.Event, error)
		} = gwb.New(gwb.Config{})
		if strings.HasPrefix(filepath.Base(file), "gwa.") {
			reader = gwa.New(gwa.Config{})
		}
		out, changed, err := webhook.WithoutPerson(raw)
		require.NoError(t, err, file)
		for _, trace := range []string{"Ana", "Souza", "ana@", "52998224725", "4242", "8829", "0310100"} {
			require.NotContains(t, string(out), trace, file)
		}
		before, errBefore := reader.ReadEvent(raw)
		after, errAfter := reader.ReadEvent(out)
		require.Equal(t, errBefore, errAfter, file)
		require.Equal(t, before, after, file)
		if changed {
			erased++
		}
		again, changed, err := webhook.WithoutPerson(out)
		require.NoError(t, err)
		require.False(t, changed, "%s: once is enough", file)
		require.Equal(t, string(out), string(again))
	}
	require.Greater(t, erased, 20)
}
