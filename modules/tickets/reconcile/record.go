package reconcile

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// RecordOf tells how an order stands, for what is written of repairs (reconcile.RecordReader).
func (s *Reconciler) RecordOf(ctx context.Context, db postgres.DB,
	id objectid.ID,
) (string, payments.RecordState, error) {
	o, err := s.db.OrderGet(ctx, db, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	return "order", payments.RecordState{
		"state": o.State, "order_payment_status": o.PaymentStatus, "disputed_at": o.DisputedAt,
	}, nil
}
