package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// recurrences names one at its gateway for each made-up subscription that is charged: for screens that tell what lacks one.
func recurrences(ctx context.Context, conn *pgx.Conn) error {
	const statement = `UPDATE subscriptions.subscriptions SET
		gwa_subscription_id = CASE WHEN gateway = 'gwa' AND payment_method = 'credit_card' THEN coalesce(gwa_subscription_id, 'sub_fill_' || id) ELSE gwa_subscription_id END,
		gwb_subscription_id = CASE WHEN gateway = 'gwb' AND payment_method = 'credit_card' THEN coalesce(gwb_subscription_id, 'sub_fill_' || id) ELSE gwb_subscription_id END,
		gwa_pix_auth_id = CASE WHEN pix_automatic THEN coalesce(gwa_pix_auth_id, 'auth_fill_' || id) ELSE gwa_pix_auth_id END,
		next_billing_date = CASE WHEN pix_automatic THEN coalesce(next_billing_date, now() + interval '20 days') ELSE next_billing_date END
	WHERE status = 'active' AND expires_at IS NULL AND (payment_method = 'credit_card' OR pix_automatic)`
	if _, err := conn.Exec(ctx, statement); err != nil {
		return fmt.Errorf("name recurrences: %w", err)
	}
	return nil
}
