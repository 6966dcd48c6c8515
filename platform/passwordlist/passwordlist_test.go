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
		"987654321", "0987654321", "234567890", "123123123", "aaaaaaaa", "abcabcab", "abcdefgh", "abcd1234",
		"Senha1234", "senha@123", "#Brasil2025", "123mudar", "coração10", "CORINTHIANS", " corinthians\t", "ｐａｓｓｗｏｒｄ",
		"        ", "xyz98765", "aaaa1111", "!@!@!@!@", "Palmeiras", "jesusteama", "pass word", "pass-word",
		"pass.word", "i love you", "I Love You 2024!", "1234 5678", "12-34-56-78", "12345678\u200b", "pass\u00adword",
		"\u2066senha\u2069123", "12345678!!!", "s.e.n.h.a", "s-e-n-h-a-1-2-3", "f l a m e n g o", "ａ-ｂ-ｃ-ｄ-ｅ-ｆ",
		"p\u2800assword", "pass_word_1", "\u200d\u200d\u200d\u200d\u200d\u200d\u200d\u200d",
	} {
		require.True(t, Holds(password), password)
	}
	for _, password := range []string{
		"", "correct horse battery", "password password", "%$#@!*&^x", "tr0ub4dor&3", "senha do portão",
		"flamengo83719", "kx83mq2v", "s3cret-enough-1", "pass the word on", "i love you and my dog",
		"eu amo o flamengo", "%$#@!*&^abc", "%$#@!*&^x-1", "12 monkeys 34 birds", "minha senha segura",
	} {
		require.False(t, Holds(password), password)
	}
}
