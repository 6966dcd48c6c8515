package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// reconciliations adds a nightly run that repaired a subscription of the customer, and one by command that died.
func reconciliations(ctx context.Context, conn *pgx.Conn, customer string) error {
	const statement = `
	WITH night AS (
		INSERT INTO payments.reconcile_runs (started_by, dry_run, gateways, since, started_at, seen_at, ended_at, checked, found, repaired, updated_at)
		VALUES ('schedule', false, '{gwa,gwb}', now() - interval '51 hours', now() - interval '3 hours', now() - interval '170 minutes',
			now() - interval '170 minutes', 412, 1, 1, now()) RETURNING id
	), repaired AS (
		INSERT INTO payments.reconcile_findings (run_id, gateway, kind, verdict, gateway_object_id, record, local_id, amount_cents, was, became, found_at)
		SELECT n.id, 'gwa', 'missed_payment', 'repaired', 'pay_1', 'subscription', s.id, 2990,
			'{"paid": 0, "status": "pending", "refunded": 0}', '{"paid": 2990, "status": "active", "refunded": 0}', now() - interval '175 minutes'
		FROM night n, subscriptions.subscriptions s WHERE s.customer_id = $1 LIMIT 1
	)
	INSERT INTO payments.reconcile_runs (started_by, starter, dry_run, gateways, since, started_at, seen_at, checked, updated_at)
	VALUES ('command', 'ana@ops', false, '{gwa}', now() - interval '3 days', now() - interval '2 hours', now() - interval '110 minutes', 37, now())`
	if _, err := conn.Exec(ctx, statement, customer); err != nil {
		return fmt.Errorf("add reconciliations: %w", err)
	}
	return nil
}
