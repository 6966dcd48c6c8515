package export

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCSVIsOneFileASheet(t *testing.T) {
	t.Parallel()
	files := unzipped(t, written(t, CSV, Options{}, everyKind(full("a,\"b\"\nc"), make([]Value, 8)), texts("=1+1")))
	require.Equal(t, map[string]string{
		"kinds.csv": "text,integer,money,decimal,percent,day,at,yes\n" +
			"\"a,\"\"b\"\"\nc\",-7,-1234.05,1.75,12.35,2026-02-28,2026-03-01T02:59:59.123Z,true\n,,,,,,,\n",
		"texts.csv": "text\n'=1+1\n",
	}, files)
}

func TestCSVWithByteOrderMark(t *testing.T) {
	t.Parallel()
	require.Equal(t, "\ufefftext\nç\n", unzipped(t, written(t, CSV, Options{BOM: true}, texts("ç")))["texts.csv"])
}

func TestJSONIsAnObjectOfLists(t *testing.T) {
	t.Parallel()
	empty := texts()
	empty.Name = "empty"
	got := written(t, JSON, Options{}, everyKind(full("=\"a\"<b>"), make([]Value, 8)), empty)
	require.True(t, json.Valid(got))
	require.Equal(t, `{
"kinds": [
{"text":"=\"a\"<b>","integer":-7,"money":-1234.05,"decimal":1.75,"percent":12.35,"day":"2026-02-28","at":"2026-03-01T02:59:59.123Z","yes":true},
{"text":null,"integer":null,"money":null,"decimal":null,"percent":null,"day":null,"at":null,"yes":null}
],
"empty": [
]
}
`, string(got))
	require.Equal(t, "{}\n", string(written(t, JSON, Options{})))
}

func TestColumnsOfMixedFigures(t *testing.T) {
	t.Parallel()
	s := Sheet{
		Name: "summary", Columns: []Column{{Name: "figure", Kind: Text}, {Name: "value", Kind: Decimal}},
		Rows: of(
			[]Value{
				TextOf("mrr"), MoneyOf(123450),
			}, []Value{TextOf("active"), IntOf(3)}, []Value{TextOf("churn"), PercentOf(7.5)},
			[]Value{TextOf("since"), TimeOf(noon)}, []Value{TextOf("rate"), DecimalOf(math.NaN())},
		),
	}
	require.Equal(t, "figure,value\nmrr,1234.50\nactive,3\nchurn,7.5\nsince,2026-03-01T02:59:59.123Z\nrate,\n",
		unzipped(t, written(t, CSV, Options{}, s))["summary.csv"])
	rows, err := opened(t, written(t, XLSX, Options{}, s)).GetRows("summary")
	require.NoError(t, err)
	require.Equal(t, [][]string{
		{"figure", "value"},
		{"mrr", "1,234.50"},
		{"active", "3"},
		{"churn", "7.50%"},
		{"since", "2026-03-01 02:59:59"},
		{"rate"},
	}, rows)
}

func TestMoneyIsExact(t *testing.T) {
	t.Parallel()
	for cents, want := range map[int64]string{
		0: "0.00", 5: "0.05", -5: "-0.05", 100: "1.00", -1999: "-19.99", math.MaxInt64: "92233720368547758.07",
		math.MinInt64: "-92233720368547758.08",
	} {
		require.Equal(t, want, string(appendCents(nil, cents)))
	}
}

func TestNeutral(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"":                 "",
		"plain":            "plain",
		"=1+1":             "'=1+1",
		"+1+cmd|' /C x'!A": "'+1+cmd|' /C x'!A",
		"-2+3":             "'-2+3",
		"@SUM(1)":          "'@SUM(1)",
		"\t=1":             "'\t=1",
		"\r=1":             "'\r=1",
		"\n=1":             "'\n=1",
		" =1":              "' =1",
		"\u00a0\ufeff=1":   "'\u00a0\ufeff=1",
		"＝1":               "'＝1",
		"-":                "'-",
		"--1":              "'--1",
		"+":                "'+",
		"+5511987654321":   "+5511987654321",
		"-12.50":           "-12.50",
		"-12,50":           "-12,50",
		"-1,234.50":        "'-1,234.50",
		"+55 11 98765":     "'+55 11 98765",
		"+1e5":             "'+1e5",
		"-1-2":             "'-1-2",
		"a@b.example":      "a@b.example",
		"1-2":              "1-2",
		"'=1":              "'=1",
	} {
		require.Equal(t, want, neutral(given), "%q", given)
	}
}

// Whatever a stranger writes, the csv is read back as what was written, with at
// most an apostrophe more, and nothing in it begins as a formula but bare numbers.
func FuzzNeutral(f *testing.F) {
	for _, s := range []string{"=1", "+55", "-1.5", "@x", "\t", " \r=x", "a\nb", "\"", "＋1", "'", "\x00=1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		safe := neutral(s)
		require.Equal(t, s, strings.TrimPrefix(safe, safe[:len(safe)-len(s)]))
		if safe != s {
			require.Equal(t, "'"+s, safe)
		} else if startsFormula(s) {
			require.Regexp(t, `^[+-][0-9]+([.,][0-9]+)?$`, s)
		}
		var out strings.Builder
		w := csv.NewWriter(&out)
		require.NoError(t, w.Write([]string{"x", safe}))
		w.Flush()
		got, err := csv.NewReader(strings.NewReader(out.String())).ReadAll()
		require.NoError(t, err)
		require.Equal(t, [][]string{{"x", strings.ReplaceAll(safe, "\r\n", "\n")}}, got)
	})
}
