package extensions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/fault"
	"marquee/platform/objectid"
)

// HandOver is how long before its end an extension gives way to the recurrence, which
// charges then: its money may be told late, and expires nobody.
const HandOver = 24 * time.Hour

// ExtendLockedTx moves the end of a locked subscription forward, and with it what charges it
// next. To gives the new end for the present one. Of a card the end of access moves and
// the gateway's next charge, by an order in the same transaction that the checks carry
// out; of an automatic PIX the next debit, whose money may come late on its day; of
// what is paid once the end of access. 409 for what has ended, and where the next
// charge cannot be moved now.
func (s *Extensions) ExtendLockedTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription,
	to func(end time.Time) (time.Time, error),
) error {
	if sub.Status.Ended() {
		return fault.Conflict("The subscription is %s: activate it first.", sub.Status)
	}
	if sub.Recurs() {
		if err := s.checkChargeMovesTx(ctx, tx, *sub); err != nil {
			return err
		}
	}
	from, err := s.presentEndTx(ctx, tx, *sub)
	if err != nil {
		return err
	}
	extended, err := s.deps.Reads.ExtendedTo(ctx, tx, *sub)
	if err != nil {
		return err
	}
	from = lifecycle.LatestOf(from, extended)
	end, err := to(from)
	if err != nil {
		return err
	}
	if sub.Recurs() {
		if err := s.createIntentTx(ctx, tx, *sub, from, end); err != nil {
			return err
		}
	}
	return s.deps.Store.EditTx(ctx, tx, sub, state.Extended, func(r *lifecycle.Subscription) {
		switch {
		case r.Recurs():
			r.NextBillingDate = &end
		case r.NextBillingDate != nil:
			r.NextBillingDate = new(lifecycle.LatestOf(end, r.NextBillingDate))
		}
		if r.ExpiresAt != nil || r.NextBillingDate == nil || !r.PixAutomatic {
			r.ExpiresAt = &end
		}
		s.deps.Calendar.Anchor(r, end)
	})
}

// checkChargeMovesTx: 409 while it is not certain what the gateway charges next.
func (s *Extensions) checkChargeMovesTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription) error {
	switch {
	case sub.Status != state.Active:
		return fault.Conflict("The subscription is %s: its next charge cannot be moved.", sub.Status)
	case sub.HasChargeback:
		return fault.Conflict("A payment of the subscription is disputed.")
	case sub.PaymentFailures > 0:
		return fault.Conflict("A payment of the subscription has failed and is being retried: extend it once that is paid.")
	case sub.IntentOpen:
		return fault.Conflict("A payment of the subscription is being confirmed. Try again when that is over.")
	}
	paused, err := s.deps.Reads.IsPausedTx(ctx, tx, sub.ID)
	if err != nil {
		return err
	}
	_, renewing, err := s.deps.Reads.WaitingRenewal(ctx, tx, sub.CustomerID)
	switch {
	case err != nil:
		return err
	case paused:
		return fault.Conflict("The gateway has not confirmed yet that it collects again after a dispute. Try again in a few minutes.")
	case renewing:
		return fault.Conflict("A renewal of the subscription is being confirmed. Try again when that is over.")
	}
	return nil
}

// presentEndTx is from when on an extension counts: the end of what is paid, or free.
func (s *Extensions) presentEndTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription) (time.Time, error) {
	now := s.deps.Clock.Now()
	switch {
	case sub.ExpiresAt != nil:
		return lifecycle.LatestOf(now, sub.ExpiresAt), nil
	case sub.PixAutomatic && sub.NextBillingDate != nil:
		return s.afterOrderedDebit(ctx, tx, sub)
	case sub.Recurs() && sub.Traits().ChargesByDay:
		due, err := s.deps.Reads.FirstUnpaid(ctx, tx, sub)
		if err != nil {
			return due, err
		}
		if due.Before(lifecycle.StartOfDay(now, s.deps.Config.Zone)) {
			due = s.deps.Calendar.MonthsOn(s.deps.Calendar.CycleStart(now, sub), 1, sub)
		}
		return lifecycle.LatestOf(now, &due), nil
	}
	if next := sub.NextBillingDate; sub.Recurs() && next != nil &&
		next.Before(now) { // charged by now, and not told yet
		return lifecycle.LatestOf(now, new(s.deps.Calendar.MonthsOn(*next, int(sub.PeriodMonths), sub))), nil
	}
	return lifecycle.LatestOf(now, sub.NextBillingDate), nil
}

// afterOrderedDebit is the beginning of the next period of an automatic PIX whose debit
// the bank has not been told of: the one that it knows pays its own period, and what is
// given comes after that.
func (s *Extensions) afterOrderedDebit(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription) (time.Time, error) {
	next := *sub.NextBillingDate
	d, err := s.db.DebitGet(ctx, tx, sub.ID, s.deps.Calendar.DateOf(next))
	switch {
	case errors.Is(err, pgx.ErrNoRows), err == nil && (d.FailedAt != nil || d.PaidAt != nil):
		return lifecycle.LatestOf(s.deps.Clock.Now(), &next), nil
	case err != nil:
		return next, fmt.Errorf("read debit: %w", err)
	case d.GatewayPaymentID == nil:
		return next, fault.Conflict("The debit of %s is being ordered. Try again in a few minutes.",
			s.deps.Calendar.Day(next))
	}
	return s.deps.Calendar.MonthsOn(next, int(sub.PeriodMonths), sub), nil
}

// createIntentTx writes the order to charge next at an instant. One that is open is
// moved further on.
func (s *Extensions) createIntentTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, from,
	to time.Time,
) error {
	now := s.deps.Clock.Now()
	if most := sub.Traits().MostFreeYears; most > 0 && to.After(now.AddDate(most, 0, 0)) {
		return fault.Conflict("Gateway B accepts no charge more than %s ahead.", fault.Count(most, "year"))
	}
	id, err := s.db.ChargeMoveLengthen(ctx, tx, to, sub.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		id = objectid.At(now)
		err = s.insertMoveTx(ctx, tx, subscriptionsdb.ChargeMoveInsertParams{
			ID: id, SubscriptionID: sub.ID, FromAt: from, ToAt: to, CreatedByID: lifecycle.CallerID(ctx), Now: now,
		})
	}
	if err != nil {
		return fmt.Errorf("write charge move: %w", err)
	}
	return s.requestTx(ctx, tx, sub, id)
}

// insertMoveTx writes an order as the table of moves begins one.
func (s *Extensions) insertMoveTx(ctx context.Context, tx pgx.Tx,
	p subscriptionsdb.ChargeMoveInsertParams,
) (err error) {
	if p.State, err = state.Moves.Move("", state.MoveRequested); err != nil {
		return err
	}
	p.Action, p.Reason = string(state.MoveRequested), new(state.Moves.ReasonOf(state.MoveRequested))
	return s.db.ChargeMoveInsert(ctx, tx, p)
}

// ExtendTx moves the end of a living subscription by the months that an amount pays
// for (payments.Hooks). It changes what an admin's extension does. The audit trail has
// it with the decision about the payment.
func (s *Extensions) ExtendTx(ctx context.Context, tx pgx.Tx, e payments.Extension) (objectid.ID, error) {
	if err := s.deps.Store.LockCustomerTx(ctx, tx, e.CustomerID); err != nil {
		return "", err
	}
	sub, err := s.liveTx(ctx, tx, e)
	if err != nil {
		return "", err
	}
	months := 0
	if sub.PriceCents > 0 {
		months = int(int64(e.Amount) / sub.PriceCents)
	}
	switch {
	case sub.CustomerID != e.CustomerID:
		return "", fault.Conflict("The subscription is another customer's.")
	case sub.Status.Ended(), sub.Status == state.Pending:
		return "", fault.Conflict("The subscription is %s.", sub.Status)
	case sub.HasChargeback:
		return "", fault.Conflict("A payment of the subscription is disputed.")
	case months == 0:
		return "", fault.Conflict("The payment of R$ %s pays for no period of the subscription.", e.Amount)
	}
	err = s.ExtendLockedTx(ctx, tx, &sub, func(end time.Time) (time.Time, error) {
		of := sub
		s.deps.Calendar.Anchor(&of, end)
		return s.deps.Calendar.MonthsOn(end, months, of), nil
	})
	return sub.ID, err
}

// liveTx finds and locks the subscription that a payment is to lengthen.
func (s *Extensions) liveTx(ctx context.Context, tx pgx.Tx, e payments.Extension) (lifecycle.Subscription, error) {
	id := e.SubscriptionID
	if id == "" {
		living, err := s.db.SubscriptionGetLive(ctx, tx, e.CustomerID)
		if errors.Is(err, pgx.ErrNoRows) {
			return lifecycle.Subscription{}, fault.Conflict("The customer has no live subscription.")
		}
		if err != nil {
			return lifecycle.Subscription{}, err
		}
		id = living.ID
	}
	sub, err := s.db.SubscriptionLock(ctx, tx, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return lifecycle.Subscription{}, fault.NotFound("Subscription").WithField("subscription_id")
	}
	return sub, err
}
