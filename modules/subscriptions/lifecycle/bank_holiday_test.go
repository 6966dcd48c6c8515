package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBusinessDaysLeaveOutBankHolidays(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("America/Sao_Paulo")
	require.NoError(t, err)
	for _, tc := range []struct {
		from string
		n    int
		want string
	}{
		{"2026-11-18", 2, "2026-11-23"},  // Friday 20 November is a holiday
		{"2027-02-12", -5, "2027-02-03"}, // Carnival is on 8 and 9 February
		{"2027-03-29", -1, "2027-03-25"}, // Good Friday
		{"2027-05-28", -1, "2027-05-26"}, // Corpus Christi
		{"2026-12-24", 1, "2026-12-28"},
		{"2026-12-10", 3, "2026-12-15"},
	} {
		from, err := time.ParseInLocation(time.DateOnly, tc.from, zone)
		require.NoError(t, err)
		require.Equal(t, tc.want, businessDays(from.Add(9*time.Hour), tc.n, zone).In(zone).Format(time.DateOnly),
			tc.from)
	}
}

func TestEaster(t *testing.T) {
	t.Parallel()
	for year, want := range map[int]string{
		2000: "04-23", 2024: "03-31", 2026: "04-05", 2027: "03-28", 2035: "03-25", 2038: "04-25",
	} {
		require.Equal(t, want, easter(year).Format("01-02"), year)
	}
}
