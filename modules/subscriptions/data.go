package subscriptions

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/idempotency"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// PersonalDataName names this module's part of the customer's data.
func (*Service) PersonalDataName() string { return "subscriptions" }

const subscriptionsOfCustomerSQL = `SELECT id FROM subscriptions.subscriptions WHERE customer_id = $1 ORDER BY register_date`

// PersonalData returns the customer's subscriptions, oldest first, as the API
// shows them.
func (s *Service) PersonalData(ctx context.Context, db postgres.DB, customerID objectid.ID, _ bool) (any, error) {
	ids, err := idsOf(ctx, db, subscriptionsOfCustomerSQL, customerID)
	if err != nil {
		return nil, err
	}
	all := make([]subscriptionRecord, len(ids))
	for i, id := range ids {
		sub, err := s.db.SubscriptionGet(ctx, db, id)
		if err != nil {
			return nil, fmt.Errorf("read subscription: %w", err)
		}
		all[i].SubscriptionDoc = sub.Doc()
		rows, err := db.Query(ctx, historyOfSubscriptionSQL, id)
		if err != nil {
			return nil, fmt.Errorf("read history: %w", err)
		}
		if all[i].History, err = pgx.CollectRows(rows, pgx.RowTo[json.RawMessage]); err != nil {
			return nil, fmt.Errorf("read history: %w", err)
		}
	}
	return all, nil
}

// subscriptionRecord is a subscription with what moved it; event_id names the
// gateway's webhook.
type subscriptionRecord struct {
	lifecycle.SubscriptionDoc
	History []json.RawMessage `json:"history"`
}

const historyOfSubscriptionSQL = `SELECT json_build_object('at', platform.json_time(at), 'from', from_status, 'to', to_status, 'reason', reason, 'source', source, 'event_id', event_id)
FROM subscriptions.transitions WHERE subscription_id = $1 ORDER BY id`

// erasePixSQL forgets codes that were made for the customer to pay.
const erasePixSQL = `UPDATE subscriptions.subscriptions SET pix_payload = NULL, pix_image = NULL
WHERE customer_id = $1 AND (pix_payload IS NOT NULL OR pix_image IS NOT NULL)`

// eraseChargesSQL forgets those of their renewals.
const eraseChargesSQL = `UPDATE subscriptions.renewal_charges SET pix_payload = NULL, pix_image = NULL
WHERE customer_id = $1 AND (pix_payload IS NOT NULL OR pix_image IS NOT NULL)`

// namesOfCustomerSQL are the ids that gateways give to the customer's subscriptions.
const namesOfCustomerSQL = `SELECT n.name FROM subscriptions.subscriptions s
CROSS JOIN unnest(ARRAY[s.id::text, s.gwa_subscription_id, s.gwa_pix_auth_id, s.gwa_customer_id,
	s.gwb_subscription_id, s.gwb_customer_id, s.pix_payment_id]) n(name)
WHERE s.customer_id = $1 AND n.name <> ''
UNION SELECT unnest(ARRAY[c.id::text, coalesce(c.gateway_payment_id, c.id::text)])
FROM subscriptions.renewal_charges c WHERE c.customer_id = $1`

// ErasePersonalDataTx keeps the record of what was sold and paid, which names
// nobody but the deleted customer's id and the gateways' own.
func (s *Service) ErasePersonalDataTx(ctx context.Context, tx pgx.Tx, customerID objectid.ID) error {
	if _, err := tx.Exec(ctx, erasePixSQL, customerID); err != nil {
		return fmt.Errorf("forget PIX codes: %w", err)
	}
	if _, err := tx.Exec(ctx, eraseChargesSQL, customerID); err != nil {
		return fmt.Errorf("forget PIX codes: %w", err)
	}
	rows, err := tx.Query(ctx, namesOfCustomerSQL, customerID)
	if err != nil {
		return fmt.Errorf("list subscriptions: %w", err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("list subscriptions: %w", err)
	}
	if err := idempotency.ForgetTx(ctx, tx, names); err != nil {
		return err
	}
	return s.deps.Payments.ForgetPersonTx(ctx, tx, names)
}
