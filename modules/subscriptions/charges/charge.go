package charges

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/fault"
	"marquee/platform/idempotency"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// constraintOneCharge keeps a period from having two codes that can be paid.
const constraintOneCharge = "renewal_charges_one_open"

// chargeTerms is what a renewal charge is for.
type chargeTerms struct {
	cycle  *time.Time // of automatic PIX: the beginning of the period; nil: the next of a manual PIX
	amount money.Cents
	until  time.Time // when the code is to run out
}

// RenewPix answers the open PIX code that pays the next period of the customer's
// manual PIX, and makes one where there is none (docs/contract/subscriptions.md, Renewing). Unpaid it
// changes nothing.
func (s *Charges) renewPix(ctx context.Context,
	customerID objectid.ID,
) (lifecycle.Subscription, lifecycle.RenewalCharge, error) {
	sub, err := s.deps.Reads.Current(ctx, customerID)
	if err != nil {
		return lifecycle.Subscription{}, lifecycle.RenewalCharge{}, err
	}
	if err := s.mayRenewByPix(sub); err != nil {
		return lifecycle.Subscription{}, lifecycle.RenewalCharge{}, err
	}
	if _, err := s.deps.Plans.SellablePlan(ctx, s.deps.Pool, sub.PlanID); err != nil {
		return lifecycle.Subscription{}, lifecycle.RenewalCharge{}, err
	}
	o := chargeTerms{amount: money.Cents(sub.PriceCents * int64(sub.PeriodMonths)), until: *sub.ExpiresAt}
	charge, err := s.chargeByPix(ctx, sub, o, s.mayRenewByPix)
	return sub, charge, err
}

// mayRenewByPix: 409 for what is not paid by PIX, or by its own debits, while it does
// not run, and before the window opens.
func (s *Charges) mayRenewByPix(sub lifecycle.Subscription) error {
	opens := s.deps.Clock.Now().In(s.deps.Config.Zone).AddDate(0, 0, s.deps.Config.RenewPixDays)
	switch {
	case sub.PaymentMethod != gateway.MethodPix:
		return fault.Conflict("Your subscription is not paid by PIX. It renews itself by card.")
	case sub.PixAutomatic:
		return fault.Conflict("Your subscription renews itself by automatic PIX.")
	case sub.HasChargeback:
		return fault.Conflict("A payment of your subscription is disputed.")
	case sub.Status != state.Active || sub.ExpiresAt == nil:
		return fault.Conflict("Your subscription is %s.", sub.Status)
	case sub.ExpiresAt.After(opens):
		return fault.Conflict("Your subscription is paid until %s. It can be renewed from %s before.",
			s.deps.Calendar.Day(*sub.ExpiresAt), fault.Count(s.deps.Config.RenewPixDays, "day"))
	}
	return nil
}

// chargeByPix answers the open code of a period, or orders one. The row that stands
// for the order is committed before the gateway is asked. May is asked again with the
// locked subscription. While it is not known what the gateway made, the charge comes
// without a code and its intent is open.
func (s *Charges) chargeByPix(ctx context.Context, sub lifecycle.Subscription, o chargeTerms,
	may func(lifecycle.Subscription) error,
) (lifecycle.RenewalCharge, error) {
	charge, err := s.db.RenewalChargeGetOpenOf(ctx, s.deps.Pool, sub.ID, s.cycleDate(o.cycle))
	if err == nil {
		charge, err = s.openCode(ctx, charge)
		if err != nil || charge.State == state.ChargeOpen {
			return charge, err
		}
	} else if !errors.Is(err, pgx.ErrNoRows) {
		return lifecycle.RenewalCharge{}, fmt.Errorf("read renewal charge: %w", err)
	}
	least := lifecycle.LeastPix(sub.Gateway)
	if o.amount < least {
		return lifecycle.RenewalCharge{},
			fault.Conflict("The renewal costs less than R$ %s, the smallest amount that can be paid by PIX. Renew it by card.", least)
	}
	code, err := s.createIntent(ctx, sub, o, may)
	if err != nil {
		return lifecycle.RenewalCharge{}, err
	}
	code, outcome, err := s.Operation().Run(ctx, code)
	var cause error
	switch outcome := outcome.(type) {
	case intent.Refused[gateway.PixCharge]:
		cause = outcome.Cause
	case intent.Declined[gateway.PixCharge]:
		cause = outcome.Cause
	case intent.Succeeded[gateway.PixCharge], intent.Pending[gateway.PixCharge], intent.Missing[gateway.PixCharge],
		intent.Void[gateway.PixCharge], intent.NotKnown[gateway.PixCharge]:
		return code.charge, err
	}
	if err != nil {
		return code.charge, errors.Join(gateway.FaultOf(cause), err)
	}
	return code.charge, s.deps.Payments.Refused(ctx, "make renewal PIX", cause)
}

// cycleDate is the day of a cycle, null for none.
func (s *Charges) cycleDate(cycle *time.Time) pgtype.Date {
	if cycle == nil {
		return pgtype.Date{}
	}
	return s.deps.Calendar.DateOf(*cycle)
}

// createIntent commits the order. Of two at once the second finds the first.
func (s *Charges) createIntent(ctx context.Context, sub lifecycle.Subscription, o chargeTerms,
	may func(lifecycle.Subscription) error,
) (codeCall, error) {
	ctx = context.WithoutCancel(ctx)
	code := codeCall{sub: sub}
	if _, err := s.deps.Payments.Gateway(sub.Gateway); err != nil {
		return code, gateway.FaultOf(err)
	}
	err := s.Operation().Begin(ctx, &code, func(tx pgx.Tx) error {
		locked, err := s.deps.Store.LockTx(ctx, tx, sub.CustomerID, sub.ID)
		if err != nil {
			return err
		}
		if err := may(locked); err != nil {
			return err
		}
		if locked.PriceCents != sub.PriceCents {
			return fault.Conflict("The price of your subscription has just changed: ask again.")
		}
		now := s.deps.Clock.Now()
		code.charge, err = s.deps.Store.InsertChargeTx(ctx, tx, lifecycle.RenewalCharge{
			ID: objectid.At(now), SubscriptionID: sub.ID, CustomerID: sub.CustomerID, Gateway: sub.Gateway,
			Cycle: s.cycleDate(o.cycle), AmountCents: int64(o.amount), PayableUntil: o.until,
			RegisterDate: now,
		})
		if err != nil {
			return err
		}
		return idempotency.AttemptOf(ctx).BindTx(ctx, tx, code.charge.ID)
	})
	if postgres.Constraint(err) == constraintOneCharge {
		return code, errChargeBeingMade()
	}
	return code, err
}

func errChargeBeingMade() error {
	return fault.Conflict("A PIX code is being made for this period: ask again in a moment.")
}

// openCode answers an open charge with its code: the same as before while it can be
// paid. While it is not known whether there is a code, its intent is open. One that has run out is made unpayable
// first, and comes back as gone; one that has just been paid is settled, which is 409.
func (s *Charges) openCode(ctx context.Context, charge lifecycle.RenewalCharge) (lifecycle.RenewalCharge, error) {
	if charge.IntentOpen {
		charge = s.checkCharge(ctx, charge)
	}
	if charge.IntentOpen {
		i, open, err := s.deps.Intents.OpenOf(ctx, s.deps.Pool, charge.ID)
		if err == nil && open && i.NotKnownSince == nil { // somebody's call is still open
			err = errChargeBeingMade()
		}
		return charge, err
	}
	if charge.State == state.ChargeOpen && charge.HasRunOut(s.deps.Clock.Now()) {
		if err := s.withdrawCode(ctx, charge); err != nil {
			return charge, s.deps.Payments.Refused(ctx, "cancel renewal PIX", err)
		}
		var err error
		if charge, err = s.db.RenewalChargeGet(ctx, s.deps.Pool, charge.ID); err != nil {
			return charge, fmt.Errorf("read renewal charge: %w", err)
		}
	}
	if charge.State == state.ChargePaid || charge.State == state.ChargeUnapplied {
		return charge, fault.Conflict("Your PIX has just been paid.")
	}
	return charge, nil
}

// keepCodeTx writes the gateway's code, and settles it if it is paid already.
func (s *Charges) keepCodeTx(ctx context.Context, tx pgx.Tx, charge lifecycle.RenewalCharge, made gateway.PixCharge,
	by intent.By,
) error {
	sub, err := s.deps.Store.LockTx(ctx, tx, charge.CustomerID, charge.SubscriptionID)
	if err != nil {
		return err
	}
	if charge, err = s.db.RenewalChargeLock(ctx, tx, charge.ID); err != nil {
		return err
	}
	first := charge.GatewayPaymentID == nil
	if err := s.deps.Intents.EndTx(ctx, tx, lifecycle.IntentOfCharge(charge.ID), intent.Succeeded[any]{},
		by); err != nil {
		return err
	}
	if charge, err = s.deps.Store.SaveChargeTx(ctx, tx, charge, state.CodeMade,
		func(c *lifecycle.RenewalCharge) { c.SetCode(made) }); err != nil {
		return err
	}
	if first {
		if err := s.deps.Payments.ReplayWaitingTx(ctx, tx, charge.Gateway, charge.ID.String(),
			made.Payment.ID); err != nil {
			return err
		}
	}
	if made.Payment.Status == gateway.PaymentStatusSettled {
		_, err := s.deps.Settler.SettlePaymentTx(ctx, tx, &sub, settle.Payment{
			Payment: made.Payment, Source: state.ByRecovery, Charge: &charge, Recurs: charge.Cycle.Valid,
		})
		return err
	}
	if sub.Status.Ended() {
		return s.deps.Store.TendTx(ctx, tx, charge.ID, s.deps.Clock.Now())
	}
	return nil
}

func (s *Charges) goneTx(ctx context.Context, tx pgx.Tx, c lifecycle.RenewalCharge) error {
	if c.State != state.ChargeOpen {
		return nil
	}
	_, err := s.deps.Store.SaveChargeTx(ctx, tx, c, state.CodeGone,
		func(c *lifecycle.RenewalCharge) { c.IntentOpen = false })
	return err
}

// ApplyChargeTx applies an event about the payment of a renewal charge: it was made, or came
// to nothing. The text is why it did nothing, "" when it did.
func (s *Charges) ApplyChargeTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, id objectid.ID,
	e gateway.Event,
) (ignored gateway.Reason, err error) {
	charge, err := s.db.RenewalChargeLock(ctx, tx, id)
	if err != nil {
		return "", err
	}
	switch p := e.Payload.(type) {
	case gateway.SettledPayment:
		confirming, err := s.deps.Settler.SettlePaymentTx(ctx, tx, sub, settle.Payment{
			Payment: p.Payment, Source: settle.SourceOf(e), Event: settle.EventOf(e), Charge: &charge,
			Recurs: charge.Cycle.Valid,
		})
		if err == nil && confirming {
			return gateway.ReasonToConfirmPayment, nil
		}
		if err == nil && sub.Status.Ended() {
			return gateway.ReasonEnded, nil
		}
		return "", err
	case gateway.FailedPayment:
		return gateway.ReasonCodeUnpaid, nil
	default:
		return "", s.goneTx(ctx, tx, charge)
	}
}

// OpenCharge is the open code of a subscription that is paid, without one while it is
// not known; ok is false when there is none that can be shown.
func (s *Charges) OpenCharge(ctx context.Context,
	sub lifecycle.Subscription,
) (c lifecycle.RenewalCharge, ok bool, err error) {
	c, err = s.db.RenewalChargeGetOpen(ctx, s.deps.Pool, sub.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return c, false, nil
	}
	if err != nil {
		return c, false, fmt.Errorf("read renewal charge: %w", err)
	}
	if c.IntentOpen {
		c = s.checkCharge(ctx, c)
	}
	if c.IntentOpen {
		return c, true, nil
	}
	return c, c.State == state.ChargeOpen && c.PixPayload != nil && !c.HasRunOut(s.deps.Clock.Now()), nil
}

// checkCharge asks the gateway what became of an order whose answer was lost,
// without waiting for its time. Whatever it does not tell, the checks find out.
func (s *Charges) checkCharge(ctx context.Context, charge lifecycle.RenewalCharge) lifecycle.RenewalCharge {
	err := s.deps.Intents.CheckNow(ctx, charge.ID)
	found, failed := s.db.RenewalChargeGet(ctx, s.deps.Pool, charge.ID)
	if err = errors.Join(err, failed); err != nil {
		s.deps.Log.WarnContext(ctx, "no check of a renewal PIX", slog.String("charge_id", charge.ID.String()),
			slog.Any("error", err))
	}
	if failed != nil {
		return charge
	}
	return found
}
