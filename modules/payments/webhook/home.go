package webhook

import (
	"context"
	"fmt"
	"time"

	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/home"
	"marquee/platform/postgres"
)

// HomeSource is how many calls of gateways wait to be applied: a job tries them again.
func HomeSource(pool postgres.DB) home.Source {
	db := paymentsdb.New()
	return home.Source{
		Figures: []home.Figure{{
			Name: "webhooks_waiting", Unit: home.Count, Route: "webhook_log_list",
			Parameters: func(time.Time) map[string]string {
				return home.Filter(map[string]any{"processed": false, "signature_valid": true})
			},
		}},
		Read: func(ctx context.Context) (map[string]home.Reading, error) {
			n, err := db.WebhookLogCountWaiting(ctx, pool)
			if err != nil {
				return nil, fmt.Errorf("count webhooks that wait: %w", err)
			}
			return map[string]home.Reading{"webhooks_waiting": {Value: n}}, nil
		},
	}
}
