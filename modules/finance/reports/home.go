package reports

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/finance/internal/financedb"
	"marquee/platform/home"
	"marquee/platform/httpapi"
)

// The reports whose figures these are, by their handler names.
const (
	overviewReport = "finance_overview"
	revenueReport  = "finance_revenue"
)

// HomeSource are the figures of subscriptions that staff look at first: of now, and of this month beside the same days
// of the month before. They are those of the overview and of the revenue by day.
func (s *Reports) HomeSource() home.Source {
	const list = "subscription_list"
	return home.Source{
		Figures: []home.Figure{
			{Name: "mrr", Unit: home.Cents, Route: list, Report: overviewReport, Parameters: active},
			{Name: "active", Unit: home.Count, Route: list, Report: overviewReport, Parameters: active},
			{
				Name: "new", Unit: home.Count, Route: list, Report: revenueReport,
				Parameters: func(now time.Time) map[string]string {
					return home.Filter(map[string]any{"started_at": home.Since(s.monthBegan(now))})
				},
			},
			{
				Name: "cancelled", Unit: home.Count, Route: list, Report: revenueReport,
				Parameters: func(now time.Time) map[string]string {
					return home.Filter(map[string]any{"ended_at": home.Since(s.monthBegan(now))})
				},
			},
			{
				Name: "revenue", Unit: home.Cents, Route: revenueReport,
				Parameters: func(now time.Time) map[string]string {
					return map[string]string{
						"period": string(Daily), "start": s.monthBegan(now).Format(time.DateOnly),
						"end": now.In(s.deps.Zone).Format(time.DateOnly),
					}
				},
			},
			{Name: "failed_payments", Unit: home.Count, Route: "finance_overdue"},
		},
		Read: func(ctx context.Context) (map[string]home.Reading, error) {
			var f financedb.HomeGetRow
			err := s.Snapshot(ctx, reportTimeout, func(ctx context.Context, tx pgx.Tx) (err error) {
				f, err = s.db.HomeGet(ctx, tx)
				return err
			})
			if err != nil {
				return nil, reported(fmt.Errorf("read figures: %w", err))
			}
			return map[string]home.Reading{
				"mrr": {Value: f.MrrCents}, "active": {Value: f.ActiveSubscriptions},
				"new":             {Value: f.New, Today: &f.NewToday, Before: &f.NewBefore},
				"cancelled":       {Value: f.Cancelled, Today: &f.CancelledToday, Before: &f.CancelledBefore},
				"revenue":         {Value: f.NetCents, Today: &f.NetTodayCents, Before: &f.NetBeforeCents},
				"failed_payments": {Value: f.OverdueCount},
			}, nil
		},
	}
}

// monthBegan is the first instant of the month in the zone of reports.
func (s *Reports) monthBegan(now time.Time) time.Time {
	year, month, _ := now.In(s.deps.Zone).Date()
	return time.Date(year, month, 1, 0, 0, 0, 0, s.deps.Zone)
}

// active is the rule of access (docs/contract/figures.md, Definitions).
func active(now time.Time) map[string]string {
	ahead := map[string]any{"$gt": httpapi.Time(now).String()}
	return home.Filter(map[string]any{
		"status": "active", "$or": []any{map[string]any{"expires_at": nil}, map[string]any{"expires_at": ahead}},
	})
}
