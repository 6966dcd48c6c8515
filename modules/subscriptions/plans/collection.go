package plans

import (
	"marquee/platform/collection"
	"marquee/platform/query"
)

// plans is the resource of the collection contract (query-contract, section 3).
var plans = collection.New(collection.Definition{
	Name: "plans", Singular: "Plan", Table: "subscriptions.plans",
	DefaultSort: `{"tier":1,"plan_id":1}`,
	// Plans are a handful: a column and an index would not pay.
	Search: "(platform.search_vector(ARRAY[t.name], 'A') || platform.search_vector(ARRAY[t.plan_id], 'B') || platform.search_vector(ARRAY[t.description], 'C'))",
	Fields: []collection.Field{
		{Name: "plan_id", Kind: query.String, Write: collection.Once, Doc: "Internal id used in subscribe payloads",
			Rule: collection.Rule{Required: true, Pattern: `^[a-z0-9_-]{3,50}$`, Means: "3 to 50 of a-z, 0-9, _ and -"}},
		{Name: "name", Kind: query.String, Rule: collection.Rule{Required: true, MinLength: 1, MaxLength: 100}},
		{Name: "description", Kind: query.String, Nullable: true, Rule: collection.Rule{MaxLength: 1000}},
		{Name: "amount", Column: "amount_cents", Kind: query.Int, Doc: "Price of a month in cents",
			Rule: collection.Rule{Required: true, Min: collection.Limit(0), Max: collection.Limit(100_000_000)}},
		{Name: "interval_unit", Kind: query.String, Rule: collection.Rule{Default: "MONTH", Enum: []string{"MONTH"}}},
		{Name: "trial_enabled", Kind: query.Bool, Rule: collection.Rule{Default: false}},
		{Name: "trial_days", Kind: query.Int, Rule: collection.Rule{Default: 0, Min: collection.Limit(0), Max: collection.Limit(730)}},
		{Name: "tier", Kind: query.Int, Doc: "1 basic, 2 plus, 3 premium", Rule: collection.Rule{Default: 1, Min: collection.Limit(1), Max: collection.Limit(100)}},
		{Name: "is_active", Kind: query.Bool, Rule: collection.Rule{Default: true}},
		{Name: "gwb_product_id", Kind: query.String, Nullable: true, Write: collection.Privileged},
		{Name: "gwb_price_id", Kind: query.String, Nullable: true, Write: collection.Privileged},
	},
	Constraints: map[string]collection.Violation{
		"plans_plan_id_unique":     {Field: "plan_id", Message: "is already taken"},
		"subscriptions_plan_known": {Message: "A plan that has been subscribed to cannot be deleted. Inactivate it instead."},
		"plan_moves_plan_known":    {Message: "A plan that a subscription was moved to cannot be deleted. Inactivate it instead."},
	},
})

// PublicPlans is what anybody sees: what is on offer, without gateway ids.
var PublicPlans = plans.Restrict("t.is_active", "gwb_product_id", "gwb_price_id")
