package reports

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/finance/internal/financedb"
	"marquee/platform/httpapi"
)

// Overview is the answer of GET /admin/finance/overview (docs/contract/figures.md, Finance). Money in cents, rates in
// percent with two decimals.
type Overview struct {
	MRR                 int64               `json:"mrr" doc:"Cents"`
	MRRGWB              int64               `json:"mrr_gwb" doc:"Its part of gateway B, cents"`
	MRRGWA              int64               `json:"mrr_gwa" doc:"Its part of gateway A, cents"`
	TrialMRR            int64               `json:"trial_mrr" doc:"Its part of trials, cents"`
	ARR                 int64               `json:"arr" doc:"Cents"`
	TotalCustomers      int64               `json:"total_customers" doc:"Customers that are not deleted"`
	ActiveSubscriptions int64               `json:"active_subscriptions"`
	OverdueCount        int64               `json:"overdue_count"`
	ChurnRate30d        float64             `json:"churn_rate_30d" doc:"Percent"`
	TotalRefunded       int64               `json:"total_refunded" doc:"Cents, of all time"`
	TotalChargebacks    int64               `json:"total_chargebacks" doc:"Cents, of all time"`
	NetRevenue30d       int64               `json:"net_revenue_30d" doc:"Cents"`
	CashNet30d          int64               `json:"cash_net_30d" doc:"Cents"`
	AverageTicket       int64               `json:"average_ticket" doc:"Cents"`
	PaymentSuccessRate  float64             `json:"payment_success_rate" doc:"Percent"`
	ByPaymentMethod     map[string]MRRShare `json:"by_payment_method" doc:"By credit_card, pix, boleto"`
	ByPlan              map[string]PlanMRR  `json:"by_plan" doc:"By plan_id"`
}

// MRRShare is a part of the active subscriptions.
type MRRShare struct {
	Count int64 `json:"count"`
	MRR   int64 `json:"mrr" doc:"Cents"`
}

// PlanMRR is the part of one plan.
type PlanMRR struct {
	Count int64  `json:"count"`
	MRR   int64  `json:"mrr" doc:"Cents"`
	Name  string `json:"name"`
}

// Overview reads the present figures, all as of one instant.
func (s *Reports) Overview(ctx context.Context) (Overview, error) {
	var o Overview
	err := s.Snapshot(ctx, reportTimeout, func(ctx context.Context, tx pgx.Tx) (err error) {
		o, err = s.OverviewTx(ctx, tx)
		return err
	})
	return o, err
}

// OverviewTx is Overview within a snapshot.
func (s *Reports) OverviewTx(ctx context.Context, tx pgx.Tx) (Overview, error) {
	f, err := s.db.OverviewGet(ctx, tx)
	if err != nil {
		return Overview{}, fmt.Errorf("read overview: %w", err)
	}
	parts, err := s.db.MRRList(ctx, tx)
	if err != nil {
		return Overview{}, fmt.Errorf("read MRR by plan: %w", err)
	}
	o := Overview{
		MRR: f.MrrCents, MRRGWB: f.MrrGwbCents, MRRGWA: f.MrrGwaCents, TrialMRR: f.TrialMrrCents, ARR: f.ArrCents,
		TotalCustomers:      f.TotalCustomers,
		ActiveSubscriptions: f.ActiveSubscriptions, OverdueCount: f.OverdueCount, ChurnRate30d: f.ChurnRate30d,
		TotalRefunded:    f.TotalRefundedCents,
		TotalChargebacks: f.TotalChargebacksCents, NetRevenue30d: f.NetRevenue30dCents, CashNet30d: f.CashNet30dCents,
		AverageTicket: f.AverageTicketCents, PaymentSuccessRate: f.PaymentSuccessRate,
	}
	o.ByPaymentMethod, o.ByPlan = shares(parts)
	return o, nil
}

func shares(parts []financedb.MRRListRow) (byMethod map[string]MRRShare, byPlan map[string]PlanMRR) {
	byMethod, byPlan = map[string]MRRShare{}, map[string]PlanMRR{}
	for _, p := range parts {
		method, plan := byMethod[p.PaymentMethod], byPlan[p.PlanID]
		byMethod[p.PaymentMethod] = MRRShare{Count: method.Count + p.ActiveSubscriptions, MRR: method.MRR + p.MrrCents}
		byPlan[p.PlanID] = PlanMRR{
			Count: plan.Count + p.ActiveSubscriptions, MRR: plan.MRR + p.MrrCents, Name: p.PlanName,
		}
	}
	return byMethod, byPlan
}

// GetOverview answers GET /admin/finance/overview.
func (h Handlers) GetOverview(ctx context.Context, _ *struct{}) (*httpapi.Output[Overview], error) {
	return output(h.Overview(ctx))
}
