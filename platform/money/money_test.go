package money_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/money"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]money.Cents{
		"0": 0, "49.9": 4990, "49.90": 4990, "49.900": 4990, "0.01": 1, "-3": -300, "4.99e1": 4990, "1e3": 100000,
		"149.7": 14970, "1.15": 115, "-0.05": -5, "500e-2": 500, "0e0": 0, "0.000": 0,
	} {
		got, err := money.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, bad := range []string{
		"", "-", ".", "1.", ".5", "1.234", "abc", "1e", "1e99", "0x10", "1,50", "1e-3", "999999999999999999", "NaN",
		" 1",
	} {
		_, err := money.Parse(bad)
		require.ErrorIs(t, err, money.ErrMalformed, bad)
	}
}

func TestCentsAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	for cents, want := range map[money.Cents][2]string{
		0:          {"0,00", "0.00"},
		5:          {"0,05", "0.05"},
		24100:      {"241,00", "241.00"},
		123456:     {"1.234,56", "1,234.56"},
		-123456789: {"-1.234.567,89", "-1,234,567.89"},
	} {
		require.Equal(t, want, [2]string{cents.In("pt"), cents.In("en")})
	}
}

func TestReaisJSON(t *testing.T) {
	t.Parallel()
	out, err := json.Marshal(map[string]any{"a": money.Reais(4990), "b": money.Cents(4990), "c": money.Reais(-5)})
	require.NoError(t, err)
	require.JSONEq(t, `{"a":49.90,"b":4990,"c":-0.05}`, string(out))
	var in struct{ A money.Reais }
	require.NoError(t, json.Unmarshal([]byte(`{"A": 19.9}`), &in))
	require.Equal(t, money.Reais(1990), in.A)
}

func FuzzParse(f *testing.F) {
	f.Add("49.90")
	f.Add("-1e-2")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := money.Parse(s)
		if err != nil {
			return
		}
		again, err := money.Parse(c.String())
		if err != nil || again != c {
			t.Fatalf("%q is %d, printed %q, read again %d, %v", s, c, c.String(), again, err)
		}
	})
}
