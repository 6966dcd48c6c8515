package ledger

import (
	"context"
	"fmt"
	"time"

	"marquee/platform/postgres"
)

// RefundsStopped reports whether, after a restore, nothing may be refunded or ended at a
// gateway without a person's decision: the database is not the one that was noted, but a
// restored backup, a copy, a replica that took over.
// It may not know what has happened since, and would take money for unapplied that
// was applied. A new database is noted by the migrations; one without a mark is not known. With an error, the
// database's, they are stopped too: money is not given back on a guess.
func (s *Reader) RefundsStopped(ctx context.Context, db postgres.DB) (bool, error) {
	same, err := s.db.DatabaseMarkHolds(ctx, db)
	if err != nil {
		return true, fmt.Errorf("compare the database: %w", err)
	}
	if !same {
		s.deps.Log.WarnContext(ctx,
			"nothing is refunded by itself: this database is restored or copied; reconcile first (docs/operations.md, After a restore)")
	}
	return !same, nil
}

// restoreGrace is for how long after a database was accepted what is paid may still be of
// before: gateway A tells days, and for today the time at which it is asked.
const restoreGrace = 24 * time.Hour

// MayLack reports whether a restore may have lost what was paid then: before this
// database was accepted. When that is not known, it may. With an error, the database's, it may, too.
func (s *Reader) MayLack(ctx context.Context, db postgres.DB, paidAt *time.Time) (bool, error) {
	if paidAt != nil {
		paidAt = new(paidAt.Add(-restoreGrace))
	}
	holds, err := s.db.DatabaseMarkHoldsSince(ctx, db, paidAt)
	if err != nil {
		return true, fmt.Errorf("compare the database: %w", err)
	}
	return !holds, nil
}

// AcceptDatabase says that this database is complete again: what both gateways know
// has been reconciled (`marquee reconcile --apply`). Automatic refunds go on. Not in a transaction: with
// an error they stay stopped.
func AcceptDatabase(ctx context.Context, s *Ledger) error {
	if err := s.db.DatabaseMarkAccept(ctx, s.deps.Pool, s.deps.Clock.Now()); err != nil {
		return fmt.Errorf("note the database: %w", err)
	}
	return nil
}
