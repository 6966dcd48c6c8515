package reconcile

import (
	"context"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/intent"
	"marquee/modules/tickets/orders"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Recover looks at an open order at once. One that is not open is left alone, and so is
// one whose call may still be under way.
func (s *Reconciler) Recover(ctx context.Context, id objectid.ID) error {
	return s.intents.LookAt(ctx, intent.Order, id)
}

// Adopt opens the intent of an order that has none: the release before made it.
func (s *Reconciler) Adopt(ctx context.Context, id objectid.ID) error {
	return postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		o, err := s.db.OrderLock(ctx, tx, id)
		if err != nil || !o.IntentOpen {
			return err
		}
		_, open, err := s.intents.OpenOf(ctx, tx, id)
		if err != nil {
			return err
		}
		if !open {
			if err := s.intents.OpenTx(ctx, tx, intent.Opening{Ref: orders.IntentOf(id), Customer: o.CustomerID, Gateway: postgres.Text(o.Gateway)}); err != nil {
				return err
			}
		}
		return s.orders.SaveTx(ctx, tx, &o, func(o *orders.Order) { o.RecoveryAt = new(s.clock.Now().Add(orders.AdoptAfter)) })
	})
}
