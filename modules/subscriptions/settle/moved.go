package settle

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
)

// isBeforeMoveTx reports whether a card was charged for a period that lies before the end
// to which an extension has moved the next charge: that end stays.
func (s *Settler) isBeforeMoveTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, p Payment) (bool, error) {
	if !p.Recurs || p.First || !lifecycle.Recurs(sub) || sub.ExpiresAt == nil {
		return false, nil
	}
	last, err := s.db.GetLastChargeMove(ctx, tx, sub.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil && s.dueOf(sub, p.Payment).Before(last.ToAt), err
}

// keepMovedTx lists a charge that slipped through for time that an extension gives: it
// moves no date, and is given back by itself.
func (s *Settler) keepMovedTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, p Payment) (bool, error) {
	if !p.Recurs || p.First {
		return false, nil
	}
	moved, err := s.reads.IsMovedTx(ctx, tx, sub, s.dueOf(sub, p.Payment))
	if err != nil || !moved {
		return false, err
	}
	_, err = s.payments.Cases().RecordUnappliedTx(ctx, tx, payments.Unapplied{
		Kind: payments.UnappliedDuplicate, Gateway: sub.Gateway, PaymentID: p.ID, Amount: &p.Amount, CustomerID: sub.CustomerID,
		SubscriptionID: sub.ID, PaidAt: p.SettledAt, Automatic: true, Note: "Charged for time by which the subscription was extended.",
	})
	return true, err
}

// keepUnrecurringTx lists a charge of a recurrence that has ended, or was to: it was
// opened again for one period, or ends with its paid time. It is given back by itself. A
// charge that was taken before still pays its period, where it moves the end.
func (s *Settler) keepUnrecurringTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, p Payment) (bool, error) {
	open := sub.Status == state.Active || sub.GatewayEndOpenSince != nil
	if !p.Recurs || p.First || p.Charge != nil || p.Older || !open || !lifecycle.Stopped(sub) || sub.ExpiresAt == nil {
		return false, nil
	}
	deleted := sub.GatewayDeletedAt
	before := sub.GatewayEndOpenSince == nil && (sub.CancelAtPeriodEnd || deleted != nil && p.SettledAt != nil && p.SettledAt.Before(*deleted))
	if before && (lifecycle.TraitsOf(sub).EndsWithPeriod || s.movesEnd(sub, p)) {
		return false, nil
	}
	_, err := s.payments.Cases().RecordUnappliedTx(ctx, tx, payments.Unapplied{
		Kind: payments.UnappliedLate, Gateway: sub.Gateway, PaymentID: p.ID, Amount: &p.Amount, CustomerID: sub.CustomerID,
		SubscriptionID: sub.ID, PaidAt: p.SettledAt, Automatic: true, Note: "Charged by a recurrence that had ended.",
	})
	if err != nil {
		return false, err
	}
	return true, nil
}

// movesEnd reports whether a payment would move the end of the subscription.
func (s *Settler) movesEnd(sub lifecycle.Row, p Payment) bool {
	after := sub
	s.pay(&after, p)
	return after.ExpiresAt == nil || after.ExpiresAt.After(*sub.ExpiresAt)
}

// dueOf is the instant for which a card was charged: gateway A's due date; gateway B
// charges when the period begins.
func (s *Settler) dueOf(sub lifecycle.Row, p gateway.Payment) time.Time {
	switch {
	case lifecycle.TraitsOf(sub).ChargesByDay && p.DueDate != nil:
		return *p.DueDate
	case p.SettledAt != nil:
		return *p.SettledAt
	}
	return s.clock.Now()
}
