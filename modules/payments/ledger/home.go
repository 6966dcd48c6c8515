package ledger

import (
	"context"
	"fmt"
	"time"

	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/home"
)

// failedRefundDays is for how long a refund that failed is among what staff look at first.
const failedRefundDays = 30

// HomeSource are the figures of money that waits for somebody.
func HomeSource(d Deps) home.Source {
	db := paymentsdb.New()
	return home.Source{
		Figures: []home.Figure{
			{
				Name: "failed_refunds", Unit: home.Count, Route: "refund_list",
				Parameters: func(now time.Time) map[string]string {
					since := home.Since(now.AddDate(0, 0, -failedRefundDays))
					return home.Filter(map[string]any{"status": "failed", "requested_at": since})
				},
			},
			{
				Name: "unapplied_payments", Unit: home.Count, Route: "unapplied_payment_list",
				Parameters: func(time.Time) map[string]string {
					return home.Filter(map[string]any{"state": "open"})
				},
			},
		},
		Read: func(ctx context.Context) (map[string]home.Reading, error) {
			n, err := db.RefundCountFailed(ctx, d.Pool, d.Clock.Now().AddDate(0, 0, -failedRefundDays))
			if err != nil {
				return nil, fmt.Errorf("count what waits: %w", err)
			}
			return map[string]home.Reading{
				"failed_refunds": {Value: n.Refunds}, "unapplied_payments": {Value: n.Unapplied},
			}, nil
		},
	}
}
