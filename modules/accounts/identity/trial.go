package identity

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/objectid"
	"marquee/platform/secret"
)

// TaxIDMAC stands for a tax id where it is to be known again once the account is
// deleted: without the key (TRIAL_KEY) nobody finds whose it is.
func (s *Store) TaxIDMAC(taxID string) []byte { return secret.MAC(s.deps.TrialKey, taxID) }

// UsedTrial is when a customer's one trial began.
type UsedTrial struct {
	CustomerID objectid.ID
	TaxIDMAC   []byte
	BeganAt    time.Time
}

const trialsPage = 500

// TrialsSince lists the next customers after an id who have begun their trial since,
// and whose tax id is known; none: these were all.
func (s *Store) TrialsSince(ctx context.Context, since time.Time, after objectid.ID) ([]UsedTrial, error) {
	rows, err := s.db.UserListTrials(ctx, s.deps.Pool,
		accountsdb.UserListTrialsParams{Since: &since, After: after.String(), PageSize: trialsPage})
	if err != nil {
		return nil, fmt.Errorf("list trials: %w", err)
	}
	all := make([]UsedTrial, len(rows))
	for i, row := range rows {
		all[i] = UsedTrial{CustomerID: row.ID, TaxIDMAC: s.TaxIDMAC(row.TaxID), BeganAt: row.TrialUsedAt}
	}
	return all, nil
}

// MarkTrialUsedTx records that the customer's one trial begins now; used is true
// when they had it before.
func (s *Store) MarkTrialUsedTx(ctx context.Context, tx pgx.Tx, customerID objectid.ID) (used bool, err error) {
	now := s.deps.Clock.Now()
	n, err := s.db.UserMarkTrialUsed(ctx, tx, accountsdb.UserMarkTrialUsedParams{ID: customerID, Now: &now})
	if err != nil {
		return false, fmt.Errorf("mark trial: %w", err)
	}
	return n == 0, nil
}
