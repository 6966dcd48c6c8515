package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/subscriptions/checkout"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/plans"
	"marquee/modules/subscriptions/state"
	"marquee/platform/audit"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/query"
	"marquee/platform/resource"
)

// newResource is the resource of the collection contract (docs/contract/collections.md, Which field shows null). A
// PUT goes through the table of moves and the history before its row
// is written.
func (s *Admin) newResource() *resource.Resource {
	keep, set := resource.ReadOnly, resource.Privileged
	return resource.New(resource.Definition{
		Name: "subscriptions", Singular: "Subscription", Table: "subscriptions.subscriptions",
		DefaultSort: `{"created_at":-1}`,
		Fields: []resource.Field{
			{Name: "customer_id", Kind: query.OID, Write: set},
			{Name: "plan_id", Kind: query.String, Rule: resource.Rule{Required: true, MinLength: 1, MaxLength: 50}},
			{Name: "gateway", Kind: query.String, Write: set, Rule: resource.Rule{Enum: []string{"gwa", "gwb"}}},
			{
				Name: "status", Kind: query.String,
				Rule: resource.Rule{
					Required: true, Enum: []string{"active", "pending", "suspended", "cancelled", "expired"},
				},
			},
			{
				Name: "payment_method", Kind: query.String, Write: set,
				Rule: resource.Rule{Enum: []string{"credit_card", "pix", "boleto"}},
			},
			{Name: "gwa_subscription_id", Kind: query.String, WhenSet: true, Write: set},
			{Name: "gwa_customer_id", Kind: query.String, WhenSet: true, Write: set},
			{Name: "gwa_pix_auth_id", Kind: query.String, WhenSet: true, Write: set},
			{Name: "gwb_subscription_id", Kind: query.String, WhenSet: true, Write: set},
			{Name: "gwb_price_id", Kind: query.String, WhenSet: true, Write: set},
			{Name: "started_at", Kind: query.Date, Nullable: true, Write: keep},
			{
				Name: "next_billing_date", Kind: query.Date, Nullable: true,
				Doc: "A PUT corrects this record alone: the gateway charges on its own days",
			},
			{Name: "last_payment_at", Kind: query.Date, Nullable: true, Write: keep},
			{
				Name: "expires_at", Kind: query.Date, Nullable: true,
				Doc: "A PUT corrects this record alone, and tells the gateway nothing: POST /admin/subscriptions/{id}/extend moves the next charge, too",
			},
			{Name: "created_at", Expr: "t.register_date", Kind: query.Date},
			{Name: "gateway_deleted_at", Kind: query.Date, WhenSet: true, Write: keep},
			{Name: "ended_at", Kind: query.Date, WhenSet: true, Write: keep, Doc: "When it became cancelled or expired"},
			{Name: "payment_failures", Kind: query.Int, Write: keep, Doc: "Failures in a row"},
			{Name: "total_refunded", Column: "total_refunded_cents", Kind: query.Int, Write: set, Doc: "Cents"},
			{Name: "has_chargeback", Kind: query.Bool, Write: keep},
			{Name: "cancel_at_period_end", Kind: query.Bool, Write: keep},
		},
		Hooks: resource.Hooks{BeforeUpdate: s.editRecordsTx},
	})
}

// update is PUT /subscriptions: all objects of the body or none. The price of a
// recurrence that moves to another plan is the gateway's to change, after the
// commit of the rest: 503 when it does not answer, and a job goes on.
func (h handlers) update(ctx context.Context,
	in *resource.BodyInput,
) (*httpapi.EnvelopeOutput[json.RawMessage], error) {
	s := h.service
	by := resource.Actor{ID: httpapi.CallerOf(ctx).ID, Now: s.deps.Clock.Now()}
	var ids []objectid.ID
	err := postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) (err error) {
		if err := s.lockNamedTx(ctx, tx, resource.IDs(in.Body)); err != nil {
			return err
		}
		ids, err = h.all.UpdateTx(ctx, tx, by, in.Body)
		return err
	})
	if postgres.Constraint(err) == checkout.ConstraintOneLive {
		return nil, errOtherLive()
	}
	if err != nil {
		return nil, err
	}
	if err := s.deps.Plans.FinishMoves(ctx, objectid.Strings(resource.IDs(in.Body, "plan_id"))); err != nil {
		return nil, err
	}
	docs := []json.RawMessage{}
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		raw, _, err := h.all.DocsTx(ctx, tx, ids)
		if err != nil {
			return err
		}
		return json.Unmarshal([]byte("["+string(raw)+"]"), &docs)
	})
	if err != nil {
		return nil, err
	}
	return &httpapi.EnvelopeOutput[json.RawMessage]{Body: httpapi.Envelope[json.RawMessage]{
		Docs: docs, Msg: "ok", Links: []httpapi.Link{{LinkType: "GET", Rel: "self", Href: httpapi.SelfURL(ctx)}},
		Pagination: httpapi.Pagination{QtyDocsPage: len(docs), QtyOfPages: 1, QtyTotalDocs: len(docs)},
	}}, nil
}

// lockNamedTx locks the customers of the rows, in order: whoever changes a
// subscription locks its customer first.
func (s *Admin) lockNamedTx(ctx context.Context, tx pgx.Tx, ids []objectid.ID) error {
	customers, err := s.db.SubscriptionListCustomers(ctx, tx, objectid.Strings(ids))
	if err != nil {
		return fmt.Errorf("find customers: %w", err)
	}
	for _, id := range customers {
		if err := s.deps.Store.LockCustomerTx(ctx, tx, id); err != nil {
			return err
		}
	}
	return nil
}

var editActions = map[state.Status]state.Action{
	state.Active: state.AdminActivates, state.Suspended: state.AdminSuspends, state.Cancelled: state.AdminCancels,
	state.Expired: state.AdminExpires,
}

// editRecordsTx moves and edits the rows of a PUT, which are locked.
func (s *Admin) editRecordsTx(ctx context.Context, tx pgx.Tx, records []*resource.Record) error {
	for _, rec := range records {
		sub, err := s.db.SubscriptionGet(ctx, tx, rec.ID)
		if err != nil {
			return err
		}
		if err := s.editRecordTx(ctx, tx, &sub, rec); err != nil {
			return err
		}
		// The row is written once more by the collection: with what it is now.
		for column, value := range map[string]any{
			"status": sub.Status, "plan_id": sub.PlanID, "expires_at": instantOf(sub.ExpiresAt),
			"next_billing_date": instantOf(sub.NextBillingDate),
		} {
			if _, given := rec.Value(column); given {
				rec.Set(column, value)
			}
		}
	}
	return nil
}

func (s *Admin) editRecordTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, rec *resource.Record) error {
	wanted, given := rec.Value("status")
	name, _ := wanted.(string)
	to := state.StatusOf(name)
	plan, err := s.newPlanTx(ctx, tx, *sub, rec)
	if err != nil {
		return err
	}
	if plan != nil && !to.Ended() {
		local, err := plans.CheckMovable(*sub)
		if err == nil {
			err = s.deps.Plans.CheckNoCodeTx(ctx, tx, *sub)
		}
		if err != nil {
			return err
		}
		if !local {
			if err := s.deps.Plans.CreateIntentTx(ctx, tx, *sub, *plan); err != nil {
				return err
			}
			plan = nil // the row takes it on when the gateway has the price
		}
	}
	edit := func(r *lifecycle.Subscription) {
		if plan != nil {
			r.PlanID, r.PriceCents = plan.PlanID, plan.AmountCents
		}
		s.setDate(rec, "expires_at", r, &r.ExpiresAt)
		s.setDate(rec, "next_billing_date", r, &r.NextBillingDate)
	}
	if !given || to == sub.Status {
		return s.deps.Store.EditTx(ctx, tx, sub, state.Corrected, edit)
	}
	action, ok := editActions[to]
	if !ok {
		return rec.Invalid("status", "cannot be set to "+name)
	}
	moved, err := s.adminMoveTx(ctx, tx, sub, action, edit)
	if err != nil {
		return err
	}
	if !moved {
		return rec.Invalid("status", "cannot be set to "+name+" from "+string(sub.Status))
	}
	return nil
}

func (s *Admin) newPlanTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription,
	rec *resource.Record,
) (*lifecycle.Plan, error) {
	value, given := rec.Value("plan_id")
	id, _ := value.(string)
	if !given || id == sub.PlanID {
		return nil, nil //nolint:nilnil // nil is the answer: the plan stays
	}
	plan, err := s.db.PlanGetByPlanID(ctx, tx, id)
	if postgres.IsNoRows(err) {
		return nil, rec.Invalid("plan_id", "is not a plan")
	}
	return &plan, err
}

// setDate takes a date that the body gives, and has the periods begin on its day.
func (s *Admin) setDate(rec *resource.Record, column string, r *lifecycle.Subscription, field **time.Time) {
	value, given := rec.Value(column)
	if !given {
		return
	}
	*field = nil
	if at, ok := value.(time.Time); ok {
		*field = &at
		s.deps.Calendar.Anchor(r, at)
	}
}

func instantOf(t *time.Time) any {
	if t == nil {
		return nil
	}
	return *t
}

// auditTx writes an admin's change into the audit trail, with the reason given.
func (s *Admin) auditTx(ctx context.Context, tx pgx.Tx, before lifecycle.SubscriptionDoc, after lifecycle.Subscription,
	reason string,
) error {
	now := struct {
		lifecycle.SubscriptionDoc
		Reason string `json:"reason,omitempty"`
	}{after.Doc(), reason}
	return audit.RecordTx(ctx, tx, audit.Change{
		Resource: "subscriptions", RecordID: after.ID, Before: before, After: now,
	})
}

func errOtherLive() error {
	return fault.Conflict("The customer has another live subscription.")
}
