package reports

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/finance/internal/financedb"
	"marquee/platform/home"
)

// HomeSource are the figures of subscriptions that staff look at first: of now, and of this month beside the same days
// of the month before.
func (s *Reports) HomeSource() home.Source {
	return home.Source{
		Figures: []home.Figure{
			{Name: "mrr", Unit: home.Cents, Route: "subscription_list", Query: active},
			{Name: "active", Unit: home.Count, Route: "subscription_list", Query: active},
			{
				Name: "new", Unit: home.Count, Route: "subscription_list",
				Query: func(now time.Time) map[string]any {
					return map[string]any{"started_at": map[string]any{"$gte": s.monthBegan(now)}}
				},
			},
			{
				Name: "cancelled", Unit: home.Count, Route: "subscription_list",
				Query: func(now time.Time) map[string]any {
					return map[string]any{"ended_at": map[string]any{"$gte": s.monthBegan(now)}}
				},
			},
			{Name: "revenue", Unit: home.Cents, Route: "finance_revenue"},
			{Name: "failed_payments", Unit: home.Count, Route: "subscription_list", Query: overdue},
		},
		Read: func(ctx context.Context) (map[string]home.Reading, error) {
			var f financedb.HomeGetRow
			err := s.Snapshot(ctx, reportTimeout, func(tx pgx.Tx) (err error) {
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
func (s *Reports) monthBegan(now time.Time) string {
	year, month, _ := now.In(s.deps.Zone).Date()
	return time.Date(year, month, 1, 0, 0, 0, 0, s.deps.Zone).UTC().Format(time.RFC3339)
}

// active is the rule of access (docs/contract/figures.md, Definitions).
func active(now time.Time) map[string]any {
	ahead := map[string]any{"$gt": now.UTC().Truncate(time.Millisecond).Format(time.RFC3339Nano)}
	return map[string]any{
		"status": "active", "$or": []any{map[string]any{"expires_at": nil}, map[string]any{"expires_at": ahead}},
	}
}

// overdue is the rule of those whose payment failed.
func overdue(time.Time) map[string]any {
	return map[string]any{
		"status": map[string]any{"$nin": []any{"cancelled", "expired"}},
		"$or": []any{
			map[string]any{"payment_failures": map[string]any{"$gt": 0}}, map[string]any{"status": "suspended"},
		},
	}
}
