package plans

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/audit"
	"marquee/platform/fault"
	"marquee/platform/money"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// PlanMoveArgs finishes a move whose answer was lost. Only releases before moves had intents
// inserted it.
type PlanMoveArgs struct {
	MoveID objectid.ID `json:"move_id"`
	At     time.Time   `json:"at"` // distinguishes the tries of one move
}

// Kind names the job.
func (PlanMoveArgs) Kind() string { return "subscriptions_plan_move" }

// CreateIntentTx writes the order to move a subscription to a plan. The same order
// again is the one that is open; another one has to wait for it.
func (s *Plans) CreateIntentTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, plan lifecycle.Plan) error {
	open, err := s.db.PlanMoveGetOpen(ctx, tx, sub.ID)
	if err == nil {
		if open.PlanID != plan.PlanID {
			return fault.Conflict("The subscription is being moved to the plan %s. Try again in a few minutes.",
				open.PlanID)
		}
		return nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("read plan move: %w", err)
	}
	now := s.deps.Clock.Now()
	id := objectid.At(now)
	ordered, err := state.Moves.Move("", state.MoveRequested)
	if err != nil {
		return err
	}
	err = s.db.PlanMoveInsert(ctx, tx, subscriptionsdb.PlanMoveInsertParams{
		ID: id, SubscriptionID: sub.ID, PlanID: plan.PlanID, State: ordered, FromCents: &sub.PriceCents,
		CreatedByID: lifecycle.CallerID(ctx), Now: now,
		Action: string(state.MoveRequested), Reason: new(state.Moves.ReasonOf(state.MoveRequested)),
	})
	if err != nil {
		return fmt.Errorf("write plan move: %w", err)
	}
	opening := openingOfMove(id, sub)
	opening.After = s.deps.Config.RecoveryDelay // FinishMoves is to call before
	if err := s.deps.Intents.OpenTx(ctx, tx, opening); err != nil {
		return err
	}
	// The trail tells the order: a job may carry it out, without an admin.
	type planned struct {
		PlanID string `json:"plan_id"`
		Move   string `json:"plan_move,omitempty"`
	}
	return audit.RecordTx(ctx, tx, audit.Change{
		Resource: "subscriptions", RecordID: sub.ID, Before: planned{PlanID: sub.PlanID},
		After: planned{PlanID: plan.PlanID, Move: id.String()},
	})
}

// CheckMovable refuses to move a subscription whose price cannot be changed now:
// 409. Local is true when no recurrence at a gateway has to follow.
func CheckMovable(sub lifecycle.Subscription) (local bool, err error) {
	switch status := sub.Status; {
	case status.Ended():
		return true, nil
	case sub.IntentOpen || status == state.Pending:
		return false,
			fault.Conflict("A payment of the subscription is being confirmed at the old price. Try again when that is over.")
	case sub.PixAutomatic:
		return false,
			fault.Conflict("The payer's bank has authorized debits of this plan's price: cancel the subscription, and have them subscribe again.")
	}
	return sub.RemoteID() == "", nil
}

// CheckNoCodeTx refuses to move a subscription while a PIX code asks for a further
// period at the old price: 409.
func (s *Plans) CheckNoCodeTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription) error {
	charge, err := s.db.RenewalChargeGetOpen(ctx, tx, sub.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read renewal charge: %w", err)
	}
	return fault.Conflict("A PIX code that renews the subscription at the old price can be paid until %s. Try again when it is paid or has expired.", s.deps.Calendar.Day(charge.PayableUntil))
}

// FinishMoves asks the gateways for the new prices of the subscriptions' open
// moves, one after the other. The first that fails is told.
func (s *Plans) FinishMoves(ctx context.Context, subscriptionIDs []string) error {
	ids, err := s.db.PlanMoveListOpenOf(ctx, s.deps.Pool, subscriptionIDs)
	if err != nil {
		return fmt.Errorf("list plan moves: %w", err)
	}
	// The gateway may act after the client went away: what it did has to be known.
	ctx = context.WithoutCancel(ctx)
	for _, id := range ids {
		if err := s.finishMove(ctx, id); err != nil {
			return s.moveFault(ctx, err)
		}
	}
	return nil
}

// finishMove asks the gateway for the new price of an open move, and has the subscription take on the plan. What the
// checks have is checked.
func (s *Plans) finishMove(ctx context.Context, id objectid.ID) error {
	c, err := s.readMove(ctx, id)
	if err != nil || c.move.State != state.MoveOpen {
		return err
	}
	c.begun = s.deps.Clock.Now()
	if taken, err := s.Operation().Take(ctx, c); err != nil || !taken {
		return errors.Join(err, s.checkMove(ctx, id))
	}
	_, outcome, err := s.Operation().Run(ctx, c)
	switch outcome := outcome.(type) {
	case intent.Declined[*lifecycle.Plan]:
		return errors.Join(outcome.Cause, err)
	case intent.Refused[*lifecycle.Plan]:
		return errors.Join(outcome.Cause, err)
	case intent.NotKnown[*lifecycle.Plan]:
		return errors.Join(outcome.Cause, err)
	case intent.Succeeded[*lifecycle.Plan], intent.Pending[*lifecycle.Plan], intent.Missing[*lifecycle.Plan],
		intent.Void[*lifecycle.Plan]:
	}
	return err
}

// checkMove has an order that is open already checked, and says what is known of it then.
func (s *Plans) checkMove(ctx context.Context, id objectid.ID) error {
	if err := s.deps.Intents.CheckOne(ctx, intent.PlanMove, id); err != nil {
		return err
	}
	move, err := s.db.PlanMoveGet(ctx, s.deps.Pool, id)
	switch {
	case err != nil:
		return fmt.Errorf("read plan move: %w", err)
	case move.State == state.MoveOpen:
		return gateway.ErrOutcomeUnknown
	case move.State == state.MoveRefused:
		return gateway.ErrMissing
	}
	return nil
}

// RecoverMove has the checks finish an open move. Only releases before moves had intents have a job for that.
func (s *Plans) RecoverMove(ctx context.Context, id objectid.ID) error {
	if err := s.AdoptMove(ctx, id); err != nil {
		return err
	}
	return s.deps.Intents.CheckOne(ctx, intent.PlanMove, id)
}

// AdoptMove opens the intent of an open move that has none: a process of the release before, which writes the move
// alone, has died before its call. The sweep does it for as long as such a process may run beside this one.
func (s *Plans) AdoptMove(ctx context.Context, id objectid.ID) error {
	c, err := s.readMove(ctx, id)
	if err != nil || c.move.State != state.MoveOpen {
		return err
	}
	opening := openingOfMove(id, c.sub)
	opening.Called = true
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error { return s.deps.Intents.OpenTx(ctx, tx, opening) })
	if intent.AlreadyOpen(err) {
		return nil
	}
	return err
}

func openingOfMove(id objectid.ID, sub lifecycle.Subscription) intent.Opening {
	return intent.Opening{
		Ref: intent.Ref{Kind: intent.PlanMove, Subject: id}, Customer: sub.CustomerID, Gateway: sub.Gateway,
		Reference: sub.ID.String(),
	}
}

// moveCall is a move, what it is of, and the plan that it leads to.
type moveCall struct {
	move  subscriptionsdb.PlanMove
	sub   lifecycle.Subscription
	plan  lifecycle.Plan
	begun time.Time // this try of it
}

// Operation is the order to move a recurrence to another plan. Repeating it is harmless.
func (s *Plans) Operation() *intent.Operation[moveCall, *lifecycle.Plan] {
	return &intent.Operation[moveCall, *lifecycle.Plan]{
		Kind: intent.PlanMove, Intents: s.deps.Intents,
		Committed: "plan_move.committed", Settling: "plan_move.settling",
		Opening: func(c moveCall) intent.Opening {
			opening := openingOfMove(c.move.ID, c.sub)
			opening.CallTime, opening.Begun = s.deps.Intents.CallTime(), c.begun
			return opening
		},
		Row: func(ctx context.Context, i intent.Intent) (moveCall, bool, error) {
			c, err := s.readMove(ctx, i.Subject)
			return c, c.move.State != state.MoveOpen, err
		},
		Steps: []intent.Step[moveCall, *lifecycle.Plan]{
			{FaultPoint: "plan_move.after_call", Call: s.changePrice, Judge: judgeMove},
		},
		SettleTx: s.settleMoveTx,
	}
}

// readMove reads a move; none has ended.
func (s *Plans) readMove(ctx context.Context, id objectid.ID) (c moveCall, err error) {
	c.move, err = s.db.PlanMoveGet(ctx, s.deps.Pool, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("read plan move: %w", err)
	}
	if c.sub, err = s.db.SubscriptionGet(ctx, s.deps.Pool, c.move.SubscriptionID); err != nil {
		return c, err
	}
	if c.plan, err = s.db.PlanGetByPlanID(ctx, s.deps.Pool, c.move.PlanID); err != nil {
		return c, fmt.Errorf("read plan: %w", err)
	}
	return c, nil
}

// changePrice makes the plan's price known and has the recurrence charge it; no plan: the
// recurrence is gone.
func (s *Plans) changePrice(ctx context.Context, gw gateway.Gateway, c moveCall,
	_ *lifecycle.Plan,
) (_ *lifecycle.Plan, err error) {
	if c.sub.Status.Ended() {
		return nil, nil
	}
	plan := c.plan
	if gw.Name().Traits().Prices {
		plan, err = s.SyncPlan(ctx, gw, plan)
	}
	if err == nil {
		err = gw.ChangePrice(ctx, gateway.PriceChange{
			SubscriptionID: c.sub.ID, SubscriptionGatewayID: c.sub.RemoteID(),
			PriceID: nullable.Value(plan.GwbPriceID),
			Amount:  money.Cents(plan.AmountCents), Description: plan.Name,
		})
	}
	if errors.Is(err, gateway.ErrMissing) {
		return nil, nil
	}
	return &plan, err
}

// judgeMove: what is gone keeps its price, whatever an earlier call has done.
func judgeMove(c moveCall, plan *lifecycle.Plan) intent.Outcome[*lifecycle.Plan] {
	switch {
	case c.sub.Status.Ended():
		return intent.Void[*lifecycle.Plan]{}
	case plan == nil:
		return intent.Declined[*lifecycle.Plan]{Cause: gateway.ErrMissing}
	}
	return intent.Succeeded[*lifecycle.Plan]{Result: plan}
}

// settleMoveTx writes what the gateway has confirmed. Who ended the subscription meanwhile
// was faster.
func (s *Plans) settleMoveTx(ctx context.Context, tx pgx.Tx, c *moveCall,
	outcome intent.Outcome[*lifecycle.Plan], _ intent.By,
) error {
	sub, err := s.deps.Store.LockTx(ctx, tx, c.sub.CustomerID, c.sub.ID)
	if err != nil {
		return err
	}
	by, plan := state.MoveUnchanged, (*lifecycle.Plan)(nil)
	switch outcome := outcome.(type) {
	case intent.Succeeded[*lifecycle.Plan]:
		by, plan = state.MoveConfirmed, outcome.Result
	case intent.Declined[*lifecycle.Plan], intent.Refused[*lifecycle.Plan],
		intent.Void[*lifecycle.Plan]:
	case intent.Pending[*lifecycle.Plan], intent.Missing[*lifecycle.Plan], intent.NotKnown[*lifecycle.Plan]:
		return fmt.Errorf("settle plan move %s: an outcome %T", c.move.ID, outcome)
	}
	if sub.Status.Ended() {
		by = state.MoveOvertaken
	}
	to, err := state.Moves.Move(c.move.State, by)
	if err != nil {
		return err
	}
	n, err := s.db.PlanMoveEnd(ctx, tx, subscriptionsdb.PlanMoveEndParams{
		ID: c.move.ID, FromState: c.move.State, State: to, Now: s.deps.Clock.Now(),
		Action: string(by), Reason: new(state.Moves.ReasonOf(by)),
	})
	if err != nil || n == 0 || to != state.MoveDone {
		return err
	}
	return s.deps.Store.EditTx(ctx, tx, &sub, state.PlanMoved, func(r *lifecycle.Subscription) {
		r.PlanID, r.PriceCents = plan.PlanID, plan.AmountCents
		if r.Traits().Prices {
			r.GwbPriceID = plan.GwbPriceID
		}
	})
}

// moveFault words why a move was not made.
func (s *Plans) moveFault(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, gateway.ErrMissing):
		return fault.Conflict("The gateway no longer has this subscription. Cancel it, and have the customer subscribe again.").WithCause(err)
	case gateway.IsRejected(err):
		return fault.BadRequest("The payment gateway did not accept the price of this plan.").WithField("plan_id").
			WithCause(err)
	case errors.Is(err, gateway.ErrOutcomeUnknown):
		return (&fault.Error{
			Kind: fault.KindUnavailable, RetryAfter: s.deps.Config.RecoveryDelay,
			Message: "The payment gateway did not answer in time. The subscription moves to the plan as soon as the gateway confirms the price.",
		}).WithCause(err)
	}
	return s.deps.Payments.Refused(ctx, "change price", err)
}
