package reports

import (
	"context"

	"github.com/jackc/pgx/v5"

	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

// SubscriptionDashboard is the answer of GET /admin/subscriptions/dashboard
// (docs/contract/figures.md, Subscriptions and customers). The maps by_gateway, by_payment_method and by_plan
// are over the active subscriptions, as in the finance overview.
type SubscriptionDashboard struct {
	Totals          subscriptionsByStatus `json:"totals" doc:"All subscriptions by status"`
	ByGateway       map[string]MRRShare   `json:"by_gateway" doc:"gwa and gwb"`
	ByPaymentMethod map[string]MRRShare   `json:"by_payment_method"`
	ByPlan          map[string]PlanMRR    `json:"by_plan" doc:"By plan_id"`
	MRR             int64                 `json:"mrr" doc:"Cents"`
	New30d          int64                 `json:"new_30d" doc:"Customers who gained access in the last 30 days"`
	Cancelled30d    int64                 `json:"cancelled_30d" doc:"Exits of the last 30 days, as churn counts them"`
	PendingPix      int64                 `json:"pending_pix" doc:"Pending subscriptions by PIX"`
	Recent          []recentSubscription  `json:"recent" maxItems:"10" doc:"Newest first"`
}

type subscriptionsByStatus struct {
	Active    int64 `json:"active"`
	Pending   int64 `json:"pending"`
	Suspended int64 `json:"suspended"`
	Cancelled int64 `json:"cancelled"`
	Expired   int64 `json:"expired"`
}

// SubscriberFigures are what reports tell of a subscription's customer, its plan and how it is paid.
type SubscriberFigures struct {
	Email         string `json:"email"`
	FullName      string `json:"full_name"`
	PlanID        string `json:"plan_id"`
	PlanName      string `json:"plan_name"`
	Gateway       string `json:"gateway" enum:"gwa,gwb"`
	PaymentMethod string `json:"payment_method" enum:"credit_card,pix,boleto"`
}

type recentSubscription struct {
	ID         objectid.ID `json:"_id"`
	CustomerID objectid.ID `json:"customer_id"`
	Username   string      `json:"username" doc:"Empty once the customer is deleted"`
	SubscriberFigures
	Status    string        `json:"status" enum:"active,pending,suspended,cancelled,expired"`
	Amount    int64         `json:"amount" doc:"Cents a month"`
	StartedAt *httpapi.Time `json:"started_at" nullable:"true"`
	CreatedAt httpapi.Time  `json:"created_at"`
}

// GetSubscriptionDashboard answers GET /admin/subscriptions/dashboard.
func (h Handlers) GetSubscriptionDashboard(ctx context.Context, _ *struct{}) (*document, error) {
	return h.document(ctx, "Subscriptions",
		func(ctx context.Context, tx pgx.Tx) ([]byte, error) { return h.db.SubscriptionDashboardGet(ctx, tx) })
}
