package lifecycle

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// TrialMonths is how long a tax id has no second trial.
const TrialMonths = 24

// Forgotten is the instant before which trials began that count no more.
func Forgotten(now time.Time) time.Time { return now.AddDate(0, -TrialMonths, 0) }

// ClaimTrialTx takes the one trial of the customer's tax id for a subscription that is
// about to be written. Of two customers who have had the same tax id, one after the
// other, one gets it. A subscription that ends before its trial begins gives it back. False, and no
// error, where the trial is taken; an error is the database's.
func (s *Store) ClaimTrialTx(ctx context.Context, tx pgx.Tx, taxID string, subscriptionID objectid.ID) (bool, error) {
	now := s.deps.Clock.Now()
	n, err := s.db.TrialClaim(ctx, tx, subscriptionsdb.TrialClaimParams{
		TaxIDMac: s.deps.Accounts.TaxIDMAC(taxID), SubscriptionID: &subscriptionID, Now: now,
		Forgotten: new(Forgotten(now)),
	})
	if err != nil {
		return false, fmt.Errorf("claim trial: %w", err)
	}
	return n == 1, nil
}

// startTrialTx records that the customer, and their tax id, have had the one trial. An error is the database's.
func (s *Store) startTrialTx(ctx context.Context, tx pgx.Tx, sub Subscription) error {
	if sub.TrialDays == 0 {
		return nil
	}
	if _, err := s.deps.Accounts.MarkTrialUsedTx(ctx, tx, sub.CustomerID); err != nil {
		return err
	}
	now := s.deps.Clock.Now()
	n, err := s.db.TrialBegin(ctx, tx, &now, &sub.ID)
	if err != nil {
		return fmt.Errorf("begin trial: %w", err)
	}
	if n > 0 {
		return nil
	}
	c, err := s.deps.Accounts.CustomerByID(ctx, tx, sub.CustomerID)
	if IsMissing(err) || err == nil && c.TaxID == "" {
		return nil
	}
	if err != nil {
		return err
	}
	return s.RecordTrial(ctx, tx, s.deps.Accounts.TaxIDMAC(c.TaxID), now)
}

// RecordTrial notes that a tax id has had its trial. An error is the database's.
func (s *Store) RecordTrial(ctx context.Context, db postgres.DB, mac []byte, began time.Time) error {
	if err := s.db.TrialInsert(ctx, db, mac, began); err != nil {
		return fmt.Errorf("note trial: %w", err)
	}
	return nil
}
