package charges

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// codeCall is a code, and what it is of.
type codeCall struct {
	sub    lifecycle.Subscription
	charge lifecycle.RenewalCharge
}

// Operation is the order of a PIX code for a further period. Proved to have made nothing
// the code is gone, and the customer may ask for another.
func (s *Charges) Operation() *intent.Operation[codeCall, gateway.PixCharge] {
	return &intent.Operation[codeCall, gateway.PixCharge]{
		Kind: intent.RenewalCharge, Intents: s.deps.Intents, Committed: "renewal_charge.after_intent",
		Opening: func(c codeCall) intent.Opening { return openingOf(c.charge, s.deps.Intents.CallTime()) },
		Row:     s.codeCallOf,
		Steps: []intent.Step[codeCall, gateway.PixCharge]{
			{FaultPoint: "renewal_charge.after_call", Call: s.makeCode, Find: s.findCode},
		},
		SettleTx: s.settleCodeTx,
	}
}

func openingOf(c lifecycle.RenewalCharge, callTime time.Duration) intent.Opening {
	return intent.Opening{
		Ref: lifecycle.IntentOfCharge(c.ID), Customer: c.CustomerID, Gateway: c.Gateway, CallTime: callTime,
		Begun: c.RegisterDate,
	}
}

// codeCallOf reads an order whose answer was lost; over when its intent is closed.
func (s *Charges) codeCallOf(ctx context.Context, i intent.Intent) (c codeCall, over bool, err error) {
	if c.charge, err = s.db.RenewalChargeGet(ctx, s.deps.Pool, i.Subject); err != nil {
		return c, false, fmt.Errorf("read renewal charge: %w", err)
	}
	c.sub, err = s.db.SubscriptionGet(ctx, s.deps.Pool, c.charge.SubscriptionID)
	return c, !c.charge.IntentOpen, err
}

// codeTerms is what the gateway is asked for, and by which it is searched.
func (s *Charges) codeTerms(ctx context.Context, c codeCall) (gateway.PixTerms, error) {
	plan, err := s.db.PlanGetByPlanID(ctx, s.deps.Pool, c.sub.PlanID)
	if err != nil {
		return gateway.PixTerms{}, fmt.Errorf("read plan: %w", err)
	}
	until := c.charge.PayableUntil
	return gateway.PixTerms{
		Reference: c.charge.ID, Kind: gateway.KindSubscriptionPix, Payer: s.deps.Reads.PayerOf(ctx, c.sub),
		Amount: money.Cents(c.charge.AmountCents), Description: plan.Name,
		DueDate:   lifecycle.StartOfDay(until, s.deps.Config.Zone).In(s.deps.Config.Zone),
		ExpiresIn: max(until.Sub(s.deps.Clock.Now()), time.Minute),
	}, nil
}

func (s *Charges) makeCode(ctx context.Context, gw gateway.Gateway, c codeCall,
	_ gateway.PixCharge,
) (gateway.PixCharge, error) {
	terms, err := s.codeTerms(ctx, c)
	if err != nil {
		return gateway.PixCharge{}, err
	}
	return gw.CreatePix(ctx, terms)
}

func (s *Charges) findCode(ctx context.Context, gw gateway.Gateway, c codeCall,
	_ gateway.PixCharge,
) (gateway.PixCharge, bool, error) {
	terms, err := s.codeTerms(ctx, c)
	if err != nil {
		return gateway.PixCharge{}, false, err
	}
	return gw.FindPix(gateway.Background(ctx), terms)
}

// settleCodeTx keeps the code that was made. Without one the order can no longer be paid.
func (s *Charges) settleCodeTx(ctx context.Context, tx pgx.Tx, c *codeCall, outcome intent.Outcome[gateway.PixCharge],
	by intent.By,
) (err error) {
	switch outcome := outcome.(type) {
	case intent.Succeeded[gateway.PixCharge]:
		if err = s.keepCodeTx(ctx, tx, c.charge, outcome.Result, by); err != nil {
			err = fmt.Errorf("keep renewal charge %s: %w", c.charge.ID, err)
		}
	case intent.Declined[gateway.PixCharge], intent.Refused[gateway.PixCharge]:
		err = s.dropTx(ctx, tx, c.charge.ID, intent.Refused[any]{}, by)
	case intent.Missing[gateway.PixCharge]:
		err = s.dropTx(ctx, tx, c.charge.ID, intent.Missing[any]{}, by)
	case intent.Pending[gateway.PixCharge], intent.Void[gateway.PixCharge], intent.NotKnown[gateway.PixCharge]:
		err = fmt.Errorf("settle renewal charge %s: an outcome %T", c.charge.ID, outcome)
	}
	if err != nil {
		return err
	}
	c.charge, err = s.db.RenewalChargeGet(ctx, tx, c.charge.ID)
	return err
}

// dropTx notes that an open charge can no longer be paid, and how its order ended: else
// the row's own write ends it, as an event's.
func (s *Charges) dropTx(ctx context.Context, tx pgx.Tx, id objectid.ID, how intent.Outcome[any], by intent.By) error {
	c, err := s.db.RenewalChargeLock(ctx, tx, id)
	if err != nil {
		return err
	}
	if err := s.deps.Intents.EndTx(ctx, tx, lifecycle.IntentOfCharge(id), how, by); err != nil {
		return err
	}
	return s.goneTx(ctx, tx, c)
}

// TendRenewalCharge makes unpayable a code that has run out or whose subscription has
// ended. What became of an order whose answer was lost it has checked first. Otherwise it does nothing.
func (s *Charges) TendRenewalCharge(ctx context.Context, id objectid.ID) error {
	charge, err := s.db.RenewalChargeGet(ctx, s.deps.Pool, id)
	if err != nil || charge.State != state.ChargeOpen {
		return err
	}
	if charge.IntentOpen {
		charge = s.checkCharge(ctx, charge)
	}
	if charge.IntentOpen || charge.State != state.ChargeOpen {
		return nil
	}
	sub, err := s.db.SubscriptionGet(ctx, s.deps.Pool, charge.SubscriptionID)
	if err != nil || !sub.Status.Ended() && !charge.HasRunOut(s.deps.Clock.Now()) {
		return err
	}
	return s.withdrawCode(ctx, charge)
}

// withdrawCode makes an open code unpayable at the gateway; one that has just been
// paid is settled instead.
func (s *Charges) withdrawCode(ctx context.Context, charge lifecycle.RenewalCharge) error {
	gw, err := s.deps.Payments.Gateway(charge.Gateway)
	if err != nil {
		return err
	}
	paid, err := gateway.WithdrawPix(ctx, gw, *charge.GatewayPaymentID, charge.ID)
	if err != nil {
		return err
	}
	return postgres.InTx(context.WithoutCancel(ctx), s.deps.Pool, func(tx pgx.Tx) error {
		if paid != nil {
			return s.keepCodeTx(ctx, tx, charge, *paid, intent.ByCheck)
		}
		return s.dropTx(ctx, tx, charge.ID, intent.Void[any]{}, intent.ByCheck)
	})
}

// TendAll settles what is open of a subscription's renewal charges, for an account
// that is deleted: ErrStillOpen while something could still be paid.
func (s *Charges) TendAll(ctx context.Context, subscriptionID objectid.ID) error {
	ids, err := s.db.RenewalChargeListOpen(ctx, s.deps.Pool, subscriptionID)
	if err != nil {
		return fmt.Errorf("list renewal charges: %w", err)
	}
	for _, id := range ids {
		if err := s.TendRenewalCharge(ctx, id); err != nil {
			return err
		}
	}
	if ids, err = s.db.RenewalChargeListOpen(ctx, s.deps.Pool, subscriptionID); err == nil && len(ids) > 0 {
		return calls.ErrStillOpen
	}
	return err
}
