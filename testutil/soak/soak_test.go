package soak

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSharesAreTheWhole: each case belongs to one share, and rounds add up.
func TestSharesAreTheWhole(t *testing.T) {
	t.Parallel()
	for i := range 100 {
		n := 0
		for _, s := range []string{"1/3", "2/3", "3/3"} {
			if parse(s).has(i) {
				n++
			}
		}
		require.Equal(t, 1, n)
		require.True(t, parse("").has(i))
		require.True(t, parse("1").has(i))
	}
	require.Equal(t, 100, parse("").rounds(100, 2000))
	require.Equal(t, 2000, parse("1").rounds(100, 2000))
	require.Equal(t, 200, parse("3/10").rounds(100, 2000))
	require.Equal(t, 100, parse("3/100").rounds(100, 2000), "never fewer than in `make test`")
	for _, s := range []string{"2", "yes", "0/3", "4/3", "1/0", "1/3x", "-1/3", "01/3"} {
		require.Panics(t, func() { parse(s) }, s)
	}
}
