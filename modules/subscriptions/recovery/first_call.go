package recovery

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
	"marquee/modules/subscriptions/settle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/money"
)

// riskLife is how long the gateway may look at the risk of a card: what it never
// decides is given up, and money that comes all the same is late money.
const riskLife = 7 * 24 * time.Hour

// FirstCall is what a subscription is made from at its gateway: the row, and what its
// request alone has in hand.
type FirstCall struct {
	Sub        lifecycle.Subscription
	Plan       subscriptionsdb.Plan
	Payer      gateway.Payer
	Instrument gateway.Instrument // gone after the request
	CallTime   time.Duration      // of all its calls
	recovers   bool
}

type step = intent.Step[FirstCall, settle.Made]

// FirstCalls makes subscriptions and renewals at the gateways, in a way of its own for each
// way to pay. A card is gone after its request, and nothing is charged anew; the token that
// a charged first month has left makes the recurrence behind it.
func (s *Recovery) FirstCalls() *intent.Operation[FirstCall, settle.Made] {
	return &intent.Operation[FirstCall, settle.Made]{
		Kind: intent.Subscription, Intents: s.deps.Intents, Committed: "subscribe.after_intent",
		Settling: "subscribe.before_commit",
		Opening:  func(c FirstCall) intent.Opening { return openingOf(c.Sub, c.CallTime) },
		Row:      s.firstCallOf,
		Ways:     s.ways,
		SettleTx: s.settleTx,
	}
}

// ways are the calls of each way to pay, in their order.
func (s *Recovery) ways(c FirstCall) []step {
	sub, plan, payer := c.Sub, c.Plan, c.Payer
	switch {
	case sub.PixAutomatic:
		terms := s.deps.Calendar.AuthorizationOf(sub, plan, payer)
		return []step{{
			FaultPoint: "subscribe.after_call",
			Call: func(ctx context.Context, gw gateway.Gateway, _ FirstCall, _ settle.Made) (settle.Made, error) {
				auth, err := gw.AuthorizePix(ctx, terms)
				return settle.Authorization{PixAuthorization: auth}, err
			},
			Find: func(ctx context.Context, gw gateway.Gateway, _ FirstCall, _ settle.Made) (settle.Made, bool, error) {
				auth, found, err := gw.FindPixAuthorization(gateway.Background(ctx), terms)
				return settle.Authorization{PixAuthorization: auth}, found, err
			},
		}}
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
		terms := s.deps.Calendar.PixTermsOf(sub, plan, payer)
		return []step{{
			FaultPoint: "subscribe.after_call",
			Call: func(ctx context.Context, gw gateway.Gateway, _ FirstCall, _ settle.Made) (settle.Made, error) {
				charge, err := gw.CreatePix(ctx, terms)
				return settle.Code{PixCharge: charge}, err
			},
			Find: func(ctx context.Context, gw gateway.Gateway, _ FirstCall, _ settle.Made) (settle.Made, bool, error) {
				charge, found, err := gw.FindPix(gateway.Background(ctx), terms)
				return settle.Code{PixCharge: charge}, found, err
			},
		}}
	}
	terms := s.deps.Calendar.TermsOf(sub, plan, payer)
	terms.Instrument = c.Instrument
	return []step{{
		FaultPoint: "subscribe.after_call", Judge: judgeRecurrence,
		Call: func(ctx context.Context, gw gateway.Gateway, _ FirstCall, _ settle.Made) (settle.Made, error) {
			remote, err := gw.Subscribe(ctx, terms)
			return settle.Recurrence{RemoteSubscription: remote}, err
		},
		Find: func(ctx context.Context, gw gateway.Gateway, _ FirstCall, _ settle.Made) (settle.Made, bool, error) {
			remote, found, err := gw.FindSubscription(gateway.Background(ctx), terms)
			return settle.Recurrence{RemoteSubscription: remote}, found, err
		},
	}}
}

// anew has a call made again that is proved to have made nothing.
func anew(context.Context, gateway.Gateway, FirstCall) (settle.Outcome, error) { return nil, nil }

func openingOf(sub lifecycle.Subscription, callTime time.Duration) intent.Opening {
	return intent.Opening{
		Ref: lifecycle.IntentOf(sub.ID), Customer: sub.CustomerID, Gateway: sub.Gateway, CallTime: callTime,
	}
}

// firstCallOf reads a subscription whose call was not known; over when its intent is closed.
func (s *Recovery) firstCallOf(ctx context.Context, i intent.Intent) (c FirstCall, over bool, err error) {
	c.recovers = true
	if c.Sub, err = s.db.SubscriptionGet(ctx, s.deps.Pool, i.Subject); err != nil || !c.Sub.IntentOpen {
		return c, true, err
	}
	if c.Plan, err = s.db.PlanGetByPlanID(ctx, s.deps.Pool, c.Sub.PlanID); err != nil {
		return c, false, fmt.Errorf("read plan: %w", err)
	}
	c.Payer = s.deps.Reads.PayerOfRow(ctx, c.Sub)
	return c, false, nil
}

// judgeRecurrence: at gateway A the charge runs after the call, at B it may have to be
// authenticated first. What the answer of the call does not decline is there.
func judgeRecurrence(c FirstCall, made settle.Made) settle.Outcome {
	remote := made.(settle.Recurrence).RemoteSubscription //nolint:forcetypeassert // as this step makes it
	switch {
	case c.recovers:
		return JudgeRemote(remote)
	case c.Sub.Traits().StatusImpliesPayment && remote.Outcome == gateway.OutcomeUnknown:
		return settle.Pending{Result: made}
	}
	return settle.Succeeded{Result: made}
}

// JudgeRemote judges a card subscription that was read live.
func JudgeRemote(remote gateway.RemoteSubscription) settle.Outcome {
	made := settle.Recurrence{RemoteSubscription: remote}
	incomplete := remote.Status == gateway.RemoteIncomplete
	switch {
	case remote.Status == gateway.RemoteCanceled, remote.Status == gateway.RemoteIncompleteExpired,
		incomplete && remote.Outcome == gateway.RequiresPaymentMethod:
		return settle.Declined{Result: made}
	case incomplete && remote.Outcome == gateway.OutcomeUnknown:
		return settle.Pending{Result: made}
	}
	return settle.Succeeded{Result: made}
}

// firstMonthOf is what gateway A is asked for to charge a first month that a promo code lowered.
func firstMonthOf(c FirstCall) gateway.CardTerms {
	return gateway.CardTerms{
		Reference: c.Sub.ID, Kind: gateway.KindFirstMonth, Payer: c.Payer, Amount: money.Cents(*c.Sub.FirstAmountCents),
		Description: c.Plan.Name, Instrument: c.Instrument,
	}
}

func chargeFirstMonth(ctx context.Context, gw gateway.Gateway, c FirstCall, _ settle.Made) (settle.Made, error) {
	charge, err := gw.ChargeCard(ctx, firstMonthOf(c))
	return settle.FirstMonth{Charge: charge}, err
}

func findFirstMonth(ctx context.Context, gw gateway.Gateway, c FirstCall, _ settle.Made) (settle.Made, bool, error) {
	charge, found, err := gw.FindCardCharge(gateway.Background(ctx), firstMonthOf(c))
	return settle.FirstMonth{Charge: charge}, found, err
}

// judgeFirstMonth: the recurrence waits until the month is paid; the gateway may look at
// the risk first.
func (s *Recovery) judgeFirstMonth(c FirstCall, made settle.Made) settle.Outcome {
	status := made.(settle.FirstMonth).Charge.Payment.Status //nolint:forcetypeassert // as this step makes it
	switch {
	case status == gateway.PaymentStatusSettled:
		return settle.Succeeded{Result: made}
	case !c.recovers, status == gateway.PaymentStatusPending && s.deps.Calendar.Age(c.Sub) < riskLife:
		return settle.Pending{Result: made}
	case status != gateway.PaymentStatusPending && settle.AccessBegun(c.Sub):
		// Access that has begun was paid for, and the money given back since: it goes on
		// as any other whose payment is refunded.
		return settle.Succeeded{Result: made}
	}
	return settle.Declined{Result: made}
}

// recurByToken makes what charges from the second month on, with the card that the first
// has left at the gateway. Without it the month that was paid stays paid, and a look finds
// it or has it made again. Declined there, the month is the last.
func (s *Recovery) recurByToken(ctx context.Context, gw gateway.Gateway, c FirstCall,
	made settle.Made,
) (settle.Made, error) {
	month := made.(settle.FirstMonth) //nolint:forcetypeassert // as the step before makes it
	terms := s.deps.Calendar.TermsOf(c.Sub, c.Plan, c.Payer)
	terms.Instrument = gateway.Instrument{CardToken: month.Charge.CardToken, RemoteIP: c.Instrument.RemoteIP}
	if c.recovers {
		terms.Instrument.RemoteIP = settle.NoAddress
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
func (s *Recovery) findRecurrenceBehind(ctx context.Context, gw gateway.Gateway, c FirstCall,
	made settle.Made,
) (settle.Made, bool, error) {
	month := made.(settle.FirstMonth) //nolint:forcetypeassert // as the step before finds it
	remote, found, err := gw.FindSubscription(gateway.Background(ctx), s.deps.Calendar.TermsOf(c.Sub, c.Plan, c.Payer))
	if err != nil {
		return nil, false, err
	}
	if found {
		month.Recurrence = &remote
	}
	alone := month.Charge.CardToken.Empty() || c.Sub.HasChargeback ||
		month.Charge.Payment.Status != gateway.PaymentStatusSettled
	return month, found || alone, nil
}

// settleTx writes an outcome. What the payer was declined for may be left at the gateway;
// the charge of a first month is told by its event, or the looks.
func (s *Recovery) settleTx(ctx context.Context, tx pgx.Tx, c *FirstCall, outcome settle.Outcome,
	by intent.By,
) (err error) {
	source := state.ByRecovery
	if by == intent.ByResponse {
		source, outcome = state.BySubscribe, asReplied(outcome)
	}
	c.Sub, err = s.deps.Settler.SettleTx(ctx, tx, c.Sub, source, outcome)
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
	}
	return outcome
}
