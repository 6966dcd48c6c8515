package finance_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/finance"
	"marquee/modules/finance/financetest"
	"marquee/platform/clock"
)

// inZone moves the golden data set behind HTTP to another report time zone.
func inZone(t *testing.T, name string) *bundle {
	t.Helper()
	zone, err := time.LoadLocation(name)
	require.NoError(t, err)
	b := setup(t, func(d *finance.Deps) { d.Clock, d.Zone = clock.NewFake(financetest.Now), zone })
	financetest.Golden(t, b.db) // in Sao Paulo's days
	_, err = b.svc.Fold(t.Context())
	require.NoError(t, err)
	require.NoError(t, b.svc.UseReportZone(t.Context()))
	requireNoDifference(t, b.db, financetest.Now)
	require.Equal(t, name, b.get("/admin/finance/definitions")["time_zone"])
	return b
}

// day is one day's row of the revenue, in the fields asked for.
func (b *bundle) day(day string, fields ...string) []any {
	b.t.Helper()
	rows := b.get("/admin/finance/revenue?period=daily&start=" + day + "&end=" + day)["data"].([]any)
	require.Len(b.t, rows, 1)
	values := []any{}
	for _, field := range fields {
		values = append(values, rows[0].(doc)[field])
	}
	return values
}

// TestReportsInAnotherZone counts the golden data set in Tokyo, nine hours ahead
// of UTC: what happened at noon UTC stays on its day, what happened beside midnight
// in Sao Paulo moves.
func TestReportsInAnotherZone(t *testing.T) {
	t.Parallel()
	b := inZone(t, "Asia/Tokyo")
	months := map[string]doc{}
	for _, m := range b.get("/admin/finance/revenue?start=2026-01")["data"].([]any) {
		months[m.(doc)["date"].(string)] = m.(doc)
	}
	for _, r := range financetest.Table(t, "Revenue by month") {
		gross, refunds, entered, left := r.Float(t, "gross"), r.Float(t, "refunds"), r.Float(t, "new_subscriptions"),
			r.Float(t, "cancellations")
		switch r["month"] { // at 02:59:59Z it is noon of the next day
		case "2026-02":
			gross, entered = gross-59880, entered-1 // S21
		case "2026-03":
			gross, entered = gross+59880, entered+1
		case "2026-04":
			refunds, left = refunds-500, left-1 // R2, S31
		case "2026-05":
			refunds, left = refunds+500, left+1
		}
		got := months[r["month"]]
		require.Equal(t, []any{
			gross, refunds, entered, left,
		}, []any{got["gross"], got["refunds"], got["new_subscriptions"], got["cancellations"]}, r["month"])
	}
	require.Equal(t, []any{119760.0, 2.0}, b.day("2026-03-01", "gross", "new_subscriptions"), "S21 and S22")
	require.Equal(t, []any{0.0, 0.0}, b.day("2026-02-28", "gross", "new_subscriptions"))

	// It is midnight of 21 August there: the last 30 days began on 21 July at 15:00Z,
	// and R5 is out of them.
	o := b.get("/admin/finance/overview")
	require.InDelta(t, 130370-2990, o["net_revenue_30d"], 0)
	days := b.get("/admin/finance/revenue?period=daily&start=2026-08-01")["data"].([]any)
	require.Equal(t, "2026-08-21", days[len(days)-1].(doc)["date"])
	overdue := b.get("/admin/finance/overdue")["customers"].([]any)[0].(doc)
	require.InDelta(t, 74, overdue["days_overdue"], 0, "a day more")

	s := b.opened("/admin/finance/export?start=2026-05-01&end=2026-05-01", "csv")
	require.Equal(t, []string{"R2\n", "R3\n"}, s.lines("refunds", "refund_id"))
	require.Equal(t, []string{"S31 2026-05-01\n", "S32 2026-05-01\n"},
		s.lines("cancellations", "subscription_id", "day"))
}

// TestReportsWhereClocksAreMoved: a day of 23 hours, one of 25, and months around
// them, in New York.
func TestReportsWhereClocksAreMoved(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("America/New_York")
	require.NoError(t, err)
	b := setup(t, func(d *finance.Deps) { d.Clock, d.Zone = clock.NewFake(at("2026-12-10T15:00:00Z")), zone })
	require.NoError(t, b.svc.UseReportZone(t.Context()))
	for i, instant := range []string{
		"2026-03-01T04:59:59Z", "2026-03-01T05:00:00Z", // February, March
		"2026-03-08T04:59:59Z", "2026-03-08T05:00:00Z", "2026-03-09T03:59:59Z",
		"2026-03-09T04:00:00Z",                         // the 8th has 23 hours
		"2026-04-01T03:59:59Z", "2026-04-01T04:00:00Z", // March, April
		"2026-11-01T03:59:59Z", "2026-11-01T04:00:00Z", "2026-11-02T04:59:59Z",
		"2026-11-02T05:00:00Z", // 1 November has 25 hours
	} {
		_, err := b.db.Exec(t.Context(),
			`INSERT INTO payments.payments (gateway, gateway_payment_id, purpose, local_id, customer_id, amount_cents, method, native_status, settled_at, created_at, updated_at)
			VALUES ('gwa', $1, 'subscription', $2, $2, $3, 'pix', 'RECEIVED', $4, $4, $4)`, fmt.Sprintf("pay_%d", i),
			financetest.ID("S01"), 1<<i, at(instant))
		require.NoError(t, err)
	}
	check := func() {
		t.Helper()
		for day, gross := range map[string]float64{
			"2026-02-28": 1, "2026-03-01": 2, "2026-03-07": 4, "2026-03-08": 8 + 16, "2026-03-09": 32, "2026-03-31": 64,
			"2026-04-01": 128,
			"2026-10-31": 256, "2026-11-01": 512 + 1024, "2026-11-02": 2048,
		} {
			require.Equal(t, []any{gross}, b.day(day, "gross"), day)
		}
		months := map[any]any{}
		for _, m := range b.get("/admin/finance/revenue?start=2026-02")["data"].([]any) {
			months[m.(doc)["date"]] = m.(doc)["gross"]
		}
		require.Equal(t, map[any]any{
			"2026-02": 1.0, "2026-03": 2.0 + 4 + 8 + 16 + 32 + 64, "2026-04": 128.0, "2026-05": 0.0, "2026-06": 0.0,
			"2026-07": 0.0, "2026-08": 0.0, "2026-09": 0.0,
			"2026-10": 256.0, "2026-11": 512.0 + 1024 + 2048, "2026-12": 0.0,
		}, months)
		requireNoDifference(t, b.db, at("2026-12-10T15:00:00Z"))
	}
	check()
	_, err = b.svc.Fold(t.Context())
	require.NoError(t, err)
	check()
	require.NoError(t, b.svc.Rebuild(t.Context()))
	check()
}
