package subscriptions_test

import (
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/stretchr/testify/require"

	"marquee/modules/subscriptions/lifecycle"
)

func TestAddMonths(t *testing.T) {
	t.Parallel()
	saoPaulo, err := time.LoadLocation("America/Sao_Paulo")
	require.NoError(t, err)
	newYork, err := time.LoadLocation("America/New_York")
	require.NoError(t, err)
	for _, tc := range []struct {
		name   string
		from   string
		months int
		zone   *time.Location
		want   string
	}{
		{"31 January to a short February", "2026-01-31T15:00:00Z", 1, saoPaulo, "2026-02-28T15:00:00Z"},
		{"31 January to a leap February", "2028-01-31T15:00:00Z", 1, saoPaulo, "2028-02-29T15:00:00Z"},
		{"29 February and a year", "2028-02-29T15:00:00Z", 12, saoPaulo, "2029-02-28T15:00:00Z"},
		{"30 November and a quarter", "2026-11-30T15:00:00Z", 3, saoPaulo, "2027-02-28T15:00:00Z"},
		{"over the year's end", "2026-12-15T15:00:00Z", 1, saoPaulo, "2027-01-15T15:00:00Z"},
		{"the last day there, the first in UTC", "2026-02-01T02:30:00Z", 1, saoPaulo, "2026-03-01T02:30:00Z"},
		{"the hour stays over a change of clocks", "2026-02-20T15:00:00Z", 1, newYork, "2026-03-20T14:00:00Z"},
		{"milliseconds stay", "2026-01-10T15:00:00.123Z", 6, saoPaulo, "2026-07-10T15:00:00.123Z"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			from, err := time.Parse(time.RFC3339, tc.from)
			require.NoError(t, err)
			require.Equal(t, tc.want, lifecycle.AddMonths(from, tc.months, tc.zone).Format(time.RFC3339Nano))
		})
	}
}
