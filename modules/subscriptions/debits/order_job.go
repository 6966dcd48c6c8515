package debits

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
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/faultpoint"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Debit orders the debit of the next cycle of an automatic PIX, once a
// (subscription, cycle): nobody else makes it (gateway A, section 8). The row
// that stands for it and its intent are committed before the gateway is asked. When
// the outcome is not known the looks find out (LookAtDebit), and they alone order
// it again.
func (s *Debits) Debit(ctx context.Context, id objectid.ID) error {
	sub, err := s.db.GetSubscription(ctx, s.pool, id)
	if err != nil || !s.debitDue(sub) {
		return err
	}
	debit, isNew, err := s.intendDebit(ctx, sub)
	if err != nil || !isNew {
		return err
	}
	gw, err := s.payments.Gateway(gateway.GWA)
	if err != nil {
		return err
	}
	terms, err := s.debitTerms(ctx, sub, debit)
	if err != nil {
		return err
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.intents.CallTime())
	defer cancel()
	made, err := gw.DebitPix(call, terms)
	faultpoint.Hit("debit.after_call")
	if err == nil {
		return s.keepDebit(ctx, sub, debit, made, "answer")
	}
	s.log.WarnContext(ctx, "debit not ordered", slog.String("subscription_id", id.String()), slog.Any("error", err))
	var rejected *gateway.Rejected
	if errors.As(err, &rejected) {
		return s.refuseDebit(ctx, sub, debit, "answer")
	}
	return s.intents.NotKnown(ctx, intentOfDebit(debit), err)
}

// intentOfDebit names the order of a debit; the item is its cycle.
func intentOfDebit(d lifecycle.Debit) intent.Ref {
	return intent.Ref{Kind: intent.Debit, Subject: d.SubscriptionID, Item: d.Cycle.Time.Format(time.DateOnly)}
}

// LookAtDebit asks what became of a debit whose call was not known. Only when it is
// proved that nothing was made is it ordered again, as long as its cycle is still the
// next one.
func (s *Debits) LookAtDebit(ctx context.Context, l *intent.Look) (intent.Answer, error) {
	cycle, err := time.Parse(time.DateOnly, l.Item)
	if err != nil {
		return 0, fmt.Errorf("cycle of a debit: %w", err)
	}
	sub, err := s.db.GetSubscription(ctx, s.pool, l.Subject)
	if err != nil {
		return 0, err
	}
	d, err := s.db.GetDebit(ctx, s.pool, subscriptionsdb.GetDebitParams{SubscriptionID: sub.ID, Cycle: pgtype.Date{Time: cycle, Valid: true}})
	if err != nil {
		return 0, fmt.Errorf("read debit: %w", err)
	}
	if d.GatewayPaymentID != nil || sub.GwaPixAuthID == nil {
		return intent.Settled, nil
	}
	gw, err := s.payments.Gateway(gateway.GWA)
	if err != nil {
		return 0, err
	}
	terms, err := s.debitTerms(ctx, sub, d)
	if err != nil {
		return 0, err
	}
	made, found, err := gw.FindPixDebit(ctx, terms)
	switch {
	case err != nil:
		return 0, fmt.Errorf("find debit: %w", err)
	case found:
		return intent.Settled, s.keepDebit(ctx, sub, d, made, "look")
	case !l.Proved:
		return intent.NotThere, nil
	case !s.debitDue(sub) || s.calendar.DateOf(*sub.NextBillingDate) != d.Cycle:
		return intent.Settled, s.giveUpDebit(ctx, sub, d)
	}
	if err := l.CallAgain(ctx, s.intents.CallTime()); err != nil {
		return 0, err
	}
	made, err = gw.DebitPix(ctx, terms)
	var rejected *gateway.Rejected
	switch {
	case err == nil:
		return intent.Settled, s.keepDebit(ctx, sub, d, made, "look")
	case errors.As(err, &rejected) && l.RefusalCounts():
		return intent.Settled, s.refuseDebit(ctx, sub, d, "look")
	}
	return 0, fmt.Errorf("order debit: %w", err)
}

// refuseDebit ends the intent of a debit that the gateway refused to make: the sweep
// sets about it again after a while, and looks before it orders.
func (s *Debits) refuseDebit(ctx context.Context, sub lifecycle.Row, d lifecycle.Debit, by string) error {
	return s.WithDebit(ctx, sub, func(tx pgx.Tx) error {
		return s.intents.EndTx(ctx, tx, intentOfDebit(d), intent.Refused, by)
	})
}

// giveUpDebit ends a debit that was never made, and that nobody needs any more.
func (s *Debits) giveUpDebit(ctx context.Context, sub lifecycle.Row, d lifecycle.Debit) error {
	return s.WithDebit(ctx, sub, func(tx pgx.Tx) error {
		now := s.clock.Now()
		err := s.db.SetDebitFailed(ctx, tx, subscriptionsdb.SetDebitFailedParams{SubscriptionID: sub.ID, Cycle: d.Cycle, Now: &now, Failure: new(FailedGone)})
		if err != nil {
			return fmt.Errorf("give up debit: %w", err)
		}
		return s.intents.EndTx(ctx, tx, intentOfDebit(d), intent.Missing, "look")
	})
}

func (s *Debits) debitDue(sub lifecycle.Row) bool {
	ready := sub.PixAutomatic && lifecycle.Status(sub.Status) == lifecycle.Active && sub.GwaPixAuthID != nil && sub.NextBillingDate != nil && !sub.CancelAtPeriodEnd
	return ready && !s.calendar.DebitAt(*sub.NextBillingDate).After(s.clock.Now())
}

// intendDebit commits the row of the cycle with its intent. One that stands already,
// not ordered and with nobody asking about it (the gateway refused it, or it is of a
// release without intents), gets an intent without a call: it is looked for first.
func (s *Debits) intendDebit(ctx context.Context, sub lifecycle.Row) (debit subscriptionsdb.SubscriptionsDebit, isNew bool, err error) {
	err = postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		locked, err := s.store.LockTx(ctx, tx, sub.CustomerID, sub.ID)
		if err != nil || !s.debitDue(locked) || !locked.NextBillingDate.Equal(*sub.NextBillingDate) {
			return err
		}
		if paused, err := s.reads.IsPausedTx(ctx, tx, sub.ID); err != nil || paused {
			return err
		}
		cycle, now := s.calendar.DateOf(*locked.NextBillingDate), s.clock.Now()
		twice, err := s.db.HasOpenDebitWithin(ctx, tx, subscriptionsdb.HasOpenDebitWithinParams{SubscriptionID: sub.ID, Cycle: cycle, Months: locked.PeriodMonths})
		if err != nil || twice {
			return err // an admin's extension has moved the cycle since one was ordered
		}
		debit, err = s.db.ClaimDebit(ctx, tx, subscriptionsdb.ClaimDebitParams{
			SubscriptionID: sub.ID, Cycle: cycle, DueDate: s.calendar.DateOf(s.calendar.DebitDueDate(*locked.NextBillingDate)),
			AmountCents: locked.PriceCents * int64(locked.PeriodMonths), Now: now, Before: now.Add(-lifecycle.DebitSilence),
		})
		if errors.Is(err, pgx.ErrNoRows) {
			return nil // ordered, or somebody has just set about it
		}
		if err != nil {
			return fmt.Errorf("write debit: %w", err)
		}
		opening := intent.Opening{Ref: intentOfDebit(debit), Customer: sub.CustomerID, Gateway: string(gateway.GWA)}
		if isNew = debit.TriedAt.Equal(debit.RegisterDate); isNew {
			opening.CallTime = s.intents.CallTime()
		}
		return s.intents.OpenTx(ctx, tx, opening)
	})
	if open := (*intent.ErrOpen)(nil); errors.As(err, &open) {
		return debit, false, nil // the looks ask about it
	}
	return debit, isNew && err == nil, err
}

func (s *Debits) debitTerms(ctx context.Context, sub lifecycle.Row, d subscriptionsdb.SubscriptionsDebit) (gateway.DebitTerms, error) {
	plan, err := s.db.GetPlanByPlanID(ctx, s.pool, sub.PlanID)
	if err != nil {
		return gateway.DebitTerms{}, fmt.Errorf("read plan: %w", err)
	}
	return gateway.DebitTerms{
		SubscriptionID: sub.ID, AuthorizationID: *sub.GwaPixAuthID, Payer: s.reads.PayerOfRow(ctx, sub),
		Cycle: s.calendar.DayOf(d.Cycle), DueDate: lifecycle.LatestOf(s.calendar.DayOf(d.DueDate), new(s.calendar.DebitDueDate(s.calendar.DayOf(d.Cycle)))),
		Amount: money.Cents(d.AmountCents), Description: plan.Name,
	}, nil
}

// keepDebit keeps what was ordered, and ends the intent.
func (s *Debits) keepDebit(ctx context.Context, sub lifecycle.Row, d subscriptionsdb.SubscriptionsDebit, made gateway.Payment, by string) error {
	return s.WithDebit(ctx, sub, func(tx pgx.Tx) error {
		now := s.clock.Now()
		if made.DueDate != nil {
			d.DueDate = s.calendar.DateOf(*made.DueDate)
		}
		err := s.db.SetDebitOrdered(ctx, tx, subscriptionsdb.SetDebitOrderedParams{
			SubscriptionID: sub.ID, Cycle: d.Cycle, GatewayPaymentID: &made.ID, DueDate: d.DueDate, Now: &now,
		})
		if err != nil {
			return fmt.Errorf("keep debit: %w", err)
		}
		paid, err := s.payments.FindPayment(ctx, tx, gateway.GWA, made.ID)
		if err != nil {
			return fmt.Errorf("find payment: %w", err)
		}
		if paid != nil { // its money overtook our knowing of it
			err = s.db.SetDebitPaid(ctx, tx, subscriptionsdb.SetDebitPaidParams{SubscriptionID: sub.ID, Cycle: d.Cycle, Now: &now})
			if err != nil {
				return fmt.Errorf("note paid debit: %w", err)
			}
		}
		if err := s.store.PauseAgainTx(ctx, tx, sub.ID); err != nil {
			return err
		}
		if err := s.intents.EndTx(ctx, tx, intentOfDebit(d), intent.Done, by); err != nil {
			return err
		}
		return s.payments.ReplayWaitingTx(ctx, tx, gateway.GWA, made.ID)
	})
}
