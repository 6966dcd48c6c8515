package checkout

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/fault"
	"marquee/platform/idempotency"
	"marquee/platform/money"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// riskLife is how long the gateway may look at the risk of a card: what it never
// decides is given up, and money that comes all the same is late money.
const riskLife = 7 * 24 * time.Hour

// noAddress is told where no payer is on the line: a check has none.
const noAddress = "127.0.0.1"

// firstCall is what a subscription is made from at its gateway: the row, and what its
// request alone has in hand.
type firstCall struct {
	sub        lifecycle.Subscription
	plan       lifecycle.Plan
	payer      gateway.Payer
	instrument gateway.Instrument // gone after the request
	callTime   time.Duration      // of all its calls
	recovers   bool
}

type step = intent.Step[firstCall, settle.Made]

// FirstCalls makes subscriptions and renewals at the gateways, in a way of its own for each
// way to pay; its phases follow below in their order. A card is gone after its
// request, and nothing is charged anew; the token that a charged first month has left makes
// the recurrence behind it.
func (s *Checkout) FirstCalls() *intent.Operation[firstCall, settle.Made] {
	return &intent.Operation[firstCall, settle.Made]{
		Kind: intent.Subscription, Intents: s.deps.Intents, Committed: "subscribe.after_intent",
		Settling: "subscribe.before_commit",
		Opening:  func(c firstCall) intent.Opening { return openingOf(c.sub, c.callTime) },
		Row:      s.firstCallOf,
		Ways:     s.ways,
		SettleTx: s.settleTx,
	}
}

// start commits the row of the request, before the gateway is called (docs/contract/subscriptions.md, Money
// moves once), has it made there, and settles what became of it. A client who
// goes away meanwhile does not stop it half-way: the call follows what is committed.
func (s *Checkout) start(ctx context.Context, w request,
	card gateway.Instrument,
) (c firstCall, outcome settle.Outcome, err error) {
	ctx = context.WithoutCancel(ctx)
	c = firstCall{plan: w.plan, payer: w.payer, instrument: card, callTime: s.callTimeOf(w)}
	err = s.FirstCalls().Begin(ctx, &c, func(tx pgx.Tx) error {
		live, err := s.lockTx(ctx, tx, w.customer.ID)
		switch {
		case live != nil:
			err = s.replaceTx(ctx, tx, &w, *live)
		case err == nil && w.renews != nil:
			err = s.renewsStillTx(ctx, tx, *w.renews)
		}
		if err != nil {
			return err
		}
		if c.sub, err = s.insertTx(ctx, tx, w); err != nil {
			return err
		}
		return idempotency.AttemptOf(ctx).BindTx(ctx, tx, c.sub.ID)
	})
	switch postgres.Constraint(err) {
	case ConstraintOneLive:
		return c, nil, fault.Conflict("You already have a subscription.")
	case constraintOneRenewal:
		return c, nil, errRenewalPending()
	}
	if err != nil {
		return c, nil, err
	}
	if w.renews != nil && c.sub.RenewsID == nil { // it was pending, and has ended here
		if _, err := s.deps.Calls.EndNow(ctx, *w.renews); err != nil {
			return c, nil, err
		}
	}
	return s.FirstCalls().Run(ctx, c)
}

// lockTx locks the customer, and reads what is live of theirs behind the lock, in one round trip; nil: nothing is.
func (s *Checkout) lockTx(ctx context.Context, tx pgx.Tx, customerID objectid.ID) (*lifecycle.Subscription, error) {
	held := postgres.Queue(tx, func(db postgres.DB) (struct{}, error) {
		return struct{}{}, s.deps.Accounts.LockCustomerTx(ctx, db, customerID)
	})
	live := postgres.Queue(tx, func(db postgres.DB) (*lifecycle.Subscription, error) {
		return s.live(ctx, db, customerID)
	})
	if _, err := held.Get(ctx); err != nil {
		return nil, err
	}
	return live.Get(ctx)
}

// callTimeOf bounds the calls that follow the request: a renewal ends the old one first, a
// discounted first month is charged at gateway A before the recurrence is made.
func (s *Checkout) callTimeOf(w request) time.Duration {
	if w.renews != nil ||
		w.first != nil && w.method == gateway.MethodCard && w.gateway.Name().Traits().FirstMonthApart {
		return 2 * s.deps.Intents.CallTime()
	}
	return s.deps.Intents.CallTime()
}

func (s *Checkout) insertTx(ctx context.Context, tx pgx.Tx, w request) (lifecycle.Subscription, error) {
	now := s.deps.Clock.Now()
	id := objectid.At(now)
	if w.trial > 0 && w.renews == nil {
		free, err := s.deps.Store.ClaimTrialTx(ctx, tx, w.customer.TaxID, id)
		if err != nil {
			return lifecycle.Subscription{}, err
		}
		if !free {
			w.trial = 0
		}
	}
	sub := lifecycle.Subscription{
		ID: id, CustomerID: w.customer.ID, PlanID: w.plan.PlanID, Gateway: w.gateway.Name(),
		PaymentMethod: w.method, PriceCents: w.plan.AmountCents, PeriodMonths: int32(w.months), TrialDays: int32(w.trial), //nolint:gosec // at most 12 and 730
		PixAutomatic: w.automatic, PromoCode: nullable.Ptr(w.promoCode), FirstAmountCents: (*int64)(w.first),
		RegisterDate: now,
	}
	if w.renews != nil && w.renews.Status == state.Active {
		sub.RenewsID, sub.StartsAt = &w.renews.ID, w.startsAt
	}
	if w.method == gateway.MethodCard {
		sub.AnchorDay = new(int32(s.deps.Calendar.FirstDue(sub).Day())) //nolint:gosec // a day of a month
	}
	sub.GwaCustomerID, sub.GwbCustomerID = lifecycle.CustomerColumns(w.gateway.Name(), w.payer.GatewayID)
	if sub.Traits().Prices && w.method == gateway.MethodCard {
		sub.GwbPriceID = w.plan.GwbPriceID
	}
	began := state.Subscribe
	if w.renews != nil {
		began = state.Renew
	}
	return s.deps.Store.InsertTx(ctx, tx, sub, began)
}

func openingOf(sub lifecycle.Subscription, callTime time.Duration) intent.Opening {
	return intent.Opening{
		Ref: lifecycle.IntentOf(sub.ID), Customer: sub.CustomerID, Gateway: sub.Gateway, CallTime: callTime,
		Begun: sub.RegisterDate, Fresh: true,
	}
}

// ways are the calls of each way to pay, in their order.
func (s *Checkout) ways(c firstCall) []step {
	sub, plan, payer := c.sub, c.plan, c.payer
	switch {
	case sub.PixAutomatic:
		return []step{oneCall(s.deps.Calendar.AuthorizationOf(sub, plan, payer), nil,
			gateway.Gateway.AuthorizePix, gateway.Gateway.FindPixAuthorization,
			func(made gateway.PixAuthorization) settle.Made { return settle.Authorization{PixAuthorization: made} })}
	case sub.ChargesFirstMonth() && *sub.FirstAmountCents > 0:
		return []step{
			{
				FaultPoint: "subscribe.after_first_month", Call: chargeFirstMonth, Find: findFirstMonth,
				Judge: s.judgeFirstMonth,
			},
			{
				FaultPoint: "subscribe.after_call", Call: s.recurByToken, Find: s.findRecurrenceBehind, Again: anew,
				Behind: true,
			},
		}
	case sub.PaymentMethod == gateway.MethodPix:
		return []step{oneCall(s.deps.Calendar.PixTermsOf(sub, plan, payer), nil,
			gateway.Gateway.CreatePix, gateway.Gateway.FindPix,
			func(made gateway.PixCharge) settle.Made { return settle.Code{PixCharge: made} })}
	}
	terms := s.deps.Calendar.TermsOf(sub, plan, payer)
	terms.Instrument = c.instrument
	return []step{oneCall(terms, judgeRecurrence, gateway.Gateway.Subscribe, gateway.Gateway.FindSubscription,
		func(made gateway.RemoteSubscription) settle.Made { return settle.Recurrence{RemoteSubscription: made} })}
}

// oneCall is a way to pay of one step: what the gateway makes by the terms, and finds by them.
func oneCall[T, A any](terms T, judge func(firstCall, settle.Made) settle.Outcome,
	call func(gateway.Gateway, context.Context, T) (A, error),
	find func(gateway.Gateway, context.Context, T) (A, bool, error), made func(A) settle.Made,
) step {
	return step{
		FaultPoint: "subscribe.after_call", Judge: judge,
		Call: func(ctx context.Context, gw gateway.Gateway, _ firstCall, _ settle.Made) (settle.Made, error) {
			a, err := call(gw, ctx, terms)
			return made(a), err
		},
		Find: func(ctx context.Context, gw gateway.Gateway, _ firstCall, _ settle.Made) (settle.Made, bool, error) {
			a, found, err := find(gw, gateway.Background(ctx), terms)
			return made(a), found, err
		},
	}
}

// anew has a call made again that is proved to have made nothing.
func anew(context.Context, gateway.Gateway, firstCall) (settle.Outcome, error) { return nil, nil }

// judgeRecurrence: at gateway A the charge runs after the call, at B it may have to be
// authenticated first. What the answer of the call does not decline is there.
func judgeRecurrence(c firstCall, made settle.Made) settle.Outcome {
	remote := made.(settle.Recurrence).RemoteSubscription //nolint:forcetypeassert // as this step makes it
	switch {
	case c.recovers:
		return settle.JudgeRecurrence(remote)
	case c.sub.Traits().StatusImpliesPayment && remote.Outcome == gateway.OutcomeUnknown:
		return settle.Pending{Result: made}
	}
	return settle.Succeeded{Result: made}
}

// firstMonthOf is what gateway A is asked for to charge a first month that a promo code lowered.
func firstMonthOf(c firstCall) gateway.CardTerms {
	return gateway.CardTerms{
		Reference: c.sub.ID, Kind: gateway.KindFirstMonth, Payer: c.payer, Amount: money.Cents(*c.sub.FirstAmountCents),
		Description: c.plan.Name, Instrument: c.instrument,
	}
}

func chargeFirstMonth(ctx context.Context, gw gateway.Gateway, c firstCall, _ settle.Made) (settle.Made, error) {
	charge, err := gw.ChargeCard(ctx, firstMonthOf(c))
	return settle.FirstMonth{Charge: charge}, err
}

func findFirstMonth(ctx context.Context, gw gateway.Gateway, c firstCall, _ settle.Made) (settle.Made, bool, error) {
	charge, found, err := gw.FindCardCharge(gateway.Background(ctx), firstMonthOf(c))
	return settle.FirstMonth{Charge: charge}, found, err
}

// judgeFirstMonth: the recurrence waits until the month is paid; the gateway may look at
// the risk first.
func (s *Checkout) judgeFirstMonth(c firstCall, made settle.Made) settle.Outcome {
	status := made.(settle.FirstMonth).Charge.Payment.Status //nolint:forcetypeassert // as this step makes it
	switch {
	case status == gateway.PaymentStatusSettled:
		return settle.Succeeded{Result: made}
	case !c.recovers, status == gateway.PaymentStatusPending && s.deps.Calendar.Age(c.sub) < riskLife:
		return settle.Pending{Result: made}
	case status != gateway.PaymentStatusPending && c.sub.AccessBegun():
		// Access that has begun was paid for, and the money given back since: it goes on
		// as any other whose payment is refunded.
		return settle.Succeeded{Result: made}
	}
	return settle.Declined{Result: made}
}

// recurByToken makes what charges from the second month on, with the card that the first
// has left at the gateway. Without it the month that was paid stays paid, and a check finds
// it or has it made again. Declined there, the month is the last.
func (s *Checkout) recurByToken(ctx context.Context, gw gateway.Gateway, c firstCall,
	made settle.Made,
) (settle.Made, error) {
	month := made.(settle.FirstMonth) //nolint:forcetypeassert // as the step before makes it
	terms := s.deps.Calendar.TermsOf(c.sub, c.plan, c.payer)
	terms.Instrument = gateway.Instrument{CardToken: month.Charge.CardToken, RemoteIP: c.instrument.RemoteIP}
	if c.recovers {
		terms.Instrument.RemoteIP = noAddress
		ctx = gateway.Background(ctx)
	}
	remote, err := gw.Subscribe(ctx, terms)
	switch {
	case c.recovers && gateway.IsDeclined(err):
		return month, nil
	case err != nil:
		return nil, fmt.Errorf("recurrence not made yet: %w", err)
	}
	month.Recurrence = &remote
	return month, nil
}

// findRecurrenceBehind looks for the recurrence behind a first month. Where none may be
// made, the month stands alone: whose money is disputed or back is charged no further.
func (s *Checkout) findRecurrenceBehind(ctx context.Context, gw gateway.Gateway, c firstCall,
	made settle.Made,
) (settle.Made, bool, error) {
	month := made.(settle.FirstMonth) //nolint:forcetypeassert // as the step before finds it
	remote, found, err := gw.FindSubscription(gateway.Background(ctx), s.deps.Calendar.TermsOf(c.sub, c.plan, c.payer))
	if err != nil {
		return nil, false, err
	}
	if found {
		month.Recurrence = &remote
	}
	alone := month.Charge.CardToken.Empty() || c.sub.HasChargeback ||
		month.Charge.Payment.Status != gateway.PaymentStatusSettled
	return month, found || alone, nil
}

// settleTx writes an outcome. What the payer was declined for may be left at the gateway;
// the charge of a first month is told by its event, or the checks.
func (s *Checkout) settleTx(ctx context.Context, tx pgx.Tx, c *firstCall, outcome settle.Outcome,
	by intent.By,
) (err error) {
	source := state.ByRecovery
	if by == intent.ByResponse {
		source, outcome = state.BySubscribe, asReplied(outcome)
	}
	c.sub, err = s.deps.Settler.SettleTx(ctx, tx, c.sub, source, outcome)
	return err
}

func asReplied(outcome settle.Outcome) settle.Outcome {
	switch outcome := outcome.(type) {
	case settle.Declined:
		var declined *gateway.Declined
		if errors.As(outcome.Cause, &declined) && declined.Remote != nil {
			outcome.Result = settle.Recurrence{RemoteSubscription: *declined.Remote}
		}
		return outcome
	case settle.Succeeded:
		if month, ok := outcome.Result.(settle.FirstMonth); ok && month.Recurrence != nil {
			outcome.Result = settle.Recurrence{RemoteSubscription: *month.Recurrence}
		}
		return outcome
	case settle.Pending, intent.Refused[settle.Made], intent.Missing[settle.Made], settle.Void,
		intent.NotKnown[settle.Made]:
	}
	return outcome
}

// firstCallOf reads a subscription whose call was not known; over when its intent is closed.
func (s *Checkout) firstCallOf(ctx context.Context, i intent.Intent) (c firstCall, over bool, err error) {
	c.recovers = true
	if c.sub, err = s.db.SubscriptionGet(ctx, s.deps.Pool, i.Subject); err != nil || !c.sub.IntentOpen {
		return c, true, err
	}
	if c.plan, err = s.db.PlanGetByPlanID(ctx, s.deps.Pool, c.sub.PlanID); err != nil {
		return c, false, fmt.Errorf("read plan: %w", err)
	}
	c.payer = s.deps.Reads.PayerOf(ctx, c.sub)
	return c, false, nil
}
