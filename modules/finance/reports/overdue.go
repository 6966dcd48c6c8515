package reports

import (
	"context"

	"github.com/jackc/pgx/v5"

	"marquee/modules/finance/internal/financedb"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

type overdueInput struct {
	Page  int32 `query:"page" default:"0" minimum:"0" maximum:"1000000" doc:"Zero-based"`
	Limit int32 `query:"limit" default:"20" minimum:"1" maximum:"100"`
}

// OverdueList is the answer of GET /admin/finance/overdue: the page, the longest
// overdue first, and totals of all pages.
type OverdueList struct {
	TotalOverdue      int64             `json:"total_overdue"`
	TotalAmountAtRisk int64             `json:"total_amount_at_risk" doc:"Cents"`
	Customers         []overdueCustomer `json:"customers"`
}

// overdueCustomer is an overdue subscription with its customer. Of a deleted
// customer the name and the address are empty.
type overdueCustomer struct {
	CustomerID objectid.ID `json:"customer_id"`
	Username   string      `json:"username"`
	SubscriberFigures
	PaymentFailures    int32         `json:"payment_failures" doc:"Failures in a row"`
	LastPaymentAt      *httpapi.Time `json:"last_payment_at" nullable:"true"`
	NextBillingDate    *httpapi.Time `json:"next_billing_date" nullable:"true"`
	DaysOverdue        int32         `json:"days_overdue" minimum:"0" doc:"Calendar days of REPORT_TZ"`
	SubscriptionStatus string        `json:"subscription_status" enum:"active,pending,suspended"`
	Amount             int64         `json:"amount" doc:"Cents a month"`
}

// GetOverdue answers GET /admin/finance/overdue; a page beyond the end is empty.
func (h Handlers) GetOverdue(ctx context.Context, in *overdueInput) (*document, error) {
	return h.document(ctx, "Overdue", func(ctx context.Context, tx pgx.Tx) ([]byte, error) {
		return h.db.OverdueReportGet(ctx, tx, financedb.OverdueReportGetParams{
			Size: int64(in.Limit), Start: int64(in.Page) * int64(in.Limit),
		})
	})
}
