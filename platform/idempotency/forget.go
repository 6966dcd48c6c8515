package idempotency

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// ForgetTx deletes the answers of requests that made these orders or
// subscriptions, because the person who made them is deleted. The others nobody
// can tell apart; they go by age.
func ForgetTx(ctx context.Context, tx pgx.Tx, subjects []string) error {
	if len(subjects) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, "DELETE FROM platform.idempotency_keys WHERE subject_id = ANY ($1::text[])", subjects)
	if err != nil {
		return fmt.Errorf("forget repeatable requests: %w", err)
	}
	return nil
}
