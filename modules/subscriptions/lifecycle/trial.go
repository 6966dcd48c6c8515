package lifecycle

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/platform/postgres"
)

// TrialMonths is how long a tax id has no second trial.
const TrialMonths = 24

// Forgotten is the instant before which trials began that count no more.
func Forgotten(now time.Time) time.Time { return now.AddDate(0, -TrialMonths, 0) }

// startTrialTx notes that the customer has had his one trial, and his tax id too.
func (s *Store) startTrialTx(ctx context.Context, tx pgx.Tx, sub Row) error {
	if sub.TrialDays == 0 {
		return nil
	}
	if _, err := s.accounts.MarkTrialUsedTx(ctx, tx, sub.CustomerID); err != nil {
		return err
	}
	now := s.clock.Now()
	n, err := s.db.BeginTrial(ctx, tx, subscriptionsdb.BeginTrialParams{SubscriptionID: &sub.ID, Now: &now})
	if err != nil {
		return fmt.Errorf("begin trial: %w", err)
	}
	if n > 0 {
		return nil
	}
	c, err := s.accounts.CustomerByID(ctx, tx, sub.CustomerID)
	if IsMissing(err) || err == nil && c.TaxID == "" {
		return nil
	}
	if err != nil {
		return err
	}
	return s.NoteTrial(ctx, tx, s.accounts.TaxIDMAC(c.TaxID), now)
}

// NoteTrial notes that a tax id has had its trial.
func (s *Store) NoteTrial(ctx context.Context, db postgres.DB, mac []byte, began time.Time) error {
	if err := s.db.NoteTrial(ctx, db, subscriptionsdb.NoteTrialParams{TaxIDMac: mac, BeganAt: began}); err != nil {
		return fmt.Errorf("note trial: %w", err)
	}
	return nil
}
