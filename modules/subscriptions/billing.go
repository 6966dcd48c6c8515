package subscriptions

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// endedOfCustomerSQL lists what may still have to be ended at a gateway.
const endedOfCustomerSQL = `SELECT id FROM subscriptions.subscriptions
WHERE customer_id = $1 AND status IN ('cancelled', 'expired') ORDER BY register_date`

// StopBilling cancels the customer's subscription and returns nil once the
// gateway has confirmed that it charges for none any more. The module accounts
// asks for it when a customer is deleted.
func (s *Service) StopBilling(ctx context.Context, customerID objectid.ID) error {
	if err := s.stopLive(ctx, customerID); err != nil {
		return err
	}
	ids, err := idsOf(ctx, s.deps.Pool, endedOfCustomerSQL, customerID)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := s.endCompletely(ctx, id); err != nil {
			return fmt.Errorf("end subscription %s: %w", id, err)
		}
	}
	return nil
}

// endCompletely ends at its gateway what has ended here; a call whose outcome is
// not known is asked about first.
func (s *Service) endCompletely(ctx context.Context, id objectid.ID) error {
	if err := s.checkout.Recover(ctx, id); err != nil {
		return err
	}
	sub, err := s.db.SubscriptionGet(ctx, s.deps.Pool, id)
	if err != nil {
		return err
	}
	if sub.IntentOpen {
		return calls.ErrStillOpen
	}
	if err := s.base.Intents.CheckOne(ctx, intent.End, id); err != nil {
		return err
	}
	if err := s.calls.EndAtGateway(ctx, id); err != nil {
		return err
	}
	if sub, err = s.db.SubscriptionGet(ctx, s.deps.Pool, id); err != nil {
		return err
	}
	if sub.RunsThere() {
		return calls.ErrStillOpen
	}
	return s.charges.TendAll(ctx, id)
}

// stopLive cancels the live subscription here; what runs at the gateway is ended
// after it. A call whose outcome is not known is asked about first.
func (s *Service) stopLive(ctx context.Context, customerID objectid.ID) error {
	for range 3 { // a PIX that is paid while it is dropped comes back as an active one
		sub, err := s.base.Reads.Current(ctx, customerID)
		if lifecycle.IsMissing(err) {
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case sub.IntentOpen:
			err = s.checkout.Recover(ctx, sub.ID)
		case sub.Status == state.Pending && sub.PaymentMethod == gateway.MethodPix:
			_, err = s.recovery.Drop(ctx, sub, state.CustomerCancels, state.ByJob)
		default:
			err = s.recovery.End(ctx, sub, state.CustomerCancels, state.ByJob)
		}
		if err != nil {
			return err
		}
	}
	if _, err := s.base.Reads.Current(ctx, customerID); !lifecycle.IsMissing(err) {
		return errors.Join(calls.ErrStillOpen, err)
	}
	return nil
}

// purchasesSQL finds customers who ever subscribed or tried to.
const purchasesSQL = `SELECT DISTINCT customer_id FROM subscriptions.subscriptions WHERE customer_id = ANY ($1)`

// CustomersWithPurchases returns those of the customers who ever subscribed or
// tried to.
func (s *Service) CustomersWithPurchases(ctx context.Context, ids []objectid.ID) ([]objectid.ID, error) {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	return idsOf(ctx, s.deps.Pool, purchasesSQL, texts)
}

func idsOf(ctx context.Context, db postgres.DB, sql string, arg any) ([]objectid.ID, error) {
	rows, err := db.Query(ctx, sql, arg)
	if err != nil {
		return nil, fmt.Errorf("list subscriptions: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[objectid.ID])
	if err != nil {
		return nil, fmt.Errorf("list subscriptions: %w", err)
	}
	return ids, nil
}
