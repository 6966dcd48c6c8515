package files_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/files"
	"marquee/platform/objectid"
)

var publicKey = []byte("0123456789abcdef0123456789abcdef")

func TestPublicID(t *testing.T) {
	t.Parallel()
	id := objectid.New()
	public := files.SealPublicID(publicKey, id)
	require.Regexp(t, `^[A-Za-z0-9_-]{54}$`, public)
	require.Equal(t, public, files.SealPublicID(publicKey, id), "one address for one file")
	require.NotContains(t, public, id.String())
	got, ok := files.OpenPublicID(publicKey, public)
	require.True(t, ok)
	require.Equal(t, id, got)

	_, ok = files.OpenPublicID([]byte("another key, as long as the first one"), public)
	require.False(t, ok)
	require.Empty(t, files.SealPublicID(publicKey, "no id"))
	for i := range len(public) {
		changed := []byte(public)
		changed[i] = map[bool]byte{true: 'B', false: 'A'}[changed[i] == 'A']
		_, ok := files.OpenPublicID(publicKey, string(changed))
		require.False(t, ok, "character %d changed", i)
	}
}

func FuzzOpenPublicID(f *testing.F) {
	id := objectid.ID("66f0a1b2c3d4e5f607182a01")
	f.Add(files.SealPublicID(publicKey, id))
	f.Add("")
	f.Add(id.String())
	f.Add("\x00/../=")
	f.Fuzz(func(t *testing.T, public string) {
		got, ok := files.OpenPublicID(publicKey, public)
		require.Equal(t, ok, got != "")
		if ok {
			require.Equal(t, public, files.SealPublicID(publicKey, got), "only what was sealed opens")
		}
	})
}
