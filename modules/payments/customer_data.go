package payments

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// heldPayment is a payment as its customer is told of it.
type heldPayment struct {
	ID          objectid.ID  `json:"_id"`
	Gateway     string       `json:"gateway"`
	PaymentID   string       `json:"payment_id" doc:"At the gateway"`
	Purpose     string       `json:"purpose" enum:"subscription,order"`
	LocalID     objectid.ID  `json:"local_id" doc:"The subscription or order"`
	AmountCents int64        `json:"amount_cents"`
	Method      string       `json:"method"`
	Status      string       `json:"status" doc:"The gateway's own word"`
	SettledAt   httpapi.Time `json:"settled_at"`
}

const paymentsOfCustomerSQL = `SELECT id, gateway, gateway_payment_id, purpose, local_id, amount_cents, method, native_status, settled_at
FROM payments.payments WHERE customer_id = $1 ORDER BY settled_at, id`

// PersonalDataName names this module's part of what a customer is told about
// himself.
func (*Service) PersonalDataName() string { return "payments" }

// PersonalData returns the customer's settled payments, oldest first.
func (*Service) PersonalData(ctx context.Context, db postgres.DB, customerID objectid.ID) (any, error) {
	rows, err := db.Query(ctx, paymentsOfCustomerSQL, customerID)
	if err != nil {
		return nil, fmt.Errorf("list payments: %w", err)
	}
	held, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p heldPayment, err error) {
		var settled time.Time
		err = row.Scan(&p.ID, &p.Gateway, &p.PaymentID, &p.Purpose, &p.LocalID, &p.AmountCents, &p.Method, &p.Status, &settled)
		p.SettledAt = httpapi.Time(settled)
		return p, err
	})
	if err != nil {
		return nil, fmt.Errorf("list payments: %w", err)
	}
	return held, nil
}

// ErasePersonalDataTx removes nothing: the ledger names nobody but the deleted
// customer's id.
func (*Service) ErasePersonalDataTx(context.Context, pgx.Tx, objectid.ID) error { return nil }
