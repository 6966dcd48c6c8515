package subscriptions

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// PersonalDataName names this module's part of what a customer is told about
// himself.
func (*Service) PersonalDataName() string { return "subscriptions" }

const subscriptionsOfCustomerSQL = `SELECT id FROM subscriptions.subscriptions WHERE customer_id = $1 ORDER BY register_date`

// PersonalData returns the customer's subscriptions, oldest first, as the API
// shows them.
func (s *Service) PersonalData(ctx context.Context, db postgres.DB, customerID objectid.ID) (any, error) {
	ids, err := idsOf(ctx, db, subscriptionsOfCustomerSQL, customerID)
	if err != nil {
		return nil, err
	}
	docs := make([]subscriptionDoc, len(ids))
	for i, id := range ids {
		sub, err := s.db.GetSubscription(ctx, db, id)
		if err != nil {
			return nil, fmt.Errorf("read subscription: %w", err)
		}
		docs[i] = shown(sub)
	}
	return docs, nil
}

// erasePixSQL forgets codes that were made for the customer to pay.
const erasePixSQL = `UPDATE subscriptions.subscriptions SET pix_payload = NULL, pix_image = NULL
WHERE customer_id = $1 AND (pix_payload IS NOT NULL OR pix_image IS NOT NULL)`

// ErasePersonalDataTx keeps the record of what was sold and paid, which names
// nobody but the deleted customer's id and the gateways' own.
func (*Service) ErasePersonalDataTx(ctx context.Context, tx pgx.Tx, customerID objectid.ID) error {
	if _, err := tx.Exec(ctx, erasePixSQL, customerID); err != nil {
		return fmt.Errorf("forget PIX codes: %w", err)
	}
	return nil
}
