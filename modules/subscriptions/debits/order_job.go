package debits

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/money"
	"marquee/platform/objectid"
)

// Debit orders the debit of the next cycle of an automatic PIX, once a
// (subscription, cycle): nobody else makes it (docs/gateway-facts.md, A8). The row
// that stands for it and its intent are committed before the gateway is asked. When
// the outcome is not known the checks find out, and they alone order it again.
func (s *Debits) Debit(ctx context.Context, id objectid.ID) error {
	c := debitCall{}
	var err error
	if c.sub, err = s.db.SubscriptionGet(ctx, s.deps.Pool, id); err != nil || !s.debitDue(c.sub) {
		return err
	}
	err = s.Operation().Begin(ctx, &c, func(tx pgx.Tx) error { return s.createIntentTx(ctx, tx, &c) })
	if intent.AlreadyOpen(err) {
		return nil // the checks ask about it
	}
	if err != nil || !c.debit.IsNew() {
		return err
	}
	_, _, err = s.Operation().Run(ctx, c)
	return err
}

// debitCall is a debit, and what it is of.
type debitCall struct {
	sub   lifecycle.Subscription
	debit lifecycle.Debit
}

// Operation is a debit at its gateway. Only when it is proved that nothing was made is it
// ordered again, as long as its cycle is still the next one.
func (s *Debits) Operation() *intent.Operation[debitCall, gateway.Payment] {
	return &intent.Operation[debitCall, gateway.Payment]{
		Kind: intent.Debit, Intents: s.deps.Intents, Unattended: true,
		Committed: "debit.committed", Settling: "debit.settling",
		Opening: s.openingOf,
		Row:     s.debitOf,
		Steps: []intent.Step[debitCall, gateway.Payment]{
			{FaultPoint: "debit.after_call", Call: s.orderDebit, Find: s.findDebit, Again: s.stillNext},
		},
		SettleTx: s.settleDebitTx,
	}
}

// debitOf reads a debit whose call was not known; over when it is ordered, or forgotten.
func (s *Debits) debitOf(ctx context.Context, i intent.Intent) (c debitCall, over bool, err error) {
	cycle, err := time.Parse(time.DateOnly, i.Item)
	if err != nil {
		return c, false, fmt.Errorf("cycle of a debit: %w", err)
	}
	if c.sub, err = s.db.SubscriptionGet(ctx, s.deps.Pool, i.Subject); err != nil {
		return c, false, err
	}
	c.debit, err = s.db.DebitGet(ctx, s.deps.Pool, c.sub.ID, pgtype.Date{Time: cycle, Valid: true})
	if errors.Is(err, pgx.ErrNoRows) {
		return c, true, nil
	}
	if err != nil {
		return c, false, fmt.Errorf("read debit: %w", err)
	}
	return c, c.debit.GatewayPaymentID != nil || c.sub.GwaPixAuthID == nil, nil
}

func (s *Debits) orderDebit(ctx context.Context, gw gateway.Gateway, c debitCall,
	_ gateway.Payment,
) (gateway.Payment, error) {
	terms, err := s.debitTerms(ctx, c.sub, c.debit)
	if err != nil {
		return gateway.Payment{}, err
	}
	made, err := gw.DebitPix(ctx, terms)
	if err != nil {
		return made, fmt.Errorf("order debit: %w", err)
	}
	return made, nil
}

func (s *Debits) findDebit(ctx context.Context, gw gateway.Gateway, c debitCall,
	_ gateway.Payment,
) (made gateway.Payment, found bool, err error) {
	terms, err := s.debitTerms(ctx, c.sub, c.debit)
	if err != nil {
		return made, false, err
	}
	if made, found, err = gw.FindPixDebit(ctx, terms); err != nil {
		return made, false, fmt.Errorf("find debit: %w", err)
	}
	return made, found, nil
}

// stillNext has a debit ordered again while its cycle is still the next one.
func (s *Debits) stillNext(_ context.Context, _ gateway.Gateway,
	c debitCall,
) (intent.Outcome[gateway.Payment], error) {
	if !s.debitDue(c.sub) || s.deps.Calendar.DateOf(*c.sub.NextBillingDate) != c.debit.Cycle {
		return intent.Missing[gateway.Payment]{}, nil
	}
	return nil, nil
}

// settleDebitTx keeps what was ordered, and gives up what was never made and nobody needs
// any more. Of what the gateway refused the sweep sets about it again after a while, and
// looks before it orders.
func (s *Debits) settleDebitTx(ctx context.Context, tx pgx.Tx, c *debitCall, outcome intent.Outcome[gateway.Payment],
	_ intent.By,
) error {
	if _, err := s.deps.Store.LockTx(ctx, tx, c.sub.CustomerID, c.sub.ID); err != nil {
		return err
	}
	switch outcome := outcome.(type) {
	case intent.Succeeded[gateway.Payment]:
		return s.keepDebitTx(ctx, tx, c.sub, c.debit, outcome.Result)
	case intent.Missing[gateway.Payment]:
		if err := s.FailTx(ctx, tx, c.debit, FailedGone, false); err != nil {
			return fmt.Errorf("give up debit: %w", err)
		}
	case intent.Declined[gateway.Payment], intent.Refused[gateway.Payment]:
	case intent.Pending[gateway.Payment], intent.Void[gateway.Payment], intent.NotKnown[gateway.Payment]:
		return fmt.Errorf("settle debit of %s: an outcome %T", c.sub.ID, outcome)
	}
	return nil
}

func (s *Debits) debitDue(sub lifecycle.Subscription) bool {
	ready := sub.PixAutomatic && sub.Status == state.Active && sub.GwaPixAuthID != nil && sub.NextBillingDate != nil &&
		!sub.CancelAtPeriodEnd
	return ready && !s.deps.Calendar.DebitAt(*sub.NextBillingDate).After(s.deps.Clock.Now())
}

// openingOf is the intent of a debit. One that stands already, not ordered and with nobody
// asking about it (the gateway refused it, or it is of a release without intents), gets an
// intent without a call: it is looked for first.
func (s *Debits) openingOf(c debitCall) intent.Opening {
	opening := intent.Opening{Ref: c.debit.Ref(), Customer: c.sub.CustomerID, Gateway: c.sub.Gateway}
	if c.debit.IsNew() {
		opening.CallTime, opening.Begun = s.deps.Intents.CallTime(), c.debit.TriedAt
	}
	return opening
}

// createIntentTx writes the row of the cycle; none when it is not due, or ordered.
func (s *Debits) createIntentTx(ctx context.Context, tx pgx.Tx, c *debitCall) error {
	locked, err := s.deps.Store.LockTx(ctx, tx, c.sub.CustomerID, c.sub.ID)
	if err != nil || !s.debitDue(locked) || !locked.NextBillingDate.Equal(*c.sub.NextBillingDate) {
		return err
	}
	if paused, err := s.deps.Reads.IsPausedTx(ctx, tx, locked.ID); err != nil || paused {
		return err
	}
	cycle, now := s.deps.Calendar.DateOf(*locked.NextBillingDate), s.deps.Clock.Now()
	twice, err := s.db.DebitHasOpenWithin(ctx, tx,
		subscriptionsdb.DebitHasOpenWithinParams{SubscriptionID: locked.ID, Cycle: cycle, Months: locked.PeriodMonths})
	if err != nil || twice {
		return err // an admin's extension has moved the cycle since one was ordered
	}
	c.debit, err = s.db.DebitClaim(ctx, tx, subscriptionsdb.DebitClaimParams{
		SubscriptionID: locked.ID, Cycle: cycle,
		DueDate:     s.deps.Calendar.DateOf(s.deps.Calendar.DebitDueDate(*locked.NextBillingDate)),
		AmountCents: locked.PriceCents * int64(locked.PeriodMonths), Now: now, Before: now.Add(-lifecycle.DebitSilence),
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil // ordered, or somebody has just set about it
	}
	if err != nil {
		return fmt.Errorf("write debit: %w", err)
	}
	return nil
}

func (s *Debits) debitTerms(ctx context.Context, sub lifecycle.Subscription,
	d lifecycle.Debit,
) (gateway.DebitTerms, error) {
	plan, err := s.db.PlanGetByPlanID(ctx, s.deps.Pool, sub.PlanID)
	if err != nil {
		return gateway.DebitTerms{}, fmt.Errorf("read plan: %w", err)
	}
	return gateway.DebitTerms{
		SubscriptionID: sub.ID, AuthorizationID: *sub.GwaPixAuthID, Payer: s.deps.Reads.PayerOf(ctx, sub),
		Cycle: s.deps.Calendar.DayOf(d.Cycle),
		DueDate: lifecycle.LatestOf(s.deps.Calendar.DayOf(d.DueDate),
			new(s.deps.Calendar.DebitDueDate(s.deps.Calendar.DayOf(d.Cycle)))),
		Amount: money.Cents(d.AmountCents), Description: plan.Name,
	}, nil
}

// keepDebitTx keeps what was ordered.
func (s *Debits) keepDebitTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription,
	d lifecycle.Debit, made gateway.Payment,
) error {
	now := s.deps.Clock.Now()
	if made.DueDate != nil {
		d.DueDate = s.deps.Calendar.DateOf(*made.DueDate)
	}
	err := s.db.DebitSetOrdered(ctx, tx, subscriptionsdb.DebitSetOrderedParams{
		SubscriptionID: sub.ID, Cycle: d.Cycle, GatewayPaymentID: &made.ID, DueDate: d.DueDate, Now: &now,
	})
	if err != nil {
		return fmt.Errorf("keep debit: %w", err)
	}
	paid, err := s.deps.Payments.FindPayment(ctx, tx, sub.Gateway, made.ID)
	if err != nil {
		return fmt.Errorf("find payment: %w", err)
	}
	if paid != nil { // its money overtook our knowing of it
		err = s.db.DebitSetPaid(ctx, tx, subscriptionsdb.DebitSetPaidParams{
			SubscriptionID: sub.ID, Cycle: d.Cycle, Now: &now,
		})
		if err != nil {
			return fmt.Errorf("note paid debit: %w", err)
		}
	}
	if err := s.deps.Store.PauseAgainTx(ctx, tx, sub); err != nil {
		return err
	}
	return s.deps.Payments.ReplayWaitingTx(ctx, tx, sub.Gateway, made.ID)
}
