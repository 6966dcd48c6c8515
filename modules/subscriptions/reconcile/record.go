package reconcile

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// recordKind is what a subscription is called in what is written of repairs.
const recordKind = "subscription"

// RecordOf tells how a subscription stands, for what is written of repairs (reconcile.RecordReader).
func (s *Reconciler) RecordOf(ctx context.Context, db postgres.DB,
	id objectid.ID,
) (string, payments.RecordState, error) {
	sub, err := s.db.SubscriptionGet(ctx, db, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	return recordKind, fieldsOf(sub), nil
}

// fieldsOf are what money moves in a subscription, by their names in its answers.
func fieldsOf(sub lifecycle.Subscription) payments.RecordState {
	return payments.RecordState{
		"status": sub.Status, "expires_at": sub.ExpiresAt, "next_billing_date": sub.NextBillingDate,
		"total_refunded": sub.TotalRefundedCents, "has_chargeback": sub.HasChargeback,
	}
}
