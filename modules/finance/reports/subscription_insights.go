package reports

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// SubscriptionInsights is the answer of GET /admin/subscriptions/insights
// (docs/contract/figures.md, Subscriptions and customers). Cohorts, reactivations, upgrades and failed payments
// are those of the months asked for; lifetime and ltv of all time.
type SubscriptionInsights struct {
	Cohorts             []cohort          `json:"cohorts" doc:"By the month in which customers first gained access"`
	AverageLifetimeDays float64           `json:"average_lifetime_days" doc:"Days with access by customer who ever had it, until now for those who have it"`
	LTV                 int64             `json:"ltv" doc:"Cents: net of subscription payments by customer who ever had access, rounded"`
	Reactivations       int64             `json:"reactivations" doc:"Times that access began again after an exit"`
	Upgrades            int64             `json:"upgrades" doc:"Moves to a plan of a higher tier, by an admin or by subscribing again"`
	FailedPayments      []failedMonth     `json:"failed_payments" doc:"Months in order"`
	AtRisk              []overdueCustomer `json:"at_risk" maxItems:"20" doc:"Overdue, the longest first"`
}

// cohort is the customers who first gained access in one month.
type cohort struct {
	Month     string    `json:"month" doc:"YYYY-MM"`
	Customers int64     `json:"customers"`
	Retained  []float64 `json:"retained" doc:"Percent with access at the end of that month and of each later one; of the present month, now"`
}

type failedMonth struct {
	Month     string `json:"month" doc:"YYYY-MM"`
	Count     int64  `json:"count" doc:"Failed attempts of subscription payments"`
	Recovered int64  `json:"recovered" doc:"Of these, followed by a settled payment of the subscription within 30 days"`
}

// GetSubscriptionInsights answers GET /admin/subscriptions/insights.
func (h Handlers) GetSubscriptionInsights(ctx context.Context, in *monthsInput) (*document, error) {
	return h.document(ctx, "Subscriptions", func(ctx context.Context, tx pgx.Tx) ([]byte, error) {
		return h.db.SubscriptionInsightsGet(ctx, tx, int32(in.Months)) //nolint:gosec // at most 24
	})
}
