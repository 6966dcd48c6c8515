package query

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseDate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2024-01-10":                     "2024-01-10T00:00:00Z",
		"2024-01-10T09:30":               "2024-01-10T09:30:00Z",
		"2024-01-10 09:30:15":            "2024-01-10T09:30:15Z",
		"2024-01-10T09:30:15.5Z":         "2024-01-10T09:30:15.5Z",
		"2024-01-10T09:30:15.123456789Z": "2024-01-10T09:30:15.123Z",
		"1969-12-31T23:59:59.9999Z":      "1969-12-31T23:59:59.999Z",
		"2024-01-10T09:30-03":            "2024-01-10T12:30:00Z",
		"2024-01-10T09:30+0530":          "2024-01-10T04:00:00Z",
		"2024-01-10T09:30:00.000-03:00":  "2024-01-10T12:30:00Z",
		"2024-02-29":                     "2024-02-29T00:00:00Z",
		"0001-01-01":                     "0001-01-01T00:00:00Z",
		"9999-12-31T23:59:59.999Z":       "9999-12-31T23:59:59.999Z",
	} {
		got, ok := parseDate(text)
		require.True(t, ok, text)
		require.Equal(t, want, got.Format(time.RFC3339Nano), text)
	}
	for _, text := range []string{
		"", "now", "yesterday", "infinity", "epoch", "J2451187", "2024", "2024-1-1", "2023-02-29", "2024-02-30",
		"2024-13-01", "2024-00-10", "0000-01-01", "10000-01-01", "2024-01-10T", "2024-01-10T9:30", "2024-01-10T24:00",
		"2024-01-10T23:60", "2024-01-10T23:59:60", "2024-01-10T09:30:15.", "2024-01-10T09:30:15.1234567890",
		"2024-01-10Z", "2024-01-10T09Z", "2024-01-10T09:30+24:00", "2024-01-10T09:30+5", "0001-01-01T00:00+14:00",
		"9999-12-31T23:00-03:00", " 2024-01-10", "2024-01-10\n", "2024-01-10t09:30", "٢٠٢٤-01-10",
	} {
		_, ok := parseDate(text)
		require.False(t, ok, text)
	}
}

func TestParseDecimal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0": "0", "-0": "0", "0.00": "0", "0e99999999999": "0", "90": "90", "90.0": "90", "9e1": "90", "9E+1": "90",
		"900e-1": "90", "0.1": "0.1", "-1.50": "-1.5", "123.456": "123.456", "1e-5": "0.00001",
		"1e19": "10000000000000000000", "1e20": "1e20", "1.8e308": "18e307", "1e-20000": "1e-20000",
		"-12e-30": "-12e-30",
	} {
		got, ok := parseDecimal(text)
		require.True(t, ok, text)
		require.Equal(t, want, got.String(), text)
	}
	for _, text := range []string{
		"", "-", "+1", "01", "1.", ".5", "1e", "1e+", "1e+-5", "--1", "NaN", "Infinity", "0x1", "1_0", " 1", "1e309",
		"1.81e308", "-2e308", "1e99999999999",
	} {
		_, ok := parseDecimal(text)
		require.False(t, ok, text)
	}
}

func TestDecimal_floor(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text   string
		n      int64
		exact  bool
		beyond int
	}{
		{text: "0", n: 0, exact: true, beyond: 0},
		{text: "90.5", n: 90, exact: false, beyond: 0},
		{text: "-90.5", n: -91, exact: false, beyond: 0},
		{text: "0.5", n: 0, exact: false, beyond: 0},
		{text: "-0.5", n: -1, exact: false, beyond: 0},
		{text: "1e-400", n: 0, exact: false, beyond: 0},
		{text: "9223372036854775807", n: math.MaxInt64, exact: true, beyond: 0},
		{text: "9223372036854775807.5", n: math.MaxInt64, exact: false, beyond: 0},
		{text: "9223372036854775808", n: 0, exact: false, beyond: 1},
		{text: "-9223372036854775808", n: math.MinInt64, exact: true, beyond: 0},
		{text: "-9223372036854775808.5", n: 0, exact: false, beyond: -1},
		{text: "1e30", n: 0, exact: false, beyond: 1},
		{text: "-1e30", n: 0, exact: false, beyond: -1},
	} {
		d, ok := parseDecimal(row.text)
		require.True(t, ok)
		n, exact, beyond := d.floor()
		require.Equal(t, struct {
			text   string
			n      int64
			exact  bool
			beyond int
		}{row.text, n, exact, beyond}, row)
	}
}
