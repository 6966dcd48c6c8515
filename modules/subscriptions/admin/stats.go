package admin

import (
	"context"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/state"
	"marquee/platform/httpapi"
)

// SubscriptionStats counts subscriptions (docs/contract/subscriptions.md, Admins).
type SubscriptionStats struct {
	Gateway             string `json:"gateway" enum:"gwa,gwb,all"`
	Total               int64  `json:"total_subscriptions"`
	Active              int64  `json:"active"`
	Suspended           int64  `json:"suspended"`
	Cancelled           int64  `json:"cancelled"`
	Pending             int64  `json:"pending"`
	Expired             int64  `json:"expired"`
	MonthlyRevenue      int64  `json:"monthly_recurring_revenue" doc:"Cents: what the active ones were sold at a month"`
	AverageSubscription int64  `json:"average_subscription_value" doc:"Cents: the monthly revenue by active subscription"`
}

type allStatsBody struct {
	SubscriptionStats
	ByGateway map[string]SubscriptionStats `json:"by_gateway"`
}

func (h handlers) statsOfGateway(ctx context.Context, _ *struct{}) (*httpapi.Output[SubscriptionStats], error) {
	all, err := h.service.stats(ctx)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(all.ByGateway[string(h.only)])
}

func (h handlers) stats(ctx context.Context, _ *struct{}) (*httpapi.Output[allStatsBody], error) {
	all, err := h.service.stats(ctx)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(all)
}

// stats counts the subscriptions of each gateway and of both.
func (s *Admin) stats(ctx context.Context) (allStatsBody, error) {
	if err := httpapi.HeadEnds(ctx); err != nil {
		return allStatsBody{}, err
	}
	rows, err := s.db.SubscriptionListStats(ctx, s.deps.Pool)
	if err != nil {
		return allStatsBody{}, err
	}
	all, of := &SubscriptionStats{Gateway: "all"}, map[gateway.Name]*SubscriptionStats{}
	for _, name := range gateway.Names() {
		of[name] = &SubscriptionStats{Gateway: string(name)}
	}
	for _, r := range rows {
		for _, b := range []*SubscriptionStats{of[r.Gateway], all} {
			b.Total += r.Subscriptions
			*b.counter(r.Status) += r.Subscriptions
			if r.Status == state.Active {
				b.MonthlyRevenue += r.MonthlyCents
			}
		}
	}
	body := allStatsBody{SubscriptionStats: all.averaged(), ByGateway: map[string]SubscriptionStats{}}
	for name, b := range of {
		body.ByGateway[string(name)] = b.averaged()
	}
	return body, nil
}

// averaged is b with its average.
func (b *SubscriptionStats) averaged() SubscriptionStats {
	if b.Active > 0 {
		b.AverageSubscription = (b.MonthlyRevenue + b.Active/2) / b.Active
	}
	return *b
}

func (b *SubscriptionStats) counter(status state.Status) *int64 {
	return map[state.Status]*int64{
		state.Active: &b.Active, state.Suspended: &b.Suspended,
		state.Cancelled: &b.Cancelled, state.Pending: &b.Pending, state.Expired: &b.Expired,
	}[status]
}
