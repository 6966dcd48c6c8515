package finance_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/finance/financetest"
)

// TestHomeIsWhatTheReportsSay: over the golden data set, whose reports are worked out by hand, and over nothing.
func TestHomeIsWhatTheReportsSay(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]*bundle{"golden": goldenAPI(t), "nothing": setup(t)} {
		source := b.svc.HomeSource()
		read, err := source.Read(t.Context())
		require.NoError(t, err, name)
		require.Len(t, read, len(source.Figures), name)
		overview := b.get("/admin/finance/overview")
		require.EqualValues(t, overview["mrr"], read["mrr"].Value, name)
		require.EqualValues(t, overview["active_subscriptions"], read["active"].Value, name)
		require.EqualValues(t, overview["overdue_count"], read["failed_payments"].Value, name)

		today := b.clock.Now().In(zone(t))
		began := time.Date(today.Year(), today.Month(), 1, 0, 0, 0, 0, time.UTC)
		before := began.AddDate(0, -1, 0)
		days := func(from, to time.Time) doc {
			query := url.Values{
				"period": {"daily"}, "start": {from.Format(time.DateOnly)}, "end": {to.Format(time.DateOnly)},
			}
			return b.get("/admin/finance/revenue?" + query.Encode())["totals"].(doc)
		}
		month, same := days(began, today), days(before, before.AddDate(0, 0, today.Day()-1))
		for figure, field := range map[string]string{
			"new": "new_subscriptions", "cancelled": "cancellations", "revenue": "net",
		} {
			require.EqualValues(t, month[field], read[figure].Value, "%s %s", name, figure)
			require.EqualValues(t, days(today, today)[field], *read[figure].Today, "%s %s", name, figure)
			require.EqualValues(t, same[field], *read[figure].Before, "%s %s", name, figure)
		}
		if name == "nothing" {
			continue
		}
		worked := figures(t, "Overview")
		require.EqualValues(t, worked["mrr"], read["mrr"].Value)
		require.Positive(t, read["mrr"].Value)
		require.NotZero(t, *read["revenue"].Before)
		for _, f := range source.Figures {
			if f.Name == "revenue" {
				require.Equal(t, map[string]string{"period": "daily", "start": "2026-08-01", "end": "2026-08-20"},
					f.Parameters(financetest.Now))
			}
		}
	}
}

// TestHomeOfAShortMonth: the same days of a shorter month before are all of it.
func TestHomeOfAShortMonth(t *testing.T) {
	t.Parallel()
	b := setupAt(t, at("2026-03-31T15:00:00Z"))
	for _, day := range []string{"2026-01-31", "2026-02-01", "2026-02-28", "2026-03-01", "2026-03-31"} {
		b.exec(`INSERT INTO payments.payments (gateway, gateway_payment_id, purpose, local_id, customer_id, amount_cents, method, native_status, settled_at, created_at, updated_at)
			VALUES ('gwb', $1, 'subscription', $2, $2, 100, 'credit_card', 'paid', $3::timestamptz, now(), now())`,
			"in_"+day, customerID, day+"T15:00:00Z")
	}
	read, err := b.svc.HomeSource().Read(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 200, read["revenue"].Value)
	require.EqualValues(t, 100, *read["revenue"].Today)
	require.EqualValues(t, 200, *read["revenue"].Before)
}
