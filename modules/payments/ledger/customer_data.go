package ledger

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// The customer's data about money: settled payments, refunds and disputes,
// oldest first, amounts in cents, purpose subscription or order, local_id the
// subscription or order, payment_id the gateway's. $2 is false to leave out what
// is of orders.
const (
	paymentsOfCustomerSQL = `SELECT json_build_object(
	'_id', id, 'gateway', gateway, 'payment_id', gateway_payment_id, 'purpose', purpose, 'local_id', local_id,
	'amount_cents', amount_cents, 'method', method, 'status', native_status,
	'settled_at', platform.json_time(settled_at))
FROM payments.payments WHERE customer_id = $1 AND ($2 OR purpose <> 'order') ORDER BY settled_at, id`
	refundsOfCustomerSQL = `SELECT json_build_object(
	'_id', id, 'gateway', gateway, 'payment_id', payment_ref, 'purpose', purpose, 'local_id', local_id,
	'amount_cents', amount_cents, 'status', status, 'reason', reason, 'requested_at', platform.json_time(requested_at),
	'refunded_at', platform.json_time(refunded_at))
FROM payments.refunds WHERE customer_id = $1 AND ($2 OR purpose <> 'order') ORDER BY requested_at, id`
	disputesOfCustomerSQL = `SELECT json_build_object(
	'_id', id, 'gateway', gateway, 'payment_id', payment_ref, 'purpose', purpose, 'local_id', local_id,
	'amount_cents', amount_cents, 'reason', reason, 'state', state, 'opened_at', platform.json_time(opened_at),
	'closed_at', platform.json_time(closed_at))
FROM payments.disputes WHERE customer_id = $1 AND ($2 OR purpose <> 'order') ORDER BY opened_at, id`
)

// PersonalDataName names this module's part of the customer's data.
func (*Reader) PersonalDataName() string { return "payments" }

// PersonalData returns the customer's settled payments, refunds and disputes. Of
// orders, which may be a guest's, nothing unless their address is verified. An error is the database's.
func (*Reader) PersonalData(ctx context.Context, db postgres.DB, customerID objectid.ID, verified bool) (any, error) {
	data := map[string][]json.RawMessage{}
	for name, sql := range map[string]string{
		"settled": paymentsOfCustomerSQL, "refunds": refundsOfCustomerSQL, "disputes": disputesOfCustomerSQL,
	} {
		rows, err := db.Query(ctx, sql, customerID, verified)
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", name, err)
		}
		if data[name], err = pgx.CollectRows(rows, pgx.RowTo[json.RawMessage]); err != nil {
			return nil, fmt.Errorf("list %s: %w", name, err)
		}
	}
	return data, nil
}
