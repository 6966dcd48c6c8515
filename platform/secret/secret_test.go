package secret_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/secret"
)

func TestTextNeverShows(t *testing.T) {
	t.Parallel()
	type card struct{ Number secret.Text }
	c := card{secret.NewText("4242424242424242")}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("paying", "card", c.Number, "all", c)
	for _, out := range []string{fmt.Sprint(c), fmt.Sprintf("%+v %#v %s %q", c, c, c.Number, c.Number), log.String()} {
		require.NotContains(t, out, "4242")
	}
	_, err := json.Marshal(c)
	require.Error(t, err)
	require.NoError(t, json.Unmarshal([]byte(`{"Number":"4111"}`), &c))
	require.Equal(t, "4111", c.Number.Reveal())
}

func TestMACSeparatesParts(t *testing.T) {
	t.Parallel()
	key := secret.Derive([]byte("master"), "codes")
	require.NotEqual(t, secret.MAC(key, "a", "bc"), secret.MAC(key, "ab", "c"))
	require.NotEqual(t, key, secret.Derive([]byte("master"), "files"))
}

func TestAnAEADIsOfItsPurpose(t *testing.T) {
	t.Parallel()
	master := []byte("a master key of thirty-two bytes")
	sealed := secret.NewAEAD(master, "test/one").Seal(nil, nil, []byte("text"), []byte("of whom"))
	require.NotEqual(t, sealed, secret.NewAEAD(master, "test/one").Seal(nil, nil, []byte("text"), []byte("of whom")))
	text, err := secret.NewAEAD(master, "test/one").Open(nil, nil, sealed, []byte("of whom"))
	require.NoError(t, err)
	require.Equal(t, "text", string(text))
	for _, other := range [][2]string{{"test/two", "of whom"}, {"test/one", "of others"}} {
		_, err := secret.NewAEAD(master, other[0]).Open(nil, nil, sealed, []byte(other[1]))
		require.Error(t, err)
	}
}
