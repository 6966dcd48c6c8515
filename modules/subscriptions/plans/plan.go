package plans

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/query"
	"marquee/platform/resource"
)

// plans is the resource of the collection contract (docs/contract/subscriptions.md, Plans).
var plans = resource.New(resource.Definition{
	Name: "plans", Singular: "Plan", Table: "subscriptions.plans",
	DefaultSort: `{"tier":1,"plan_id":1}`,
	// Plans are a handful: a column and an index would not pay.
	Search: "(platform.search_vector(ARRAY[t.name], 'A') || platform.search_vector(ARRAY[t.plan_id], 'B') || platform.search_vector(ARRAY[t.description], 'C'))",
	Fields: []resource.Field{
		{
			Name: "plan_id", Kind: query.String, Write: resource.Once, Doc: "Internal id used in subscribe payloads",
			Rule: resource.Rule{Required: true, Pattern: `^[a-z0-9_-]{3,50}$`, Means: "3 to 50 of a-z, 0-9, _ and -"},
		},
		{Name: "name", Kind: query.String, Rule: resource.Rule{Required: true, MinLength: 1, MaxLength: 100}},
		{Name: "description", Kind: query.String, Nullable: true, Rule: resource.Rule{MaxLength: 1000}},
		{
			Name: "amount", Column: "amount_cents", Kind: query.Int, Doc: "Price of a month in cents",
			Rule: resource.Rule{Required: true, Min: new(int64(0)), Max: new(int64(100_000_000))},
		},
		{Name: "interval_unit", Kind: query.String, Rule: resource.Rule{Default: "MONTH", Enum: []string{"MONTH"}}},
		{Name: "trial_enabled", Kind: query.Bool, Rule: resource.Rule{Default: false}},
		{
			Name: "trial_days", Kind: query.Int,
			Rule: resource.Rule{Default: 0, Min: new(int64(0)), Max: new(int64(730))},
		},
		{
			Name: "tier", Kind: query.Int, Doc: "1 basic, 2 plus, 3 premium",
			Rule: resource.Rule{Default: 1, Min: new(int64(1)), Max: new(int64(100))},
		},
		{
			Name: "max_streams", Kind: query.Int, Nullable: true,
			Rule: resource.Rule{Min: new(int64(1)), Max: new(int64(100))},
			Doc:  "On how many devices a subscriber may play at once; null is no limit",
		},
		{Name: "is_active", Kind: query.Bool, Rule: resource.Rule{Default: true}},
		{Name: "gwb_product_id", Kind: query.String, Nullable: true, Write: resource.Privileged},
		{Name: "gwb_price_id", Kind: query.String, Nullable: true, Write: resource.Privileged},
	},
	Constraints: map[string]resource.Violation{
		"plans_plan_id_unique": {Field: "plan_id", Message: "is already taken"},
		"subscriptions_plan_known": {
			Message: "A plan that has been subscribed to cannot be deleted. Inactivate it instead.",
		},
		"plan_moves_plan_known": {
			Message: "A plan that a subscription was moved to cannot be deleted. Inactivate it instead.",
		},
	},
})

// PublicPlans is what anybody sees: what is on offer, without gateway ids.
var PublicPlans = plans.Restrict("t.is_active", "gwb_product_id", "gwb_price_id")

// SellablePlan finds a plan that can be subscribed to: 404 when there is none of
// that plan_id, 400 when it is no longer offered.
func (s *Plans) SellablePlan(ctx context.Context, db postgres.DB, planID string) (lifecycle.Plan, error) {
	plan, err := s.db.PlanGetByPlanID(ctx, db, planID)
	if postgres.IsNoRows(err) {
		return plan, fault.NotFound("Plan")
	}
	if err != nil {
		return plan, fmt.Errorf("read plan: %w", err)
	}
	if !plan.IsActive {
		return plan, fault.BadRequest("This plan is no longer offered.").WithField("plan_id")
	}
	return plan, nil
}

// SyncPlan makes the plan's price known at gateway B if it is not, or if the
// amount has changed since.
func (s *Plans) SyncPlan(ctx context.Context, gateway gateway.Gateway, p lifecycle.Plan) (lifecycle.Plan, error) {
	if p.IsPriced() {
		return p, nil
	}
	return s.pushPlan(ctx, gateway, p)
}

// pushPlan asks gateway B for the plan's product and price, makes what is
// missing there, and keeps the ids.
func (s *Plans) pushPlan(ctx context.Context, gw gateway.Gateway, p lifecycle.Plan) (lifecycle.Plan, error) {
	ids, err := gw.SyncPlan(ctx, p.Terms())
	if err != nil {
		return p, s.deps.Payments.Refused(ctx, "synchronise plan", err)
	}
	p.GwbProductID, p.GwbPriceID, p.GwbPriceAmountCents = &ids.ProductID, &ids.PriceID, &p.AmountCents
	err = s.changePlan(ctx, p, func(tx pgx.Tx) error {
		return s.db.PlanUpdatePrice(ctx, tx, subscriptionsdb.PlanUpdatePriceParams{
			ID: p.ID, GwbProductID: p.GwbProductID, GwbPriceID: p.GwbPriceID, AmountCents: &p.AmountCents,
		})
	})
	if err != nil {
		return p, fmt.Errorf("keep the plan's price: %w", err)
	}
	return p, nil
}

// SeedPlans makes the plans that a new platform begins with: basic, plus, and
// premium with seven days of trial. Plans that are there already stay as they
// are.
func SeedPlans(ctx context.Context, db postgres.DB, now time.Time) error {
	var queries lifecycle.Queries
	for _, p := range []subscriptionsdb.PlanInsertIfNewParams{
		{
			PlanID: "basic", Name: "Basic", Description: nullable.Ptr("The whole catalogue on one screen."),
			AmountCents: 1990, Tier: 1, MaxStreams: new(int32(1)),
		},
		{
			PlanID: "plus", Name: "Plus", Description: nullable.Ptr("The whole catalogue on two screens, in full HD."),
			AmountCents: 2990, Tier: 2, MaxStreams: new(int32(2)),
		},
		{
			PlanID: "premium", Name: "Premium",
			Description: nullable.Ptr("The whole catalogue on four screens, in 4K. Seven days free."),
			AmountCents: 4990, Tier: 3, TrialEnabled: true, TrialDays: 7, MaxStreams: new(int32(4)),
		},
	} {
		p.ID, p.Now = objectid.At(now), now
		if err := queries.PlanInsertIfNew(ctx, db, p); err != nil {
			return fmt.Errorf("seed plan %s: %w", p.PlanID, err)
		}
	}
	return nil
}

// PlanRoutes registers what admins do with plans (docs/contract/subscriptions.md, Plans).
func (s *Plans) PlanRoutes(api *httpapi.API) {
	crud := resource.Routes{Pool: s.deps.Pool, Clock: s.deps.Clock, Log: s.deps.Log}
	h, one := handlers{s}, httpapi.ResponseSchema(plans.EnvelopeSchema())

	httpapi.Route(api, http.MethodGet, "/plans/admin", "plan_list_all", httpapi.Admin, crud.List(plans.View),
		plans.ListDoc()...)
	httpapi.Route(api, http.MethodPost, "/plans", "plan_create", httpapi.Admin, crud.Create(plans),
		plans.CreateDoc()...)
	httpapi.Route(api, http.MethodPut, "/plans", "plan_update", httpapi.Admin, crud.Update(plans), plans.UpdateDoc()...)
	httpapi.Route(api, http.MethodDelete, "/plans", "plan_delete", httpapi.Admin, crud.Delete(plans),
		plans.DeleteDoc()...)
	httpapi.Route(api, http.MethodPost, "/plans/{plan_id}/inactivate", "plan_inactivate", httpapi.Admin,
		h.change(s.inactivatePlan), one)
	httpapi.Route(api, http.MethodPost, "/plans/{plan_id}/activate", "plan_activate", httpapi.Admin,
		h.change(s.activatePlan), one)
	httpapi.Route(api, http.MethodPost, "/plans/{plan_id}/sync-gwb", "plan_sync_gwb", httpapi.Admin,
		h.change(s.syncPlanNow), one)
}

// PlanSearch makes the plans searchable: all of them for admins, what is on
// offer for everybody else.
func (s *Plans) PlanSearch() resource.Searchable {
	return resource.Searchable{Name: "plans", View: func(ctx context.Context) (*resource.View, error) {
		if httpapi.CallerOf(ctx).IsAdmin() {
			return plans.View, nil
		}
		return PublicPlans, nil
	}}
}

type handlers struct{ s *Plans }

type planInput struct {
	PlanID string `path:"plan_id" doc:"The plan's plan_id, or its _id"`
}

// change finds the plan in the path, changes it, and answers with what it is
// then. Errors: 404 for an unknown plan, and those of change.
func (h handlers) change(change func(context.Context, lifecycle.Plan) error) func(context.Context,
	*planInput) (*resource.Response, error) {
	return func(ctx context.Context, in *planInput) (*resource.Response, error) {
		p, err := h.s.db.PlanFind(ctx, h.s.deps.Pool, in.PlanID)
		if postgres.IsNoRows(err) {
			return nil, fault.NotFound("Plan")
		}
		if err != nil {
			return nil, fmt.Errorf("find plan: %w", err)
		}
		if err := change(ctx, p); err != nil {
			return nil, err
		}
		return plans.One(ctx, h.s.deps.Pool, p.ID)
	}
}

// activatePlan offers the plan again; inactivatePlan takes it off the public list
// and out of new subscriptions, while sold ones go on. Doing either twice changes
// nothing.
func (s *Plans) activatePlan(ctx context.Context, p lifecycle.Plan) error {
	return s.setPlanActive(ctx, p, true)
}

func (s *Plans) inactivatePlan(ctx context.Context, p lifecycle.Plan) error {
	return s.setPlanActive(ctx, p, false)
}

func (s *Plans) setPlanActive(ctx context.Context, p lifecycle.Plan, active bool) error {
	err := s.changePlan(ctx, p, func(tx pgx.Tx) error {
		return s.db.PlanUpdateActive(ctx, tx,
			subscriptionsdb.PlanUpdateActiveParams{ID: p.ID, IsActive: active, Now: s.deps.Clock.Now()})
	})
	if err != nil {
		return fmt.Errorf("set plan %s active %t: %w", p.PlanID, active, err)
	}
	return nil
}

// changePlan runs a change of the plan under its lock, for the audit trail to
// tell of.
func (s *Plans) changePlan(ctx context.Context, p lifecycle.Plan, change func(tx pgx.Tx) error) error {
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		if err := s.db.PlanLock(ctx, tx, p.ID); err != nil {
			return err
		}
		return plans.AuditTx(ctx, tx, []objectid.ID{p.ID}, func() error { return change(tx) })
	})
}

// syncPlanNow makes product and price at a gateway that has them say what the plan says, also
// when we believe they do: somebody may have changed them there.
func (s *Plans) syncPlanNow(ctx context.Context, p lifecycle.Plan) error {
	for _, name := range gateway.Names() {
		if !name.Traits().Prices {
			continue
		}
		gw, err := s.deps.Payments.Gateway(name)
		if err != nil {
			return gateway.FaultOf(err)
		}
		if _, err := s.pushPlan(ctx, gw, p); err != nil {
			return err
		}
	}
	return nil
}
