package webhooks

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
)

func (s *Locator) locateAuthorization(ctx context.Context, tx pgx.Tx, e gateway.Event) (lifecycle.Subscription, error) {
	if e.AuthorizationID != "" {
		sub, err := s.db.SubscriptionGetByAuthorization(ctx, tx, &e.AuthorizationID)
		if !errors.Is(err, pgx.ErrNoRows) {
			return sub, err
		}
	}
	if e.ConciliationID == "" {
		return lifecycle.Subscription{}, pgx.ErrNoRows
	}
	return s.db.SubscriptionGetByConciliation(ctx, tx, &e.ConciliationID)
}

// locateCharge finds the subscription whose code for a further period an event is about.
func (s *Locator) locateCharge(ctx context.Context, tx pgx.Tx, e gateway.Event) (lifecycle.Subscription, error) {
	c, err := s.ChargeOf(ctx, tx, e)
	if err != nil {
		return lifecycle.Subscription{}, err
	}
	if c == nil {
		return lifecycle.Subscription{}, pgx.ErrNoRows
	}
	return s.db.SubscriptionGet(ctx, tx, c.SubscriptionID)
}

// locateByPix finds the subscription whose code a refund or a dispute of gateway B is
// of, which names nothing but the payment.
func (s *Locator) locateByPix(ctx context.Context, tx pgx.Tx, e gateway.Event) (lifecycle.Subscription, error) {
	id := ofPayment(e)
	sub, err := s.db.SubscriptionGetByPixPayment(ctx, tx, e.Gateway, &id)
	if !errors.Is(err, pgx.ErrNoRows) {
		return sub, err
	}
	c, err := s.db.RenewalChargeGetByPayment(ctx, tx, e.Gateway, &id)
	if err != nil {
		return lifecycle.Subscription{}, err
	}
	return s.db.SubscriptionGet(ctx, tx, c.SubscriptionID)
}

// takenTx: the row lacks an id that the event tells. Another row has it already.
func (*Locator) takenTx(_ lifecycle.Subscription, err error) (stray, error) {
	if errors.Is(err, pgx.ErrNoRows) {
		return stray{}, nil
	}
	return stray{reason: gateway.ReasonOtherSubscription}, err
}
