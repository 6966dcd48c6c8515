package objectid_test

import (
	"regexp"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/objectid"
)

func TestNewSortsByCreation(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_790_000_000, 0)
	ids := make([]string, 1000)
	for i := range ids {
		ids[i] = objectid.At(at.Add(time.Duration(i) * time.Second)).String()
	}
	require.True(t, sort.StringsAreSorted(ids))
	require.Equal(t, at.UTC(), objectid.ID(ids[0]).Time())
}

func TestParse(t *testing.T) {
	t.Parallel()
	id, err := objectid.Parse("66F0A1B2C3D4E5F607182A01")
	require.NoError(t, err)
	require.Equal(t, objectid.ID("66f0a1b2c3d4e5f607182a01"), id)
	for _, bad := range []string{
		"", "66f0", "66f0a1b2c3d4e5f607182a0g", "66f0a1b2c3d4e5f607182a011", "66f0a1b2c3d4e5f60718 a01",
		"66f0a1b2c3d4e5f6071\x10\x11\x19a01",
	} {
		_, err := objectid.Parse(bad)
		require.ErrorIs(t, err, objectid.ErrMalformed, bad)
	}
}

var form = regexp.MustCompile(`^[0-9a-f]{24}$`)

func FuzzParse(f *testing.F) {
	f.Add("66f0a1b2c3d4e5f607182a01")
	f.Add("`a1b2c3d4e5f607182a01xxxx")
	f.Add("66f0a1b2c3d4e5f6071\x10\x11\x19a01")
	f.Fuzz(func(t *testing.T, s string) {
		id, err := objectid.Parse(s)
		require.Equal(t, form.MatchString(strings.ToLower(s)), err == nil, "%q", s)
		if err == nil {
			require.Regexp(t, form, id)
		}
	})
}
