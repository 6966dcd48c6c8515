package reports

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Tenure is the answer of GET /admin/customers/tenure (docs/contract/figures.md, Subscriptions and customers):
// how long customers stay. A customer's tenure is the days with access, counted
// until now for those who have it; who never had access does not count.
type Tenure struct {
	AverageDays float64        `json:"average_days"`
	MedianDays  float64        `json:"median_days"`
	Buckets     []tenureBucket `json:"buckets" doc:"All of them, also empty ones"`
	Cohorts     []cohort       `json:"cohorts" doc:"Of the last 24 months, by the month in which customers first gained access"`
}

type tenureBucket struct {
	FromDays  int64  `json:"from_days"`
	ToDays    *int64 `json:"to_days" doc:"Not included; null for no end"`
	Customers int64  `json:"customers"`
	Active    int64  `json:"active" doc:"Of these, with access now"`
	Cancelled int64  `json:"cancelled" doc:"Of these, without"`
}

// GetTenure answers GET /admin/customers/tenure.
func (h Handlers) GetTenure(ctx context.Context, _ *struct{}) (*document, error) {
	return h.document(ctx, "Customers", func(tx pgx.Tx) ([]byte, error) { return h.db.CustomerTenure(ctx, tx) })
}
