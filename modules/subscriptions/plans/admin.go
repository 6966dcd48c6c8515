package plans

import (
	"context"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/platform/collection"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// PlanRoutes registers what admins do with plans (open-shapes, section 2).
func (s *Plans) PlanRoutes(api *httpapi.API) {
	crud := collection.Routes{Pool: s.deps.Pool, Clock: s.deps.Clock, Log: s.deps.Log}
	one := httpapi.ResponseSchema(plans.EnvelopeSchema())

	httpapi.Route(api, http.MethodGet, "/plans/admin", "plan_list_all", httpapi.Admin, crud.List(plans.View), plans.ListDoc()...)
	httpapi.Route(api, http.MethodPost, "/plans", "plan_create", httpapi.Admin, crud.Create(plans), plans.CreateDoc()...)
	httpapi.Route(api, http.MethodPut, "/plans", "plan_update", httpapi.Admin, crud.Update(plans), plans.UpdateDoc()...)
	httpapi.Route(api, http.MethodDelete, "/plans", "plan_delete", httpapi.Admin, crud.Delete(plans), plans.DeleteDoc()...)
	httpapi.Route(api, http.MethodPost, "/plans/{plan_id}/inactivate", "plan_inactivate", httpapi.Admin, s.planHandler(s.inactivatePlan), one)
	httpapi.Route(api, http.MethodPost, "/plans/{plan_id}/activate", "plan_activate", httpapi.Admin, s.planHandler(s.activatePlan), one)
	httpapi.Route(api, http.MethodPost, "/plans/{plan_id}/sync-gwb", "plan_sync_gwb", httpapi.Admin, s.planHandler(s.syncPlanNow), one)
}

// PlanSearch makes the plans searchable: all of them for admins, what is on
// offer for everybody else.
func (s *Plans) PlanSearch() collection.Searchable {
	return collection.Searchable{Name: "plans", View: func(ctx context.Context) (*collection.View, error) {
		if httpapi.CallerOf(ctx).IsAdmin() {
			return plans.View, nil
		}
		return PublicPlans, nil
	}}
}

type planInput struct {
	PlanID string `path:"plan_id" doc:"The plan's plan_id, or its _id"`
}

// planHandler finds the plan in the path, changes it, and answers with what it is
// then. Errors: 404 for an unknown plan, and those of change.
func (s *Plans) planHandler(change func(context.Context, subscriptionsdb.Plan) error) func(context.Context, *planInput) (*collection.Answer, error) {
	return func(ctx context.Context, in *planInput) (*collection.Answer, error) {
		p, err := s.db.FindPlan(ctx, s.deps.Pool, in.PlanID)
		if postgres.IsNoRows(err) {
			return nil, fault.NotFound("Plan")
		}
		if err != nil {
			return nil, fmt.Errorf("find plan: %w", err)
		}
		if err := change(ctx, p); err != nil {
			return nil, err
		}
		return plans.One(ctx, s.deps.Pool, p.ID)
	}
}

// activatePlan offers the plan again; inactivatePlan takes it off the public list
// and out of new subscriptions, while sold ones go on. Doing either twice changes
// nothing.
func (s *Plans) activatePlan(ctx context.Context, p subscriptionsdb.Plan) error {
	return s.setPlanActive(ctx, p, true)
}

func (s *Plans) inactivatePlan(ctx context.Context, p subscriptionsdb.Plan) error {
	return s.setPlanActive(ctx, p, false)
}

func (s *Plans) setPlanActive(ctx context.Context, p subscriptionsdb.Plan, active bool) error {
	err := s.changePlan(ctx, p, func(tx pgx.Tx) error {
		return s.db.UpdatePlanActive(ctx, tx, subscriptionsdb.UpdatePlanActiveParams{ID: p.ID, IsActive: active, Now: s.deps.Clock.Now()})
	})
	if err != nil {
		return fmt.Errorf("set plan %s active %t: %w", p.PlanID, active, err)
	}
	return nil
}

// changePlan runs a change of the plan under its lock, for the audit trail to
// tell of.
func (s *Plans) changePlan(ctx context.Context, p subscriptionsdb.Plan, change func(tx pgx.Tx) error) error {
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		if err := s.db.LockPlan(ctx, tx, p.ID); err != nil {
			return err
		}
		return plans.AuditTx(ctx, tx, []objectid.ID{p.ID}, func() error { return change(tx) })
	})
}

// syncPlanNow makes product and price of gateway B say what the plan says, also
// when we believe they do: somebody may have changed them at the gateway.
func (s *Plans) syncPlanNow(ctx context.Context, p subscriptionsdb.Plan) error {
	gw, err := s.deps.Payments.Gateway(gateway.GWB)
	if err != nil {
		return gateway.FaultOf(err)
	}
	_, err = s.pushPlan(ctx, gw, p)
	return err
}
