package pgregex

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The table of docs/contract/filters.md, Patterns: what a client writes and what is emitted.
// "" expects a refusal.
var table = []struct{ pattern, options, want string }{
	{`abc`, "", `(?s)abc`},
	{`a\.b`, "", `(?s)a\u002Eb`},
	{`a\/b`, "", `(?s)a\u002Fb`},
	{`\-`, "", `(?s)\u002D`},
	{`\_`, "", `(?s)\u005F`},
	{`\<`, "", `(?s)\u003C`},
	{`.`, "", `(?s)[^\n]`},
	{`.`, "s", `(?s).`},
	{`^a$`, "", `(?s)\Aa\Z`},
	{`^a$`, "m", `(?w)^a$`},
	{`\Aa\z`, "", `(?s)\Aa\Z`},
	{`\Aa\z`, "m", `(?s)\Aa\Z`},
	{`a\Z`, "", ""},
	{`\Ga`, "", ""},
	{`a\Kb`, "", ""},
	{`\R`, "", ""},
	{`\X`, "", ""},
	{`\N`, "", ""},
	{`\C`, "", ""},
	{`\d`, "", `(?s)[0-9]`},
	{`\D`, "", `(?s)[^0-9]`},
	{`\w`, "", `(?s)[0-9A-Z\u005Fa-z]`},
	{`\W`, "", `(?s)[^0-9A-Z\u005Fa-z]`},
	{`\w`, "i", "(?s)[0-9A-Z\\u005Fa-z\u017F\u212A]"},
	{`\s`, "", `(?s)[\u0009-\u000D\u0020]`},
	{`\S`, "", `(?s)[^\u0009-\u000D\u0020]`},
	{`\bmar\B`, "", `(?s)\ymar\Y`},
	{`\h`, "", `(?s)[\u0009\u0020\u00A0\u1680\u180E\u2000-\u200A\u202F\u205F\u3000]`},
	{`\v`, "", `(?s)[\u000A-\u000D\u0085\u2028\u2029]`},
	{`\H`, "", `(?s)[^\u0009\u0020\u00A0\u1680\u180E\u2000-\u200A\u202F\u205F\u3000]`},
	{`\V`, "", `(?s)[^\u000A-\u000D\u0085\u2028\u2029]`},
	{`\e`, "", `(?s)\u001B`},
	{`\Qa.b\E`, "", `(?s)a\u002Eb`},
	{`\Qa.b`, "", `(?s)a\u002Eb`},
	{`\x41`, "", `(?s)A`},
	{`\x{e9}`, "", `(?s)é`},
	{`\x{1F600}`, "", `(?s)😀`},
	{`\101`, "", `(?s)A`},
	{`\0`, "", `(?s)\u0000`},
	{`\t\n\r\f\a`, "", `(?s)\u0009\u000A\u000D\u000C\u0007`},
	{`\u00e9`, "", ""},
	{`\cA`, "", ""},
	{`\q`, "", ""},
	{`a\`, "", ""},
	{`[abc]`, "", `(?s)[a-c]`},
	{`[^abc]`, "", `(?s)[^a-c]`},
	{`[a-c]`, "", `(?s)[a-c]`},
	{`[]a]`, "", `(?s)[\u005Da]`},
	{`[\]a]`, "", `(?s)[\u005Da]`},
	{`[\w-]`, "", `(?s)[\u002D0-9A-Z\u005Fa-z]`},
	{`[-_.]`, "", `(?s)[\u002D\u002E\u005F]`},
	{`a[\s\S]*b`, "", `(?s)a.*b`},
	{`a[\w\W]{2}`, "m", `(?s)a.{2}`},
	{`a[^\s\S]?b`, "", `(?s)a(?:\Z.)?b`},
	{`[^\x00-\x{10FFFF}]`, "i", `(?s)(?:\Z.)`},
	{`[\s-z]`, "", `(?s)[\u0009-\u000D\u0020\u002Dz]`},
	{`[\S]`, "", `(?s)[^\u0009-\u000D\u0020]`},
	{`[\e]`, "", `(?s)\u001B`},
	{`[a-\d]`, "", ""},
	{`[a-\s]`, "", ""},
	{`[\x00-\s]`, "", ""},
	{`[\x00-[:alpha:]]`, "", ""},
	{`[z-a]`, "", ""},
	{`[]`, "", ""},
	{`[^]`, "", ""},
	{`[a`, "", ""},
	{`[[:alpha:]]`, "", `(?s)[A-Za-z]`},
	{`[[:word:]]`, "", `(?s)[0-9A-Z\u005Fa-z]`},
	{`[[:^alpha:]]`, "", `(?s)[^A-Za-z]`},
	{`[[:<:]]`, "", ""},
	{`[[:>:]]`, "", ""},
	{`[[=a=]]`, "", `(?s)[\u003D\u005Ba]\u005D`},
	{`\p{Braille}`, "", "(?s)[\u2800-\u28FF]"},
	{`\p{Nope}`, "", ""},
	{`abc`, "i", `(?s)[Aa][Bb][Cc]`},
	{`é`, "i", `(?s)[Éé]`},
	{`s`, "i", `(?s)[Ssſ]`},
	{`k`, "i", "(?s)[Kk\u212A]"},
	{`σ`, "i", `(?s)[Σςσ]`},
	{`ß`, "i", `(?s)[ßẞ]`},
	{`İı`, "i", `(?s)İı`},
	{`(?i)a`, "", `(?s)[Aa]`},
	{`(?i:a)b`, "", `(?s)[Aa]b`},
	{`a(?i)b`, "", `(?s)a[Bb]`},
	{`(?m)^a`, "", `(?w)^a`},
	{`(?s).(?-s).`, "", `(?s).[^\n]`},
	{`(?U)a*`, "", `(?s)a*`},
	{`(?x)a`, "", ""},
	{`(?n)a`, "", ""},
	{`(?J)a`, "", ""},
	{`(?#a)`, "", ""},
	{`(a)(?:b)(?P<n>c)(?<m>d)`, "", `(?s)(?:a)b(?:c)(?:d)`},
	{`(?:ab)*`, "", `(?s)(?:ab)*`},
	{`a*?b+?c??d{2,3}?`, "", `(?s)a*b+c?d{2,3}`},
	{`a{2}b{2,}c{2,5}`, "", `(?s)a{2}b{2,}c{2,5}`},
	{`a{,5}`, "", `(?s)a\u007B\u002C5\u007D`},
	{`a{2`, "", `(?s)a\u007B2`},
	{`a{x}`, "", `(?s)a\u007Bx\u007D`},
	{`a{255}`, "", `(?s)a{255}`},
	{`a{256}`, "", ""},
	{`a{0,256}`, "", ""},
	{`a{2}{3}`, "", ""},
	{`a**`, "", ""},
	{`a++`, "", ""},
	{`a*+`, "", ""},
	{`*a`, "", ""},
	{`^*a`, "", `(?s)(?:)a`},
	{`(?:^)?a`, "", `(?s)(?:)a`},
	{`\b+a`, "", `(?s)(?:\y)a`},
	{`(?=a)`, "", ""},
	{`(?!a)`, "", ""},
	{`(?<=a)`, "", ""},
	{`(?<!a)`, "", ""},
	{`(a)\1`, "", ""},
	{`(?<n>a)\k<n>`, "", ""},
	{`(?P<n>a)(?P=n)`, "", ""},
	{`(?R)`, "", ""},
	{`(?1)`, "", ""},
	{`(?(1)a)`, "", ""},
	{`(?>a)`, "", ""},
	{`(*FAIL)`, "", ""},
	{``, "", `(?s)(?:)`},
	{`a|`, "", `(?s)a|(?:)`},
	{`()`, "", `(?s)(?:(?:))`},
	{`***=a`, "", ""},
	{`***:a`, "", ""},
	{`(?b)a`, "", ""},
	{`(?e)a`, "", ""},
	{`(?q)a`, "", ""},
	{`(?c)a`, "", ""},
	{`\y`, "", ""},
	{`\m`, "", ""},
	{`\M`, "", ""},
	{"a\x00", "", ""},
	{`(`, "", ""},
	{`)`, "", ""},
	// The options, x above all.
	{`a`, "g", ""},
	{`a`, "I", ""},
	{`a`, "imsxu", `(?s)[Aa]`},
	{"a b # c\nd", "x", `(?s)abd`},
	{`a [ #b] \# \ c`, "x", `(?s)a[\u0020\u0023b]\u0023\u0020c`},
	{`\Qa b\E c`, "x", `(?s)a\u0020b(?:)c`},
	{`a {2}`, "x", `(?s)a{2}`},
	{`a{2 }`, "x", `(?s)a\u007B2\u007D`},
	{`( ?:a)`, "x", ""},
	{`\0 1`, "x", `(?s)\u0000(?:)1`},
}

func TestTranslate_table(t *testing.T) {
	t.Parallel()
	for _, row := range table {
		got, err := Translate(row.pattern, row.options)
		if row.want == "" {
			require.Error(t, err, row.pattern)
			require.ErrorAs(t, err, new(Error))
			continue
		}
		require.NoError(t, err, row.pattern)
		require.Equal(t, row.want, got, "%s with %q", row.pattern, row.options)
	}
}

// Each limit passes at its value and is refused one above.
func TestTranslate_limits(t *testing.T) {
	t.Parallel()
	nested := func(n int) string { return strings.Repeat("(", n) + "a" + strings.Repeat(")", n) }
	limits := []struct {
		at, over string
		want     error
	}{
		{strings.Repeat("a", MaxPatternBytes), strings.Repeat("a", MaxPatternBytes+1), errTooLong},
		{nested(MaxGroups), nested(MaxGroups + 1), errTooDeep},
		{`a{255}`, `a{256}`, errCount},
		{`a{2,255}`, `a{2,1001}`, errCount},
		{`[ab]{250}[ac]{250}[ad]{250}[ae]{249}`, `[ab]{250}[ac]{250}[ad]{250}[ae]{250}`, errTooCostly},
		{`(?:[ab]{99}){10}`, `(?:[ab]{100}c){10}`, errTooCostly},
	}
	for _, l := range limits {
		_, err := Translate(l.at, "")
		require.NoError(t, err, l.at)
		_, err = Translate(l.over, "")
		require.Equal(t, l.want, err, l.over)
	}
}

// The translation may not outgrow its own limit, which classes of Unicode reach.
func TestTranslate_outputLimit(t *testing.T) {
	t.Parallel()
	one, err := Translate(`\pL`, "")
	require.NoError(t, err)
	fits := (MaxOutputBytes - len("(?s)")) / (len(one) - len("(?s)"))
	_, err = Translate(strings.Repeat(`\pL`, fits), "")
	require.NoError(t, err)
	_, err = Translate(strings.Repeat(`\pL`, fits+1), "")
	require.Equal(t, errTooLong, err)
}

// The sentences are ours: nothing of Go's parser shows.
func TestTranslate_words(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		`(`:     "has an unbalanced parenthesis",
		`(?=a)`: "look-around is not supported, negate with $not",
		`a++`:   "has a repetition of nothing or of a repetition",
		`\q`:    "has an escape that is not supported",
		`[z-a]`: "has a character class that is not valid",
		`(?>a)`: "is not a supported pattern",
	} {
		_, err := Translate(pattern, "")
		require.EqualError(t, err, want, pattern)
	}
}
