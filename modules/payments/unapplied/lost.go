package unapplied

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/platform/postgres"
)

// decideLost decides what stands on the list although a lost dispute took all of it: who
// listed it and who told of the dispute passed each other, or an earlier release did.
func (s *List) decideLost(ctx context.Context) error {
	lost, err := s.db.UnappliedLost(ctx, s.deps.Pool, unappliedBatch)
	if err != nil {
		return fmt.Errorf("list lost money: %w", err)
	}
	var failed error
	for _, row := range lost {
		failed = errors.Join(failed, postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
			return s.cases.DecideLostTx(ctx, tx, row.Gateway, row.GatewayPaymentID)
		}))
	}
	return failed
}
