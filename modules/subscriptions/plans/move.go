package plans

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/audit"
	"marquee/platform/fault"
	"marquee/platform/faultpoint"
	"marquee/platform/jobs"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// planMove is the order to move a recurrence to another plan.
type planMove = subscriptionsdb.SubscriptionsPlanMove

// PlanMoveArgs finishes a move whose answer was lost.
type PlanMoveArgs struct {
	MoveID objectid.ID `json:"move_id"`
	At     time.Time   `json:"at"` // tells the tries of one move apart
}

// Kind names the job.
func (PlanMoveArgs) Kind() string { return "subscriptions_plan_move" }

// IntendMoveTx writes the order to move a subscription to a plan. The same order
// again is the one that is open; another one has to wait for it.
func (s *Plans) IntendMoveTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, plan subscriptionsdb.Plan) error {
	open, err := s.db.GetOpenPlanMove(ctx, tx, sub.ID)
	if err == nil {
		if open.PlanID != plan.PlanID {
			return fault.Conflict("The subscription is being moved to the plan %s. Try again in a few minutes.", open.PlanID)
		}
		return nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("read plan move: %w", err)
	}
	now := s.deps.Clock.Now()
	id, at := objectid.At(now), now.Add(s.deps.Config.RecoveryDelay)
	err = s.db.InsertPlanMove(ctx, tx, subscriptionsdb.InsertPlanMoveParams{
		ID: id, SubscriptionID: sub.ID, PlanID: plan.PlanID, FromCents: &sub.PriceCents, NextTryAt: &at, CreatedByID: lifecycle.CallerID(ctx), Now: now,
	})
	if err != nil {
		return fmt.Errorf("write plan move: %w", err)
	}
	if err := s.scheduleMoveTx(ctx, tx, id, at); err != nil {
		return err
	}
	// The trail tells the order: a job may carry it out, without an admin.
	type planned struct {
		PlanID string `json:"plan_id"`
		Move   string `json:"plan_move,omitempty"`
	}
	return audit.RecordTx(ctx, tx, audit.Change{
		Resource: "subscriptions", RecordID: sub.ID, Before: planned{PlanID: sub.PlanID}, After: planned{PlanID: plan.PlanID, Move: id.String()},
	})
}

func (s *Plans) scheduleMoveTx(ctx context.Context, tx pgx.Tx, id objectid.ID, at time.Time) error {
	_, err := s.deps.Jobs.InsertTx(ctx, tx, PlanMoveArgs{MoveID: id, At: at}, &river.InsertOpts{
		ScheduledAt: at, Queue: jobs.QueueGateway, UniqueOpts: river.UniqueOpts{ByArgs: true},
	})
	if err != nil {
		return fmt.Errorf("schedule plan move: %w", err)
	}
	return nil
}

// CheckMovable refuses to move a subscription whose price cannot be changed now:
// 409. Local is true when no recurrence at a gateway has to follow.
func CheckMovable(sub lifecycle.Row) (local bool, err error) {
	switch status := sub.Status; {
	case status.Ended():
		return true, nil
	case sub.IntentOpen || status == state.Pending:
		return false, fault.Conflict("A payment of the subscription is being confirmed at the old price. Try again when that is over.")
	case sub.PixAutomatic:
		return false, fault.Conflict("The payer's bank has authorized debits of this plan's price: cancel the subscription, and have them subscribe anew.")
	}
	return lifecycle.RemoteID(sub) == "", nil
}

// CheckNoCodeTx refuses to move a subscription while a PIX code asks for a further
// period at the old price: 409.
func (s *Plans) CheckNoCodeTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row) error {
	charge, err := s.db.GetOpenRenewalCharge(ctx, tx, sub.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read renewal charge: %w", err)
	}
	return fault.Conflict("A PIX code that renews the subscription at the old price can be paid until %s. Try again when it is paid or has run out.", s.deps.Calendar.Day(charge.PayableUntil))
}

// FinishMoves asks the gateways for the new prices of the subscriptions' open
// moves, one after the other. The first that fails is told.
func (s *Plans) FinishMoves(ctx context.Context, subscriptionIDs []string) error {
	ids, err := s.db.ListOpenPlanMovesOf(ctx, s.deps.Pool, subscriptionIDs)
	if err != nil {
		return fmt.Errorf("list plan moves: %w", err)
	}
	// The gateway may act after the client went away: what it did has to be known.
	ctx = context.WithoutCancel(ctx)
	for _, id := range ids {
		if err := s.FinishMove(ctx, id); err != nil {
			return s.moveFault(ctx, err)
		}
	}
	return nil
}

// FinishMove asks the gateway for the new price of an open move, and has the
// subscription take on the plan. Repeating it is harmless. When an error leaves the
// gateway's state unknown the move stays open, and the looks repeat it.
func (s *Plans) FinishMove(ctx context.Context, id objectid.ID) error {
	left, err := s.askForMove(ctx, id)
	if err == nil || left == nil {
		return err
	}
	o := intent.Opening{Ref: planMoveIntent(id), Customer: left.CustomerID, Gateway: left.Gateway, Reference: left.ID.String()}
	return errors.Join(err, s.Order().HandOver(ctx, o, err))
}

func planMoveIntent(id objectid.ID) intent.Ref {
	return intent.Ref{Kind: intent.PlanMove, Subject: id}
}

// Order is the order to move a recurrence to another plan.
func (s *Plans) Order() *intent.Repeated {
	return &intent.Repeated{Kind: intent.PlanMove, Intents: s.deps.Intents, Do: func(ctx context.Context, r intent.Ref) error {
		left, err := s.askForMove(ctx, r.Subject)
		if left == nil && gateway.IsError(err) {
			return nil // it ended as refused
		}
		return err
	}}
}

// askForMove asks the gateway once. Left is the subscription of a move that stays open
// because the gateway has not confirmed it.
func (s *Plans) askForMove(ctx context.Context, id objectid.ID) (left *lifecycle.Row, err error) {
	move, err := s.db.BeginPlanMove(ctx, s.deps.Pool, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil // it has ended
	}
	if err != nil {
		return nil, fmt.Errorf("begin plan move: %w", err)
	}
	sub, err := s.db.GetSubscription(ctx, s.deps.Pool, move.SubscriptionID)
	if err != nil {
		return nil, err
	}
	if sub.Status.Ended() {
		return nil, s.endMove(ctx, move, state.MoveVoid)
	}
	plan, err := s.db.GetPlanByPlanID(ctx, s.deps.Pool, move.PlanID)
	if err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	plan, asked, err := s.changePrice(ctx, sub, plan)
	faultpoint.Hit("plan_move.after_call")
	if err == nil {
		return nil, s.keepMove(ctx, sub, move, plan)
	}
	if errors.Is(err, gateway.ErrMissing) {
		return nil, errors.Join(err, s.endMove(ctx, move, state.MoveRefused))
	}
	if !asked || gateway.Certain(err) {
		// What another try may have done is not undone by a refusal of this one.
		refused, failed := s.db.RefusePlanMove(ctx, s.deps.Pool, subscriptionsdb.RefusePlanMoveParams{ID: move.ID, Now: new(s.deps.Clock.Now())})
		if failed != nil || refused == 1 {
			return nil, errors.Join(err, failed)
		}
	}
	return &sub, err
}

// RecoverMove finishes an open move that nobody asks about.
func (s *Plans) RecoverMove(ctx context.Context, id objectid.ID) error {
	if open, err := s.deps.Intents.IsOpen(ctx, s.deps.Pool, planMoveIntent(id)); err != nil || open {
		return err
	}
	err := s.FinishMove(ctx, id)
	if gateway.IsError(err) {
		return nil // it has ended, or the looks have it
	}
	return err
}

// changePrice makes the plan's price known and has the recurrence charge it. Asked
// is false when the recurrence was not touched.
func (s *Plans) changePrice(ctx context.Context, sub lifecycle.Row, plan subscriptionsdb.Plan) (_ subscriptionsdb.Plan, asked bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.deps.Intents.CallTime())
	defer cancel()
	gw, err := s.deps.Payments.Gateway(sub.Gateway)
	if err != nil {
		return plan, false, err
	}
	if gw.Name().Traits().Prices {
		if plan, err = s.SyncPlan(ctx, gw, plan); err != nil {
			return plan, false, err
		}
	}
	return plan, true, gw.ChangePrice(ctx, gateway.PriceChange{
		SubscriptionID: sub.ID, SubscriptionGatewayID: lifecycle.RemoteID(sub), PriceID: lifecycle.Text(plan.GwbPriceID),
		Amount: money.Cents(plan.AmountCents), Description: plan.Name,
	})
}

// keepMove writes what the gateway has confirmed. Who ended the subscription
// meanwhile was faster.
func (s *Plans) keepMove(ctx context.Context, found lifecycle.Row, move planMove, plan subscriptionsdb.Plan) error {
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		sub, err := s.deps.Store.LockTx(ctx, tx, found.CustomerID, found.ID)
		if err != nil {
			return err
		}
		outcome := state.MoveDone
		if sub.Status.Ended() {
			outcome = state.MoveVoid
		}
		now := s.deps.Clock.Now()
		n, err := s.db.EndPlanMove(ctx, tx, subscriptionsdb.EndPlanMoveParams{ID: move.ID, State: outcome, Now: &now})
		if err == nil {
			err = s.deps.Intents.EndTx(ctx, tx, planMoveIntent(move.ID), intent.Succeeded[any]{}, "answer")
		}
		if err != nil || n == 0 || outcome == state.MoveVoid {
			return err // with n = 0 somebody else has kept it
		}
		return s.deps.Store.EditTx(ctx, tx, &sub, state.PlanMoved, func(r *lifecycle.Row) {
			r.PlanID, r.PriceCents = plan.PlanID, plan.AmountCents
			if lifecycle.TraitsOf(*r).Prices {
				r.GwbPriceID = plan.GwbPriceID
			}
		})
	})
}

func (s *Plans) endMove(ctx context.Context, move planMove, outcome state.Move) error {
	now := s.deps.Clock.Now()
	_, err := s.db.EndPlanMove(ctx, s.deps.Pool, subscriptionsdb.EndPlanMoveParams{ID: move.ID, State: outcome, Now: &now})
	if err != nil {
		return fmt.Errorf("end plan move: %w", err)
	}
	return nil
}

// moveFault words why a move was not made.
func (s *Plans) moveFault(ctx context.Context, err error) error {
	var rejected *gateway.Rejected
	switch {
	case errors.Is(err, gateway.ErrMissing):
		return fault.Conflict("The gateway no longer has this subscription. Cancel it, and have the customer subscribe anew.").WithCause(err)
	case errors.As(err, &rejected):
		return fault.Bad("The payment gateway did not accept the price of this plan.").WithField("plan_id").WithCause(err)
	case errors.Is(err, gateway.ErrOutcomeUnknown):
		return (&fault.Error{
			Kind: fault.Unavailable, RetryAfter: s.deps.Config.RecoveryDelay,
			Message: "The payment gateway did not answer in time. The subscription moves to the plan as soon as the gateway confirms the price.",
		}).WithCause(err)
	}
	return s.deps.Payments.Refused(ctx, "change price", err)
}

// SweepPlanMove takes up a plan's move that nobody asks about.
func (s *Plans) SweepPlanMove(ctx context.Context, id objectid.ID) error {
	return s.Order().Sweep(ctx, planMoveIntent(id), func() error { return s.RecoverMove(ctx, id) }, func() error {
		return s.db.PostponePlanMove(ctx, s.deps.Pool, subscriptionsdb.PostponePlanMoveParams{ID: id, NextTryAt: new(s.deps.Clock.Now().Add(lifecycle.AdoptAfter))})
	})
}
