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
	for _, password := range []string{
		"987654321", "0987654321", "234567890", "123123123", "aaaaaaaa", "abcabcab", "abcdefgh", "abcd1234", "Senha1234", "senha@123", "#Brasil2025", "123mudar", "coração10", "CORINTHIANS",
		" corinthians\t", "ｐａｓｓｗｏｒｄ", "        ", "xyz98765", "aaaa1111", "!@!@!@!@", "Palmeiras", "jesusteama",
	} {
		require.True(t, Holds(password), password)
	}
	for _, password := range []string{"", "correct horse battery", "password password", "%$#@!*&^x", "tr0ub4dor&3", "senha do portão", "flamengo83719", "kx83mq2v", "s3cret-enough-1"} {
		require.False(t, Holds(password), password)
	}
}
