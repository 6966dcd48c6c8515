package pgregex

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/testutil/pgtest"
)

// subjects are texts that tell dialects apart.
var subjects = []string{
	"", "a", "A", "b", "ab", "abc", "aab", "aXb", "a\nb", "\nb", "a\n", "é", "É", "maré alta", "Édith 2024", "ß",
	"ẞ", "s", "ſ", "K", "\u212a", "σ", "ς", "Σ", "İ", "ı", "i", "I", "日本", "😀", "x' OR '1'='1", "%", "_", "a.b",
	"a-b", "[a]", "{2}", "a{2", "a{,5}", " ", "\t", "\v", "\u00a0", "\u2028", "\u0085", "\x1b", "1", "٣", "a1_",
	"so a\nb", "mar", "Mar", "\\", "]", "^", "-",
}

// requireAgreement asks Go's engine and Postgres whether each subject matches.
func requireAgreement(t *testing.T, tx pgx.Tx, pattern, options string) {
	t.Helper()
	translated, err := Translate(pattern, options)
	if err != nil {
		return
	}
	rewritten, err := lex(pattern, strings.Contains(options, "x"))
	require.NoError(t, err)
	flags := strings.Trim(options, "xu")
	if flags != "" {
		rewritten = "(?" + flags + ")" + rewritten
	}
	engine, err := regexp.Compile(rewritten)
	require.NoError(t, err, pattern)
	want := make([]bool, len(subjects))
	for i, s := range subjects {
		want[i] = engine.MatchString(s)
	}
	var got []bool
	err = tx.QueryRow(t.Context(),
		`SELECT array_agg(s COLLATE "C" ~ $2::text ORDER BY i) FROM unnest($1::text[]) WITH ORDINALITY u(s, i)`,
		subjects, translated).Scan(&got)
	require.NoError(t, err, "%q became %q", pattern, translated)
	for i := range subjects {
		require.Equal(t, want[i], got[i], "%q with %q, which became %q, on %q", pattern, options, translated,
			subjects[i])
	}
}

// The server takes every translated pattern and agrees with Go's engine, with all options.
func TestTranslate_server(t *testing.T) {
	t.Parallel()
	tx := pgtest.Tx(t)
	for _, row := range table {
		for _, options := range []string{row.options, "i", "m", "s", "ims"} {
			requireAgreement(t, tx, row.pattern, options)
		}
	}
}

// pieces are what random patterns are made of.
var pieces = []string{
	"a", "b", "é", "s", "k", "ß", "1", " ", ".", "^", "$", `\b`, `\B`, `\A`, `\z`, `\d`, `\W`, `\w`, `\s`, `\S`,
	`\h`, `\v`, `\.`, `\e`, "[ab]", "[^a]", `[\s-z]`, `[\s\S]`, `[^\d\D]`, "[[:alpha:]]", "[^[:^digit:]]", `\pL`,
	`\P{Lu}`, "(", ")", "(?:", "(?i)", "(?m:", "(?-s:", "(?U)", "|", "|", "*", "+", "?", "*?", "{2}", "{0}",
	"{0,2}", "{1,}", "{", "}", "]", "-", "#", `\Qa.b\E`, `\x{e9}`, "()",
}

func randomPattern(r *rand.Rand) string {
	var b strings.Builder
	open := 0
	for range 1 + r.IntN(7) {
		p := pieces[r.IntN(len(pieces))]
		switch {
		case p == ")" && open == 0:
			continue
		case p == ")":
			open--
		case strings.HasPrefix(p, "(") && !strings.HasSuffix(p, ")"):
			open++
		}
		b.WriteString(p)
	}
	return b.String() + strings.Repeat(")", open)
}

func TestTranslate_random(t *testing.T) {
	t.Parallel()
	tx := pgtest.Tx(t)
	r := rand.New(rand.NewPCG(1, 1))
	for range 1500 {
		requireAgreement(t, tx, randomPattern(r), []string{"", "i", "m", "s", "x", "ims"}[r.IntN(6)])
	}
}

// Patterns that explode in backtracking engines take no time worth naming.
func TestTranslate_noBacktracking(t *testing.T) {
	t.Parallel()
	tx := pgtest.Tx(t)
	_, err := tx.Exec(t.Context(), "SET LOCAL statement_timeout = '1s'")
	require.NoError(t, err)
	for _, pattern := range []string{`^(a+)+$`, `(a|a?)+$`, `(.*a){20}`} {
		translated, err := Translate(pattern, "")
		require.NoError(t, err)
		var matches bool
		err = tx.QueryRow(t.Context(), `SELECT (repeat('a', 100000) || 'b') COLLATE "C" ~ $1::text`, translated).
			Scan(&matches)
		require.NoError(t, err, pattern)
	}
}
