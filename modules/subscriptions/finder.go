package subscriptions

import "marquee/platform/lookup"

// Finders are what staff find subscriptions and plans by.
func (s *Service) Finders() []lookup.Finder {
	return []lookup.Finder{
		{
			Kind: "subscription", Route: "subscription_list", From: "subscriptions.subscriptions t",
			Customer: "t.customer_id", Title: "t.plan_id",
			Note: "concat_ws(' · ', t.status, coalesce(t.gwa_subscription_id, t.gwb_subscription_id))",
			By: []lookup.By{
				{Name: "_id", Rank: lookup.Exact, Values: lookup.IDs, Where: "t.id = $1"},
				{
					Name: "gwa_subscription_id", Rank: lookup.Exact, Values: lookup.GatewayIDs,
					Where: "t.gwa_subscription_id = $1",
				},
				{
					Name: "gwb_subscription_id", Rank: lookup.Exact, Values: lookup.GatewayIDs,
					Where: "t.gwb_subscription_id = $1",
				},
				{
					Name: "gwa_pix_auth_id", Rank: lookup.Exact, Values: lookup.GatewayIDs,
					Where: "t.gwa_pix_auth_id = $1",
				},
				{
					Name: "customer", Rank: lookup.Whole, Values: lookup.GatewayIDs,
					Where:   "t.gateway IN ('gwa', 'gwb') AND coalesce(t.gwa_customer_id, t.gwb_customer_id) = $1",
					OrderBy: "t.register_date DESC",
				},
				{
					Name: "payment", Rank: lookup.Whole, Values: lookup.GatewayIDs,
					Where: "t.gateway IN ('gwa', 'gwb') AND t.pix_payment_id = $1",
				},
				{
					Name: "payment", Rank: lookup.Whole, Values: lookup.GatewayIDs,
					From:  "subscriptions.renewal_charges c JOIN subscriptions.subscriptions t ON t.id = c.subscription_id",
					Where: "c.gateway IN ('gwa', 'gwb') AND c.gateway_payment_id = $1",
				},
				{
					Name: "payment", Rank: lookup.Whole, Values: lookup.GatewayIDs,
					From:  "subscriptions.debits d JOIN subscriptions.subscriptions t ON t.id = d.subscription_id",
					Where: "d.gateway_payment_id = $1",
				},
				{
					Name: "renewal_charge", Rank: lookup.Exact, Values: lookup.IDs,
					From:  "subscriptions.renewal_charges c JOIN subscriptions.subscriptions t ON t.id = c.subscription_id",
					Where: "c.id = $1",
				},
			},
		},
		{
			Kind: "plan", Route: "plan_list_all", From: "subscriptions.plans t", Title: "t.name", Note: "t.plan_id",
			By: []lookup.By{
				{Name: "_id", Rank: lookup.Exact, Values: lookup.IDs, Where: "t.id = $1"},
				{Name: "plan_id", Rank: lookup.Exact, Values: lookup.Tokens, Where: "t.plan_id = lower($1)"},
				{
					Name: "gwb_price_id", Rank: lookup.Exact, Values: lookup.GatewayIDs,
					Where: "t.gwb_price_id = $1 OR t.gwb_product_id = $1",
				},
				{
					Name: "name", Rank: lookup.Within, Values: lookup.Words,
					Where: "platform.search_words(t.name) LIKE '%' || platform.search_words($1) || '%'",
				},
			},
		},
	}
}
