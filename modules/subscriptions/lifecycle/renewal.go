package lifecycle

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/state"
)

const (
	// LeastPaidTime is the shortest rest of paid time that a renewal waits for: what is
	// shorter may be over when the gateway is asked.
	LeastPaidTime = time.Hour
	// MostPaidTime is the longest: gateway B begins no recurrence later.
	MostPaidTime = 720 * 24 * time.Hour
)

// replaceTx ends the subscription that a waiting renewal replaces, in the transaction
// that makes the renewal active: its customer always has one of them. Money that the
// old one took meanwhile for time that the new one will charge, too, is listed. Errors are those of MoveTx: without
// the end of the old one the renewal does not begin.
func (s *Store) replaceTx(ctx context.Context, tx pgx.Tx, renewal Subscription) error {
	old, err := s.db.SubscriptionLock(ctx, tx, *renewal.RenewsID)
	if err != nil {
		return fmt.Errorf("read renewed subscription: %w", err)
	}
	if old.Status.Ended() {
		return nil
	}
	if err := s.listPaidTwiceTx(ctx, tx, old, renewal); err != nil {
		return err
	}
	_, err = s.MoveTx(ctx, tx, &old, Change{Action: state.Replaced, Source: state.ByCustomer, Actor: &old.CustomerID})
	if err != nil {
		return err
	}
	return s.EndAtGatewayTx(ctx, tx, old)
}

// listPaidTwiceTx lists the payment by which the old subscription was extended after
// its renewal had been ordered to begin before. Errors are those of RecordUnappliedTx.
func (s *Store) listPaidTwiceTx(ctx context.Context, tx pgx.Tx, old, renewal Subscription) error {
	until, err := s.reads.PaidUntil(ctx, tx, old)
	if err != nil || until == nil || old.LastPaymentAt == nil || old.LastPaymentAt.Before(renewal.RegisterDate) {
		return err
	}
	begins := renewal.RegisterDate
	if renewal.StartsAt != nil {
		begins = *renewal.StartsAt
	}
	if until.Sub(begins) < 48*time.Hour {
		return nil
	}
	paid, err := s.deps.Payments.PaymentsOf(ctx, tx, gateway.ForSubscription, old.ID)
	if err != nil || len(paid) == 0 {
		return err
	}
	p := paid[0].Payment
	_, err = s.deps.Payments.Cases().RecordUnappliedTx(ctx, tx, payments.Unapplied{
		Kind: payments.UnappliedDuplicate, Automatic: true,
		Note: "Paid while its renewal " + renewal.ID.String() + " was being confirmed, which charges the same time.",
	}.Of(old.Owner(), p))
	return err
}

// EndWaitingTx ends the renewal that waits beside a subscription which a person has
// ended. What its call made, or makes, at the gateway is ended there when it is known. Errors are those of MoveTx.
func (s *Store) EndWaitingTx(ctx context.Context, tx pgx.Tx, ended Subscription, c Change) error {
	waiting, ok, err := s.reads.WaitingRenewal(ctx, tx, ended.CustomerID)
	if err != nil || !ok || *waiting.RenewsID != ended.ID {
		return err
	}
	locked, err := s.db.SubscriptionLock(ctx, tx, waiting.ID)
	if err != nil {
		return fmt.Errorf("read renewal: %w", err)
	}
	action := c.Action
	if action == state.CustomerWithdraws { // nothing of it has been paid: there is no withdrawing from it
		action = state.CustomerCancels
	}
	if _, err := s.MoveTx(ctx, tx, &locked, Change{Action: action, Source: c.Source, Actor: c.Actor}); err != nil {
		return err
	}
	return s.EndAtGatewayTx(ctx, tx, locked)
}

// activateRenewalTx has the customer's pointer name the renewal that waits, once what it
// renews has ended by itself. An error is the database's.
func (s *Store) activateRenewalTx(ctx context.Context, tx pgx.Tx, ended Subscription) error {
	waiting, ok, err := s.reads.WaitingRenewal(ctx, tx, ended.CustomerID)
	if err != nil || !ok || waiting.ID == ended.ID {
		return err
	}
	return s.deps.Accounts.SetCurrentSubscriptionTx(ctx, tx, ended.CustomerID, waiting.ID)
}
