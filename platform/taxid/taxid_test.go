package taxid_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/taxid"
)

func TestValid(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		id           string
		alphanumeric bool
		want         bool
	}{
		{"52998224725", false, true},
		{"11144477735", false, true},
		{"52998224724", false, false},
		{"52998224735", false, false},
		{"11111111111", false, false},
		{"00000000000", false, false},
		{"5299822472", false, false},
		{"529.982.247-25", false, false},
		{"5299822472x", false, false},
		{"11222333000181", false, true},
		{"11222333000180", false, false},
		{"00000000000000", false, false},
		{"12ABC34501DE35", true, true},
		{"12ABC34501DE35", false, false},
		{"12ABC34501DE36", true, false},
		{"12abc34501de35", true, false},
		{"12ABC34501DEA5", true, false},
		{"", false, false},
	} {
		require.Equal(t, tc.want, taxid.Valid(tc.id, tc.alphanumeric), "%q alphanumeric %t", tc.id, tc.alphanumeric)
	}
}

func TestCPF(t *testing.T) {
	t.Parallel()
	require.Equal(t, "52998224725", taxid.CPF(529982247))
	for n := range 2000 {
		require.True(t, taxid.Valid(taxid.CPF(n*7919+1), false), n)
	}
}

func TestNormal(t *testing.T) {
	t.Parallel()
	for written, stored := range map[string]string{
		"12abc34501de35": "12ABC34501DE35", "12ABC34501DE35": "12ABC34501DE35", "52998224725": "52998224725", "": "",
		"12ıſc34501de35": "12ıſC34501DE35", // whose capitals would be I and S
	} {
		require.Equal(t, stored, taxid.Normal(written))
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	form, digits := regexp.MustCompile(taxid.Form), regexp.MustCompile(taxid.Digits)
	for id, of := range map[string][2]bool{
		"52998224725":        {true, true},
		"11222333000181":     {true, true},
		"12ABC34501DE35":     {true, false},
		"12abc34501de35":     {true, false},
		"12ABC34501DEA5":     {},
		"5299822472a":        {},
		"12ıſc34501de35":     {},
		"12.ABC.345/01DE-35": {},
		"":                   {},
		"5299822472":         {},
		"112223330001811":    {},
	} {
		require.Equal(t, [2]bool{form.MatchString(id), digits.MatchString(id)}, of, id)
	}
}
