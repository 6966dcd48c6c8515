package pgregex

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// vocabulary is all that a translated pattern may consist of.
var vocabulary = regexp.MustCompile(`^\(\?[sw]\)(?:` + strings.Join([]string{
	`[0-9A-Za-z]`, `[^\x00-\x7F]`, `\\u[0-9A-F]{4}`, `\\U[0-9A-F]{8}`, `\[\^?`, `\]`, `-`, `\(\?:`, `\)`, `\|`,
	`[*+?.^$]`, `\{[0-9]+(?:,[0-9]*)?\}`, `\\[AZyYn]`,
}, "|") + `)+$`)

func FuzzRegex(f *testing.F) {
	for _, row := range table {
		f.Add(row.pattern, row.options)
	}
	f.Fuzz(func(t *testing.T, pattern, options string) {
		translated, err := Translate(pattern, options)
		again, _ := Translate(pattern, options)
		require.Equal(t, translated, again)
		if err != nil {
			require.ErrorAs(t, err, new(Error))
			require.Empty(t, translated)
			return
		}
		require.LessOrEqual(t, len(translated), MaxOutputBytes)
		require.Regexp(t, vocabulary, translated)
	})
}
