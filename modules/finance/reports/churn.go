package reports

import (
	"context"
	"fmt"

	"marquee/platform/httpapi"

	"github.com/jackc/pgx/v5"
)

// Churn is the answer of GET /admin/finance/churn (docs/contract/figures.md, Finance). The unit is the customer.
type Churn struct {
	Monthly  []ChurnMonth `json:"monthly" doc:"Oldest first; the last is the present month"`
	ByReason ChurnReasons `json:"by_reason" doc:"The exits of these months; they add up to the sum of cancelled. A withdrawal counts under customer_cancelled, a subscription gone at its gateway under admin_cancelled"`
}

// ChurnMonth is one month: active_end = active_start + new - cancelled.
type ChurnMonth struct {
	Month       string  `json:"month" doc:"YYYY-MM"`
	ActiveStart int64   `json:"active_start"`
	New         int64   `json:"new"`
	Cancelled   int64   `json:"cancelled"`
	ActiveEnd   int64   `json:"active_end"`
	ChurnRate   float64 `json:"churn_rate" doc:"Percent"`
}

// ChurnReasons counts exits; each has exactly one reason.
type ChurnReasons struct {
	PaymentFailure    int64 `json:"payment_failure"`
	CustomerCancelled int64 `json:"customer_cancelled"`
	AdminCancelled    int64 `json:"admin_cancelled"`
	Chargeback        int64 `json:"chargeback"`
	Expired           int64 `json:"expired"`
}

// Churn reads the last months, the present one among them.
func (s *Reports) Churn(ctx context.Context, months int) (Churn, error) {
	var c Churn
	err := s.Snapshot(ctx, reportTimeout, func(ctx context.Context, tx pgx.Tx) error {
		c = Churn{Monthly: make([]ChurnMonth, 0, months)}
		rows, err := s.db.ChurnListByMonth(ctx, tx, int32(months)) //nolint:gosec // the route allows 24
		if err != nil {
			return fmt.Errorf("read churn: %w", err)
		}
		for _, r := range rows {
			c.Monthly = append(c.Monthly, ChurnMonth{
				Month: r.Month, ActiveStart: r.ActiveStart, New: r.NewCustomers, Cancelled: r.Cancelled,
				ActiveEnd: r.ActiveEnd, ChurnRate: r.ChurnRate,
			})
			c.ByReason.add(ChurnReasons{
				r.PaymentFailure, r.CustomerCancelled, r.AdminCancelled, r.Chargeback, r.Expired,
			})
		}
		return nil
	})
	return c, err
}

func (r *ChurnReasons) add(o ChurnReasons) {
	r.PaymentFailure += o.PaymentFailure
	r.CustomerCancelled += o.CustomerCancelled
	r.AdminCancelled += o.AdminCancelled
	r.Chargeback += o.Chargeback
	r.Expired += o.Expired
}

// monthsInput is the parameter of what is told for the last months.
type monthsInput struct {
	Months int `query:"months" default:"6" minimum:"1" maximum:"24" doc:"Calendar months of REPORT_TZ, the present one among them"`
}

// GetChurn answers GET /admin/finance/churn.
func (h Handlers) GetChurn(ctx context.Context, in *monthsInput) (*httpapi.Output[Churn], error) {
	return output(h.Churn(ctx, in.Months))
}
