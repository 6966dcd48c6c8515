package passwordlist

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestTheCommonestAreOnTheList(t *testing.T) {
	t.Parallel()
	require.Len(t, set(), 10_000)
	for password := range set() {
		require.GreaterOrEqual(t, utf8.RuneCountInString(password), 8, "shorter ones are refused for their length")
	}
	for _, password := range []string{"password", "12345678", "Password1", "QWERTYUIOP", "football"} {
		require.True(t, Holds(password), password)
	}
	for _, password := range []string{"", "correct horse battery", "password password"} {
		require.False(t, Holds(password), password)
	}
}
