package payments

import (
	"context"
	"fmt"

	"marquee/platform/postgres"
)

// refundsHeld reports whether nothing may be refunded by itself because the database
// is not the one that was noted: a restored backup, a copy, a replica that took over.
// It may not know what has happened since, and would take money for unapplied that
// was applied. A new database is noted when it is first asked about.
func (s *Service) refundsHeld(ctx context.Context, db postgres.DB) (bool, error) {
	if err := s.db.DatabaseMarkNote(ctx, db, s.deps.Clock.Now()); err != nil {
		return true, fmt.Errorf("note the database: %w", err)
	}
	same, err := s.db.DatabaseMarkHolds(ctx, db)
	if err != nil {
		return true, fmt.Errorf("compare the database: %w", err)
	}
	if !same {
		s.deps.Log.WarnContext(ctx, "nothing is refunded by itself: this database is restored or copied; reconcile first (docs/operations.md, After a restore)")
	}
	return !same, nil
}

// RefundsHeld reports whether, after a restore, nothing may be refunded or ended at a
// gateway without a person's decision.
func (s *Service) RefundsHeld(ctx context.Context, db postgres.DB) (bool, error) {
	return s.refundsHeld(ctx, db)
}

// AcceptDatabase says that this database is complete again: what both gateways know
// has been reconciled (`marquee reconcile --apply`). Automatic refunds go on.
func (s *Service) AcceptDatabase(ctx context.Context) error {
	if err := s.db.DatabaseMarkAccept(ctx, s.deps.Pool, s.deps.Clock.Now()); err != nil {
		return fmt.Errorf("note the database: %w", err)
	}
	return nil
}
