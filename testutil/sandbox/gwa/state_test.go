package gwa_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/testutil/sandbox/gwa"
)

func TestStateSurvivesARestart(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "gwa.json")
	b := setup(t, func(o *gwa.Options) { o.StateFile = file })
	sub, p := b.subscribed()
	b.g.Stage().Webhooks.Hold("SUBSCRIPTION_*")
	b.ok("PUT", "/v3/subscriptions/"+sub, object{"description": "Outro"})
	require.NoError(t, b.g.Close())

	again := setup(t, func(o *gwa.Options) { o.StateFile = file })
	require.WithinDuration(t, monday, again.g.Now(), day/24, "the clock goes on")
	require.Equal(t, "Outro", again.ok("GET", "/v3/subscriptions/"+sub, nil)["description"])
	again.advance(day / 24)
	require.Subset(t, names(again.deliveredEvents()), []string{"SUBSCRIPTION_UPDATED", "PAYMENT_CONFIRMED"},
		"so do queue and jobs")
	require.Equal(t, "CONFIRMED", again.ok("GET", "/v3/payments/"+p, nil)["status"])
}

// TestAnsweredCallsAreOnDisk reads the file of a gateway that was never closed, as after kill -9.
func TestAnsweredCallsAreOnDisk(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "gwa.json")
	b := setup(t, func(o *gwa.Options) { o.StateFile = file })
	p := b.ok("POST", "/v3/payments", pixPayment(b.customer(), 10))
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	copied := filepath.Join(t.TempDir(), "gwa.json")
	require.NoError(t, os.WriteFile(copied, raw, 0o600))
	again := setup(t, func(o *gwa.Options) { o.StateFile = copied })
	require.Equal(t, p, again.ok("GET", "/v3/payments/"+id(p), nil))
	require.Equal(t, 1.0, again.ok("GET", "/v3/payments?externalReference=66f0a1b2c3d4e5f607182b01", nil)["totalCount"])
}

// TestCardsAreNeverKept looks for card numbers and security codes in everything that the gateway writes or tells.
func TestCardsAreNeverKept_A3(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "gwa.json")
	var log bytes.Buffer
	b := setup(t, func(o *gwa.Options) {
		o.StateFile = file
		o.Logger = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	c := b.customer()
	secret := card(goodCard)
	secret["creditCard"].(object)["ccv"] = "7391"
	b.ok("POST", "/v3/payments", merged(cardPayment(c, 10), secret))
	b.ok("POST", "/v3/subscriptions", merged(subscription(c, "2035-03-12"), secret))
	b.refused("POST", "/v3/payments", merged(cardPayment(c, 10), card("5184019740373151")))
	b.deliveredEvents()
	require.NoError(t, b.g.Close())
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, text := range []string{goodCard, "5184019740373151", `"7391"`, "ccv", "ANA SOUZA"} {
		require.NotContains(t, string(raw), text)
		require.NotContains(t, log.String(), text)
	}
	require.Contains(t, string(raw), "8829", "the last four digits are")
}

// TestStateOfVersion1IsRead: a file that an older marquee dev left, one document, is read whole and written in the
// present form.
func TestStateOfVersion1IsRead(t *testing.T) {
	t.Parallel()
	old, err := os.ReadFile("testdata/state_version_1.json")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "gwa.json")
	require.NoError(t, os.WriteFile(file, old, 0o600))
	for range 2 {
		b := setup(t, func(o *gwa.Options) { o.StateFile, o.WebhookURL = file, "" })
		require.Equal(t, 1.0, b.ok("GET", "/v3/customers", nil)["totalCount"])
		payments := b.ok("GET", "/v3/payments", nil)["data"].([]any)
		require.Len(t, payments, 2)
		require.Equal(t, "r2", payments[0].(map[string]any)["externalReference"], "newest first")
		require.NoError(t, b.g.Close())
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Contains(t, string(raw[:40]), `{"version":2,"sandbox":"gwa"}`)
	}
}

func TestManyCallsAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.customer()
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			resp, _ := b.send("POST", "/v3/payments", cardPayment(c, 10))
			if resp.StatusCode != http.StatusOK {
				t.Errorf("status %d", resp.StatusCode)
			}
		})
	}
	wg.Wait()
	require.Equal(t, 20.0, b.ok("GET", "/v3/payments?status=CONFIRMED", nil)["totalCount"])
	seen := map[string]bool{}
	for _, e := range b.deliveredEvents() {
		require.False(t, seen[e.ID], e.ID)
		seen[e.ID] = true
	}
	require.Len(t, seen, 40)
}
